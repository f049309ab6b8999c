"""Evidence of foldings: rows in turn, the choice of clones, and the competition of settings."""

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.oracles import mixed_rows_log_evidence
from tests.structure.test_folding import GOAL, cued, episode

from tgm.structure import clone_model
from tgm.structure.clone_model import (
    CHANCES,
    CUED_SHARES,
    FIRST,
    LEVELS,
    Setting,
    better_closed,
    closed_evidence,
    fold_episodes,
    folding_evidence,
    gain_of_clones,
    gain_of_cue,
    plain_evidence,
)
from tgm.structure.cue_model import cued_foldings
from tgm.structure.folding import Folding
from tgm.structure.refolding import refolded
from tgm.transition.automaton import BEGIN, END, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase, log_chance, log_mixed, log_same

CUED = [*cued(0, 0), *cued(0, 1), *cued(1, 0), *cued(1, 1)]


def accepted(graph: Automaton, strength: float = 0.5) -> Folding:
    folding = Folding(graph, OutcomeBase(strength))
    for node in range(1, len(graph.symbols)):
        folding.accept(node)
    return folding


def test_the_evidence_of_two_sure_rows_by_hand():
    """Each row is expected by those before; two edges are the first to their looks, one is not."""
    folding = accepted(Automaton.of([episode(0, (0, 1), (0, 1))] * 3))
    base = OutcomeBase(0.5)
    outcome = Outcome(1, 0.0, False)
    first = log_same({outcome: [3, 2]}, (0, 0), base)
    base.add((0, 0), outcome)
    second = log_same({outcome: [3, 3]}, (1, 0), base)
    away = math.log(2.0)  # look 1 after look 1 is another place, and might have been the same
    assert folding_evidence(folding) == pytest.approx(first + second - away)


def log_row(row, kind, base, chance):
    """Of one row, by its two laws."""
    same = log_same(row, kind, base)
    return same if len(row) == 1 else log_mixed(same, log_chance(row, kind, base), chance)


def rows_by_cue(episodes):
    """By (symbol, action) and first look: outcomes with counts, counted from the episodes."""
    found = {}
    for one in episodes:
        for (_, before), (action, outcome) in pairwise(one):
            rows = found.setdefault((before.symbol, action), {})
            edge = rows.setdefault(one[0].outcome.symbol, {}).setdefault(outcome, [0, 0])
            edge[0] += 1
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_evidence_of_a_cue_is_that_of_all_sets_of_rows_that_depend_on_it(seed):
    rng = np.random.default_rng(seed)
    episodes = []
    for _ in range(3 + 4 * seed):
        cue, choice, coin = rng.integers(2, size=3).tolist()
        right = Outcome(END, 1.0 if choice == cue or seed == 0 else -1.0, True)
        episodes.append(episode(cue, (0, 2), (coin, 3 + coin * int(seed > 3)), (choice, right)))
    found = rows_by_cue(episodes)
    ways = {(None, one[0].outcome) for one in episodes}
    ways |= {(kind, o) for kind, rows in found.items() for row in rows.values() for o in row}
    ways = {(kind, o) for kind, o in ways if not o.ended}
    n_again = len(ways) - len({o.symbol for _, o in ways})  # none leads back to its own look
    by_chance = []
    for chance in CHANCES:
        pairs = []
        for kind, rows in found.items():
            joined, base, apart = {}, OutcomeBase(0.5), 0.0
            for row in rows.values():
                for outcome, edge in row.items():
                    joined.setdefault(outcome, [0, 0])[0] += edge[0]
            for row in rows.values():
                apart += log_row(row, kind, base, chance)
                base.add_row(kind, row)
            pairs.append((log_row(joined, kind, OutcomeBase(0.5), chance), apart))
        by_chance.append(mixed_rows_log_evidence(pairs, CUED_SHARES))
    wanted = max(by_chance) - n_again * math.log(2.0) - math.log(6.0)
    folding = cued_foldings(episodes, 0.5)[0]
    assert folding_evidence(folding) == pytest.approx(wanted)
    assert gain_of_cue(episodes) >= wanted - plain_evidence(episodes) - 1e-9


