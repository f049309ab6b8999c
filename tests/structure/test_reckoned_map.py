"""Maps by dead reckoning, against the cells of rooms and against all reckonings there are."""

import itertools

import numpy as np
import pytest
from tests.oracles import all_reckonings
from tests.structure.rooms import corridor, seen, walk, walled
from tests.structure.test_foresight import foresight_of

from tgm.structure import reckoned_map
from tgm.structure.clone_model import (
    BASE_STRENGTHS,
    best_reckoned,
    folding_evidence,
    reckoned_rivals,
    sure_evidence,
    sure_map,
)
from tgm.structure.cue_model import followed
from tgm.structure.edge_code import log_edges
from tgm.structure.folding import labelled_folding
from tgm.structure.place_filter import filtered_reckoning
from tgm.structure.reckoned_map import contradictions, reckoned_folding
from tgm.structure.reckoning import Reckoning, axes_of, steps_of
from tgm.transition.automaton import BEGIN, END, Happening, Outcome


def reckoned(episodes, before=None):
    return reckoned_folding(episodes, 0.5, folding_evidence, before)


def is_map(folding, episodes, paths):
    """Whether clones are cells, up to names."""
    pairs = set()
    for episode, cells in zip(episodes, paths, strict=True):
        pairs |= set(zip(followed(folding, episode), cells, strict=True))
    n_clones = len([one for one in folding.clones[1:] if folding.graph.symbols[one] != END])
    return len(pairs) == len({cell for _, cell in pairs}) == n_clones


@pytest.mark.parametrize("seed", range(6))
def test_a_room_of_which_the_walls_are_seen_is_mapped(seed):
    episodes, paths = walled(20, 30, seed, 5, 4)
    folding = reckoned(episodes)
    assert is_map(folding, episodes, paths)
    assert contradictions(folding) == 0
    assert not folding.undecided
    assert folding_evidence(folding) > sure_evidence(episodes)


@pytest.mark.parametrize("seed", range(4))
def test_no_other_exceptions_are_better(seed):
    """A corridor that looks the same everywhere but at its ends."""

    def looks(cell, width, height):
        return 1 if cell[0] == 0 else 2 * int(cell[0] == width - 1)

    episodes, _ = walled(5, 15, seed, 4, 1, looks, actions=(2, 3))
    found = reckoned(episodes)
    seen_steps = [[(action, outcome.symbol) for action, outcome in one] for one in episodes]
    all_nats = []
    for labels, nats in all_reckonings(seen_steps, axes_of(episodes)):
        folding = labelled_folding(episodes, labels, 0.5)
        all_nats.append(folding_evidence(folding) - log_edges(folding) + nats)
    foreseen = foresight_of(found).gain
    assert folding_evidence(found) - foreseen == pytest.approx(max(all_nats))


def test_contradictions_are_rows_of_several_outcomes():
    episodes = [corridor(0, 1, 2), corridor(0, 1, 3), corridor(0, 1, 3)]
    assert contradictions(reckoned(episodes)) == 1


def test_actions_of_which_too_little_was_seen_are_tried_as_a_pair():
    """From a corner on two ways, which meet only if 0 undoes 1; nothing was undone at once."""
    looks = [0, 1, 1, 1, 2]
    on = [Happening(0, seen(look)) for look in looks[1:]]
    back = [Happening(1, seen(look)) for look in looks[-2::-1]]
    wait, rest = [Happening(2, seen(2))], [Happening(2, seen(0))]
    episode = [Happening(BEGIN, seen(0)), *on, *wait, *back, *rest]
    episodes = [[*episode, *on, *wait, *back] for _ in range(3)]
    assert axes_of(episodes) == {}
    assert reckoned(episodes).reckoning.axes == {0: (0, 1), 1: (0, -1)}


def test_what_was_found_out_before_is_a_beginning(monkeypatch):
    monkeypatch.setattr(reckoned_map, "filtered_reckoning", lambda *_: None)
    episodes, _ = walled(12, 30, 0, 5, 4)
    reckoning = reckoned(episodes).reckoning
    few = episodes[:2]
    first = reckoned(few)
    again = reckoned(few, reckoning)
    assert folding_evidence(again) >= folding_evidence(first)
    assert again.reckoning.exceptions <= steps_of(few)


def test_what_was_found_out_wrongly_before_is_found_out_again():
    episodes, paths = walled(20, 30, 0, 5, 4)
    right = reckoned(episodes)
    steps = right.reckoning.steps
    wrong = right.reckoning._replace(exceptions={one for one in steps if one[0] == one[2]})
    again = reckoned(episodes, wrong)
    assert is_map(again, episodes, paths)
    assert again.reckoning == right.reckoning


def test_the_strength_of_the_base_is_the_best_one():
    episodes, _ = walled(20, 30, 0, 5, 4)
    found = best_reckoned(episodes, None)
    nats = {one: folding_evidence(rebased(found, one)) for one in BASE_STRENGTHS}
    assert found.base.strength == max(nats, key=nats.__getitem__)


def rebased(folding, strength):
    other = folding.closed()
    other.base = folding.base.with_strength(strength)
    return other


