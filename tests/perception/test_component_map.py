"""One map for every change of structure."""

import numpy as np

from tgm.perception.component_map import ComponentMap


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
