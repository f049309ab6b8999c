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
from tgm.structure.cue_model import CUES, cued_foldings
from tgm.structure.folding import CONFLICT, Folding, _is_clear
from tgm.structure.history_test import (
    common_history,
    gain_of_history,
    gain_of_one_change,
    visits_of,
)
from tgm.transition.automaton import BEGIN, END, Automaton, Happening, Outcome
from tgm.transition.clone_evidence import OutcomeBase, log_chance, log_same

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


def test_a_fold_assumes_that_one_row_in_a_hundred_is_random():
    one, other = Outcome(1, 0.0, False), Outcome(2, 0.0, False)
    graph = Automaton()
    graph.symbols += [0, 0, 1, 2]
    graph.rows += [{0: {one: [5, 3]}}, {0: {other: [4, 4]}}, {}, {}]
    folding, kind = Folding(graph, OutcomeBase(0.5)), (0, 0)
    both = {one: [5, 3], other: [4, 4]}
    same, chance = (log(both, kind, folding.base) for log in (log_same, log_chance))
    together = math.log(0.99 * math.exp(same) + 0.01 * math.exp(chance))
    apart = sum(log_same({each: both[each]}, kind, folding.base) for each in both)
    assert folding.gain(1, 2) == pytest.approx(together - apart)


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
    assert common_history(visits_of(one)[2], visits_of(other)[2]) == 2
    assert common_history(visits_of(one)[2], visits_of(one)[2]) == 3


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


def test_a_cue_is_remembered_where_any_action_leads_on():
    """Futures never overlap, for each way through the corridor is another one."""
    episodes = []
    for number in range(64):
        ways = [(number >> i) % 2 for i in range(5)]
        cue, choice = number % 2, (number // 3) % 2
        right = Outcome(END, 1.0 if cue == choice else -1.0, True)
        steps = [(way, 2 + place) for place, way in enumerate(ways)]
        episodes.append(episode(cue, *steps, (choice, right)))
    folding = folded(episodes)
    assert folding.is_cued
    assert {len(folding.by_symbol[symbol]) for symbol in range(2, 7)} == {2}
    assert gain_of_clones(folding, episodes) > 3.0


def test_one_of_the_first_three_looks_may_be_the_cue():
    assert CUES == 3
    for number, n_foldings in ((0, 1), (1, 1), (2, 1), (3, 0)):
        before = [episode(9, *((0, 10 + i) for i in range(1, number)))] * 2 if number else []
        episodes = [
            [*before[i], Happening(0, Outcome(cue, 0.0, False))] if number else episode(cue)
            for i, cue in enumerate((1, 2))
        ]
        assert len(cued_foldings(episodes, 0.5)) == n_foldings


@pytest.mark.parametrize(("is_cued", "node"), [(True, 2), (True, 3), (False, 2)])
def test_with_a_cue_a_new_outcome_leads_to_the_clone_of_the_same_cue(is_cued, node):
    """Two cues 0 and 1, then looks 2 and 3 that are clones; action 1 was never tried at look 2."""
    episodes = [episode(cue, (0, 2), (0, 3), (cue, GOAL)) for cue in (0, 1)]
    (folding,) = cued_foldings(episodes, 0.5)
    folding.is_cued = is_cued
    symbols, new = folding.graph.symbols, Outcome(3, -1.0, False)
    for clone, other in zip(folding.by_symbol[2], folding.by_symbol[3], strict=True):
        folding.lead_on(clone if node == 2 else 0, 1, new)
        row = folding.graph.rows[clone].get(1)
        assert row == ({new: [0, other]} if is_cued and node == 2 else None)
        assert symbols[other] == 3
    folding.lead_on(folding.by_symbol[2][0], 1, GOAL)  # ends are for the next settling
    assert GOAL not in folding.graph.rows[folding.by_symbol[2][0]].get(1, {})


def test_before_a_cue_a_new_outcome_may_lead_anywhere():
    episodes = [episode(9, (0, cue), (0, 7)) for cue in (1, 2)]
    (folding,) = cued_foldings(episodes, 0.5)
    start = folding.by_symbol[9][0]
    folding.lead_on(start, 1, Outcome(7, 0.0, False))  # one of two
    assert 1 not in folding.graph.rows[start]


# --- one decision ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gains", "level", "is_clear"),
    [
        ([3.0], 3.0, True),
        ([2.9], 3.0, False),
        ([3.9, 1.0], 3.0, False),
        ([4.0, 1.0], 3.0, True),
        ([3.0, -2.0], 3.0, True),  # what speaks against the second is not counted
        ([-3.0], None, True),
        ([9.0, -3.0], None, False),  # without a level, the only one
        ([-3.5, -3.9], -math.inf, True),
    ],
)
def test_a_clone_must_be_better_than_the_second_by_a_level(gains, level, is_clear):
    assert _is_clear([(gain, i) for i, gain in enumerate(gains)], level) == is_clear


class Weighed(Folding):
    """A folding in which the gain of each pair of nodes is given."""

    def __init__(self, graph, gains):
        super().__init__(graph, OutcomeBase(0.5))
        self.gains = gains

    def gain(self, clone, node):
        return self.gains[clone]


