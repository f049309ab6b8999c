"""Actions by index: one number, or all combinations of several."""

import gymnasium as gym
import numpy as np
import pytest

from tgm.agent.action_table import ActionTable


def test_a_discrete_action_is_a_plain_number():
    table = ActionTable.of(gym.spaces.Discrete(3, start=-1))
    assert [table.action(index) for index in range(3)] == [-1, 0, 1]
    assert type(table.action(0)) is int
    assert table.actions(np.array([2, 0])).tolist() == [1, -1]
    assert table.names(None) == ("action -1", "action 0", "action 1")
    assert table.names(["left", "stay", "right"]) == ("left", "stay", "right")
    assert table.names(["left"]) == table.names(None)  # of another length


@pytest.mark.parametrize(
    "space", [gym.spaces.MultiDiscrete([3, 2], start=[1, 0]), gym.spaces.MultiBinary(3)]
)
def test_combinations_are_numbered_once_each(space):
    table = ActionTable.of(space)
    actions = [table.action(index) for index in range(table.n_actions)]
    assert all(space.contains(np.asarray(action, dtype=space.dtype)) for action in actions)
    assert len({tuple(action.tolist()) for action in actions}) == len(actions) == table.n_actions
    assert table.actions(np.arange(table.n_actions)).tolist() == np.array(actions).tolist()


def test_names_of_choices_are_combined():
    table = ActionTable.of(gym.spaces.MultiDiscrete([2, 2]))
    assert table.names([["left", "right"], ["low", "high"]]) == (
        "left + low", "left + high", "right + low", "right + high",
    )  # fmt: skip
    assert table.names(None) == ("action 0, 0", "action 0, 1", "action 1, 0", "action 1, 1")
    assert table.names(["a", "b", "c", "d"]) == ("a", "b", "c", "d")
