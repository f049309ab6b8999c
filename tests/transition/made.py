"""Transition models that several tests use, and what must hold of every one."""

import numpy as np
import pytest

from tgm.perception.component_map import ComponentMap
from tgm.transition.rows import CHANGED
from tgm.transition.sparse import START, START_ACTION, SparseTransitions

GAMMA = 0.9


def make(n_states: int = 4, n_actions: int = 2) -> SparseTransitions:
    model = SparseTransitions(n_actions, GAMMA)
    model.make_room(n_states)
    return model


def random_model(rng: np.random.Generator, n_states: int, n_actions: int = 2) -> SparseTransitions:
    model = make(n_states, n_actions)
    for _ in range(6 * n_states):
        state, after = rng.integers(n_states, size=2)
        action, weight = rng.integers(n_actions), rng.uniform(0.1, 1)
        model.add(
            int(state), int(action), int(after), weight, rng.normal(), float(rng.random() < 0.1)
        )
    for state in rng.integers(n_states, size=3):
        model.add(START, START_ACTION, int(state), 1.0, 0.0, 0.0)
    return model


def assert_arrays_agree_with_rows(model: SparseTransitions) -> None:
    """The planner's arrays, looked up outcome by outcome."""
    for state in range(len(model.visits)):
        for action in range(model.n_actions):
            row, visits = model.row(state, action), model.visits[state, action]
            seen = dict.fromkeys(row, 0.0)
            for index, probability in enumerate(model.probability[state, action]):
                if probability > 0:
                    seen[int(model.successor[state, action, index])] += probability
                    goes_on = GAMMA * (1 - model.end[state, action])
                    discounted = model.discounted[state, action, index]
                    assert discounted == pytest.approx(probability * goes_on)
            if not row:
                assert sum(seen.values()) == 0
                continue
            ended = model.ended.get((state, action), {})
            onward = {after: count - ended.get(after, 0.0) for after, count in row.items()}
            onward = {after: count for after, count in onward.items() if count > 1e-9} or row
            is_random = model.is_random[state, action]
            least = min(max(onward.values()), 0.5 if is_random else max(0.5, 0.02 * visits))
            total = sum(count for count in onward.values() if count >= least)
            for after, count in onward.items():
                expected = count / total if count >= least else 0.0
                assert seen[after] == pytest.approx(expected, abs=2 * CHANGED)
            reward = model.reward_sum[state, action] / visits
            assert model.reward[state, action] == pytest.approx(reward, rel=1.01 * CHANGED)
            end = model.end_sum[state, action] / visits
            assert model.end[state, action] == pytest.approx(end, abs=CHANGED)


def assert_into_agrees_with_rows(model: SparseTransitions) -> None:
    expected = [set() for _ in model.predecessors]
    for key, row in model.rows.items():
        for after in row:
            expected[after].add(key)
    assert model.predecessors == expected


def merge_map(n: int, one: int, other: int) -> ComponentMap:
    old = np.arange(n)
    return ComponentMap(n, n, np.where(old == other, one, old), old, np.ones(n))


def removal_map(n: int, gone: int) -> ComponentMap:
    kept = np.array([state for state in range(n) if state != gone])
    return ComponentMap(n, n, kept, kept, np.ones(n - 1))
