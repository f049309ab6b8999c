"""Episodes as a graph: a prefix tree, copies of it, and what a file may not hold."""

from collections import Counter

import numpy as np
import pytest
from tests.structure.rooms import corridor, seen, walk

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition.automaton import (
    BEGIN,
    END,
    ROOT,
    Automaton,
    Happening,
    Outcome,
    episodes_from_arrays,
    episodes_to_arrays,
)

GOAL = Outcome(7, 1.0, True)


def test_a_node_stands_for_each_beginning_of_an_episode():
    episodes = [walk(6, seed)[0] for seed in range(40)]
    tree = Automaton.of(episodes)
    beginnings = Counter(
        tuple(episode[:length]) for episode in episodes for length in range(1, len(episode) + 1)
    )
    assert len(tree.symbols) == 1 + len(beginnings)
    for beginning, count in beginnings.items():
        node, edge = 0, None
        for action, outcome in beginning:
            edge = tree.rows[node][action][outcome]
            node = edge[1]
        assert edge[0] == count
        assert tree.symbols[node] == beginning[-1].outcome.symbol


def test_rewards_and_ends_tell_outcomes_apart():
    tree = Automaton()
    first = tree.advance(0, BEGIN, seen(3))
    plain = tree.advance(first, 0, seen(3))
    paid = tree.advance(first, 0, Outcome(3, 2.0, False))
    over = tree.advance(first, 0, GOAL)
    assert len({first, plain, paid, over}) == 4
    assert tree.symbols == [ROOT, 3, 3, 3, END]
    assert tree.advance(first, 0, GOAL) == over
    assert tree.rows[first][0][GOAL] == [2, over]


def test_a_copy_is_independent():
    tree = Automaton.of([corridor(0, 1, 2)])
    copy = tree.copy()
    assert (copy.symbols, copy.rows) == (tree.symbols, tree.rows)
    copy.advance(0, BEGIN, seen(0))
    copy.advance(1, 3, seen(5))
    assert tree.rows[0][BEGIN][seen(0)] == [1, 1]
    assert 3 not in tree.rows[1]
    assert len(tree.symbols) == 4


def test_what_can_be_reached():
    tree = Automaton.of([corridor(0, 1, 2), corridor(0, 4), corridor(9, 9)])
    names = {tree.symbols[node] for node in tree.reachable([1])}
    assert names == {0, 1, 2, 4}
    ring = Automaton()
    one = ring.advance(0, BEGIN, seen(0))
    ring.rows[one][0] = {seen(0): [1, one]}
    assert ring.reachable([one]) == [one]
    assert sorted(ring.reachable([0, one])) == [0, one]


def test_graphs_survive_a_file_with_the_order_of_their_outcomes():
    tree = Automaton.of([walk(30, seed)[0] for seed in range(3)] + [corridor(0, 1, ends=True)])
    copy = Automaton.from_arrays(ArrayReader(tree.to_arrays()), 4)
    assert (copy.symbols, copy.rows) == (tree.symbols, tree.rows)
    assert [[list(row) for row in rows.values()] for rows in copy.rows] == [
        [list(row) for row in rows.values()] for rows in tree.rows
    ]
    empty = Automaton.from_arrays(ArrayReader(Automaton().to_arrays()), 4)
    assert (empty.symbols, empty.rows) == ([ROOT], [{}])


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("symbols", 0, 0),  # no root
        ("symbols", 1, ROOT),  # two roots
        ("symbols", 2, 5),  # an edge that reaches another look than it says
        ("node", 0, 9),
        ("action", 1, BEGIN),  # an episode that begins in the middle
        ("action", 0, 1),  # the root does something
        ("action", 1, 4),  # no such action
        ("count", 1, 0),
        ("target", 1, 0),  # back to the root
        ("target", 1, 9),
        ("reward", 1, np.nan),
        ("symbol", 1, ROOT),
    ],
)
def test_graphs_that_contradict_themselves_are_refused(name, place, value):
    arrays = Automaton.of([corridor(0, 1, 2)]).to_arrays()
    arrays[name] = arrays[name].copy()
    arrays[name][place] = value
    with pytest.raises(DataError):
        Automaton.from_arrays(ArrayReader(arrays), 4)


def test_episodes_survive_a_file():
    episodes = [corridor(0, 1, ends=True), corridor(2), walk(9, 1)[0]]
    assert episodes_from_arrays(ArrayReader(episodes_to_arrays(episodes)), 4) == episodes
    assert episodes_from_arrays(ArrayReader(episodes_to_arrays([])), 4) == []


def test_steps_before_the_first_beginning_are_refused():
    arrays = episodes_to_arrays([[Happening(0, seen(1))]])
    with pytest.raises(DataError, match="does not begin with an episode"):
        episodes_from_arrays(ArrayReader(arrays), 4)
