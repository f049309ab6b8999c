"""A folding as arrays, and back; files that were changed are refused."""

import numpy as np
import pytest
from tests.structure.rooms import walk, walled
from tests.structure.test_folding import cued, episode

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.structure.clone_model import FIRST, folding_evidence
from tgm.structure.folding import Folding
from tgm.structure.folding_file import folding_from_arrays, folding_to_arrays
from tgm.structure.reckoned_map import filtered_folding, reckoned_folding
from tgm.transition.automaton import BEGIN, Automaton, Happening, Outcome
from tgm.transition.clone_evidence import OutcomeBase


@pytest.fixture(scope="module")
def folding() -> Folding:
    """Two clones of one look, and an edge that may lead to either."""
    episodes = [*cued(0, 0), *cued(0, 1), *cued(1, 0), *cued(1, 1), episode(3, (0, 2))]
    found = Folding(Automaton.of(episodes), OutcomeBase(FIRST.strength))
    found.settle(FIRST.levels)
    assert len(found.undecided) == 1
    return found


def copied(folding: Folding) -> Folding:
    return folding_from_arrays(ArrayReader(folding_to_arrays(folding)), 2)


def test_a_folding_survives_a_file(folding):
    copy = copied(folding)
    assert (copy.graph.symbols, copy.graph.rows) == (folding.graph.symbols, folding.graph.rows)
    assert copy.clones == folding.clones
    assert copy.is_clone == folding.is_clone
    assert copy.by_symbol == folding.by_symbol
    assert copy.undecided == folding.undecided
    assert copy.base.counts == folding.base.counts
    assert copy.base.strength == folding.base.strength
    assert not copy.is_cued
    assert folding_evidence(copy) == folding_evidence(folding)


def test_a_cue_survives_a_file(folding):
    cued_one = copied(folding)
    cued_one.is_cued = True
    cued_one.is_strict, cued_one.place_of, cued_one.edge_nats = True, {1: 7, 2: 5}, -3.5
    copy = copied(cued_one)
    assert copy.is_cued
    assert copy.is_strict
    assert (copy.place_of, copy.edge_nats) == ({1: 7, 2: 5}, -3.5)


@pytest.fixture(scope="module")
def reckoned():
    return reckoned_folding(walled(20, 30, 0)[0], 0.5, folding_evidence, None)


@pytest.fixture(scope="module")
def filtered():
    episode, _ = walk(400, 0)
    piece = Happening(BEGIN, Outcome(episode[200].outcome.symbol, 1.0, False))
    return filtered_folding([episode[:201], [piece, *episode[201:]]], 0.5)


def test_a_reckoning_survives_a_file(reckoned):
    copy = folding_from_arrays(ArrayReader(folding_to_arrays(reckoned)), 4)
    assert copy.reckoning == reckoned.reckoning
    assert copy.reckoned_at == reckoned.reckoned_at
    assert folding_evidence(copy) == folding_evidence(reckoned)


def test_what_a_filter_found_survives_a_file(filtered):
    copy = folding_from_arrays(ArrayReader(folding_to_arrays(filtered)), 4)
    assert copy.reckoning == filtered.reckoning
    assert len(copy.reckoning.moves) > 20
    assert len(copy.reckoning.starts) == 1
    assert folding_evidence(copy) == folding_evidence(filtered)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("moves", lambda array: array[:, :-1]),
        ("moves", lambda array: np.add(array, [9, 0, 0, 0, 0, 0])),
        ("starts", lambda array: array[:, :-1]),
        ("alike", lambda array: -array),
    ],
)
def test_what_a_filter_did_not_find_is_refused(filtered, name, change):
    arrays = folding_to_arrays(filtered)
    arrays[f"reckoning.{name}"] = change(arrays[f"reckoning.{name}"])
    with pytest.raises(DataError, match=name):
        folding_from_arrays(ArrayReader(arrays), 4)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("axes", lambda array: np.add(array, [9, 0, 0])),
        ("axes", lambda array: array - [0, 9, 0]),
        ("axes", lambda array: array * [1, 1, 2]),
        ("places", lambda array: array[:, :-1]),
        ("places", lambda array: array[1:]),
        ("places", lambda array: np.add(array, [99, 0, 0, 0, 0])),
    ],
)
def test_a_reckoning_that_does_not_fit_is_refused(reckoned, name, change):
    arrays = folding_to_arrays(reckoned)
    arrays[f"reckoning.{name}"] = change(arrays[f"reckoning.{name}"])
    with pytest.raises(DataError, match=name):
        folding_from_arrays(ArrayReader(arrays), 4)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("clones", lambda array: array[1:]),
        ("clones", lambda array: np.append(array, array[1])),
        ("clones", lambda array: array + 99),
        ("strength", lambda array: -array),
        ("rival.edge", lambda array: array + 1),
        ("rival.nats", lambda array: array[:-1]),
        ("base.count", lambda array: array - 99),
        ("base.action", lambda array: array + 9),
        ("undecided.node", lambda array: array - 99),
        ("undecided.symbol", lambda array: array[:0]),
    ],
)
def test_a_file_that_was_changed_is_refused(folding, name, change):
    arrays = folding_to_arrays(folding)
    assert arrays[name].size
    arrays[name] = change(arrays[name])
    with pytest.raises(DataError):
        folding_from_arrays(ArrayReader(arrays), 2)


def test_a_rival_of_an_edge_that_is_not_there_is_refused(folding):
    arrays = folding_to_arrays(folding)
    for name in ("node", "action", "symbol", "reward", "ended"):
        arrays[f"undecided.{name}"] = arrays[f"undecided.{name}"][:0]
    with pytest.raises(DataError, match="edge"):
        folding_from_arrays(ArrayReader(arrays), 2)


def test_a_rival_that_is_no_clone_is_refused(folding):
    arrays = folding_to_arrays(folding)
    undecided = next(n for n in range(len(folding.graph.symbols)) if n not in folding.is_clone)
    arrays["rival.clone"] = np.full_like(arrays["rival.clone"], undecided)
    with pytest.raises(DataError, match="no clone"):
        folding_from_arrays(ArrayReader(arrays), 2)
