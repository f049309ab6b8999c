"""When a map by dead reckoning is made again."""

import pytest
from tests.structure.rooms import corridor, seen, walled

from tgm.files.arrays import ArrayReader
from tgm.learners.clone_reckoning import LONGEST_PAUSE, Reckoner
from tgm.structure.clone_model import folding_evidence
from tgm.structure.folding import Folding
from tgm.structure.reckoned_map import contradictions, reckoned_folding
from tgm.transition.automaton import BEGIN, Automaton, Happening
from tgm.transition.clone_evidence import OutcomeBase

NEVER_SEEN = seen(77)
GROWTH, PAUSE = 1.25, 0.02


@pytest.fixture
def folding():
    return reckoned_folding([corridor(0, 1, 1, 2)] * 2, 0.5, folding_evidence, None)


def reckoner_at(folding, n_steps):
    reckoner = Reckoner(GROWTH, PAUSE)
    reckoner.note(folding, n_steps)
    return reckoner


def test_it_is_due_where_it_is_refuted_and_not_at_once_again(folding):
    reckoner, clone = reckoner_at(folding, 1000), folding.by_symbol[0][0]
    pause = int(PAUSE * 1000)
    key = (clone, 0, NEVER_SEEN)
    assert not reckoner.is_due(folding, key, 1000 + pause - 1, 1000)
    assert reckoner.is_due(folding, key, 1000 + pause, 1000)
    assert not reckoner.is_due(folding, (clone, 0, seen(1)), 1000 + pause, 1000)  # as ever
    assert not reckoner.is_due(folding, (0, BEGIN, NEVER_SEEN), 1000 + pause, 1000)


def test_it_is_due_where_an_action_moves_that_was_thought_to_stay():
    folding = reckoned_folding([corridor(0, 0, 0)], 0.5, folding_evidence, None)
    reckoner, clone = reckoner_at(folding, 100), folding.by_symbol[0][0]
    del folding.graph.rows[clone][0]  # no row contradicts it
    assert reckoner.is_due(folding, (clone, 0, seen(3)), 150, 100)
    assert not reckoner.is_due(folding, (clone, 0, seen(0)), 150, 100)


def test_a_map_that_goes_on_to_grow_is_made_again(folding):
    reckoner, clone = reckoner_at(folding, 100), folding.by_symbol[2][0]
    known = (folding.by_symbol[0][0], 0, seen(1))
    later = int(100 * GROWTH)
    assert not reckoner.is_due(folding, known, later, 100)
    folding.lead_on(clone, 0, NEVER_SEEN)
    assert not reckoner.is_due(folding, known, later - 1, 100)
    assert reckoner.is_due(folding, known, later, 100)


def test_without_a_reckoning_it_is_never_due():
    reckoner = Reckoner(GROWTH, PAUSE)
    plain = Folding(Automaton.of([corridor(0, 1)]), OutcomeBase(0.5))
    reckoner.note(plain, 100)
    assert not reckoner.is_due(plain, (1, 0, NEVER_SEEN), 10_000, 100)


def test_what_goes_on_to_contradict_itself_is_made_again_more_rarely(folding):
    coin = [corridor(0, 1, 2), corridor(0, 1, 3), corridor(0, 1, 3), corridor(0, 1, 2)]
    reckoner, clone = reckoner_at(folding, 1000), folding.by_symbol[0][0]
    key = (clone, 0, NEVER_SEEN)
    for share in (0.04, 0.08, 0.16, LONGEST_PAUSE, LONGEST_PAUSE):
        assert contradictions(reckoner.again(folding, coin)) > 0
        assert not reckoner.is_due(folding, key, int(1000 * (1 + share)) - 1, 1000)
        assert reckoner.is_due(folding, key, int(1000 * (1 + share)), 1000)
    assert contradictions(reckoner.again(folding, walled(20, 30, 0)[0])) == 0
    assert reckoner.is_due(folding, key, 1000 + int(1000 * PAUSE), 1000)


def test_it_survives_a_file(folding):
    reckoner = reckoner_at(folding, 1000)
    reckoner.again(folding, [corridor(0, 1, 2), corridor(0, 1, 3)])
    copy = Reckoner(GROWTH, PAUSE)
    copy.restore(ArrayReader(reckoner.to_arrays()))
    assert vars(copy) == vars(reckoner)


def test_where_all_is_known_and_leads_nowhere_a_larger_world_is_hoped_for():
    """One place would explain a corridor that looks the same so far; a map has more of them."""
    there = [[*corridor(0, 1, 1), *[Happening(1, seen(look)) for look in (1, 0)]]] * 2
    small = Folding(Automaton.of([corridor(0)]), OutcomeBase(0.5))
    small.accept(1)
    small.graph.rows[1][0] = {seen(0): [1, 1], seen(1): [1, 1]}
    reckoner = Reckoner(GROWTH, PAUSE)
    found = reckoner.hope(small, there, 1000)
    assert found is not None
    assert contradictions(found) == 0
    assert len(found.clones) > len(small.clones)
    assert reckoner.hope(small, there, 1000 + 1) is None  # not again at once
    assert reckoner.hope(found, there, 2000) is None  # it is one already
    assert reckoner.hope(small, there, 2000) is not None
    coin = [corridor(0, 1, 2), corridor(0, 1, 3)]
    assert reckoner.hope(small, coin, 4000) is None
    assert Reckoner(GROWTH, PAUSE).hope(found.closed(), there, 4000) is None
    del small.graph.rows[1][0][seen(1)]  # nothing is by chance: there is nothing to explain better
    assert Reckoner(GROWTH, PAUSE).hope(small, there, 4000) is None
