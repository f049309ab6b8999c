"""Folding: the places that whole futures tell apart, against all partitions of small worlds."""

import math

import pytest
from tests.oracles import best_partition

from tgm.structure.clone_model import (
    FIRST,
    fold_episodes,
    folding_evidence,
    gain_of_clones,
    plain_evidence,
)
from tgm.structure.folding import CONFLICT, Folding
from tgm.structure.history_test import common_history, gain_of_history, gain_of_one_change
from tgm.transition.automaton import BEGIN, END, Automaton, Happening, Outcome
from tgm.transition.clone_evidence import OutcomeBase

GOAL = Outcome(END, 1.0, True)


def episode(first, *steps):
    """What happened, from the first symbol and (action, symbol or GOAL)."""
    found = [Happening(BEGIN, Outcome(first, 0.0, False))]
    for action, seen in steps:
        outcome = seen if isinstance(seen, Outcome) else Outcome(seen, 0.0, False)
        found.append(Happening(action, outcome))
    return found


def cued(cue, choice, n_again=6):
    """A cue, a place that looks the same, and a choice that is right for one cue."""
    right = Outcome(END, 1.0 if choice == cue else -1.0, True)
    return [episode(cue, (0, 2), (choice, right))] * n_again


def folded(episodes):
    found = fold_episodes(episodes, OutcomeBase(FIRST.strength), [FIRST])
    assert found is not None
    return found[0]


def test_a_cue_makes_two_places_of_one_look():
    episodes = [*cued(0, 0), *cued(0, 1), *cued(1, 0), *cued(1, 1)]
    folding = folded(episodes)
    assert {symbol: len(alike) for symbol, alike in folding.by_symbol.items()} == {
        0: 1, 1: 1, 2: 2, END: 1,
    }  # fmt: skip
    assert gain_of_clones(folding, episodes) > 10.0


def test_one_place_stays_one():
    walk = episode(0, (0, 1), (0, 0), (0, 1), (0, 0), (1, GOAL))
    folding = folded([walk] * 4)
    assert {symbol: len(alike) for symbol, alike in folding.by_symbol.items()} == {
        0: 1,
        1: 1,
        END: 1,
    }
    assert gain_of_clones(folding, [walk] * 4) == pytest.approx(0.0)


def test_chance_makes_no_places():
    coin = [episode(0, (0, 1 + (i * i // 3) % 2), (0, 0), (0, 1 + i % 2)) for i in range(30)]
    folding = folded(coin)
    assert gain_of_clones(folding, coin) <= 0.0
    assert gain_of_history(coin)[0] < 2.0


def test_a_fold_that_is_only_weighed_changes_nothing():
    episodes = [*cued(0, 0), *cued(1, 1)]
    tree = Automaton.of(episodes)
    folding, before = Folding(tree, OutcomeBase(0.5)), tree.copy()
    one, other = (tree.rows[n][0][Outcome(2, 0.0, False)][1] for n in (1, 4))
    assert tree.symbols[one] == tree.symbols[other] == 2
    folding.gain(one, other)
    assert (tree.symbols, tree.rows) == (before.symbols, before.rows)
    with_conflict = Folding(Automaton.of([*cued(0, 0), *cued(1, 0)]), OutcomeBase(0.5))
    assert with_conflict.gain(one, other) < -CONFLICT


def test_no_partition_of_a_small_world_is_better():
    """All partitions of the moments of two episodes: the folding has the evidence of the best."""
    episodes = [
        episode(0, (0, 1), (0, 1), (0, Outcome(2, 5.0, False))),
        episode(0, (0, 1), (0, 1), (0, Outcome(2, 5.0, False))),
    ]
    plain = [[(h.action, h.outcome.symbol) for h in one] for one in episodes]

    def evidence(places):
        graph, nodes, moment = Automaton(), {}, 0
        for one in episodes:
            at = 0
            for action, outcome in one:
                place = places[moment]
                if place not in nodes:
                    nodes[place] = len(graph.symbols)
                    graph.symbols.append(outcome.symbol)
                    graph.rows.append({})
                graph.rows[at].setdefault(action, {}).setdefault(outcome, [0, nodes[place]])[0] += 1
                at, moment = nodes[place], moment + 1
        folding = Folding(graph, OutcomeBase(FIRST.strength))
        for node in range(1, len(graph.symbols)):
            folding.accept(node)
        return folding_evidence(folding)

    wanted = evidence(best_partition(plain, evidence))
    closed = folded(episodes).closed()
    assert folding_evidence(closed) == pytest.approx(wanted, abs=CONFLICT)
    assert folding_evidence(closed) >= plain_evidence(episodes) - CONFLICT


def test_a_history_is_common_as_far_back_as_all_was_the_same():
    one = episode(0, (0, 2), (0, 2), (1, 3))
    other = episode(1, (0, 2), (0, 2), (1, 4))
    assert common_history((one, 3), (other, 3)) == 2
    assert common_history((one, 3), (one, 3)) == 3


def test_history_tells_outcomes_apart_where_a_cue_does():
    episodes = [one for pair in zip(cued(0, 0, 12), cued(1, 0, 12), strict=True) for one in pair]
    gain, n_rows = gain_of_history(episodes)
    assert n_rows == 1
    assert gain > 3.0


def test_one_change_is_no_hidden_state():
    before, after = episode(0, (0, 1)), episode(0, (0, 2))
    outcomes = [Outcome(1, 0.0, False)] * 20 + [Outcome(2, 0.0, False)] * 20
    assert gain_of_one_change(outcomes) > 10.0
    assert gain_of_one_change(outcomes[::2][:4] * 5) < math.log(20)
    assert gain_of_history([before] * 20 + [after] * 20)[0] < 2.0
