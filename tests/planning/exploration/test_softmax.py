"""Softmax: probabilities by hand, and the temperature of the settings."""

import math

import numpy as np
import pytest
from tests.planning.worlds import new_strategy

from tgm.planning import softmax


def test_by_hand_and_far_from_zero():
    assert softmax(np.array([0.0, math.log(3)]), 1.0) == pytest.approx([0.25, 0.75])
    assert softmax(np.array([0.0, 2 * math.log(3)]), 2.0) == pytest.approx([0.25, 0.75])
    assert softmax(np.array([-1e6, -1e6 + math.log(3)]), 1.0) == pytest.approx([0.25, 0.75])


def test_actions_are_taken_in_these_proportions():
    strategy, rng = new_strategy("softmax", temperature=2.0), np.random.default_rng(0)
    values = np.array([0.0, 2 * math.log(3)])
    chosen = [strategy.choose(values, 0, rng) for _ in range(2000)]
    assert np.mean(chosen) == pytest.approx(0.75, abs=0.04)
