"""Values in doubt: those of all histories, and a look that is worth a way."""

import numpy as np
import pytest
from tests import oracles

from tgm.planning import belief_planner
from tgm.planning.belief_planner import HiddenWorld, is_doubt, likely, values_in_doubt

GAMMA = 0.4


def world(ways: list, rewards: np.ndarray, looks: list[int], gamma: float = GAMMA) -> HiddenWorld:
    """`ways[action][state]` are probabilities of next states; values as if the state were seen."""
    n_actions, n_states = rewards.shape
    dense = np.zeros((n_actions, n_states, n_states))
    for action, rows in enumerate(ways):
        for state, row in enumerate(rows):
            for after, p in row.items():
                dense[action, state, after] = p
    values = np.zeros((n_states, n_actions))
    for _ in range(2000):
        values = (rewards + gamma * dense @ values.max(axis=1)).T
    known = np.ones(rewards.shape, dtype=bool)
    return HiddenWorld(dense, rewards, known, values, np.array(looks), gamma)


def fork(off: int = 1) -> tuple[list, np.ndarray, list[int]]:
    """A fork whose better way is 2 or 3, and so many steps the other way a sign that says which.

    States are pairs of a place (0 the fork, then the way to the sign) and of what is better.
    Actions 0 and 1 go towards the sign and back, 2 and 3 choose at the fork.
    """
    n = off + 1
    ways: list[list[dict[int, float]]] = [[{} for _ in range(2 * n)] for _ in range(4)]
    rewards = np.full((4, 2 * n), -0.02)
    for better in range(2):
        for place in range(n):
            state = better * n + place
            ways[0][state] = {better * n + min(place + 1, off): 1.0}
            ways[1][state] = {better * n + max(place - 1, 0): 1.0}
            for choice in (2, 3):
                if place:
                    ways[choice][state] = {state: 1.0}
                else:
                    rewards[choice, state] = 1.0 if choice - 2 == better else -1.0
    looks = [place if place < off else off + better for better in range(2) for place in range(n)]
    return ways, rewards, looks


def tiger() -> tuple[list, np.ndarray, list[int]]:
    """Behind one of two doors is a tiger; to listen (0) is right in 85 of 100 tries.

    States are pairs of the tiger's door and of what was heard last.
    """
    n = 3
    ways: list[list[dict[int, float]]] = [[{} for _ in range(2 * n)] for _ in range(3)]
    rewards = np.full((3, 2 * n), -0.1)
    for door in range(2):
        for heard in range(n):
            state = door * n + heard
            ways[0][state] = {door * n + 1 + door: 0.85, door * n + 2 - door: 0.15}
            rewards[1 + door, state], rewards[2 - door, state] = -10.0, 1.0
    return ways, rewards, [0, 1, 2, 0, 1, 2]


def evenly(n_states: int, *states: int) -> np.ndarray:
    belief = np.zeros(n_states)
    belief[list(states)] = 1.0 / len(states)
    return belief


@pytest.mark.parametrize("off", [1, 2])
def test_values_are_those_of_all_histories(off):
    ways, rewards, looks = fork(off)
    even = evenly(2 * off + 2, 0, off + 1)
    for belief in (even, 0.6 * even + 0.4 * evenly(2 * off + 2, 0)):
        expected = oracles.best_gain_in_doubt(belief, ways, rewards, looks, GAMMA, 5)
        found = values_in_doubt(belief, world(ways, rewards, looks))
        np.testing.assert_allclose(found, expected, atol=2 * GAMMA**5)


def test_a_tiger_is_listened_to_until_it_is_clear_enough():
    ways, rewards, looks = tiger()
    plans = world(ways, rewards, looks)
    for share, best in ((0.5, 0), (0.85, 0), (0.97, 2), (0.03, 1)):
        belief = np.array([share, 0.0, 0.0, 1.0 - share, 0.0, 0.0])
        expected = oracles.best_gain_in_doubt(belief, ways, rewards, looks, GAMMA, 8)
        # Less likely states are left out of the first belief, which 3 of 100 are not to be here.
        found = belief_planner._Beliefs(belief, plans).values()
        np.testing.assert_allclose(found, expected, atol=0.02)
        assert np.argmax(found) == np.argmax(expected) == best


@pytest.mark.parametrize("seed", range(10))
def test_in_worlds_at_random_too(seed):
    rng = np.random.default_rng(seed)
    n_states, n_actions = 4, 2
    ways = [
        [{int(rng.integers(n_states)): float(rng.choice([0.8, 1.0]))} for _ in range(n_states)]
        for _ in range(n_actions)
    ]
    rewards, looks = rng.normal(size=(n_actions, n_states)), [0, 0, 0, 1]
    belief = np.append(rng.dirichlet(np.full(3, 5.0)), 0.0)
    expected = oracles.best_gain_in_doubt(belief, ways, rewards, looks, GAMMA, 6)
    plans = world(ways, rewards, looks)
    found = values_in_doubt(belief, plans)
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert (found <= belief @ plans.values + 1e-6).all()  # to know the state is never worse


def test_it_looks_before_it_leaps():
    """The mean of the values walks to the fork and gambles; the look is worth the way."""
    ways, rewards, looks = fork(off=1)
    plans = world(ways, rewards, looks, gamma=0.99)
    belief = evenly(4, 0, 2)
    assert (belief @ plans.values).argmax() == 1  # stays: it would choose right in the next step
    found = values_in_doubt(belief, plans)
    assert found.argmax() == 0
    assert found[0] == pytest.approx(-0.02 - 0.99 * 0.02 + 0.99**2)


def test_what_was_never_tried_is_worth_what_the_values_say():
    ways, rewards, looks = fork()
    plans = world(ways, rewards, looks)
    plans.is_known[0, [0, 2]] = False  # the way to the sign
    plans.values[[0, 2], 0] = -7.0
    belief = evenly(4, 0, 2)
    found = values_in_doubt(belief, plans)
    assert found[0] == pytest.approx(-7.0)
    assert found[2] == pytest.approx(0.0)


def test_beyond_many_beliefs_the_mean_is_believed(monkeypatch):
    ways, rewards, looks = fork(off=2)
    plans, belief = world(ways, rewards, looks), evenly(6, 0, 3)
    monkeypatch.setattr(belief_planner, "MOST_BELIEFS", 1)
    found = values_in_doubt(belief, plans)
    expected = -0.02 + GAMMA * (evenly(6, 1, 4) @ plans.values).max()
    assert found[0] == pytest.approx(expected)


def test_improbable_states_are_no_doubt():
    assert not is_doubt(np.array([0.97, 0.03]))
    assert is_doubt(np.array([0.9, 0.1]))
    np.testing.assert_allclose(likely(np.array([0.5, 0.48, 0.02])), [0.5 / 0.98, 0.48 / 0.98, 0.0])
    assert not is_doubt(np.empty(0))
