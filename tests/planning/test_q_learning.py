"""Belief Q-learning by hand, and against ordinary Q-learning."""

import numpy as np
import pytest
from tests.oracles import tabular_q_learning

from tgm.perception.component_map import ComponentMap
from tgm.planning import BeliefQLearning, belief_q_update

Q = np.array([[1.0, 2.0], [3.0, 0.0]])  # (n_actions, n_states)
TRANSITION = np.array([[0.25, 0.75], [1.0, 0.0]])


def test_one_update_by_hand():
    row = belief_q_update(
        Q,
        np.array([0.8, 0.2]),
        0,
        -1.0,
        TRANSITION,
        terminated=False,
        learning_rate=0.5,
        gamma=0.9,
    )
    # max_a' q = (3, 2). In state 0 the target is -1 + 0.9 (0.25 x 3 + 0.75 x 2) = 1.025,
    # in state 1 it is -1 + 0.9 x 3 = 1.7.
    assert row == pytest.approx([1 + 0.5 * 0.8 * (1.025 - 1), 2 + 0.5 * 0.2 * (1.7 - 2)])


def test_the_future_is_dropped_where_the_episode_terminated():
    row = belief_q_update(
        Q,
        np.array([0.8, 0.2]),
        1,
        1.0,
        TRANSITION,
        terminated=True,
        learning_rate=0.5,
        gamma=0.9,
    )
    assert row == pytest.approx([3 + 0.5 * 0.8 * (1 - 3), 0 + 0.5 * 0.2 * (1 - 0)])


def test_one_hot_beliefs_and_certain_transitions_give_ordinary_q_learning():
    rng = np.random.default_rng(3)
    n_states, n_actions = 5, 3
    successor = rng.integers(0, n_states, (n_actions, n_states))
    transition = np.eye(n_states)[successor]
    steps = []
    state = 0
    for _ in range(500):
        action = int(rng.integers(n_actions))
        after = int(successor[action, state])
        terminated = bool(rng.random() < 0.1)
        steps.append((state, action, float(rng.normal()), after, terminated))
        state = 0 if terminated else after
    planner = BeliefQLearning(n_actions, learning_rate=0.1, gamma=0.99)
    planner.apply(ComponentMap.of_survivors(0, np.full(n_states, -1)))
    for state, action, reward, _, terminated in steps:
        planner.observe(np.eye(n_states)[state], action, reward, transition, terminated=terminated)
    expected = tabular_q_learning(steps, n_states, n_actions, learning_rate=0.1, gamma=0.99)
    np.testing.assert_allclose(planner.q.T, expected, rtol=1e-12)


def test_values_follow_their_states():
    planner = BeliefQLearning(1, learning_rate=0.1, gamma=0.99)
    planner.q = np.array([[5.0, 7.0]])
    planner.apply(ComponentMap.of_survivors(2, np.array([1, -1, 0])))
    assert planner.q.tolist() == [[7, 0, 5]]
