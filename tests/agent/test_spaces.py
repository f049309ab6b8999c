"""Spaces of any finite kind as one vector with names, and what is refused."""

import json

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from tests.finite_worlds import Rooms, Wheel

import tgm
from tgm.agent.spaces import Interface
from tgm.errors import DataError, SpaceError
from tgm.runs import Run


def interface_of(space, actions=None) -> Interface:
    env = gym.Env()
    env.observation_space = space
    env.action_space = spaces.Discrete(2) if actions is None else actions
    return Interface.of(env)


NESTED = spaces.Dict(
    {
        "arm": spaces.Dict({"angle": spaces.Box(-1, 1, (2,)), "held": spaces.Discrete(3)}),
        "map": spaces.Box(0, 1, (2, 2)),
        "pair": spaces.Tuple([spaces.MultiDiscrete([3, 4]), spaces.MultiBinary(2)]),
    }
)


@pytest.mark.parametrize(
    ("space", "names", "categorical"),
    [
        (spaces.Discrete(4, start=3), ["observation"], [True]),
        (spaces.Box(0, 1, (2,)), ["observation[0]", "observation[1]"], [False, False]),
        (spaces.Box(0, 1, ()), ["observation"], [False]),
        (spaces.Tuple([spaces.Discrete(3), spaces.Box(0, 1, (1,))]),
         ["observation[0]", "observation[1][0]"], [True, False]),
        (NESTED,
         ["arm.angle[0]", "arm.angle[1]", "arm.held", "map[0,0]", "map[0,1]", "map[1,0]",
          "map[1,1]", "pair[0][0]", "pair[0][1]", "pair[1][0]", "pair[1][1]"],
         [False, False, True, False, False, False, False, True, True, True, True]),
    ],
)  # fmt: skip
def test_every_feature_has_a_name_and_a_kind(space, names, categorical):
    interface = interface_of(space)
    assert list(interface.feature_names) == names
    assert interface.is_categorical.tolist() == categorical
    space.seed(0)
    flat = interface.observation(space.sample(), "here")
    assert flat.shape == (len(names),)
    assert flat.dtype == np.float64


def test_an_observation_is_flattened_in_the_order_of_the_names():
    seen = {
        "arm": {"angle": np.array([0.1, 0.2]), "held": 2},
        "map": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "pair": (np.array([1, 3]), np.array([0, 1])),
    }
    flat = interface_of(NESTED).observation(seen, "here")
    assert flat.tolist() == [0.1, 0.2, 2, 1, 2, 3, 4, 1, 3, 0, 1]


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(4),
        NESTED,
        spaces.Box(0, 1, (2, 2)),
        spaces.MultiBinary(3),
        spaces.MultiDiscrete([2, 3]),
    ],
)
def test_a_batch_has_one_more_dimension_in_each_part(space):
    space.seed(1)
    interface, rows = interface_of(space), [space.sample() for _ in range(3)]
    flat, is_batch = interface.observations(stacked(rows), "here")
    assert is_batch
    assert flat.tolist() == [interface.observation(row, "here").tolist() for row in rows]
    one, is_batch = interface.observations(rows[0], "here")
    assert not is_batch
    assert one.tolist() == flat[:1].tolist()


def stacked(rows):
    """As vectorised environments give them."""
    if isinstance(rows[0], dict):
        return {key: stacked([row[key] for row in rows]) for key in rows[0]}
    if isinstance(rows[0], tuple):
        return tuple(stacked(list(part)) for part in zip(*rows, strict=True))
    return np.array(rows)


def test_the_environment_may_name_its_features():
    env = Rooms()
    env.feature_names = ["x", "y", "room"]
    assert Interface.of(env).feature_names == ("x", "y", "room")
    env.feature_names = ["x", "y"]  # of another length
    assert Interface.of(env).feature_names == ("position[0]", "position[1]", "room")


@pytest.mark.parametrize(
    ("space", "seen", "reason"),
    [
        (spaces.Discrete(4), 1.5, "observation is 1.5; it must be a whole number"),
        (spaces.Discrete(4), np.nan, "observation is nan; it must be finite"),
        (spaces.MultiBinary(50), np.full(50, 0.5), r"observation\[0\] is 0.5"),
        (spaces.MultiBinary(50), np.array([np.inf] * 50), r"observation\[0\] is inf"),
        (spaces.Box(0, 1, (2, 2)), np.zeros(4), r"shape \(4,\), not \(2, 2\)"),
        (spaces.Box(0, 1, (2, 2)), np.array([[0, 1], [np.nan, 1]]), r"observation\[1,0\] is nan"),
        (spaces.Dict({"a": spaces.Discrete(2)}), {"b": 1}, "no part 'a'"),
        (spaces.Dict({"a": spaces.Box(0, 1, (2,))}), {"a": [0, 1j]}, "part 'a'.*complex"),
        (spaces.Dict({"a": spaces.Box(0, 1, (2,))}), {"a": "x"}, "part 'a'.*not numeric"),
        (spaces.Tuple([spaces.Discrete(2)]), 3, r"no part 'observation\[0\]'"),
        (spaces.Box(0, 1, (2,)), np.ma.array([1.0, 2.0], mask=[False, True]),
         r"observation\[1\] is masked"),
    ],
)  # fmt: skip
def test_bad_observations_are_refused_by_name(space, seen, reason):
    with pytest.raises(DataError, match=f"here: .*{reason}"):
        interface_of(space).observation(seen, "here")


