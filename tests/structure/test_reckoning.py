"""Places as sums of moves, against the cells of rooms; and what a reckoning costs."""

import itertools
import math

import pytest
from tests.structure.rooms import corridor, seen, walk, walled

from tgm.structure.reckoning import Reckoning, axes_of, steps_of, with_axis
from tgm.transition.automaton import BEGIN, END, Happening, Outcome


@pytest.mark.parametrize("seed", range(4))
def test_actions_that_undo_each_other_are_one_axis(seed):
    axes = axes_of(walled(10, 40, seed)[0])
    assert axes[0] == (axes[1][0], -axes[1][1])
    assert axes[2] == (axes[3][0], -axes[3][1])
    assert len({axis for axis, _ in axes.values()}) == 2


def test_what_leads_back_less_often_than_not_is_no_axis():
    there = [[Happening(BEGIN, seen(0)), Happening(0, seen(1)), Happening(1, seen(0))]]
    elsewhere = [[Happening(BEGIN, seen(0)), Happening(0, seen(1)), Happening(1, seen(2))]]
    assert axes_of(there) == {0: (0, 1), 1: (0, -1)}
    assert axes_of([*there, *elsewhere]) == {}  # as often as not
    assert axes_of([*there, *there, *elsewhere]) == {0: (0, 1), 1: (0, -1)}


def test_the_pairs_that_undo_each_other_most_often_come_first():
    def back(one, other, *, is_back):
        last = seen(0) if is_back else seen(2)
        return [Happening(BEGIN, seen(0)), Happening(one, seen(1)), Happening(other, last)]

    episodes = [back(0, 1, is_back=True)] * 3 + [back(0, 1, is_back=False)]
    episodes += [back(0, 2, is_back=True)] * 4
    assert axes_of(episodes) == {0: (0, 1), 2: (0, -1)}
    episodes += [back(1, 3, is_back=True)] * 2
    assert axes_of(episodes) == {0: (0, 1), 2: (0, -1), 1: (1, 1), 3: (1, -1)}


def test_ends_and_steps_to_the_same_look_say_nothing_of_what_is_undone():
    stays = [Happening(BEGIN, seen(0)), Happening(0, seen(0)), Happening(1, seen(0))]
    ends = [Happening(BEGIN, seen(0)), Happening(0, seen(1)), Happening(1, Outcome(0, 1.0, True))]
    twice = [Happening(BEGIN, seen(0)), Happening(0, seen(1)), Happening(0, seen(0))]
    assert axes_of([stays, ends, twice]) == {}


def test_steps_after_which_an_episode_went_on():
    assert steps_of([corridor(3, 3, 4, ends=True)]) == {(3, 0, 3), (3, 0, 4)}


@pytest.mark.parametrize("seed", range(4))
def test_a_place_is_the_cell(seed):
    episode, cells = walk(200, seed)
    looks = [outcome.symbol for _, outcome in episode]
    both = list(zip(looks, looks[1:], cells, cells[1:], episode[1:], strict=False))
    steps = {(one, action, other) for one, other, _, _, (action, _) in both}
    axes = {0: (0, -1), 1: (0, 1), 2: (1, -1), 3: (1, 1)}
    place, start = None, (looks[0], 0, 0, 0)
    for one, _, before, after, (action, outcome) in both:
        # Exceptions of this very step: whether it moved, whatever it looks like.
        is_exception = (before == after) != (outcome.symbol == one)
        exceptions = {(one, action, outcome.symbol)} if is_exception else set()
        reckoning = Reckoning(axes, steps, exceptions)
        place = reckoning.after(place or start, one, action, outcome)
        assert place[2:] == after
    assert reckoning.beginning(seen(7)) == (7, 0, 0, 0)


def test_an_action_without_an_axis_leads_nowhere_until_it_shows_another_look():
    reckoning = Reckoning({0: (0, 1), 2: (0, -1)}, {(3, 0, 3), (3, 1, 3)}, set())
    assert reckoning.after((3, 0, 5), 3, 1, seen(4)) == (3, 0, 5)
    assert reckoning.is_refuted(3, 1, seen(4))
    assert not reckoning.is_refuted(3, 1, seen(3))
    # What was weighed before is not weighed again at each step.
    assert not reckoning._replace(steps={(3, 1, 3), (5, 1, 4)}).is_refuted(3, 1, seen(4))


def test_a_move_where_none_was_thought_of_is_a_refutation():
    reckoning = Reckoning({0: (0, 1), 2: (0, -1)}, {(3, 0, 3)}, set())
    assert reckoning.is_refuted(3, 0, seen(4))
    assert not reckoning.is_refuted(5, 0, seen(4))  # of that nothing was thought
    assert not reckoning._replace(exceptions={(3, 0, 3)}).is_refuted(3, 0, seen(4))
    assert not reckoning._replace(exceptions={(3, 0, 4)}).is_refuted(3, 0, seen(4))


@pytest.mark.parametrize(("n_same", "n_other"), [(0, 0), (3, 0), (2, 3)])
def test_all_sets_of_exceptions_are_one_in_all(n_same, n_other):
    steps = [(0, action, 0) for action in range(n_same)]
    steps += [(0, action, 1) for action in range(n_other)]
    axes = with_axis({}, 0, 1)
    n_actions = max(n_same, n_other)
    sets = itertools.chain.from_iterable(
        itertools.combinations(steps, k) for k in range(len(steps) + 1)
    )
    found = [Reckoning(axes, set(steps), set(one)).log_probability for one in sets]
    assert math.fsum(map(math.exp, found)) == pytest.approx(
        1 / [1, 1, 2, 4][n_actions]
    )  # ways to pair some


def test_an_end_is_no_place():
    assert END not in {step[2] for step in steps_of([corridor(0, 1, ends=True)])}


def test_places_with_answers_of_their_own_cost_any_share_of_walls():
    reckoning = Reckoning({0: (0, 1), 2: (0, -1)}, {(3, 0, 3), (3, 2, 3)}, set())
    axes = -math.log(2)  # the two actions are a pair, or not
    assert reckoning.log_probability == pytest.approx(axes - math.log(3))
    of_places = reckoning._replace(moves={((3, 0, 0), 0): True}, n_alike=(3, 2))
    assert of_places.log_probability == pytest.approx(axes - math.log(6 * math.comb(5, 3)))
