"""The learning step loses nothing: what is forgotten is in the priors."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.learners.learner import FeatureUse
from tgm.learners.mean_shift_learner import MeanShiftLearner
from tgm.perception.observation_model import NO_STATE


def agent_after(n_steps: int, **settings) -> tgm.TGMAgent:
    env = gym.make("tgm/Maze-v0", maze="8")
    return tgm.TGMAgent(env, tgm.TGMConfig.paper(**settings), seed=0).learn(n_steps)


@pytest.mark.parametrize("n_steps", [100, 600, 2000])
def test_every_step_is_counted_once_forgotten_or_not(n_steps):
    agent = agent_after(n_steps)
    assert agent.transition_counts.sum() == pytest.approx(n_steps, abs=0.5)


def test_before_the_first_search_there_is_nothing_to_believe_in():
    learner = MeanShiftLearner(2, 3, tgm.TGMConfig.paper())
    info = learner.begin(np.zeros(2))
    assert info.state == NO_STATE
    assert info.belief == ()
    assert info.log_density == 0.0
    assert info.n_evicted == 0
    assert learner.n_fixed == learner.n_kept - 1 == 0
    assert learner.end_probabilities.shape == (3, 0)
    assert not learner.feature_use.varies
    learner.observe(1, 0.0, np.ones(2), terminated=False)
    assert learner.feature_use.varies


def test_states_that_were_found_again_and_again_are_fixed():
    agent = agent_after(2000)
    known = np.array(agent.learner.snapshot().known.components).reshape(agent.n_states, -1)
    assert agent.learner.n_fixed == known[:, 2].sum() > 0


def test_a_belief_names_every_state_that_is_more_likely_than_one_in_a_thousand():
    agent = agent_after(600)
    learner, (one, other) = agent.learner, agent.means[:2]
    line = np.linspace(one, other, 400)  # from one state to another, in small steps
    seen = []
    for point in line:
        belief = learner.belief(point[None])[0]
        info = learner.begin(point)
        named = dict(info.belief)
        wanted = {int(name): p for name, p in zip(agent.state_ids, belief, strict=True) if p > 1e-3}
        assert named == pytest.approx(wanted)
        assert info.state == max(named, key=named.__getitem__)
        assert list(named.values()) == sorted(named.values(), reverse=True)
        seen += belief.tolist()
    assert any(5e-4 < p < 1e-3 for p in seen)  # some were left out
    assert any(1e-3 < p < 2e-3 for p in seen)


def test_most_points_are_forgotten_and_the_weights_still_know_them():
    records = []
    env = gym.make("tgm/Maze-v0", maze="8")
    agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0).learn(2000, callback=records.append)
    n_points = agent.n_steps + agent.n_episodes - sum(record.n_forgotten for record in records)
    assert records[-1].n_kept == n_points
    assert records[-1].n_kept < 200


def test_without_forgetting_everything_is_kept():
    records = []
    env = gym.make("tgm/Maze-v0", maze="8")
    config = tgm.TGMConfig.paper(forget=False)
    agent = tgm.TGMAgent(env, config, seed=0).learn(600, callback=records.append)
    assert records[-1].n_kept == agent.n_steps + agent.n_episodes
    assert all(record.n_forgotten == 0 for record in records)
    np.testing.assert_allclose(agent.transition_counts.sum(), 600, atol=1e-9)


def test_states_are_places_unless_a_learner_says_otherwise():
    flags = np.ones(2, dtype=bool)
    assert FeatureUse(flags, ~flags, varies=True).are_places
