"""The search for clones: when it ends, what it doubts, and that a room is mapped exactly."""

from collections import Counter

import numpy as np
import pytest
from tests.structure.rooms import corridor, seen, walk

from tgm.structure import clone_search
from tgm.structure.clone_model import Setting, folding_evidence, plain_evidence
from tgm.structure.clone_search import merged_again, surplus_folding
from tgm.structure.clone_track import CloneTrack
from tgm.structure.folding import labelled_folding
from tgm.structure.label_graph import END_LABEL
from tgm.structure.refolding import refolded
from tgm.structure.surplus_model import LookPaths, SurplusModel
from tgm.transition.automaton import BEGIN, Happening


def purity(folding, episode, cells):
    """Share of the steps at which a clone is the cell that it mostly is."""
    track, found = CloneTrack(folding), {}
    for (action, outcome), cell in zip(episode, cells, strict=True):
        track.follow(action, outcome)
        found.setdefault(track.node, Counter())[cell] += 1
    return sum(max(one.values()) for one in found.values()) / len(cells)


def test_a_room_without_resets_is_mapped_exactly():
    episode, cells = walk(1000, 1)
    folding = surplus_folding([episode], np.random.default_rng(0), plain_evidence([episode]))
    assert len(folding.clones) == 1 + 12
    assert purity(folding, episode, cells) == 1.0
    more = walk(2500, 1)[0]
    again = refolded(folding, [more], Setting((3.0, 1.0), folding.base.strength))
    assert len(again.clones) == 1 + 12
    assert not again.undecided
    assert folding_evidence(again) > plain_evidence([more])


def test_two_clones_of_one_cell_are_merged_when_more_was_seen():
    episode, cells = walk(800, 4)
    labels = [[(cell, i < 60) for i, cell in enumerate(cells)]]  # at first others than later
    doubled = labelled_folding([episode], labels, 0.5)
    assert len(doubled.clones) > 1 + 12
    merged = merged_again(doubled, [episode])
    assert len(merged.clones) == 1 + 12
    assert purity(merged, episode, cells) == 1.0


def test_chance_alone_is_not_told_apart():
    rng = np.random.default_rng(0)
    coin = [Happening(BEGIN, seen(0))]
    coin += [Happening(int(rng.integers(2)), seen(int(rng.integers(2)))) for _ in range(600)]
    assert surplus_folding([coin], rng, plain_evidence([coin])) is None


class EnoughError(Exception):
    """Ends a search where a test has seen enough."""


@pytest.mark.parametrize(
    ("n_steps", "n_clones"), [(10, 20), (524, 20), (525, 21), (1000, 40), (5000, 200), (5025, 200)]
)
def test_there_are_20_to_200_surplus_clones_one_for_25_steps(n_steps, n_clones, monkeypatch):
    def sizes(_, n):
        assert n == n_clones
        raise EnoughError

    monkeypatch.setattr(LookPaths, "sizes", sizes)
    with pytest.raises(EnoughError):
        surplus_folding([walk(n_steps, 1)[0]], np.random.default_rng(0), 0.0)


def test_a_search_ends_after_two_rounds_in_vain(monkeypatch):
    episode, evidence, rounds = walk(40, 1)[0], iter([5.0, 9.0, 8.0, 9.0, 99.0]), []
    found = []

    def best(replay):
        found.append(next(evidence))
        return found[-1], f"folding of {found[-1]}"

    monkeypatch.setattr(clone_search, "_best_folding", best)
    monkeypatch.setattr(clone_search, "_doubtful", lambda *_: {0})
    monkeypatch.setattr(SurplusModel, "fit", lambda _, n: rounds.append(n))
    assert surplus_folding([episode], np.random.default_rng(0), 1.0) == "folding of 9.0"
    assert found == [5.0, 9.0, 8.0, 9.0]
    assert rounds == [60, 60, 60, 60, 60]


@pytest.mark.parametrize(("doubtful", "floor", "wanted"), [(set(), 1.0, "it"), ({0}, 6.0, None)])
def test_it_ends_at_once_without_doubt_or_without_a_gain(doubtful, floor, wanted, monkeypatch):
    monkeypatch.setattr(clone_search, "_best_folding", lambda _: (5.0, "it"))
    monkeypatch.setattr(clone_search, "_doubtful", lambda *_: doubtful | {clone_search.END_LABEL})

    def searched_again(*_):
        raise EnoughError

    monkeypatch.setattr(clone_search, "_searched_again", searched_again)
    assert surplus_folding([walk(40, 1)[0]], np.random.default_rng(0), floor) == wanted


def test_labels_that_did_several_things_are_doubtful_with_their_neighbours():
    # Label 2 led to 3 and to 4; 1 and 5 are further away.
    labels = [[0, 1, 2, 3, 5], [0, 1, 2, 4, 5], [7, 8, 9]]
    episodes = [corridor(*path) for path in labels]
    assert clone_search._doubtful(episodes, labels) == {1, 2, 3, 4}
    assert clone_search._doubtful(episodes[:1], labels[:1]) == set()


def test_no_two_classes_share_a_label_and_all_ends_are_one():
    paths = LookPaths([corridor(0, 1, 0, ends=True)])
    assert clone_search._as_labels(paths, [[0, 2, 1, 0]]) == [[0, 3 + 2, 1, END_LABEL]]
    numbers, sizes = clone_search._numbered(paths, [["a", "b", "c", "d"]])
    assert numbers == [[0, 0, 1, 0]]
    assert sizes == [2, 1, 1]


def test_doubtful_labels_become_four_at_random(monkeypatch):
    paths = LookPaths([corridor(*([0] * 200))])
    made = []
    seeded = SurplusModel.seeded
    monkeypatch.setattr(SurplusModel, "seeded", lambda *args: made.append(args) or seeded(*args))
    monkeypatch.setattr(SurplusModel, "fit", lambda *_: None)
    labels = [[7] * 100 + [8] * 100]
    clone_search._searched_again(paths, labels, {8}, np.random.default_rng(0))
    ((_, sizes, _, numbers, noise),) = made
    assert sizes == [1 + 4]
    assert set(numbers[0][:100]) == {0}
    assert set(numbers[0][100:]) == {1, 2, 3, 4}
    assert noise == 0.1


def test_the_likeliest_labels_of_known_ones_are_they_themselves():
    episode, cells = walk(300, 2)
    labels = [[4 * y + x for y, x in cells]]
    paths = LookPaths([episode])
    found = clone_search._likeliest_again(paths, labels, np.random.default_rng(0))
    assert len(set(zip(found[0], labels[0], strict=True))) == len(set(labels[0]))


def test_ends_are_one_place_after_a_merge():
    episodes = [corridor(0, 1, 2, ends=True) for _ in range(6)]
    labels = [[(step, number % 2) for step in range(4)] for number in range(6)]
    doubled = labelled_folding(episodes, labels, 0.5)
    merged = merged_again(doubled, episodes)
    assert len(merged.clones) == 1 + 4  # the root, three looks and the end