def three_of_one_look(gains):
    """Clones 1 and 2 of look 0, and node 3, to which action 0 leads from 4, of look 5."""
    graph = Automaton()
    graph.symbols += [0, 0, 0, 5]
    graph.rows += [{}, {}, {}, {0: {Outcome(0, 0.0, False): [1, 3]}}]
    folding = Weighed(graph, gains)
    for node in (1, 2, 4):
        folding.accept(node)
    return folding


@pytest.mark.parametrize(
    ("gains", "is_new", "joined"),
    [
        ({1: -4.1, 2: -5.0}, True, 3),
        ({1: -3.9, 2: -5.0}, False, 1),  # the only one that is possible, at last
        ({1: 1.0, 2: 9.0}, False, 2),
        ({1: 1.0, 2: 1.5}, False, 3),
    ],
)
def test_a_node_is_new_or_one_of_those_that_look_the_same(gains, is_new, joined):
    folding = three_of_one_look(gains)
    folding.settle((3.0, 1.0))
    assert (3 in folding.is_clone) == is_new
    key = (4, 0, Outcome(0, 0.0, False))
    assert folding.graph.rows[4][0][key[2]] == [1, joined]
    is_open = joined == 3 and not is_new
    assert folding.undecided == ({key: [(1.5, 2), (1.0, 1)]} if is_open else {})


def test_levels_are_tried_in_turn_and_closing_decides_everything():
    folding = three_of_one_look({1: 1.0, 2: 2.2})
    folding.settle((3.0,))
    assert folding.undecided
    folding.settle((3.0, 1.0))
    assert not folding.undecided
    folding = three_of_one_look({1: 1.0, 2: 1.5})
    folding.settle((3.0,))
    closed = Folding.closed(folding)
    assert closed.clones == [0, 1, 2, 4]
    assert 3 not in closed.graph.reachable(closed.clones)
    assert 3 in folding.graph.reachable(folding.clones)  # the original stays as it was


@pytest.mark.parametrize(("n_back", "n_away"), [(0, 0), (3, 0), (0, 3)])
def test_what_often_leads_back_probably_does_so_again(n_back, n_away):
    """Actions 0, 1, 2 of clone 1 lead back or to clone 2, which looks the same; 5 to node 3."""
    graph, ahead = Automaton(), Outcome(0, 0.0, False)
    graph.symbols += [0, 0, 0]
    targets = [1] * n_back + [2] * n_away
    graph.rows += [{a: {ahead: [1, target]} for a, target in enumerate(targets)}, {}, {}]
    graph.rows[1][5] = {ahead: [1, 3]}
    folding = Weighed(graph, {1: 0.0, 2: 0.0})
    for node in (1, 2):
        folding.accept(node)
    folding.settle((50.0,))
    odds = math.log((n_back + 1) / (n_away + 1)) + math.log(2.0)  # two clones look the same
    assert folding.undecided == {
        (1, 5, ahead): sorted(
            [(pytest.approx(odds), 1), (0.0, 2)], key=lambda x: -odds * (x[1] == 1)
        )
    }


@pytest.mark.parametrize("is_strict", [False, True])
def test_a_strict_fold_is_refused_by_one_contradiction(is_strict):
    """Two looks, 20 actions: all do the same at both, but for one."""
    graph = Automaton()
    graph.symbols += [0, 0, 1, 2, 1]
    same = {a: {Outcome(1, 0.0, False): [5, 3]} for a in range(20)}
    other = {a: {Outcome(1, 0.0, False): [5, 5]} for a in range(20)}
    graph.rows += [same, other, {}, {}, {}]
    graph.rows[2][19] = {Outcome(2, 0.0, False): [5, 4]}
    folding = Folding(graph, OutcomeBase(0.5), is_strict=is_strict)
    folding.accept(1)
    assert (folding.gain(1, 2) < -CONFLICT) == is_strict
    assert folding.closed().is_strict == is_strict
    del graph.rows[2][19]
    assert folding.gain(1, 2) > 10.0


def test_work_is_bounded_by_rows_for_each_node():
    episodes = [*cued(0, 0), *cued(0, 1), *cued(1, 0), *cued(1, 1)]
    for most_work, is_given_up in ((1e-9, True), (100, False)):
        folding = Folding(Automaton.of(episodes), OutcomeBase(0.5), most_work)
        folding.settle(FIRST.levels)
        assert folding.is_given_up == is_given_up


def test_ends_are_one_place():
    right, wrong = Outcome(END, 1.0, True), Outcome(END, -1.0, True)
    folding = Folding(Automaton.of([episode(0, (0, right)), episode(0, (1, wrong))]),
                      OutcomeBase(0.5))  # fmt: skip
    folding.settle(FIRST.levels)
    assert len(folding.by_symbol[END]) == 1
    (end,) = folding.by_symbol[END]
    (start,) = folding.by_symbol[0]
    assert [folding.graph.rows[start][a][o][1] for a, o in ((0, right), (1, wrong))] == [end, end]


def test_the_base_counts_clones_not_steps():
    folding = folded([*cued(0, 0), *cued(0, 1), *cued(1, 0), *cued(1, 1)])
    folding.count_base()
    counts = folding.base.counts
    assert counts[0, 0] == {Outcome(2, 0.0, False): 1}
    assert sum(counts[2, 0].values()) == sum(counts[2, 1].values()) == 2
