"""One map for every change of structure."""

import json

import numpy as np
import pytest

from tgm.perception.component_map import ComponentMap, Move


def split_and_merge() -> ComponentMap:
    """Old 0 is split 3:1 into new 0 and 1; old 1 and 2 merge into new 2; new 3 is born."""
    return ComponentMap(
        n_old=3,
        n_new=4,
        new=np.array([0, 1, 2, 2]),
        old=np.array([0, 0, 1, 2]),
        weight=np.array([0.75, 0.25, 1.0, 1.0]),
    )


def test_counts_are_shared_out_and_added_up():
    carried = split_and_merge().carry_counts(np.array([8.0, 1.0, 2.0]))
    assert carried.tolist() == [6, 2, 3, 0]


def test_pair_counts_follow_on_both_sides():
    counts = np.array([[8.0, 4.0, 0.0], [0.0, 1.0, 2.0], [0.0, 3.0, 4.0]])
    carried = split_and_merge().carry_pair_counts(counts)
    assert carried.tolist() == [
        [8 * 0.75 * 0.75, 8 * 0.75 * 0.25, 3, 0],
        [8 * 0.25 * 0.75, 8 * 0.25 * 0.25, 1, 0],
        [0, 0, 10, 0],
        [0, 0, 0, 0],
    ]
    assert carried.sum() == counts.sum()


def test_values_are_averaged_and_the_newborn_gets_its_own():
    values = np.array([[4.0, 1.0, 3.0], [0.0, 0.0, 0.0]])
    carried = split_and_merge().carry_values(values, newborn=9.0)
    assert carried.tolist() == [[4, 4, 2, 9], [0, 0, 0, 9]]


@pytest.mark.parametrize(
    ("change", "changed", "counts"),
    [
        (ComponentMap.of_removal(4, 1), {1: []}, [1, 0, 4, 8]),
        (ComponentMap.of_merge(4, 2, 0), {0: [(2, 1.0)]}, [0, 2, 5, 8]),
        (ComponentMap.of_merge(4, 0, 2), {2: [(0, 1.0)]}, [5, 2, 0, 8]),
        (ComponentMap.of_split(4, 3, 1, 0.25), {3: [(3, 0.75), (1, 0.25)]}, [1, 4, 4, 6]),
        (ComponentMap.of_split(4, 3, 1, 0.0), {}, [1, 2, 4, 8]),
        (
            ComponentMap.of_survivors(4, np.array([0, 2, -1])),
            {1: [], 2: [(1, 1.0)], 3: []},
            [1, 4, 0],
        ),
    ],
)
def test_maps_of_each_move_by_hand(change, changed, counts):
    assert change.changed == changed
    assert change.n_old == 4
    assert change.n_new == len(counts)
    assert change.carry_counts(np.array([1.0, 2.0, 4.0, 8.0])).tolist() == counts


def test_a_move_survives_a_trip_through_json():
    moves = [Move("merge", (3, 1), "one place", -0.5, accepted=False), Move("birth", (7,), "new")]
    for move in moves:
        assert Move.from_dict(json.loads(json.dumps(move.to_dict()))) == move


def test_a_move_was_made_unless_it_is_said_to_be_refused():
    assert Move("birth", (1,), "no known state explains the observation").accepted
    refused = Move("merge", (1, 2), "one state explains both", -3.0, accepted=False)
    assert not refused.accepted
