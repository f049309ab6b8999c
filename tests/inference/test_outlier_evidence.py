"""Whether all that was seen of a state were outliers, against the posterior and by hand."""

import math

import numpy as np
import pytest
from tests.inference.test_step_filter import ROW_PRIOR, World

from tgm.inference import step_filter
from tgm.inference.outlier_evidence import OutlierEvidence
from tgm.memory.step import Step
from tgm.transition.sparse import START, START_ACTION


def evidence_of(world: World) -> OutlierEvidence:
    return OutlierEvidence(world.model, world.filter, ROW_PRIOR)


def arrival(point: np.ndarray, state: int | None, action: int | None) -> Step:
    before = [] if state is None else [(state, 1.0)]
    return Step(None, before, action, 0.0, 0.0, point)


@pytest.mark.parametrize("seed", range(4))
def test_the_odds_of_one_point_are_those_of_the_posterior(seed, monkeypatch):
    monkeypatch.setattr(step_filter, "DROPPED", 0.0)
    world = World(seed)
    world.fill(np.random.default_rng(seed))
    point = np.array([2.5, 1.5])
    for state, action in ((0, 0), (1, 1), (3, 1)):
        before = world.filter.posterior(point, [(state, 1.0)], action, None)
        world.transitions.add(state, action, 5, 1.0, 0.0, 0.0)  # had it been counted
        odds = evidence_of(world).log_odds(5, [arrival(point, state, action)])
        assert odds == pytest.approx(math.log(before.outlier / before.newness), abs=1e-9)


def test_the_odds_of_three_points_by_hand():
    world = World()
    world.fill(np.random.default_rng(0))
    points = [np.array([5.0, 0.1]), np.array([5.1, 0.0]), np.array([4.9, 0.0])]
    rows = [(0, 0), (0, 0), (START, START_ACTION)]
    for row in rows:
        world.transitions.add(*row, 5, 1.0, 0.0, 0.0)
    steps = [arrival(points[0], 0, 0), arrival(points[1], 0, 0), arrival(points[2], None, None)]
    share, displacements = world.model.background.share, world.displacements
    total = 0.0
    n = sum(world.transitions.row(0, 0).values())
    n_starts = sum(world.transitions.row(START, START_ACTION).values())
    alive = world.states.n_alive
    real = [
        ROW_PRIOR / 3 / (n - 2 + ROW_PRIOR),
        (1 + ROW_PRIOR / 3 / alive) / (n - 1 + ROW_PRIOR),
        ROW_PRIOR * 2 / 3 / alive / (n_starts - 1 + ROW_PRIOR),
    ]
    for index, point in enumerate(points):
        offset = point - world.states.mean[0]
        broad = displacements.log_broad_density(offset)
        if index == 2:
            broad = world.states.log_anywhere(point)
        seen = float(world.states.log_densities(point)[5])
        if index == 0:
            seen = displacements.log_density(offset, 0)
        total += math.log(share) + broad - math.log(1 - share) - math.log(real[index]) - seen
    assert evidence_of(world).log_odds(5, steps) == pytest.approx(total, abs=1e-9)


def test_a_third_of_the_base_of_a_row_stays_and_a_third_is_shared_by_all_states():
    evidence = evidence_of(World())  # five states; no action has a law
    assert evidence._elsewhere(5, (5, 0)) == pytest.approx(1 / 3 + 1 / 15)
    assert evidence._elsewhere(0, (3, 0)) == pytest.approx(1 / 15)
    assert evidence._elsewhere(0, (START, START_ACTION)) == pytest.approx(2 / 15)