def test_wide_boxes_are_refused_before_anything_is_allocated():
    with pytest.raises(SpaceError, match=r"12288 features in a Box; at most 5000.*Transform"):
        interface_of(spaces.Box(0, 255, (64, 64, 3), np.uint8))
    assert interface_of(spaces.Box(0, 1, (70, 71))).n_features == 4970
    assert interface_of(spaces.MultiBinary(20_000)).n_features == 20_000


@pytest.mark.parametrize(
    "space",
    [spaces.Box(-1, 1, (2,)), spaces.Text(4), spaces.Dict({"a": spaces.Discrete(2)}),
     spaces.MultiDiscrete([[2, 2], [2, 2]])],
)  # fmt: skip
def test_other_actions_are_refused_by_name(space):
    with pytest.raises(
        SpaceError, match=r"the action space is .*; wanted Discrete.*TransformAction"
    ):
        interface_of(spaces.Discrete(2), space)


def test_too_many_combinations_of_actions_are_refused():
    with pytest.raises(SpaceError, match="1001 combinations"):
        interface_of(spaces.Discrete(2), spaces.MultiDiscrete([7, 11, 13]))
    assert interface_of(spaces.Discrete(2), spaces.MultiDiscrete([10, 100])).n_actions == 1000


def test_a_part_that_is_not_known_is_named():
    with pytest.raises(SpaceError, match=r"part \('a', 1\) of the observation space is Text"):
        interface_of(spaces.Dict({"a": spaces.Tuple([spaces.Discrete(2), spaces.Text(3)])}))


@pytest.mark.parametrize("env", [Rooms(), Wheel()])
def test_an_interface_survives_json(env):
    interface = Interface.of(env)
    again = Interface.from_dict(json.loads(json.dumps(interface.to_dict())))
    assert again == interface
    assert again.fits(interface)


def test_files_of_older_versions_have_flat_boxes():
    old = {"n_features": 2, "n_actions": 3, "first_action": 1, "action_names": ["a", "b", "c"]}
    interface = Interface.from_dict(old)
    assert interface.fits(interface_of(spaces.Box(0, 1, (2,)), spaces.Discrete(3, start=1)))
    assert not interface.fits(interface_of(spaces.Box(0, 1, (2,)), spaces.Discrete(3)))
    assert not interface.fits(interface_of(spaces.MultiBinary(2), spaces.Discrete(3, start=1)))


@pytest.mark.parametrize(
    "change",
    [
        {"n_features": 3},
        {"parts": [{"path": [], "kind": "box", "shape": [-1]}]},
        {"parts": [{"path": [], "kind": "text", "shape": [2]}]},
        {"parts": [{"path": [], "kind": "box", "shape": [6000]}], "n_features": 6000},
        {"actions": {"starts": [0, 0], "counts": [2], "is_array": True}},
        {"actions": {"starts": [0, 0], "counts": [2, 2], "is_array": True}},
        {"given_names": ["x"]},
    ],
)
def test_interfaces_of_files_are_checked(change):
    told = interface_of(spaces.Box(0, 1, (2,))).to_dict() | change
    with pytest.raises(SpaceError):
        Interface.from_dict(told)


def test_a_model_of_other_spaces_is_refused(tmp_path):
    tgm.TGMAgent(Wheel(), seed=0).learn(30).save(tmp_path / "wheel.tgm")
    with pytest.raises(tgm.errors.RunError, match="another environment"):
        tgm.TGMAgent.load(tmp_path / "wheel.tgm", Rooms())


def test_names_given_to_learn_are_kept_in_the_run(tmp_path):
    agent = tgm.TGMAgent(gym.make("CartPole-v1"), tgm.TGMConfig(), seed=0)
    features = ("place", "speed", "angle", "turn")
    agent.learn(
        5,
        run_dir=tmp_path / "run",
        feature_names=features,
        action_names=["push left", "push right"],
    )
    assert agent.interface.feature_names == features
    kept = Interface.from_dict(Run.open(tmp_path / "run").metadata["interface"])
    assert kept.feature_names == features
    assert kept.action_names == ("push left", "push right")
    assert kept.fits(agent.interface)
    for wrong in ({"feature_names": ["a"]}, {"action_names": "ab"}, {"action_names": ["a", "a"]}):
        with pytest.raises(SpaceError, match="different names"):
            agent.learn(5, **wrong)
