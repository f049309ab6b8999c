"""Support points of a walk whose law is known: what holding leads to, and which cells have one."""

import numpy as np
import pytest

from tgm.planning.flow_support import (
    COARSEST,
    MOST_HELD,
    MOST_POINTS,
    Box,
    find_support,
    hold,
    most_points,
    refined,
)
from tgm.transition.flow_units import Steps

GAMMA = 0.9


class Walk:
    """Action 1 adds `pace`, action 0 takes it away; each step costs one; ends with `p_end`."""

    n_actions = 2

    def __init__(self, pace: float = 0.1, p_end: float = 0.0) -> None:
        self.pace, self.p_end = pace, p_end

    def advance(self, z, actions):
        arrival = z + self.pace * (2.0 * actions - 1.0)[:, None]
        return arrival, np.full(len(z), self.p_end), np.full(len(z), -1.0)


WIDE = Box(np.full(1, -50.0), np.full(1, 50.0))


def held(spacing, model=None, box=WIDE, most=MOST_HELD, action=1):
    model = model or Walk()
    reach = hold(model, np.zeros((1, 1)), np.array([action]), spacing, GAMMA, box, most)
    return reach.arrival.item(), reach.reward.item(), reach.discount.item()


# --- boxes ----------------------------------------------------------------------------------------


def test_a_box_holds_what_is_between_its_bounds():
    box = Box(np.array([0.0, -1.0]), np.array([1.0, 1.0]))
    points = np.array([[0.0, 0.0], [1.0, 1.0], [1.1, 0.0], [0.5, -1.1]])
    assert box.holds(points).tolist() == [True, True, False, False]
    np.testing.assert_array_equal(box.clip(points), [[0, 0], [1, 1], [1.0, 0], [0.5, -1.0]])
    assert box.wider(0.1).holds(points).all()
    assert box.wider(0.05).holds(points).tolist() == [True, True, False, False]


def test_the_box_of_steps_has_departures_and_arrivals():
    steps = walked([0.0, 1.0], [0.5, 3.0])
    assert (Box.of(steps).low.item(), Box.of(steps).high.item()) == (0.0, 3.0)


# --- holding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spacing", "n_held"), [(0.05, 1), (0.15, 2), (0.25, 3), (9.0, 12)])
def test_an_action_is_held_until_it_has_left_the_neighbourhood(spacing, n_held):
    arrival, reward, discount = held(spacing)
    assert arrival == pytest.approx(0.1 * n_held)
    assert reward == pytest.approx(-sum(GAMMA**k for k in range(n_held)))
    assert discount == pytest.approx(GAMMA**n_held)


def test_or_for_as_many_steps_as_may_be():
    assert held(9.0, most=2)[0] == pytest.approx(0.2)
    assert held(9.0, most=2, action=0)[0] == pytest.approx(-0.2)


def test_what_may_have_ended_counts_less():
    arrival, reward, discount = held(0.15, Walk(p_end=0.25))
    assert arrival == pytest.approx(0.2)
    assert reward == pytest.approx(-1.0 - GAMMA * 0.75)
    assert discount == pytest.approx(GAMMA**2 * 0.75**2)


@pytest.mark.parametrize(("p_end", "n_held"), [(0.989, 2), (0.991, 1)])
def test_below_one_in_a_hundred_nothing_more_is_imagined(p_end, n_held):
    assert held(0.15, Walk(p_end=p_end))[0] == pytest.approx(0.1 * n_held)


def test_nobody_walks_further_than_one_span_beyond_the_box():
    box = Box(np.zeros(1), np.full(1, 0.5))
    assert held(99.0, Walk(pace=0.4), box)[0] == 1.5
    assert held(99.0, Walk(pace=0.4), box, action=0)[0] == -1.0


# --- support --------------------------------------------------------------------------------------


def walked(departure, arrival=None, ended=None):
    departure = np.array(departure)[:, None]
    arrival = departure if arrival is None else np.array(arrival)[:, None]
    n = len(departure)
    ended = np.zeros(n, dtype=bool) if ended is None else np.array(ended)
    return Steps(departure, np.zeros(n, dtype=int), np.zeros(n), arrival, ended)


def test_there_is_one_point_in_each_visited_cell_the_first_then_imagined_ones():
    steps = walked([0.0, 0.01, 0.1, 0.5, 0.51])
    support = find_support(Walk(), steps, 0.1, GAMMA)
    points = support.points.ravel()
    assert sorted(points[: support.n_visited].tolist()) == [0.0, 0.1, 0.5]
    assert support.n_visited == 3
    assert support.spacing == pytest.approx(0.1)
    cells = np.round(points / 0.1).astype(int)
    assert len(set(cells.tolist())) == len(cells)
    assert set(cells.tolist()) == set(range(-1, 7))  # closed up to a margin of 0.11
    assert support.reach.arrival.shape == (2 * len(points), 1)
    # Rows go action after action.
    np.testing.assert_allclose(
        support.reach.arrival[: len(points)], hold_all(points, 0), atol=1e-12
    )
    np.testing.assert_allclose(
        support.reach.arrival[len(points) :], hold_all(points, 1), atol=1e-12
    )


def hold_all(points, action):
    box = Box(np.zeros(1), np.full(1, 0.51))
    actions = np.full(len(points), action)
    return hold(Walk(), points[:, None], actions, 0.1, GAMMA, box).arrival


def test_the_margin_is_three_quarters_of_a_spacing_and_no_less_than_a_ninth():
    for spacing, margin in ((0.05, 0.11), (0.1, 0.11), (0.3, 0.225)):
        support = find_support(Walk(), walked([0.0, 1.0]), spacing, GAMMA)
        np.testing.assert_allclose(support.box.low, -margin)
        np.testing.assert_allclose(support.box.high, 1.0 + margin)


