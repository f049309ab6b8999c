"""Evidence of rows where places look alike, against the slow version."""

import math

import numpy as np
import pytest
from tests.oracles import chance_in_turn

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition.automaton import (
    BEGIN,
    END,
    Automaton,
    Happening,
    Outcome,
    episodes_from_arrays,
    episodes_to_arrays,
)
from tgm.transition.clone_evidence import (
    CONCENTRATION,
    MISREAD,
    OutcomeBase,
    log_chance,
    log_evidence,
    log_same,
)

ONE, OTHER, REWARDED = Outcome(1, 0.0, False), Outcome(2, 0.0, False), Outcome(END, 1.0, True)
KIND = (0, 0)


def row_of(*outcomes: Outcome) -> dict[Outcome, list[int]]:
    row: dict[Outcome, list[int]] = {}
    for outcome in outcomes:
        row.setdefault(outcome, [0, 1])[0] += 1
    return row


def some_base() -> OutcomeBase:
    base = OutcomeBase(0.5)
    base.add(KIND, ONE, 3)
    base.add(KIND, OTHER, 1)
    return base


def test_a_base_counts_places_and_keeps_room_for_what_was_never_seen():
    base = some_base()
    total = 4 + 0.5 * 3
    assert base.log_probability(KIND, ONE) == pytest.approx(math.log(3.5 / total))
    assert base.log_probability(KIND, REWARDED) == pytest.approx(math.log(0.5 / total))
    assert base.log_probability((5, 0), ONE) == math.log(0.5)


@pytest.mark.parametrize("n_other", [0, 1, 4])
def test_a_row_of_chance_is_the_product_of_its_predictions(n_other):
    base = some_base()
    outcomes = [ONE, *[OTHER] * n_other, ONE]
    shares = {o: math.exp(base.log_probability(KIND, o)) for o in (ONE, OTHER)}
    numbers = [0 if o == ONE else 1 for o in outcomes]
    wanted = chance_in_turn(numbers, {0: shares[ONE], 1: shares[OTHER]}, CONCENTRATION)
    assert log_chance(row_of(*outcomes), KIND, base) == pytest.approx(float(wanted))


def test_a_row_that_does_the_same_pays_once_and_misreads_symbols_alone():
    base = some_base()
    usual = base.log_probability(KIND, ONE)
    same = log_same(row_of(ONE, ONE, ONE), KIND, base)
    assert same == pytest.approx(usual + 3 * math.log1p(-MISREAD))
    misread = log_same(row_of(ONE, ONE, ONE, OTHER), KIND, base)
    assert misread == pytest.approx(same + math.log(MISREAD) + base.log_probability(KIND, OTHER))
    assert log_same(row_of(ONE, ONE, ONE, REWARDED), KIND, base) < misread - 50.0


def test_chance_and_sameness_are_mixed():
    base, row = some_base(), row_of(ONE, ONE, OTHER, OTHER)
    wanted = 0.9 * math.exp(log_same(row, KIND, base)) + 0.1 * math.exp(log_chance(row, KIND, base))
    assert log_evidence(row, KIND, base, 0.1) == pytest.approx(math.log(wanted))


def test_episodes_that_begin_alike_share_nodes():
    begin = Happening(BEGIN, Outcome(0, 0.0, False))
    tree = Automaton.of([[begin, Happening(0, ONE)], [begin, Happening(0, ONE)], [begin]])
    assert tree.symbols == [-2, 0, 1]
    assert tree.rows[0][BEGIN][begin.outcome] == [3, 1]
    assert tree.rows[1][0][ONE] == [2, 2]


def test_an_automaton_and_episodes_survive_files():
    begin = Happening(BEGIN, Outcome(0, 0.0, False))
    episodes = [[begin, Happening(1, OTHER), Happening(0, REWARDED)], [begin]]
    tree = Automaton.of(episodes)
    again = Automaton.from_arrays(ArrayReader(tree.to_arrays()), 2)
    assert (again.symbols, again.rows) == (tree.symbols, tree.rows)
    assert episodes_from_arrays(ArrayReader(episodes_to_arrays(episodes)), 2) == episodes


@pytest.mark.parametrize(
    ("name", "value"),
    [("target", 0), ("target", 9), ("symbols", 7), ("action", 5), ("count", 0), ("node", 2)],
)
def test_a_file_that_was_changed_is_refused(name, value):
    begin = Happening(BEGIN, Outcome(0, 0.0, False))
    arrays = Automaton.of([[begin, Happening(1, OTHER)]]).to_arrays()
    arrays[name] = np.full_like(arrays[name], value)
    with pytest.raises(DataError):
        Automaton.from_arrays(ArrayReader(arrays), 2)


def test_episodes_that_do_not_begin_are_refused():
    arrays = episodes_to_arrays([[Happening(BEGIN, ONE)]])
    arrays["action"] = np.array([0])
    with pytest.raises(DataError, match="begin"):
        episodes_from_arrays(ArrayReader(arrays), 2)


def test_places_add_up_and_none_makes_an_outcome_known():
    base = OutcomeBase(0.5)
    base.add(KIND, ONE, 2)
    assert base.log_probability(KIND, ONE) == pytest.approx(math.log(2.5 / 3.0))
    base.add(KIND, ONE)
    assert base.log_probability(KIND, ONE) == pytest.approx(math.log(3.5 / 4.0))
    base.add(KIND, OTHER, 0)  # it happens, at a place that is undecided
    assert base.counts[KIND] == {ONE: 3, OTHER: 0}
    assert base.log_probability(KIND, ONE) == pytest.approx(math.log(3.5 / 4.5))
    base.add(KIND, ONE, 0)
    assert base.counts[KIND] == {ONE: 3, OTHER: 0}
    base.add_row(KIND, row_of(ONE, ONE, OTHER))
    assert base.counts[KIND] == {ONE: 4, OTHER: 1}
    assert base.log_probability(KIND, OTHER) == pytest.approx(math.log(1.5 / 6.5))


def test_the_same_counts_with_another_strength():
    base = some_base()
    weaker = base.with_strength(0.1)
    assert weaker.log_probability(KIND, ONE) == pytest.approx(math.log(3.1 / 4.3))
    assert base.log_probability(KIND, ONE) == pytest.approx(math.log(3.5 / 5.5))
    assert weaker.counts is base.counts


# --- the graph of nodes ---------------------------------------------------------------------------


def test_a_copy_of_an_automaton_is_independent():
    tree = Automaton.of([[Happening(BEGIN, ONE), Happening(0, OTHER)]])
    copy = tree.copy()
    assert copy.advance(1, 0, OTHER) == 2
    assert copy.advance(1, 0, REWARDED) == 3
    assert copy.advance(0, BEGIN, ONE) == 1
    assert tree.symbols == [-2, 1, 2]
    assert copy.symbols == [-2, 1, 2, END]
    assert tree.rows == [{BEGIN: {ONE: [1, 1]}}, {0: {OTHER: [1, 2]}}, {}]
    assert copy.rows[0] == {BEGIN: {ONE: [2, 1]}}
    assert copy.rows[1] == {0: {OTHER: [2, 2], REWARDED: [1, 3]}}


def test_what_can_be_reached():
    tree = Automaton.of([[Happening(BEGIN, ONE), Happening(0, OTHER), Happening(1, REWARDED)]])
    tree.rows[2][0] = {ONE: [1, 1]}  # and back
    assert tree.reachable([0]) == [0, 1, 2, 3]
    assert tree.reachable([2]) == [2, 3, 1]
    assert tree.reachable([3, 1]) == [3, 1, 2]