def test_rows_that_lead_elsewhere_speak_for_outliers_and_one_that_leads_there_against():
    world = World()
    world.model.background.n_outliers, world.model.background.n_points = 5.0, 100.0
    for state in (0, 1, 3):
        for _ in range(1000):
            world.transitions.add(state, 0, state, 1.0, 0.0, 0.0)
        world.transitions.add(state, 0, 5, 1.0, 0.0, 0.0)
    for _ in range(3):
        world.transitions.add(4, 1, 5, 1.0, 0.0, 0.0)
    point = world.states.mean[5]
    evidence = evidence_of(world)
    assert evidence.log_odds(5, [arrival(point, state, 0) for state in (0, 1, 3)]) > 3
    assert evidence.log_odds(5, [arrival(point, 4, 1)] * 3) < -3


@pytest.mark.parametrize("is_retracted", [False, True])
def test_what_came_after_was_predicted_by_where_the_row_leads_or_by_the_state(is_retracted):
    """Against rows from which the followers were really taken back, one after the other."""
    world = World()
    world.fill(np.random.default_rng(0))
    for _ in range(6):
        world.transitions.add(0, 0, 1, 1.0, 0.0, 0.0)
    steps = []
    for place in (1, 4):  # the first is where the row of state 1 leads, too
        step = arrival(world.states.mean[5], 0, 0)
        step.entries, step.after = [(0, 5, 1.0)], [(5, 1.0)]
        follower = arrival(world.states.mean[place] + 0.1, 5, 1)
        follower.entries, follower.kept_in = [(5, place, 1.0)], place
        follower.retracted = is_retracted
        step.next = follower
        steps += [step]
        world.model.count(step, 1.0)
    followers = [step.next for step in steps]
    expected = [pair for pair in world.filter.expected([(0, 1.0)], 0) if pair[0] != 5]
    sure = sum(p for _, p in expected)
    otherwise = [(state, p / sure) for state, p in expected]

    def log_density(step, before):
        likely = world.states.log_densities(step.arrival)
        return world.filter._full(step.arrival, likely, before, 1, None).log_density

    wanted = 0.0
    for follower in followers:
        wanted += log_density(follower, otherwise) - log_density(follower, [(5, 1.0)])
        world.model.count(follower, 1.0)
    found = evidence_of(world).log_odds(5, steps)
    for step in steps:
        step.next = None
    bare = evidence_of(world).log_odds(5, steps)
    assert found - bare == pytest.approx(wanted, abs=1e-9)
    assert abs(wanted) > 0.5


@pytest.mark.parametrize(("newness", "outlier", "was_real"), [(0.3, 0.3, True), (0.3, 0.1, False)])
def test_what_was_never_seen_was_real_if_known_states_do_not_explain_what_follows(
    newness, outlier, was_real
):
    world = World()
    doubted = step_filter.StepPosterior([], [], 0.4, [], 0.0, 0.6)  # no known state may be meant
    known = [(0, 1.0 - newness - outlier)]
    after = step_filter.StepPosterior([], known, newness, [], 0.0, outlier)
    step = arrival(np.array([2.0, 1.5]), 0, 0)
    assert evidence_of(world).was_real(doubted, step, after) == was_real


# --- outliers that follow each other --------------------------------------------------------------


def follower_of(world: World, step: Step, point: np.ndarray, state: int) -> Step:
    """What came after a step, by action 1, and is kept in a state."""
    source = step.after[0][0]
    follower = arrival(point, source, 1)
    follower.entries, follower.after = [(source, state, 1.0)], [(state, 1.0)]
    follower.kept_in, step.next = state, follower
    return follower


def two_in_a_row(world: World) -> tuple[Step, Step, Step]:
    """Action 0 of state 0 led to a state of one point, that to another one, and that to state 4."""
    world.fill(np.random.default_rng(0))
    for _ in range(6):
        world.transitions.add(0, 0, 1, 1.0, 0.0, 0.0)
        world.transitions.add(1, 1, 3, 1.0, 0.0, 0.0)
    points = [np.array([2.0, 6.0]), np.array([1.0, -7.0])]
    for point in points:
        world.states.add(world.model.add_state(0.0), point, 1.0)
    slots = world.states.alive[world.states.weight[world.states.alive] == 1.0].tolist()
    first = arrival(points[0], 0, 0)
    first.entries, first.after, first.kept_in = [(0, slots[0], 1.0)], [(slots[0], 1.0)], slots[0]
    second = follower_of(world, first, points[1], slots[1])
    third = follower_of(world, second, world.states.mean[4] + 0.1, 4)
    for step in (first, second, third):
        world.model.memory.keep(step, step.after[0][0])
        world.model.count(step, 1.0)
    return first, second, third


