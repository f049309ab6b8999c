"""Clones by a cue: one for each pair of a look and of the look that is remembered."""

import numpy as np
import pytest
from tests.structure.test_folding import GOAL, episode

from tgm.structure.clone_model import folding_evidence, plain_evidence
from tgm.structure.cue_model import cued_foldings, cued_places, followed, uncued
from tgm.structure.folding import labelled_folding
from tgm.transition.automaton import BEGIN, END, Happening, Outcome


def rows_by_symbols(folding):
    """(symbol, action) -> (symbol that is reached, count), of each clone in its order."""
    graph = folding.graph
    return [
        (graph.symbols[node], action, graph.symbols[target], count)
        for node in range(len(graph.symbols))
        for action, row in graph.rows[node].items()
        for count, target in row.values()
    ]


def test_places_are_pairs_of_a_look_and_of_the_first_one():
    episodes = [episode(0, (0, 2), (1, 2), (0, GOAL)), episode(1, (0, 2)), episode(0, (0, 2))]
    first, *others = cued_foldings(episodes, 0.5)
    assert others == []  # the second look is the same in all
    assert {symbol: len(alike) for symbol, alike in first.by_symbol.items()} == {
        0: 1, 1: 1, 2: 2, END: 1,
    }  # fmt: skip
    assert first.is_cued
    assert first.undecided == {}
    assert rows_by_symbols(first) == [
        (-2, BEGIN, 0, 2),
        (-2, BEGIN, 1, 1),
        (0, 0, 2, 2),
        (2, 1, 2, 1),
        (2, 0, END, 1),
        (1, 0, 2, 1),
    ]
    assert first.base.counts[0, 0] == {Outcome(2, 0.0, False): 1}  # clones, not steps
    assert first.base.strength == 0.5


def test_before_the_cue_was_seen_places_are_one():
    """The second look is the cue: the first is the same whatever comes."""
    episodes = [episode(5, (0, 5), (0, cue), (0, 7), (0, 5)) for cue in (1, 2)]
    folding, _ = cued_foldings(episodes, 0.5)
    assert {symbol: len(alike) for symbol, alike in folding.by_symbol.items()} == {
        5: 3,  # before the cue, and after each of the two
        1: 1,
        2: 1,
        7: 2,
    }


def test_a_look_that_lasts_is_one_look():
    episodes = [episode(5, (0, 5), (0, 6), (0, 6), (0, cue)) for cue in (1, 2)]
    folding, other = cued_foldings(episodes, 0.5)  # the third look
    assert len(folding.by_symbol[5]) == len(folding.by_symbol[6]) == 1
    assert [len(other.by_symbol[look]) for look in (5, 6)] == [2, 1]


@pytest.mark.parametrize(("again", "n_places"), [(5, [1, 2]), (6, [1, 1])])
def test_the_first_moment_may_be_a_place_of_its_own(again, n_places):
    """Where the first look comes again: two foldings by it. Else one by each of two looks."""
    episodes = [episode(5, (0, again), (0, 7), (0, again)), episode(4, (0, 7))]
    foldings = cued_foldings(episodes, 0.5)
    assert [len(one.by_symbol[5]) for one in foldings] == n_places
    assert all(len(one.by_symbol[4]) == 1 for one in foldings)
    assert all(one.is_cued for one in foldings)


@pytest.mark.parametrize(("n_cues", "n_foldings"), [(1, 0), (2, 1), (16, 1), (17, 0)])
def test_a_cue_has_2_to_16_values(n_cues, n_foldings):
    episodes = [episode(cue, (0, 99)) for cue in range(n_cues)]
    assert len(cued_foldings(episodes, 0.5)) == n_foldings


def test_an_end_is_no_cue():
    episodes = [episode(0, (0, GOAL)), episode(0, (0, Outcome(7, -1.0, True)))]
    assert cued_foldings(episodes, 0.5) == []


def test_every_episode_can_be_followed_whatever_the_cue():
    """A place before the third look may come at the first or at the second."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        episodes = []
        for _ in range(8):
            steps = rng.integers(0, 3, size=(rng.integers(2, 7), 2)).tolist()
            moments = [Happening(BEGIN, Outcome(int(rng.integers(3)), 0.0, False))]
            moments += [Happening(action, Outcome(look, 0.0, False)) for action, look in steps]
            episodes.append(moments)
        foldings = cued_foldings(episodes, 0.5)
        assert len(foldings) == 6
        for folding in foldings:
            for moments in episodes:
                node = 0
                for action, outcome in moments:
                    node = folding.graph.rows[node][action][outcome][1]
                    assert folding.graph.symbols[node] == outcome.symbol
            tries = sum(
                edge[0]
                for rows in folding.graph.rows
                for row in rows.values()
                for edge in row.values()
            )
            assert tries == sum(len(moments) for moments in episodes)


def counted(n_episodes: int, n_places: int = 5, seed: int = 0):
    """A cue, a corridor of one look whose end is told by counting, a choice; and the places."""
    rng, episodes, labels = np.random.default_rng(seed), [], []
    for _ in range(n_episodes):
        cue, choice = rng.integers(2, size=2).tolist()
        right = Outcome(END, 1.0 if choice == cue else -1.0, True)
        actions = [0] * (n_places + 1)
        looks = [2] * n_places + [3]
        episodes.append(episode(cue, *zip(actions, looks, strict=True), (choice, right)))
        labels.append([("cue", cue), *range(n_places), "choice", "end"])
    return episodes, labels


def test_counting_and_a_cue_together_explain_more_than_each():
    episodes, labels = counted(40)
    chain = labelled_folding(episodes, labels, 0.5)
    (both,) = cued_places(chain, episodes, 0.5)
    assert folding_evidence(both) > folding_evidence(chain) + 10.0
    assert folding_evidence(both) > max(map(folding_evidence, cued_foldings(episodes, 0.5))) + 10.0
    assert len(both.by_symbol[2]) == 2 * 5
    assert len(both.by_symbol[3]) == 2


def test_with_one_place_for_each_look_it_is_the_cue_alone():
    episodes, _ = counted(12)
    labels = [[END if o.ended else o.symbol for _, o in one] for one in episodes]
    plain = labelled_folding(episodes, labels, 0.5)
    assert folding_evidence(plain) == pytest.approx(plain_evidence(episodes))
    found = [folding_evidence(one) for one in cued_places(plain, episodes, 0.5)]
    assert found == pytest.approx([folding_evidence(one) for one in cued_foldings(episodes, 0.5)])


def test_without_the_cue_the_places_are_there_again():
    episodes, labels = counted(12)
    chain = labelled_folding(episodes, labels, 0.5)
    (both,) = cued_places(chain, episodes, 0.5)
    again = uncued(both, [*episodes, *counted(5, seed=1)[0]])
    assert len(again.clones) == len(chain.clones)
    assert uncued(chain, episodes) is chain
    assert uncued(cued_foldings(episodes, 0.5)[0], episodes) is None
    places = followed(chain, episodes[0])
    assert [both.place_of[node] for node in followed(both, episodes[0])] == places
