"""One step and its explanation, when states are shared out."""

import numpy as np
import pytest

from tgm.memory.step import Step, difference, relabel

SPLIT = {3: [(3, 0.25), (8, 0.75)]}
MERGE = {8: [(3, 1.0)]}


def step(before=((3, 0.6), (5, 0.4)), after=((3, 1.0),), entries=((3, 3, 0.6), (5, 3, 0.4))):
    return Step(
        np.zeros(2), list(before), 1, -1.0, 0.0, np.ones(2), 0.0, list(entries), list(after)
    )


def test_a_belief_follows_a_split_the_most_likely_state_first():
    assert relabel([(3, 0.8), (5, 0.2)], SPLIT) == [
        (8, pytest.approx(0.6)),
        (3, pytest.approx(0.2)),
        (5, 0.2),
    ]


def test_a_belief_follows_a_merge_and_equal_states_are_ordered():
    assert relabel([(8, 0.5), (3, 0.3), (5, 0.2)], MERGE) == [(3, pytest.approx(0.8)), (5, 0.2)]
    assert relabel([(7, 0.5), (2, 0.5)], {}) == [(2, 0.5), (7, 0.5)]


def test_what_is_left_of_a_state_by_rounding_is_dropped():
    assert relabel([(3, 1.0)], {3: [(3, 1.0 - 1e-9), (8, 1e-9)]}) == [(3, pytest.approx(1.0))]
    assert len(relabel([(3, 1.0)], {3: [(3, 0.999), (8, 1e-3)]})) == 2


def test_entries_are_shared_out_on_both_sides_and_keep_their_sum():
    one = step()
    entries, before, after = one.relabelled(SPLIT, SPLIT)
    weights = {(state, reached): weight for state, reached, weight in entries}
    assert weights == {
        (3, 3): pytest.approx(0.6 * 0.25 * 0.25),
        (3, 8): pytest.approx(0.6 * 0.25 * 0.75),
        (8, 3): pytest.approx(0.6 * 0.75 * 0.25),
        (8, 8): pytest.approx(0.6 * 0.75 * 0.75),
        (5, 3): pytest.approx(0.4 * 0.25),
        (5, 8): pytest.approx(0.4 * 0.75),
    }
    assert sum(weights.values()) == pytest.approx(1.0)
    assert before == [(8, pytest.approx(0.45)), (5, 0.4), (3, pytest.approx(0.15))]
    assert after == [(8, 0.75), (3, 0.25)]
    assert one.entries == [(3, 3, 0.6), (5, 3, 0.4)]  # `relabelled` only says what would be


def test_entries_of_merged_states_are_added_up():
    one = step(before=((3, 0.6), (8, 0.4)), entries=((3, 5, 0.6), (8, 5, 0.4)), after=((5, 1.0),))
    one.relabel(MERGE, MERGE)
    assert one.entries == [(3, 5, 1.0)]
    assert one.before == [(3, 1.0)]
    assert one.after == [(5, 1.0)]


def test_a_change_of_one_side_leaves_the_other_as_it_is():
    one = step()
    one.relabel(SPLIT, {})
    assert one.after == [(3, 1.0)]
    assert {state for state, _ in one.before} == {3, 5, 8}
    assert {reached for _, reached, _ in one.entries} == {3}


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ([(1, 1.0)], [(1, 1.0)], 0.0),
        ([(1, 1.0)], [(2, 1.0)], 1.0),
        ([(1, 0.7), (2, 0.3)], [(2, 0.7), (1, 0.3)], 0.4),
        ([(1, 0.5), (2, 0.5)], [(1, 0.5), (3, 0.5)], 0.5),
        ([(1, 1.0)], [], 0.5),  # half is missing on one side: none of the known states
    ],
)
def test_the_difference_of_beliefs_by_hand(one, other, wanted):
    assert difference(one, other) == pytest.approx(wanted)
    assert difference(other, one) == pytest.approx(wanted)


def test_only_a_kept_step_that_followed_counts():
    first, second = step(), step()
    assert first.kept_next is None
    first.next = second
    assert first.kept_next is None
    second.kept_in = 0
    assert first.kept_next is second
