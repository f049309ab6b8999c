"""Plans of a point that is pushed: it must reach the far side, and not fall off."""

import numpy as np
import pytest

from tgm.planning.flow_planner import make_plan
from tgm.planning.flow_support import MOST_POINTS, Box, find_support, hold
from tgm.planning.local_planes import plane_values
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits, Steps

GAMMA = 0.95


def pushed(n=400, seed=0, goal=0.9, edge=-0.9):
    """Steps of a point with a speed; beyond the goal and the edge it ends, each step costs one."""
    rng = np.random.default_rng(seed)
    departure = rng.uniform(-0.9, 0.9, size=(n, 2))
    action = rng.integers(2, size=n)
    speed = 0.9 * departure[:, 1] + 0.1 * (2 * action - 1)
    arrival = np.column_stack([departure[:, 0] + 0.3 * speed, speed])
    at_goal, fell = arrival[:, 0] > goal, arrival[:, 0] < edge
    reward = np.where(fell, -50.0, -1.0)
    return Steps(departure, action, reward, arrival, at_goal | fell)


@pytest.fixture(scope="module")
def plan():
    steps = pushed()
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    return make_plan(FlowModel.of(local, 2), units, local, GAMMA)


def test_the_greedy_action_leads_to_the_goal(plan):
    at_rest = np.array([[-0.8, 0.0], [-0.3, 0.0], [0.2, 0.0], [0.7, 0.0]])
    greedy, hopeful = plan.action_values(at_rest)
    assert greedy.argmax(axis=1).tolist() == [1, 1, 1, 1]
    assert (np.diff(greedy.max(axis=1)) > 0.0).all()
    assert greedy.shape == hopeful.shape == (4, 2)


@pytest.fixture(scope="module")
def two_plans():
    """Few points: without refinement, and with it from where the episodes below begin."""
    steps = pushed()
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tgm.planning.flow_planner.most_points", lambda n: 120)
        model = FlowModel.of(local, 2)
        plain = make_plan(model, units, local, GAMMA)
        return plain, make_plan(model, units, local, GAMMA, None, STARTS)


STARTS = np.array([[-0.5, 0.0], [-0.3, -0.1]])


def test_the_support_is_finer_where_greedy_episodes_pass(two_plans):
    plain, finer = two_plans
    support = finer.support
    assert support.n_coarse <= 0.55 * 120 < len(support.points) <= 120
    assert support.finest == 0.5 * support.spacing
    assert plain.support.n_coarse == len(plain.support.points) <= 120
    assert plain.support.finest == plain.support.spacing
    passed = finer.passed(finer.outlook, STARTS)
    away = np.abs(support.points[support.n_coarse :, None] - passed).max(axis=2).min(axis=1)
    assert np.median(away) < support.spacing
    assert finer.interpolation.spacing == support.finest


def test_then_values_are_nearer_to_what_the_policy_is_worth(two_plans):
    def error(plan):
        worth = np.array([plan.imagined_return(plan.outlook, one[None]) for one in STARTS])
        return np.abs(plan.action_values(STARTS)[0].max(axis=1) - worth).max()

    plain, finer = two_plans
    assert error(finer) < error(plain)


def test_greedy_episodes_pass_where_the_laws_lead_until_the_end(plan):
    passed = plan.units.observations(plan.passed(plan.outlook, np.array([[0.0, 0.0]])))
    position, speed, expected = 0.0, 0.0, []
    while position <= 0.9:
        speed = 0.9 * speed + 0.1
        position += 0.3 * speed
        expected.append((position, speed))
    np.testing.assert_allclose(passed[: len(expected)], expected, atol=0.02)
    assert len(passed) <= len(expected) + 2