def chain(n_places, n_episodes, seed):
    """A cue, places that any action leads through, and a choice: the first look comes twice."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(n_episodes):
        cue, choice = rng.integers(2, size=2).tolist()
        actions = rng.integers(2, size=n_places + 1).tolist()
        looks = [cue, *range(2, 2 + n_places)]
        right = Outcome(END, 1.0 if choice == cue else -1.0, True)
        found.append(episode(cue, *zip(actions, looks, strict=True), (choice, right)))
    return found


@pytest.mark.parametrize("n_places", [1, 20, 100])
def test_a_long_memory_needs_no_more_episodes_than_a_short_one(n_places):
    assert gain_of_cue(chain(n_places, 30, seed=n_places)) > 3.0


@pytest.mark.parametrize("seed", range(5))
def test_a_coin_is_no_cue(seed):
    rng = np.random.default_rng(seed)
    episodes = [
        episode(int(rng.integers(2)), (0, 2), (0, Outcome(END, float(rng.integers(2)), True)))
        for _ in range(30)
    ]
    assert gain_of_cue(episodes) < 0.0
    assert gain_of_cue([episode(0, (0, 1))] * 4) == -math.inf


def test_an_edge_to_a_look_without_clones_is_free():
    folding = Folding(Automaton.of([episode(0, (0, 7))]), OutcomeBase(0.5))
    folding.accept(1)  # look 0; look 7 is undecided
    row = log_same({Outcome(7, 0.0, False): [1, 2]}, (0, 0), OutcomeBase(0.5))
    assert folding_evidence(folding) == pytest.approx(row)


def test_rows_of_chance_share_the_share_that_explains_them_best():
    heads, tails = Outcome(1, 0.0, False), Outcome(2, 0.0, False)
    graph = Automaton()
    graph.symbols += [0]
    graph.rows[0] = {BEGIN: {Outcome(0, 0.0, False): [1, 1]}}
    graph.rows += [{0: {heads: [5, 1], tails: [4, 1]}}]
    folding, base = accepted(graph), OutcomeBase(0.5)
    row = graph.rows[1][0]
    same, chance = log_same(row, (0, 0), base), log_chance(row, (0, 0), base)
    wanted = max(log_mixed(same, chance, share) for share in CHANCES) - math.log(3.0)
    assert folding_evidence(folding) == pytest.approx(wanted)


def test_one_state_for_each_symbol_by_hand():
    """At symbol 0 action 0 leads to 1 twice and to 2 once; 1 and 2 have one outcome each."""
    episodes = [episode(0, (0, 1), (1, 0), (0, 2), (0, GOAL)), episode(0, (0, 1))]
    base = OutcomeBase(FIRST.strength)
    several = {Outcome(1, 0.0, False): [2, 1], Outcome(2, 0.0, False): [1, 2]}
    same, chance = (law(several, (0, 0), base) for law in (log_same, log_chance))
    sure = sum(
        log_same({outcome: [1, 1]}, kind, base)
        for outcome, kind in ((Outcome(0, 0.0, False), (1, 1)), (GOAL, (2, 0)))
    )
    mixed = max(log_mixed(same, chance, share) for share in CHANCES)
    assert plain_evidence(episodes) == pytest.approx(sure + mixed - math.log(2.0))


def test_clones_gain_what_their_evidence_is_above_that_of_symbols():
    folding = fold_episodes(CUED, OutcomeBase(0.5), [FIRST])[0]
    wanted = folding_evidence(folding.closed()) - plain_evidence(CUED)
    assert gain_of_clones(folding, CUED) == pytest.approx(wanted)


def test_a_folding_that_takes_too_long_gains_nothing():
    """Two clones of one look at first, and many nodes below them that may be either."""
    episodes = [episode(0, *((way >> i & 1, 1 + i % 2) for i in range(6))) for way in range(64)]
    tree = Automaton.of(episodes)
    folding = Folding(tree, OutcomeBase(0.5), most_work=0.001)
    assert gain_of_clones(folding, episodes) == -math.inf
    assert fold_episodes(episodes, OutcomeBase(0.5), [FIRST], most_work=0.001) is None


def test_the_setting_with_the_highest_evidence_wins(monkeypatch):
    settings = [Setting(levels, 0.5) for levels in LEVELS]
    height = dict(zip(LEVELS, (1.0, 3.0, 2.0), strict=True))
    tried = []

    class Settled(Folding):
        def settle(self, levels):
            tried.append((levels, self.base.strength))
            self.height = height[levels]

    monkeypatch.setattr(clone_model, "Folding", Settled)
    monkeypatch.setattr(clone_model, "folding_evidence", lambda folding: folding.height)
    monkeypatch.setattr(clone_model, "cued_foldings", lambda *_: [])
    monkeypatch.setattr(clone_model, "reckoned_rivals", lambda *_: [])
    assert fold_episodes(CUED, OutcomeBase(0.1), settings)[1] == settings[1]
    assert tried == [(levels, 0.5) for levels in LEVELS]


def test_a_cue_must_be_better_than_the_closed_folding():
    """What is undecided explains anything: it is closed before it is compared."""
    walk = [episode(cue, (0, 2), (0, 3), (choice, GOAL)) for cue in (0, 1) for choice in (0, 1)]
    folding, setting = fold_episodes(walk, OutcomeBase(0.5), [FIRST])
    assert not folding.is_cued
    assert setting == FIRST


def test_clones_of_before_take_all_episodes_along_their_edges():
    """Twice as many episodes: the same clones, and twice the tries."""
    folding, _ = fold_episodes(CUED, OutcomeBase(FIRST.strength), [FIRST])
    again = refolded(folding, [*CUED, *CUED], FIRST)
    assert len(again.clones) == len(folding.clones)
    looks = [[one.graph.symbols[clone] for clone in one.clones] for one in (folding, again)]
    assert looks[0] == looks[1]
    tries = [
        sum(edge[0] for clone in one.clones for row in one.graph.rows[clone].values()
            for edge in row.values())
        for one in (folding, again)
    ]  # fmt: skip
    assert tries[1] == 2 * tries[0] > 0
    assert again.is_cued == folding.is_cued
    assert again.base.strength == folding.base.strength


def test_a_clone_that_nothing_leads_to_any_more_is_left_out():
    folding, _ = fold_episodes(CUED, OutcomeBase(FIRST.strength), [FIRST])
    fewer = refolded(folding, cued(0, 0), FIRST)
    assert len(fewer.clones) < len(folding.clones)
    for clone in fewer.clones:
        for row in fewer.graph.rows[clone].values():
            assert all(edge[0] > 0 for edge in row.values())


def test_of_two_foldings_the_one_with_more_evidence_is_better(monkeypatch):
    nats = {"one": 1.0, "two": 2.0, None: -math.inf}
    monkeypatch.setattr(clone_model, "closed_evidence", nats.__getitem__)
    assert better_closed("one", "two") == "two"
    assert better_closed("two", "one") == "two"
    assert better_closed("one", "one") == "one"
    assert better_closed(None, "one") == "one"


def test_there_is_no_evidence_of_no_folding():
    assert closed_evidence(None) == -math.inf
    folding, _ = fold_episodes(CUED, OutcomeBase(FIRST.strength), [FIRST])
    assert closed_evidence(folding) == folding_evidence(folding.closed())