def test_a_step_that_was_misread_once_does_not_spoil_the_map():
    episodes, paths = walled(12, 30, 1, 5, 4)
    at = next(i for i, one in enumerate(paths[0]) if i and one == paths[0][i - 1])
    action, _ = episodes[0][at]
    episodes[0][at] = Happening(action, seen(99))
    folding = reckoned(episodes)
    n_clones = len([one for one in folding.clones[1:] if folding.graph.symbols[one] != END])
    assert n_clones <= 5 * 4 + 1


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_no_map(seed):
    rng = np.random.default_rng(seed)
    episodes = [
        [Happening(BEGIN, seen(0)), *(Happening(0, seen(int(rng.integers(3)))) for _ in range(20))]
        for _ in range(10)
    ]
    assert reckoned_rivals(episodes, None) == []


def test_without_actions_that_undo_each_other_a_beginning_is_no_map():
    """Two corridors that look the same but at their beginning and at their end."""
    episodes = [corridor(0, 2, 3, 4, 5), corridor(1, 2, 3, 4, 6)] * 20
    assert folding_evidence(best_reckoned(episodes, None)) > sure_evidence(episodes)
    assert reckoned_rivals(episodes, None) == []


def test_ends_are_one_place():
    ended = [*corridor(0, 1), Happening(1, Outcome(7, 1.0, True))]
    folding = reckoned([ended, [*corridor(0, 1, 1), Happening(1, Outcome(8, 0.0, True))]])
    assert len(folding.by_symbol[END]) == 1
    assert folding.reckoned_at.keys() == set(folding.clones[1:]) - set(folding.by_symbol[END])


def test_a_new_outcome_leads_to_its_place_which_may_be_new():
    up, right = Happening(0, seen(1)), Happening(1, seen(2))
    episodes = [
        [Happening(BEGIN, seen(0)), up, Happening(2, seen(0))],
        [Happening(BEGIN, seen(0)), right, Happening(3, seen(0))],
        [Happening(BEGIN, seen(0)), up, Happening(1, seen(3))],
        [Happening(BEGIN, seen(0)), up, Happening(5, seen(1))],
    ] * 2
    folding = reckoned(episodes)
    assert folding.reckoning.axes[0][0] == folding.reckoning.axes[2][0]
    at_right = folding.by_symbol[2][0]
    assert not folding.lead_on(at_right, 0, seen(3))  # right and up is up and right
    assert folding.graph.rows[at_right][0][seen(3)] == [0, folding.by_symbol[3][0]]
    n_clones = len(folding.clones)
    assert folding.lead_on(at_right, 0, seen(4))  # another look there
    assert folding.lead_on(at_right, 1, seen(3))  # the same look elsewhere
    assert len(folding.clones) == n_clones + 2
    assert [len(folding.by_symbol[look]) for look in (3, 4)] == [2, 1]
    folding.lead_on(at_right, 2, Outcome(9, 1.0, True))
    end = folding.by_symbol[END][0]
    folding.lead_on(at_right, 3, Outcome(9, 1.0, True))
    assert folding.graph.rows[at_right][3][Outcome(9, 1.0, True)] == [0, end]
    assert folding.base.counts[2, 0] == {seen(3): 1, seen(4): 1}


def test_closed_keeps_the_reckoning():
    folding = reckoned(walled(3, 10, 0)[0])
    closed = folding.closed()
    assert closed.reckoning is folding.reckoning
    assert closed.reckoned_at == folding.reckoned_at
    assert folding_evidence(closed) == folding_evidence(folding)


def test_another_reckoning_costs_what_it_says():
    folding = reckoned(walled(3, 10, 0)[0])
    steps = sorted(folding.reckoning.steps)
    dearer = Reckoning(folding.reckoning.axes, set(steps), set(itertools.islice(steps, 0, None, 2)))
    nats = folding_evidence(folding) - folding.reckoning.log_probability
    folding.reckoning = dearer
    assert folding_evidence(folding) == pytest.approx(nats + dearer.log_probability)


# --- the filter -----------------------------------------------------------------------------------


def test_a_room_of_two_colours_is_a_map_that_nothing_contradicts():
    episode, cells = walk(400, 0)
    found, gain = sure_map([episode])
    assert contradictions(found) == 0
    assert len(set(zip(followed(found, episode), cells, strict=True))) == len(set(cells)) == 12
    foresight = foresight_of(found)
    assert gain == pytest.approx(
        folding_evidence(found) - foresight.gain - sure_evidence([episode])
    )
    assert gain > 50.0


def test_kinds_of_steps_cannot_tell_such_places_apart(monkeypatch):
    episode, _ = walk(400, 0)
    assert contradictions(best_reckoned([episode], None)) == 0
    monkeypatch.setattr(reckoned_map, "filtered_reckoning", lambda *_: None)
    assert contradictions(best_reckoned([episode], None)) > 0
    assert sure_map([episode]) is None


def test_a_map_that_is_contradicted_is_none():
    episode, _ = walk(400, 1)
    episode[200] = Happening(episode[200].action, seen(7))
    assert filtered_reckoning([episode], axes_of([episode])) is not None
    assert sure_map([episode]) is None
    assert sure_map([corridor(0, 1, 0, 1)]) is None  # no actions undo each other
