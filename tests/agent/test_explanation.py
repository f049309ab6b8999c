"""Why this action: what leads to the end of the episode is said to do so, everywhere."""

import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
from campaigns.common.worlds import Stream

import tgm
from tgm.envs.maze import EAT
from tgm.runs import Run

GOAL = [3.0, 3.0]  # of maze 25


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained") / "run"
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="25"), seed=1)
    agent.learn(600, run_dir=folder)
    return agent, Run.open(folder)


def test_an_action_that_ends_the_episode_leads_to_the_end(run):
    agent, _ = run
    explanation = agent.explain(GOAL)
    assert explanation.action == EAT
    assert explanation.expected_end[EAT] > 0.9
    assert explanation.expected_end[:EAT].max() < 0.1
    assert "'eat', worth" in str(explanation)
    best = str(explanation).splitlines()[1]
    assert "the end" in best
    assert "state" not in best
    # What comes next is a state or the end.
    both = explanation.expected_next.sum(axis=1) + explanation.expected_end
    np.testing.assert_allclose(both, 1, atol=1e-12)


def test_the_transition_matrix_does_not_say_that_the_end_leads_back(run):
    agent, _ = run
    goal = int(agent.belief(GOAL).argmax())
    assert agent.end_probabilities.shape == (5, agent.n_states)
    assert agent.end_probabilities[EAT, goal] > 0.9
    assert agent.end_probabilities.sum() < 1.0 + agent.end_probabilities[EAT, goal]
    # Given that the episode goes on, nothing is known of where to.
    np.testing.assert_allclose(agent.transition_matrix[EAT, goal], 1 / agent.n_states, atol=0.02)
    np.testing.assert_allclose(agent.transition_matrix.sum(axis=-1), 1, atol=1e-12)


def test_a_recorded_model_gives_the_same_answer(run):
    agent, recorded = run
    frame = recorded.frame_at(600)
    order = np.argsort(agent.state_ids)
    ended = agent.end_probabilities[:, order]
    np.testing.assert_allclose(frame.end_probabilities, ended, atol=1e-9)
    goal = int(np.argmax(frame.end_probabilities[EAT]))
    assert frame.transition_matrix[EAT, goal, goal] < 0.5


def test_an_explanation_is_what_the_whole_matrix_says(run):
    agent, _ = run
    for observation in ([1.0, 1.0], [2.0, 3.4], GOAL):
        explanation, belief = agent.explain(observation), agent.belief(observation)
        goes_on = (1 - agent.end_probabilities)[:, :, None] * agent.transition_matrix
        wanted = np.einsum("k,akj->aj", belief, goes_on)
        np.testing.assert_allclose(explanation.expected_next, wanted, atol=1e-12)
        np.testing.assert_allclose(explanation.expected_end, agent.end_probabilities @ belief)
        tries = agent.transition_counts.sum(axis=-1) @ belief
        np.testing.assert_allclose(explanation.evidence, tries, atol=1e-9)


def test_the_paper_preset_knows_of_no_end():
    env = gym.make("tgm/Maze-v0", maze="25")
    agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0).learn(400)
    assert not agent.end_probabilities.any()
    explanation = agent.explain(GOAL)
    np.testing.assert_allclose(explanation.expected_next.sum(axis=1), 1, atol=1e-9)


def test_nothing_is_known_before_anything_was_seen():
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="25"), seed=0)
    assert "Nothing is learned yet" in str(agent.explain(GOAL))
    assert agent.end_probabilities.shape == (5, 0)


def test_an_explanation_takes_no_room_for_all_transitions():
    agent = tgm.TGMAgent(Stream(2, "uniform"), tgm.TGMConfig(bandwidth=0.5), seed=0).learn(900)
    n_dense = 2 * agent.n_states**2 * 8
    tracemalloc.start()
    try:
        explanation = agent.explain([50.0, 50.0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert explanation.expected_next.shape == (2, agent.n_states)
    assert peak < n_dense / 10
