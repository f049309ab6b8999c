"""The greedy policy as a table: as good as the plan, at a tenth of the cost."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.planning.test_flow_planner import GAMMA, pushed

from tgm.planning.flow_planner import make_plan
from tgm.planning.flow_support import Box
from tgm.planning.policy_table import PolicyTable
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits


@pytest.fixture(scope="module")
def plan():
    steps = pushed()
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    return make_plan(FlowModel.of(local, 2), units, local, GAMMA)


def test_at_support_points_it_is_the_plan(plan):
    table, points = PolicyTable.of(plan), plan.support.points
    wanted = plan.action_values(plan.units.observations(points))[0]
    np.testing.assert_allclose(table.values, wanted)
    for index in range(0, len(points), 7):
        assert table.action(index, points[index]) == wanted[index].argmax()


def test_slopes_are_those_of_the_values(plan):
    table, points = PolicyTable.of(plan), plan.support.points
    aside = plan.support.finest
    for axis in range(2):
        step = aside * np.eye(2)[axis]
        ahead, behind = (
            plan.action_values(plan.units.observations(points + sign * step))[0]
            for sign in (1.0, -1.0)
        )
        np.testing.assert_allclose(table.slopes[..., axis], (ahead - behind) / (2.0 * aside))


def test_between_support_points_slopes_decide():
    table = PolicyTable(np.zeros((1, 1)), np.zeros((1, 2)), np.array([[[1.0], [-1.0]]]))
    assert [table.action(0, np.array([z])) for z in (0.1, -0.1)] == [0, 1]


def test_many_points_at_once_are_the_same(plan):
    table, z = PolicyTable.of(plan), np.random.default_rng(2).uniform(0.1, 0.9, size=(30, 2))
    nearest = plan.interpolation.nearest(z)
    wanted = [table.action(int(index), one) for index, one in zip(nearest, z, strict=True)]
    assert table.actions(nearest, z).tolist() == wanted


@pytest.mark.parametrize(("values", "least", "is_kept"), [
    ([1.0, 0.0], -np.inf, False),  # always to the left: it leaves
    ([0.0, 1.0], -np.inf, False),
    (None, 1.0, True),  # to the middle
    (None, 1.1, False),
])  # fmt: skip
def test_it_loses_nothing_if_no_long_imagined_episode_ends(values, least, is_kept):
    slopes = np.array([[[1.0], [-1.0]]]) if values is None else np.zeros((1, 2, 1))
    table = PolicyTable(np.zeros((1, 1)), np.array([values or [0.0, 0.0]]), slopes)
    plan = SimpleNamespace(
        units=SimpleNamespace(local=lambda points: points),
        interpolation=SimpleNamespace(nearest=lambda z: np.zeros(len(z), dtype=int)),
        seen=Box(np.array([-3.0]), np.array([3.0])),
        model=SimpleNamespace(
            advance=lambda z, actions: (
                z + 0.004 * (2 * actions[:, None] - 1),
                (np.abs(z[:, 0]) > 1.0).astype(float),
                np.ones(len(z)),
            )
        ),
    )
    assert table.loses_nothing(plan, np.array([[0.0], [0.3]]), least) == is_kept


def test_episodes_by_the_table_are_worth_what_the_plan_imagines(plan):
    """From many places the point is brought to the goal, in about as many steps."""
    table, n_steps = PolicyTable.of(plan), {"table": 0, "plan": 0}
    for start in np.random.default_rng(1).uniform(-0.5, 0.5, size=(40, 2)):
        for name in n_steps:
            here = start.copy()
            while here[0] <= 0.9 and n_steps[name] < 4000:
                assert here[0] >= -0.9
                z = plan.units.local(here[None])
                nearest = int(plan.interpolation.nearest(z)[0])
                action = table.action(nearest, z[0])
                if name == "plan":
                    action = int(plan.action_values(here[None])[0].argmax())
                here[1] = 0.9 * here[1] + 0.1 * (2 * action - 1)
                here[0] += 0.3 * here[1]
                n_steps[name] += 1
    assert n_steps["table"] < 1.05 * n_steps["plan"]
