"""From action values to probabilities."""

import math

import numpy as np
import pytest

from tgm.planning import epsilon_greedy, greedy, published_epsilon, softmax


def test_greedy_shares_ties():
    assert greedy(np.array([1.0, 3.0, 3.0])).tolist() == [0, 0.5, 0.5]


def test_epsilon_greedy_by_hand():
    probabilities = epsilon_greedy(np.array([0.0, 1.0, 0.0, 0.0]), epsilon=0.2)
    assert probabilities == pytest.approx([0.05, 0.85, 0.05, 0.05])


def test_softmax_by_hand_and_far_from_zero():
    assert softmax(np.array([0.0, math.log(3)]), 1.0) == pytest.approx([0.25, 0.75])
    assert softmax(np.array([0.0, 2 * math.log(3)]), 2.0) == pytest.approx([0.25, 0.75])
    assert softmax(np.array([-1e6, -1e6 + math.log(3)]), 1.0) == pytest.approx([0.25, 0.75])


def test_the_published_schedule():
    assert published_epsilon(0, 2000) == 1.0
    assert published_epsilon(5000, 2000) == pytest.approx(math.exp(-2.5))
