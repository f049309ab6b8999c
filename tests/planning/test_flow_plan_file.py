"""A plan of a world that flows in a file: the same values, and nothing that contradicts itself."""

import numpy as np
import pytest
from tests.planning.test_flow_planner import GAMMA, pushed

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.planning.flow_plan_file import plan_from_arrays, plan_to_arrays
from tgm.planning.flow_planner import Plan, make_plan
from tgm.planning.flow_support import COARSEST
from tgm.planning.linear_policy import LinearPolicy
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits


@pytest.fixture(scope="module")
def plan() -> Plan:
    steps = pushed()
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    return make_plan(FlowModel.of(local, 2), units, local, GAMMA)


def test_a_plan_survives_a_file(plan):
    copy = plan_from_arrays(ArrayReader(plan_to_arrays(plan)), 2, 2, GAMMA)
    points = pushed(50, seed=1).departure
    for one, other in zip(plan.action_values(points), copy.action_values(points), strict=True):
        np.testing.assert_array_equal(one, other)


def test_so_does_its_policy(plan):
    led = plan._replace(policy=LinearPolicy(np.array([[0.0, 1.0, 0.0], [0.1, 0.0, 1.0]])))
    copy = plan_from_arrays(ArrayReader(plan_to_arrays(led)), 2, 2, GAMMA)
    points = pushed(50, seed=1).departure
    np.testing.assert_array_equal(copy.best_actions(points), led.policy.actions(points))
    with pytest.raises(DataError, match="policy"):
        plan_from_arrays(ArrayReader(plan_to_arrays(led) | {"policy": np.eye(2)}), 2, 2, GAMMA)


@pytest.mark.parametrize(
    ("name", "change", "is_good"),
    [
        ("spacing", lambda array: 0.0 * array + 1.9 * COARSEST, True),
        ("spacing", lambda array: 0.0 * array + 2.1 * COARSEST, False),
        ("spacing", lambda array: 0.0 * array, False),
        ("n_visited", lambda array: array + 10**6, False),
        ("n_coarse", lambda array: array + 10**6, False),
        ("n_coarse", lambda array: 0 * array, False),
        ("finest", lambda array: 0.0 * array, False),
        ("points", lambda array: array[:0], False),
        ("points", lambda array: array[:, :1], False),
        ("box", lambda array: array[:1], False),
        ("seen", lambda array: np.nan * array, False),
        ("reach.discount", lambda array: array + 1.0, False),
        ("reach.discount", lambda array: array - 1.0, False),
        ("reach.reward", lambda array: array[1:], False),
        ("reach.arrival", lambda array: array[1:], False),
        ("greedy", lambda array: array[1:], False),
        ("hopeful", lambda array: np.inf * array, False),
        ("is_unknown", lambda array: array[1:], False),
        ("bounds", lambda array: array[:1], False),
    ],
)
def test_a_plan_in_a_file_is_checked(plan, name, change, is_good):
    arrays = plan_to_arrays(plan)
    arrays[name] = change(arrays[name].copy())
    if is_good:
        assert plan_from_arrays(ArrayReader(arrays), 2, 2, GAMMA).support.spacing > COARSEST
    else:
        with pytest.raises(DataError, match=name.rpartition(".")[2].replace("n_visited", "points")):
            plan_from_arrays(ArrayReader(arrays), 2, 2, GAMMA)
