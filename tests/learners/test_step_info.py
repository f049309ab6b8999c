"""What a step reports is enough to follow the model, as recordings do."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.learners.online import OnlineLearner
from tgm.learners.step_info import StepInfo
from tgm.perception.observation_model import NO_STATE


def counts(learner: OnlineLearner) -> dict[tuple[int, int, int], float]:
    """Transition counts by ids of states."""
    ids, transitions = learner.world.states.ids, learner.world.transitions
    return {
        (int(ids[state]), action, int(ids[after])): count
        for state in learner.world.states.alive.tolist()
        for action in range(transitions.n_actions)
        for after, count in transitions.row(state, action).items()
        if after >= 0
    }


def weights(learner: OnlineLearner) -> dict[int, float]:
    states = learner.world.states
    return {int(states.ids[slot]): float(states.weight[slot]) for slot in states.alive}


def changed(one: dict, other: dict) -> set:
    keys = one.keys() | other.keys()
    return {key for key in keys if abs(one.get(key, 0.0) - other.get(key, 0.0)) > 1e-9}


@pytest.fixture(scope="module")
def life():
    """(report, weights before, weights after, counts before, counts after) of each step."""
    env = gym.make("tgm/Maze-v0", maze="8")
    learner = OnlineLearner(2, env.action_space.n, tgm.TGMConfig(bandwidth=0.5))
    rng, steps = np.random.default_rng(0), []
    observation, _ = env.reset(seed=0)
    learner.begin(np.asarray(observation, float))
    for _ in range(300):
        action = int(rng.integers(env.action_space.n))
        observation, reward, ended, truncated, _ = env.step(action)
        before = weights(learner), counts(learner)
        info = learner.observe(
            action, float(reward), np.asarray(observation, float), terminated=ended
        )
        steps.append((info, before[0], weights(learner), before[1], counts(learner)))
        if ended or truncated:
            observation, _ = env.reset()
            learner.begin(np.asarray(observation, float))
    return steps


def test_a_share_says_all_that_the_observation_changed_in_states(life):
    plain = [step for step in life if step[0].share > 0]
    assert len(plain) > 100
    for info, before, after, _, _ in plain:
        assert not info.changed_all
        assert not info.changed_scale
        moved = changed(before, after) - info.changed_states
        assert moved <= {info.state}
        if moved:
            assert after[info.state] - before[info.state] == pytest.approx(info.share)


def test_rows_that_changed_are_named_or_have_the_weight(life):
    for info, *_, before, after in life:
        if info.changed_all:
            continue
        rows = {(state, action) for state, action, _ in changed(before, after)}
        unnamed = {row for row in rows - info.changed_rows if row[0] not in info.changed_states}
        assert len(unnamed) <= (1 if info.weight > 0 else 0)


def test_states_that_are_born_or_gone_have_a_move_and_are_named(life):
    births = 0
    for info, before, after, *_ in life:
        for id_ in before.keys() ^ after.keys():
            births += 1
            assert any(id_ in move.ids for move in info.moves)
            assert info.changed_all or id_ in info.changed_states
    assert births >= 5


def test_nothing_is_reported_of_a_step_that_was_not_learned_from():
    info = StepInfo()
    assert info.state == NO_STATE
    assert (info.share, info.weight, info.belief, info.moves) == (0.0, 0.0, (), ())
    assert not any((info.changed_all, info.changed_states, info.changed_rows, info.changed_scale))