def test_where_the_plan_before_would_pass_the_support_is_finer_too(two_plans):
    finer = two_plans[1]
    elsewhere = np.array([[0.5, -0.3]])
    reached = finer.passed(finer.outlook, elsewhere)

    class Before(type(finer)):
        def passed(self, outlook, starts):
            return reached

    steps = finer.units.seen(pushed())
    again = make_plan(finer.model, finer.units, steps, GAMMA, Before(*finer), STARTS)
    new = again.support.points[again.support.n_coarse :]
    cells = {tuple(cell) for cell in np.round(new / again.support.finest).astype(int).tolist()}
    wanted = np.round(again.support.box.clip(reached) / again.support.finest).astype(int)
    assert {tuple(cell) for cell in wanted.tolist()} <= cells


def test_nothing_is_refined_where_nothing_was_found():
    steps = pushed()
    steps = steps._replace(reward=np.zeros(len(steps.reward)), ended=steps.ended & False)
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    plan = make_plan(FlowModel.of(local, 2), units, local, GAMMA, None, STARTS)
    assert plan.support.n_coarse == len(plan.support.points)


def test_nothing_is_refined_in_noise(plan):
    model = plan.model.frozen()
    model.observation_noise = model.news = 1e-4 * np.eye(2)
    noisy = make_plan(model, plan.units, plan.units.seen(pushed()), GAMMA, None, STARTS)
    assert noisy.support.n_coarse == len(noisy.support.points)


def test_in_noise_values_are_those_of_the_best_of_all_pairs_of_actions(plan):
    model = plan.model.frozen()
    model.observation_noise = 1e-4 * np.eye(2)
    noisy = plan._replace(model=model)
    support, points = plan.support, np.array([[-0.3, 0.1], [0.2, -0.2]])
    for point, values in zip(points, noisy.action_values(points)[0], strict=True):
        gains, ways = [], []
        for first in (0, 1):
            for second in (0, 1):
                z, gain, left = plan.units.local(point[None]), 0.0, 1.0
                for action in (first, second):
                    one = hold(model, z, np.array([action]), support.spacing, GAMMA, support.box, 2)
                    gain, left, z = gain + left * one.reward[0], left * one.discount[0], one.arrival
                gains.append((gain, left))
                ways.append(support.box.clip(z)[0])
        there = plane_values(plan.interpolation, (plan.greedy,), np.array([ways]))[0, 0]
        found = [gain + left * value for (gain, left), value in zip(gains, there, strict=True)]
        best = np.max(np.reshape(found, (2, 2)), axis=1)
        np.testing.assert_allclose(values, best, rtol=1e-9)


def test_imagined_episodes_say_what_a_policy_is_worth(plan):
    start = np.array([[0.0, 0.0]])
    found = plan.imagined_return(plan.outlook, start)
    position, speed, total, discount = 0.0, 0.0, 0.0, 1.0
    while position <= 0.9:
        speed = 0.9 * speed + 0.1
        position += 0.3 * speed
        total -= discount
        discount *= GAMMA
    assert found == pytest.approx(total, abs=1.0)


@pytest.mark.parametrize("too_much", [0.01, 1.0, 100.0])
def test_imagination_stops_when_it_cannot_be_enough(plan, too_much):
    starts = np.array([[0.0, 0.0], [-0.5, 0.0], [0.7, 0.1]])
    whole = plan.imagined_return(plan.outlook, starts)
    assert plan.imagined_return(plan.outlook, starts, whole - 1e-9) == whole
    enough = whole + too_much
    assert whole <= plan.imagined_return(plan.outlook, starts, enough) < enough


def test_imagination_does_not_begin_where_nothing_is_enough(plan, monkeypatch):
    monkeypatch.setattr(type(plan), "action_values", None)
    starts = np.zeros((3, 2))
    assert plan.imagined_return(plan.outlook, starts, plan.most_imagined() + 1e-9) == 0.0


def test_support_is_closed_and_bounded(plan):
    support = plan.support
    assert support.n_visited <= len(support.points) <= MOST_POINTS
    goes_on = support.reach.arrival[support.reach.discount > 0.3]
    inside = support.box.clip(goes_on)
    distance = np.linalg.norm(inside - support.points[plan.interpolation.nearest(inside)], axis=1)
    assert distance.max() < 1.5 * support.spacing


