"""One path beside the clones of a folding."""

import pytest
from tests.structure.test_folding import cued
from tests.structure.test_refolding import best

from tgm.structure.folding import Folding
from tgm.structure.kept_path import kept_episode, with_path
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


def test_the_first_whole_episode_of_the_actions_is_kept():
    whole = cued(0, 0, 1)[0]
    actions = [action for action, _ in whole[1:]]
    piece = [whole[0]._replace(outcome=whole[0].outcome._replace(reward=1.0)), *whole[1:]]
    unended = [*whole[:-1], whole[-1]._replace(outcome=whole[-1].outcome._replace(ended=False))]
    assert kept_episode(actions, [piece, unended, whole[:-1], [], whole]) == whole
    assert kept_episode(actions, [piece, unended, []]) == []
    assert kept_episode([], [whole]) == []
    assert kept_episode([7, *actions[1:]], [whole]) == []
