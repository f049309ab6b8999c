"""What the default agent makes of an outlier, of a world that changes, and of noise."""

import gymnasium as gym
import numpy as np
import pytest

import tgm

NOISE = 0.15


class Corridor(gym.Env):
    """Places in a row; action 0 goes left, action 1 goes right.

    To go right in the last place ends the episode with a reward. At step `outlier_at` the
    observation lies far beside the corridor; after step `swap_at` each action does what the other
    did.
    """

    action_space = gym.spaces.Discrete(2)
    observation_space = gym.spaces.Box(-np.inf, np.inf, (2,), dtype=np.float64)

    def __init__(self, n_places: int, outlier_at: int = -1, swap_at: int = 10**9) -> None:
        self._last_place, self._outlier_at, self._swap_at = n_places - 1, outlier_at, swap_at
        self._place, self._n_steps = 0, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._place = 0
        return self._observation(is_step=False), {}

    def step(self, action):
        self._n_steps += 1
        goes_right = bool(action) != (self._n_steps > self._swap_at)
        ends = goes_right and self._place == self._last_place
        if not ends:
            self._place = int(np.clip(self._place + (1 if goes_right else -1), 0, self._last_place))
        return self._observation(), float(ends) - 0.1, ends, False, {}

    def _observation(self, *, is_step: bool = True):
        beside = 2.5 if is_step and self._n_steps == self._outlier_at else 0.0
        return np.array([self._place, beside]) + self.np_random.normal(scale=NOISE, size=2)


GIVEN = tgm.TGMConfig(bandwidth=0.5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("outlier_at", [90, 150])
def test_an_outlier_makes_no_state(seed, outlier_at):
    agent = tgm.TGMAgent(Corridor(4, outlier_at=outlier_at), GIVEN, seed=seed).learn(200)
    assert agent.n_states == 4
    assert np.abs(agent.means[:, 1]).max() < 0.5
    background = agent.learner.world.background
    assert background.n_outliers <= 1  # none where it ended an episode, or may have been a place
    assert background.n_points == 200 + agent.n_episodes


@pytest.mark.parametrize("seed", range(3))
def test_an_outlier_that_became_a_state_goes_when_its_row_does_something_else(seed):
    # In the first steps everything is new, and nothing tells an outlier from a place.
    agent = tgm.TGMAgent(Corridor(4, outlier_at=2), GIVEN, seed=seed)
    told = []
    agent.learn(8, callback=told.append)
    assert sum(mean[1] > 1.5 for mean in agent.means) == 1
    agent.learn(192, callback=told.append)
    assert agent.n_states == 4
    assert np.abs(agent.means[:, 1]).max() < 0.5
    causes = {move.cause for info in told for move in info.moves if move.kind == "removal"}
    assert causes == {"all that was seen of it were outliers"}


@pytest.mark.parametrize("seed", range(3))
def test_a_state_that_was_seen_once_does_not_decide(seed, monkeypatch):
    monkeypatch.setattr("tgm.perception.background.PRIOR_OUTLIERS", 1e-12)
    agent = tgm.TGMAgent(Corridor(4, outlier_at=92), GIVEN, seed=seed).learn(200)
    (outlier,) = (mean for mean in agent.means if mean[1] > 1.5)
    assert agent.n_states == 5
    # Of its two actions one was never tried there. Both are worth what they are worth beside it.
    beside = np.array([round(outlier[0]), 0.0])
    np.testing.assert_allclose(agent.q_values(outlier), agent.q_values(beside), atol=1e-3)


def test_changes_that_come_together_are_doubted_together():
    """All actions change at once. If each change that is noticed made the agent try everything
    again, it would arrive a seventh less often."""
    arrivals = 0
    for seed in range(6):
        agent = tgm.TGMAgent(Corridor(6, swap_at=600), GIVEN, seed=seed).learn(600)
        known = agent.n_episodes
        arrivals += agent.learn(300).n_episodes - known
    assert 243 < arrivals < 6 * 300 / 6  # six steps lead to an end


def test_a_displacement_is_measured_from_where_the_state_is():
    """Measured between two observations it would have the noise of both."""
    agent = tgm.TGMAgent(Corridor(4), GIVEN, seed=0).learn(600)
    displacements = agent.learner.world.displacements
    right = displacements.scatter[1] / displacements.weight[1]
    assert displacements.weight[1] > 200
    np.testing.assert_allclose(np.diag(right), NOISE**2, rtol=0.3)
    np.testing.assert_allclose(displacements.mean[1], [1, 0], atol=0.05)