@pytest.mark.parametrize(("p_end", "grows"), [(0.0, True), (0.6, True), (0.7, False)])
def test_where_an_episode_hardly_goes_on_no_point_is_imagined(p_end, grows):
    """0.3 is the least discount times survival that needs a point."""
    support = find_support(Walk(pace=0.3, p_end=p_end), walked([0.0, 2.0]), 0.1, GAMMA)
    assert (len(support.points) > support.n_visited) == grows


def test_where_episodes_ended_is_a_point_too():
    steps = walked([0.0, 0.1, 0.1], [0.1, 0.1, 3.0], [False, False, True])
    support = find_support(Walk(p_end=1.0), steps, 0.1, GAMMA)
    assert sorted(support.points.ravel().tolist()) == [0.0, 0.1, 3.0]


def test_support_becomes_coarser_by_steps_until_it_is_small_enough(monkeypatch):
    steps = walked(np.linspace(0.0, 1.0, 200).tolist())
    monkeypatch.setattr("tgm.planning.flow_support.MOST_VISITED", 15 / MOST_POINTS)
    support = find_support(Walk(), steps, 0.05, GAMMA)
    assert support.spacing == pytest.approx(0.05 * 1.15**3)
    assert support.n_visited <= 15


def test_no_more_cells_are_visited_than_steps_were_taken():
    steps = walked([0.0, 1.0], [0.2, 5.0], [False, True])  # three points of two steps
    support = find_support(Walk(p_end=1.0), steps, 0.3, GAMMA)
    assert support.spacing > 0.3
    assert support.spacing <= 1.15 * COARSEST


def test_the_coarsest_support_may_be_too_large():
    steps = walked(np.arange(0.0, 40.0).tolist())
    support = find_support(Walk(pace=0.5), steps, COARSEST, GAMMA)
    assert support.spacing == COARSEST
    assert len(support.points) > 40


def test_the_coarsest_support_ends_with_the_most_points():
    steps = walked([0.0, 20.0, 40.0])  # cells between them are imagined, two more in each round
    support = find_support(Walk(pace=0.5), steps, COARSEST, GAMMA, most=6)
    assert support.spacing == COARSEST
    assert support.n_visited == 3
    assert len(support.points) <= 6
    assert len(support.reach.reward) == 2 * len(support.points)


@pytest.mark.parametrize(
    ("n_steps", "most"), [(1, 400), (80, 400), (81, 405), (799, 3995), (800, 4000), (10**6, 4000)]
)
def test_a_plan_from_few_steps_has_few_points(n_steps, most):
    assert most_points(n_steps) == most


def test_and_after_as_many_rounds_as_may_be(monkeypatch):
    monkeypatch.setattr("tgm.planning.flow_support.MOST_IMAGINED_ROUNDS", 4)
    support = find_support(Walk(pace=0.5), walked([0.0, 40.0]), COARSEST, GAMMA)
    # In each of three rounds there is one more point inwards, and one on the margin at once.
    found = sorted(support.points.ravel().tolist())
    assert found == pytest.approx([-0.75 * COARSEST, 0.0, 0.5, 1.0, 1.5, 38.5, 39.0, 39.5, 40.0])
    finer = find_support(Walk(pace=0.5), walked([0.0, 40.0]), 0.3, GAMMA)
    assert finer.spacing == pytest.approx(0.3 * 1.15)


# --- refinement -----------------------------------------------------------------------------------


def coarse():
    return find_support(Walk(), walked([0.0, 0.4, 0.8, 1.2]), 0.4, GAMMA)


def test_where_episodes_pass_cells_are_half_as_wide():
    support, passed = coarse(), np.array([[0.54], [0.55], [0.96]])
    finer = refined(Walk(pace=0.3), support, passed, GAMMA, 100)
    assert (finer.n_visited, finer.n_coarse) == (support.n_visited, len(support.points))
    assert (finer.spacing, finer.finest) == (support.spacing, 0.5 * support.spacing)
    np.testing.assert_array_equal(finer.points[: finer.n_coarse], support.points)
    # 0.54 and 0.55 are of one cell; then where both actions lead, twice.
    added = finer.points[finer.n_coarse :].ravel()
    np.testing.assert_allclose(added[:2], [0.54, 0.96])
    cells = np.round(added / finer.finest).astype(int)
    assert len(set(cells.tolist())) == len(added)
    np.testing.assert_allclose(sorted(added[2:]), [-0.06, 0.24, 0.84, 1.26, 1.5], atol=1e-12)


def test_the_rows_of_new_points_go_action_after_action_too():
    support = coarse()
    finer = refined(Walk(), support, np.array([[0.5], [0.9]]), GAMMA, 100)
    n, n_coarse = len(finer.points), len(support.points)
    for action in (0, 1):
        rows = finer.reach.arrival[action * n : (action + 1) * n]
        before = support.reach.arrival[action * n_coarse : (action + 1) * n_coarse]
        np.testing.assert_array_equal(rows[:n_coarse], before)
        new = finer.points[n_coarse:]
        held = hold(Walk(), new, np.full(len(new), action), finer.finest, GAMMA, support.box)
        np.testing.assert_array_equal(rows[n_coarse:], held.arrival)
    assert finer.reach.reward.shape == finer.reach.discount.shape == (2 * n,)


@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_refinement_adds_no_more_than_it_may(most):
    finer = refined(Walk(pace=0.3), coarse(), np.array([[0.5], [0.9]]), GAMMA, most)
    assert len(finer.points) == finer.n_coarse + most
