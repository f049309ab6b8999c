"""Pieces of episodes that are smoothed at once."""

import itertools

import numpy as np

from tgm.transition.flow_smoothing import _by_position


def test_episodes_are_cut_into_pieces_of_a_hundred_steps():
    is_next = np.ones(260, dtype=bool)
    is_next[[0, 10]] = False  # episodes of 10 and of 250 steps
    order, rows = _by_position(is_next)
    places = [order[at] for at in rows]
    assert [at.start for at in rows] == [0, *(at.stop for at in rows[:-1])]
    assert len(places) == 100
    assert sorted(places[0].tolist()) == [0, 10, 110, 210]
    assert places[0][:2].tolist() == [10, 110]  # the longest first
    assert sorted(places[9].tolist()) == [9, 19, 119, 219]
    assert sorted(places[10].tolist()) == [20, 120, 220]
    assert places[99].tolist() == [109, 209]
    assert sorted(order.tolist()) == list(range(260))
    for before, after in itertools.pairwise(places):
        np.testing.assert_array_equal(before[: len(after)] + 1, after)
