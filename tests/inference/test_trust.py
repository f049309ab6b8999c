"""Rows are trusted as far as what was seen fits where they are said to lead."""

import math

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.inference.trust import trust_in_rows
from tgm.learners.online_model import OnlineModel
from tgm.memory.step import Step
from tgm.structure.scale import Scale

BANDWIDTH = 0.6
DEVIATION = BANDWIDTH / 3


def world_of_two() -> OnlineModel:
    online = OnlineModel(2, 2, TGMConfig(), Scale.of_bandwidth(BANDWIDTH, 2))
    for place in ([0.0, 0.0], [2.0, 0.0]):
        state = online.new_state()
        for _ in range(4):
            online.components.add(state, np.array(place), 1.0)
    return online


def go(online: OnlineModel, action: int, off: float, *, keep: bool = True) -> None:
    """A step from state 0 to state 1 that is seen `off` deviations from it."""
    arrival = np.array([2.0 + off * DEVIATION, 0.0])
    step = Step(np.zeros(2), [(0, 1.0)], action, -1.0, 0.0, arrival)
    step.entries, step.after = [(0, 1, 1.0)], [(1, 1.0)]
    online.count(step, +1.0)
    if keep:
        online.memory.keep(step, 1)


def trust(online: OnlineModel) -> np.ndarray:
    return trust_in_rows(online.components, online.model, online.memory, 2)


def test_a_step_counts_as_the_chance_of_lying_as_far():
    online = world_of_two()
    go(online, 0, 0.0)
    go(online, 1, 3.0)
    # With two features the chance of lying beyond d deviations is exp(-d^2 / 2); the mean of four
    # points is uncertain by a quarter of their variance.
    assert trust(online)[0].tolist() == pytest.approx([1.0, math.exp(-4.5 / 1.25)])
    assert trust(online)[1].tolist() == [0.0, 0.0]


def test_what_is_only_in_the_counts_is_trusted():
    online = world_of_two()
    go(online, 1, 3.0)
    go(online, 1, 3.0, keep=False)
    assert trust(online)[0, 1] == pytest.approx(1.0 + math.exp(-4.5 / 1.25))


def test_the_least_trusted_is_tried_again_first():
    online = world_of_two()
    for state in range(2):
        for action in range(2):
            online.model.add(state, action, 1 - state, 3.0, -1.0, 0.0)
    go(online, 0, 0.5)
    go(online, 1, 4.0)
    online.planner.see_reward(-1.0)
    online.n_steps = 50
    online.belief = [(0, 1.0)]
    rng, alive = np.random.default_rng(0), online.components.alive
    online.exploration.values(online.planner, online.belief, alive, 50, rng)
    values = online.planner.sweeper.q
    # All four have three tries and no more: those of state 1 are the least certain, of equal trust.
    assert values[0].max() < online.planner.highest
    assert (values[1] == online.planner.highest).all()
