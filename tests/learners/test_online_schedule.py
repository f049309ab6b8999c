"""When a learner of cells revises what it knows, and what it takes for a displacement."""

import numpy as np
import pytest
from tests.learners.worlds import HERE, THERE, two_places

from tgm.config import TGMConfig
from tgm.learners.online import OnlineLearner
from tgm.memory.step import Step
from tgm.structure.scale import Scale


def told(learner: OnlineLearner, n_steps: int) -> None:
    learner.begin(HERE)
    for step in range(n_steps):
        learner.observe(0, -1.0, (THERE, HERE)[step % 2], terminated=False)


def test_the_common_covariance_is_learned_at_step_20_and_whenever_the_run_has_grown_by_a_third(
    monkeypatch,
):
    learner = OnlineLearner(2, 1, TGMConfig(), Scale.of_deviations(np.full(2, 0.3), np.ones(2)))
    learned_at = []
    monkeypatch.setattr(learner.edit, "learn_scale", lambda _: learned_at.append(learner.n_steps))
    told(learner, 60)
    assert learned_at == [20, 26, 34, 45, 59]


def test_a_scale_that_was_given_is_not_learned(monkeypatch):
    learner = OnlineLearner(2, 1, TGMConfig(bandwidth=0.5))
    monkeypatch.setattr(learner.edit, "learn_scale", lambda _: pytest.fail("it was learned"))
    told(learner, 60)


def test_the_structure_is_checked_every_fifth_step(monkeypatch):
    learner, checked_at = OnlineLearner(2, 1, TGMConfig(bandwidth=0.5)), []
    monkeypatch.setattr(learner._reviser, "revise", checked_at.append)
    told(learner, 17)
    assert checked_at == [5, 10, 15]


@pytest.mark.parametrize(("moved", "is_learned"), [(0.49, False), (0.51, True)])
def test_a_step_that_probably_stayed_shows_no_displacement(moved, is_learned):
    learner = two_places()
    world = learner.world
    here, there = world.states.alive.tolist()
    before = float(world.displacements.weight[0])
    step = Step(HERE, [(here, 1.0)], 0, 1.0, 0.0, THERE)
    step.entries = [(here, there, moved), (here, here, 1.0 - moved)]
    learner._count(step, 0)
    gained = float(world.displacements.weight[0]) - before
    assert gained == pytest.approx(moved if is_learned else 0.0)