def test_what_came_after_is_followed_on_through_states_of_one_point():
    """Against the same sum with the rows as they were before any of the steps after the first."""
    world = World()
    first, second, third = two_in_a_row(world)
    state, other = first.after[0][0], second.after[0][0]
    found = evidence_of(world).log_odds(state, [first])
    first.next = None
    bare = evidence_of(world).log_odds(state, [first])
    for step in (second, third):
        world.model.count(step, -1.0)

    def log_density(step, before):
        likely = world.states.log_densities(step.arrival)
        return world.filter._full(step.arrival, likely, before, 1, None).log_density

    expected = [pair for pair in world.filter.expected([(0, 1.0)], 0) if pair[0] != state]
    total = sum(p for _, p in expected)
    expected = [(one, p / total) for one, p in expected]
    wanted = log_density(second, expected) - log_density(second, [(state, 1.0)])
    world.model.count(second, 1.0)
    after = world.filter.expected(expected, 1)
    wanted += log_density(third, after) - log_density(third, [(other, 1.0)])
    assert found - bare == pytest.approx(wanted, abs=1e-6)


def test_a_chain_ends_at_a_state_that_was_reached_in_another_way():
    world = World()
    first, second, third = two_in_a_row(world)
    evidence = evidence_of(world)
    assert evidence.chain(first, [first]) == [second, third]
    world.states.add(second.after[0][0], second.arrival, 1.0)
    assert evidence.chain(first, [first]) == [second]
    assert evidence.chain(first, [first, second]) == []


def test_while_the_newest_step_made_a_state_too_what_comes_next_will_say_more():
    world = World()
    first, second, third = two_in_a_row(world)
    evidence = evidence_of(world)
    world.model.newest = third
    assert not evidence.goes_on([first])
    second.next, world.model.newest = None, second
    assert evidence.goes_on([first])


@pytest.mark.parametrize("n_known", [0, 3])
def test_a_law_that_was_made_of_what_may_be_outliers_is_no_evidence_for_them(n_known):
    world = World()
    first, _, _ = two_in_a_row(world)
    world.displacements.add(0, first.arrival - world.states.mean[0], 1.0)
    for _ in range(n_known):
        world.displacements.add(0, np.array([1.0, 0.1]), 1.0)
    share = world.model.background.share
    odds = math.log(share * (4.0 + ROW_PRIOR) / ((1 - share) * ROW_PRIOR / 3))
    offset = first.arrival - world.states.mean[0]
    law, broad = (
        world.displacements.log_density(offset, 0),
        world.displacements.log_broad_density(offset),
    )
    wanted = odds if n_known == 0 else odds + broad - law
    assert evidence_of(world).log_odds_of_birth(first, 4.0) == pytest.approx(wanted, abs=1e-9)
    assert abs(broad - law) > 0.1


def test_ways_to_and_from_an_outlier_are_unlearned():
    world = World()
    first, second, _ = two_in_a_row(world)
    before = world.displacements.weight.copy()
    laws = [world.displacements.mean[action].copy() for action in (0, 1)]
    for step in (first, second):
        way = step.arrival - world.states.mean[step.before[0][0]]
        world.displacements.add(step.action, way, 1.0)
    evidence_of(world).unlearn_ways([first, second])
    np.testing.assert_allclose(world.displacements.weight, before)
    np.testing.assert_allclose(world.displacements.mean, laws, atol=1e-12)
