"""Foldings that are let go in part and made again."""

import numpy as np
from tests.structure.test_folding import GOAL, cued, episode

from tgm.structure.clone_model import FIRST, closed_evidence, fold_episodes
from tgm.structure.folding import labelled_folding
from tgm.structure.refolding import _let_go, improved, refolded
from tgm.transition.automaton import END
from tgm.transition.clone_evidence import OutcomeBase

CUED = [*cued(0, 0), *cued(0, 1), *cued(1, 0), *cued(1, 1)]


def merged():
    """One place for each look, where two are needed."""
    labels = [[END if o.ended else o.symbol for _, o in one] for one in CUED]
    return labelled_folding(CUED, labels, 0.5)


def best():
    return fold_episodes(CUED, OutcomeBase(0.5), [FIRST])[0]


def test_what_was_folded_wrongly_is_found_again():
    found = improved(merged(), CUED, np.random.default_rng(0), 10)
    assert closed_evidence(found) > closed_evidence(merged()) + 10.0
    assert closed_evidence(found) >= closed_evidence(best()) - 1e-9
    assert len(found.by_symbol[2]) == 2


def test_nothing_is_better_than_the_best():
    folding = best()
    assert improved(folding, CUED, np.random.default_rng(1), 8) is folding
    wrong = merged()
    assert improved(wrong, CUED, np.random.default_rng(1), 0) is wrong


def test_clones_that_are_let_go_are_folded_again():
    folding = best()
    alike = set(folding.by_symbol[2])
    again = refolded(folding, CUED, FIRST, alike)
    assert len(again.by_symbol[2]) == 2
    assert sum(edge[0] for row in again.graph.rows[0].values() for edge in row.values()) == 24


def test_mostly_those_are_let_go_that_may_be_wrong():
    """Look 2 has rows of several outcomes; its neighbours are the cues. The rest stays."""
    far = [episode(5, (0, 6), (0, 7), (0, GOAL))] * 4
    episodes = [*CUED, *far]
    labels = [[END if o.ended else o.symbol for _, o in one] for one in episodes]
    folding = labelled_folding(episodes, labels, 0.5)
    looks, rng = folding.graph.symbols, np.random.default_rng(2)
    found = [{looks[clone] for clone in _let_go(folding, rng)} for _ in range(200)]
    near = [one for one in found if one <= {0, 1, 2}]
    assert 0.6 < len(near) / len(found) < 0.95
    assert any(one & {5, 6, 7} for one in found)
    assert all(not one & {END, -2} for one in found)
