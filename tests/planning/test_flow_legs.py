"""Rows of several legs: the laws are followed further, and values leak less."""

import numpy as np
import pytest
from tests.oracles import values_of_legs
from tests.planning.test_flow_planner import GAMMA, STARTS, pushed

from tgm.planning import flow_legs
from tgm.planning.flow_legs import with_legs
from tgm.planning.flow_planner import make_plan
from tgm.planning.flow_support import hold
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits


@pytest.fixture(scope="module")
def plan():
    """Of few points, so that values leak."""
    steps = pushed()
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tgm.planning.flow_planner.most_points", lambda n: 100)
        return make_plan(FlowModel.of(local, 2), units, local, GAMMA)


def test_rows_of_legs_are_those_that_are_followed_one_by_one(plan, monkeypatch):
    monkeypatch.setattr(flow_legs, "LEG_ROUNDS", 1)
    found = with_legs(plan).greedy
    np.testing.assert_allclose(
        found, values_of_legs(plan, hold, flow_legs.LEGS), rtol=1e-3, atol=1e-3
    )


def test_one_leg_changes_nothing(plan, monkeypatch):
    monkeypatch.setattr(flow_legs, "LEGS", 1)
    np.testing.assert_allclose(with_legs(plan).greedy, plan.greedy, rtol=1e-3, atol=1e-3)


def test_with_legs_a_plan_promises_less_than_it_does_not_keep(plan):
    def error(one):
        worth = np.array([one.imagined_return(one.outlook, start[None]) for start in STARTS])
        return np.abs(one.action_values(STARTS)[0].max(axis=1) - worth).mean()

    assert error(with_legs(plan)) < error(plan)
