"""Merging of labels, against all rows counted again."""

import itertools
from collections import Counter

import numpy as np
import pytest
from tests.oracles import labels_evidence
from tests.structure.rooms import seen, walk

from tgm.structure.folding import FOLDED_CHANCE
from tgm.structure.label_graph import LabelGraph, Replay, log_ways
from tgm.transition.automaton import BEGIN, Happening
from tgm.transition.clone_evidence import log_evidence


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gain_of_a_merge_is_that_of_all_rows_counted_again(seed):
    episode, cells = walk(60, seed)
    rng = np.random.default_rng(seed)
    labels = [[4 * (4 * y + x) + int(rng.integers(2)) for y, x in cells]]
    graph = LabelGraph([episode], labels)
    base, alike = graph.base(0.5), Counter(graph.symbols.values())

    def of_row(symbol, action, counts):
        row = {outcome: [count, 0] for outcome, count in counts.items()}
        return log_evidence(row, (symbol, action), base, FOLDED_CHANCE)

    before = labels_evidence([episode], labels, of_row, log_ways, alike)
    n_told = 0
    for one, other in itertools.combinations(graph.rows, 2):
        if graph.symbols[one] != graph.symbols[other]:
            continue
        gain, parents, _ = graph.merged(one, other)
        if gain < -7.0:  # it is not followed to the end
            continue
        merged = labels[0]
        while any(label in parents for label in merged):
            merged = [parents.get(label, label) for label in merged]
        after = labels_evidence([episode], [merged], of_row, log_ways, alike)
        assert gain == pytest.approx(after - before)
        n_told += 1
    assert n_told > 5


def four_labels():
    """Labels 1 and 2 look like 0; action 0 leads from them to labels 3 and 4, which look like 5."""
    steps = [Happening(BEGIN, seen(0)), Happening(0, seen(5))]
    return LabelGraph([steps, steps, steps], [[1, 3], [2, 4], [2, 4]])


def test_the_base_of_labels_counts_each_label_once():
    assert four_labels().base(0.5).counts == {(0, 0): {seen(5): 2}}


@pytest.mark.parametrize(("nats", "is_followed"), [(-7.9, True), (-8.1, False)])
def test_labels_that_are_hardly_one_place_are_not_followed_further(nats, is_followed, monkeypatch):
    graph = four_labels()
    monkeypatch.setattr(graph, "_gain_of_ways", lambda *_: 100.0)
    evidence = iter([nats, 0.0, 0.0])  # of the joined row, and of both
    monkeypatch.setattr(graph, "_row_evidence", lambda *_: next(evidence))
    assert graph.merged(1, 2)[0] == (100.0 + nats if is_followed else nats)


def test_labels_of_one_place_are_merged_and_others_are_not():
    episode, cells = walk(1500, 7)
    rng = np.random.default_rng(0)
    labels = [[2 * (4 * y + x) + int(rng.integers(2)) for y, x in cells]]
    graph = LabelGraph([episode], labels)
    graph.merge_all()
    places = [graph.place(label) for label in labels[0]]
    assert len(set(zip(places, cells, strict=True))) == len(set(places)) == 12
    replay = Replay(graph, [episode], [places])
    assert replay.labels == [places]


def test_a_piece_that_begins_at_a_wrong_label_is_followed_from_the_right_one():
    episode, cells = walk(800, 8)
    labels = [4 * y + x for y, x in cells]
    graph = LabelGraph([episode], [labels])
    wrong = [next(label for label in labels if label != labels[0]), *labels[1:]]
    assert Replay(graph, [episode], [wrong]).labels == [labels]


def test_an_episode_is_followed_until_nothing_is_known():
    one, other = seen(1), seen(2)
    replay = object.__new__(Replay)
    replay._episodes = [[Happening(BEGIN, one), *(Happening(0, x) for x in (one, other, one, one))]]
    replay._ways = {(5, 0, one): 6, (6, 0, other): 7, (8, 0, one): 5}
    assert [replay._n_followed(label, [0]) for label in (5, 6, 7, 8)] == [2, 0, 0, 1]
