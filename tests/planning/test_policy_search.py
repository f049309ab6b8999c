"""Policies in noise: in a linear world the best one is known, and takes over from bad plans."""

import numpy as np
import pytest

from tgm.planning.flow_planner import Plan, make_plan
from tgm.planning.linear_policy import LinearPolicy
from tgm.planning.policy_search import _long_enough, with_policy
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits, Steps

GAMMA = 0.95
NEWS = 1e-4 * np.diag([1.0, 4.0])


def balanced(n: int = 600) -> Steps:
    """A point that runs away from the middle, and is pushed; it must stay within 1.

    x' = x + 0.1 v, v' = v + 0.1 x +- 0.15. What grows is x + v, so that the best policy pushes
    against it: a linear one, of equal weights. Elsewhere all is lost.
    """
    rng = np.random.default_rng(1)
    departure = rng.uniform(-1.0, 1.0, size=(n, 2))
    action = rng.integers(2, size=n)
    x, v = departure.T
    arrival = np.column_stack([x + 0.1 * v, v + 0.1 * x + 0.15 * (2 * action - 1)])
    ended = np.abs(arrival[:, 0]) > 1.0
    return Steps(departure, action, np.ones(n), arrival, ended)


STEPS = balanced()
STARTS = np.random.default_rng(2).uniform(-0.3, 0.3, size=(16, 2))


@pytest.fixture(scope="module")
def plan() -> Plan:
    """In noise; it does the opposite of what is best."""
    units = FlowUnits.of_features(STEPS)
    local = units.seen(STEPS)
    model = FlowModel.of(local, 2)
    model.observation_noise = model.news = units.inverse.T @ NEWS @ units.inverse
    plan = make_plan(model, units, local, GAMMA)
    return plan._replace(greedy=-plan.greedy)


@pytest.fixture(scope="module")
def better(plan) -> Plan:
    return with_policy(plan, STARTS, STEPS.departure)


def test_the_policy_of_a_linear_world_is_found(plan, better):
    best = plan._replace(policy=LinearPolicy(np.array([[0.0, 1.0, 1.0], [0.0, -1.0, -1.0]])))
    known, found = (one.imagined_return(plan.outlook, STARTS) for one in (best, better))
    assert known == pytest.approx(plan.most_imagined(), abs=1e-3 * plan.range)
    assert found == pytest.approx(plan.most_imagined(), abs=1e-3 * plan.range)
    assert plan.imagined_return(plan.outlook, STARTS) < 0.5 * found
    weights = better.policy.weights[1] - better.policy.weights[0]
    assert weights[1] < 0.0
    assert weights[2] < 0.0
    assert abs(weights[0]) < 0.3 * abs(weights[1:]).max()


def test_it_acts_instead_of_the_greedy_actions(plan, better):
    points = STEPS.departure
    assert (better.best_actions(points) == better.policy.actions(points)).all()
    assert (better.action_values(points)[0].argmax(axis=1) == better.policy.actions(points)).all()
    np.testing.assert_array_equal(better.action_values(points)[1], plan.action_values(points)[1])


def test_a_plan_that_is_as_good_as_can_be_stays(plan, better):
    assert with_policy(better, STARTS, STEPS.departure) is better


@pytest.mark.parametrize(("gain", "is_better"), [(0.015, False), (0.025, True)])
def test_a_policy_must_be_better_by_a_fiftieth_of_the_range(plan, gain, is_better, monkeypatch):
    worth = plan.most_imagined()
    monkeypatch.setattr(
        Plan,
        "imagined_return",
        lambda self, *_, **__: worth if self.policy is not None else worth - gain * self.range,
    )
    assert (with_policy(plan, STARTS, STEPS.departure).policy is not None) == is_better


def sliding(n: int = 600) -> Steps:
    """A point slides 0.0045 ahead and earns 1, or back and earns 0.9; it must stay within 1."""
    rng = np.random.default_rng(3)
    x, action = rng.uniform(-1.0, 1.0, size=(n, 1)), rng.integers(2, size=n)
    x[::4] = np.sign(x[::4]) * rng.uniform(0.99, 1.0, size=(n // 4, 1))
    arrival = x + 0.0045 * (2 * action[:, None] - 1)
    return Steps(x, action, 0.9 + 0.1 * action, arrival, np.abs(arrival[:, 0]) > 1.0)


@pytest.mark.parametrize(
    ("gamma", "turn", "is_better"), [(0.97, 10.0, True), (0.99, 10.0, False), (0.99, 0.5, True)]
)
def test_what_comes_after_the_steps_of_the_search_counts(gamma, turn, is_better, monkeypatch):
    """To slide ahead is lost after 222 steps: what is left is worth 0.1 % or 11 % of the range."""
    steps, starts = sliding(), np.linspace(-0.05, 0.05, 16)[:, None]
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    model = FlowModel.of(local, 2)
    model.observation_noise = model.news = units.inverse.T @ np.array([[1e-8]]) @ units.inverse
    made = make_plan(model, units, local, gamma)
    steady, ahead = (  # ahead only from below the middle, or from below `turn`
        made._replace(policy=LinearPolicy(np.array([[0.0, 1.0], [below, 0.0]])))
        for below in (0.0, turn)
    )
    worth = [
        [one.imagined_return(made.outlook, starts, n_steps=n) for one in (steady, ahead)]
        for n in (200, 1000)
    ]
    assert worth[0][1] - worth[0][0] > 0.02 * made.range
    assert (worth[1][1] > worth[1][0]) == is_better
    monkeypatch.setattr("tgm.planning.policy_search.GENERATIONS", 2)
    monkeypatch.setattr("tgm.planning.policy_search.ELITE", 1)
    monkeypatch.setattr("tgm.planning.policy_search.RIVALS", 2)  # none but the first ones
    found = with_policy(steady, starts, steps.departure, ahead)
    wanted = ahead if is_better else steady
    assert (found.best_actions(steps.departure) == wanted.best_actions(steps.departure)).all()


def test_without_noise_there_is_no_search(plan):
    model = plan.model.frozen()
    model.observation_noise = 0.0 * model.observation_noise
    quiet = plan._replace(model=model)
    assert with_policy(quiet, STARTS, STEPS.departure) is quiet


def test_the_search_goes_on_from_the_policy_before(plan, better, monkeypatch):
    monkeypatch.setattr("tgm.planning.policy_search.GENERATIONS", 2)
    monkeypatch.setattr("tgm.planning.policy_search.ELITE", 1)
    monkeypatch.setattr("tgm.planning.policy_search.RIVALS", 2)  # none but the first ones
    again = with_policy(plan, STARTS, STEPS.departure, better)
    assert (again.best_actions(STEPS.departure) == better.best_actions(STEPS.departure)).all()


@pytest.mark.parametrize(
    ("gamma", "n_steps"), [(0.0, 200), (0.9, 200), (0.99, 390), (0.999, 1000), (1.0 - 1e-9, 1000)]
)
def test_policies_are_judged_by_bounded_episodes(gamma, n_steps):
    assert _long_enough(gamma) == n_steps
