"""Where an episode is among clones: at one of them, or at one of several."""

import math

import pytest

from tgm.structure.clone_track import CloneTrack
from tgm.structure.folding import Folding
from tgm.transition.automaton import BEGIN, Automaton, Happening, Outcome
from tgm.transition.clone_evidence import OutcomeBase

LOOK, LEFT, RIGHT, END_LEFT = (Outcome(symbol, 0.0, False) for symbol in (5, 6, 7, 8))


def folding() -> Folding:
    """Two clones (1, 2) of one look, which differ in what action 0 does; a tail from 4 on.

    0 -BEGIN-> 3 (look 9); 3 -0-> 1, 3 -1-> 2, 3 -2-> 4, a node that may be either.
    1 -0-> 5 (look 6), 2 -0-> 6 (look 7); 4 -0-> 7 (look 6) -0-> 8.
    """
    graph = Automaton()
    graph.symbols += [5, 5, 9, 5, 6, 7, 6, 8]
    graph.rows += [{} for _ in range(8)]
    for node, action, outcome, target in [
        (0, BEGIN, Outcome(9, 0.0, False), 3),
        (3, 0, LOOK, 1),
        (3, 1, LOOK, 2),
        (3, 2, LOOK, 4),
        (1, 0, LEFT, 5),
        (2, 0, RIGHT, 6),
        (4, 0, LEFT, 7),
        (7, 0, END_LEFT, 8),
    ]:
        graph.rows[node].setdefault(action, {})[outcome] = [1, target]
    base = OutcomeBase(0.5)
    base.add((5, 0), LEFT, 1)
    base.add((5, 0), RIGHT, 1)
    found = Folding(graph, base)
    for node in (1, 2, 3, 5, 6):
        found.accept(node)
    return found


BEGINNING = [Happening(BEGIN, Outcome(9, 0.0, False))]


def test_at_a_clone_there_is_no_doubt():
    track = CloneTrack(folding(), [*BEGINNING, Happening(0, LOOK)])
    assert (track.node, track.below, track.rivals) == (1, None, [])
    assert track.shares == {1: 1.0}
    assert not track.is_clear(0.0)


def test_below_the_clones_it_may_be_any_that_looks_the_same():
    track = CloneTrack(folding(), [*BEGINNING, Happening(2, LOOK)])
    assert track.node == 4
    assert track.rivals == [(0.0, 2), (0.0, 1)]
    assert track.shares == {1: 0.5, 2: 0.5}
    assert track.length == 0


def test_what_is_undecided_says_how_likely_each_is():
    found = folding()
    found.undecided[3, 2, LOOK] = [(2.0, 2), (1.0, 1)]
    track = CloneTrack(found, [*BEGINNING, Happening(2, LOOK)])
    assert track.rivals == [(2.0, 2), (1.0, 1)]
    assert track.shares[2] == pytest.approx(1.0 / (1.0 + math.exp(-1.0)))
    assert track.is_clear(1.0)  # 2 nats for one, 1 for the other
    assert not track.is_clear(1.01)


def test_a_step_that_one_of_them_never_did_rules_it_out_and_is_worth_its_surprise():
    found = folding()
    track = CloneTrack(found, [*BEGINNING, Happening(2, LOOK), Happening(0, LEFT)])
    nats = -found.base.log_probability((5, 0), LEFT)
    assert track.below == {1: (5, pytest.approx(nats))}
    assert track.shares == {5: 1.0}
    assert track.length == 1
    assert track.is_clear(nats - 0.01)
    assert not track.is_clear(nats + 0.01)


def test_beyond_what_was_tried_at_a_clone_its_place_is_not_known():
    walk = [*BEGINNING, Happening(2, LOOK), Happening(0, LEFT), Happening(0, END_LEFT)]
    track = CloneTrack(folding(), walk)
    assert [(first, clone) for first, (clone, _) in track.below.items()] == [(1, None)]
    assert track.shares == {}
    assert track.rivals == []
    assert track.length == 2


def test_a_second_clone_counts_only_if_something_speaks_for_it():
    found = folding()
    found.undecided[3, 2, LOOK] = [(1.0, 2), (-3.0, 1)]
    track = CloneTrack(found, [*BEGINNING, Happening(2, LOOK)])
    assert track.is_clear(1.0)
    assert not track.is_clear(1.1)
