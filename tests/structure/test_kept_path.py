"""One path beside the clones of a folding."""

import pytest
from tests.structure.test_folding import cued
from tests.structure.test_refolding import best

from tgm.structure.folding import Folding
from tgm.structure.kept_path import with_path
from tgm.transition.automaton import END, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase


@pytest.mark.parametrize("cue", [0, 1])
def test_a_path_is_beside_the_clones(cue):
    folding = best()
    path = cued(cue, cue, 1)[0]
    found = with_path(folding, path)
    assert found.clones[: len(folding.clones)] == folding.clones
    assert len(found.clones) == len(folding.clones) + 2  # the cue and look 2; the end is one place
    node = 0
    for action, outcome in path:
        row = found.graph.rows[node][action]
        assert node == 0 or list(row) == [outcome]
        node = row[outcome][1]
    assert node == found.by_symbol[END][0]
    other = Outcome(1 - cue, 0.0, False)
    assert (
        found.graph.rows[0][path[0].action][other] == folding.graph.rows[0][path[0].action][other]
    )


def test_a_path_ends_though_no_clone_is_known_to_lead_to_an_end():
    path = cued(0, 0, 1)[0]
    found = with_path(Folding(Automaton(), OutcomeBase(0.5)), path)
    assert [found.graph.symbols[clone] for clone in found.clones[1:]] == [0, 2, END]