def test_few_points_make_a_coarser_support(plan):
    steps = plan.units.seen(pushed())
    few = find_support(plan.model, steps, plan.support.spacing, GAMMA, 60)
    assert len(few.points) <= 60
    assert few.spacing > plan.support.spacing


def test_holding_adds_up_rewards_and_discounts(plan):
    z = plan.units.local(np.array([[0.0, 0.0]]))
    box = Box(np.full(2, -9.0), np.full(2, 9.0))
    one = hold(plan.model, z, np.array([1]), 1e-9, GAMMA, box)
    assert one.discount[0] == pytest.approx(GAMMA)
    assert one.reward[0] == pytest.approx(-1.0, abs=0.05)
    three = hold(plan.model, z, np.array([1]), 9.0, GAMMA, box, 3)
    assert three.discount[0] == pytest.approx(GAMMA**3)
    assert three.reward[0] == pytest.approx(-1.0 - GAMMA - GAMMA**2, abs=0.1)


def test_beyond_all_that_was_seen_greed_fears_and_hope_hopes():
    steps = pushed(goal=99.0, edge=-99.0)._replace(reward=np.full(400, -1.0))
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    plan = make_plan(FlowModel.of(local, 2), units, local, GAMMA)
    greedy, hopeful = plan.action_values(np.array([[0.85, 0.8]]))
    assert plan.is_unknown.any()
    assert plan.promises_more(greedy[0], hopeful[0])


def test_what_lies_beyond_all_that_was_seen_is_worth_the_lowest_value():
    steps = pushed(goal=99.0, edge=-99.0)
    steps = steps._replace(reward=np.where(steps.arrival[:, 0] > 0.3, 0.0, -1.0))
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    plan = make_plan(FlowModel.of(local, 2), units, local, GAMMA)
    assert plan.lowest == pytest.approx(-1.0 / (1.0 - GAMMA))
    # Both are free of costs soon, if the laws may be believed; nobody was ever so fast.
    slow, fast = plan.action_values(np.array([[-0.2, 0.7], [-0.2, 2.5]]))[0]
    assert (slow > 0.5 * plan.lowest).all()
    assert (fast < 0.8 * plan.lowest).all()


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
def test_noise_of_rewards_is_no_reason_to_hope_or_fear(noise):
    """A step is worth 1 and an end 0, which noise hides by more than the gain of a whole life."""
    steps = pushed()
    rewards = np.where(steps.ended, 0.0, 1.0)
    rewards += noise * np.random.default_rng(1).standard_normal(len(rewards))
    steps = steps._replace(reward=rewards)
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    plan = make_plan(FlowModel.of(local, 2), units, local, GAMMA)
    error = 4.0 * noise / np.sqrt([steps.ended.sum(), (~steps.ended).sum()])
    assert plan.lowest * (1.0 - GAMMA) == pytest.approx(0.0, abs=error[0] + 1e-9)
    assert plan.highest * (1.0 - GAMMA) == pytest.approx(1.0, abs=error[1] + 1e-9)


def test_a_tenth_of_the_span_around_all_that_was_seen_counts_as_seen(plan):
    points = plan.units.seen(pushed()).points
    np.testing.assert_allclose(plan.seen.low, points.min(axis=0) - 0.1)
    np.testing.assert_allclose(plan.seen.high, points.max(axis=0) + 0.1)


@pytest.mark.parametrize(("gain", "is_clear"), [(0.0, False), (0.9, False), (1.1, True)])
def test_hope_must_promise_a_twentieth_of_the_range_of_values(plan, gain, is_clear):
    bounded = plan._replace(lowest=-15.0, highest=5.0)
    greedy, hopeful = np.array([-7.0, -3.0]), np.array([-3.0 + gain, -9.0])
    assert bounded.promises_more(greedy, hopeful) == is_clear


def test_what_is_as_good_as_can_be_is_a_thousandth_of_the_range_below_it(plan):
    best = plan._replace(highest=100.0, lowest=0.0, gamma=0.99)  # a reward of 1 for ever
    assert best.least_reward == pytest.approx(0.999)
    assert best.enough == pytest.approx(100.0 * (1.0 - 0.99**200) - 0.1)
