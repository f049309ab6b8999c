"""A learner that starts from a world found elsewhere knows that world."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.distributions import Moments
from tgm.errors import ConfigError
from tgm.files.arrays import ArrayReader
from tgm.learners.given import GivenWorld, arrays_of
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.transition.sparse import START, START_ACTION

AUTO = TGMConfig(bandwidth="auto")


def world() -> GivenWorld:
    """Two states at (100, 0) and (105, 2); action 0 stays, action 1 leads to the other."""
    places = np.array([[[100.0, 0.0]], [[105.0, 2.0]]])
    points = places + np.random.default_rng(0).normal(0.0, 0.2, size=(2, 10, 2))
    first, second = (Moments.of_points(one) for one in points)
    moments = Moments(
        np.stack([first.weight, second.weight]),
        np.stack([first.mean, second.mean]),
        np.stack([first.scatter, second.scatter]),
    )
    return GivenWorld(
        moments,
        transitions=np.array([[[6.0, 0.0], [0.0, 4.0]], [[0.0, 5.0], [3.0, 0.0009]]]),
        starts=np.array([3.0, 0.0009]),
        tries=np.array([[6.0, 4.0], [5.0, 7.0]]),
        rewards=np.array([[0.0, 0.0], [-1.0, 2.0]]),
        ends=np.array([[0.0, 0.25], [0.0, 0.5]]),
        deviation=np.full(2, 0.2),
        typical_step=np.full(2, 3.0),
        n_steps=22,
    )


@pytest.fixture(scope="module")
def learner() -> ScaleSearchLearner:
    found = ScaleSearchLearner(2, 2, AUTO)
    found.restore(ArrayReader(arrays_of(world(), AUTO)))
    return found


def test_states_are_where_they_were_found(learner):
    given = world()
    np.testing.assert_allclose(learner.means, given.moments.mean, atol=1e-9)
    np.testing.assert_allclose(learner.world.states.weight[:2], 10.0)
    assert learner.state_ids.tolist() == [0, 1]
    belief = learner.belief(np.array([[100.1, 0.0], [105.0, 1.9]]))
    np.testing.assert_allclose(belief, np.eye(2), atol=1e-6)
    assert learner.is_over
    assert learner.learner.n_steps == 22
    assert learner.world.background.n_points == 20.0


def test_tries_rewards_and_ends_are_those_of_the_log(learner):
    transitions = learner.world.transitions
    np.testing.assert_allclose(transitions.visits[:2], [[6.0, 5.0], [4.0, 5.0]], atol=1e-3)
    # Of action 1 in the second state 4 of 7 tries led nowhere known; half of all have ended.
    assert transitions.rows[1, 1] == pytest.approx({0: 3.0, 1: 2.0 - 0.00025}, abs=1e-3)
    assert transitions.rows[0, 1] == {1: 5.0}
    mean = transitions.reward_sum[:2] / transitions.visits[:2]
    np.testing.assert_allclose(mean, [[0.0, -1.0], [0.0, 2.0]], atol=1e-9)
    np.testing.assert_allclose(transitions.end_sum[:2], [[0.0, 0.0], [1.0, 1.5 + 2.0]], atol=1e-3)


def test_episodes_begin_where_they_began(learner):
    assert learner.world.transitions.rows[START, START_ACTION] == {0: 3.0}


def test_the_planner_knows_the_rewards(learner):
    planner = learner.planner
    assert (planner.worst_reward, planner.best_reward) == (-1.0, 2.0)


def test_settings_of_other_learners_are_refused():
    for config in (TGMConfig(bandwidth=0.5), TGMConfig.paper()):
        with pytest.raises(ConfigError, match="fitted model"):
            arrays_of(world(), config)
