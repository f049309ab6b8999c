"""Surplus clones against the enumeration of all paths; merging against all rows counted again."""

import itertools
from collections import Counter

import numpy as np
import pytest
from tests.oracles import enumerated_clones, labels_evidence

from tgm.structure import clone_search
from tgm.structure.clone_model import Setting, folding_evidence, plain_evidence
from tgm.structure.clone_search import merged_again, surplus_folding
from tgm.structure.clone_track import CloneTrack
from tgm.structure.folding import FOLDED_CHANCE, labelled_folding
from tgm.structure.label_graph import END_LABEL, LabelGraph, Replay, log_ways
from tgm.structure.refolding import refolded
from tgm.structure.surplus_model import LookPaths, SurplusModel
from tgm.transition.automaton import BEGIN, END, Happening, Outcome
from tgm.transition.clone_evidence import log_evidence

MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))
COLOURS = ((0, 1, 0, 1), (1, 1, 0, 0), (0, 0, 1, 1))  # of a room of 3 x 4 cells


def seen(symbol):
    return Outcome(symbol, 0.0, False)


def walk(n_steps, seed):
    """A walk at random through a room of which the colours are seen: an episode, and the cells."""
    rng = np.random.default_rng(seed)
    y, x = 0, 0
    episode, cells = [Happening(BEGIN, seen(COLOURS[y][x]))], [(y, x)]
    for _ in range(n_steps):
        action = int(rng.integers(4))
        dx, dy = MOVES[action]
        if 0 <= y + dy < len(COLOURS) and 0 <= x + dx < len(COLOURS[0]):
            y, x = y + dy, x + dx
        episode.append(Happening(action, seen(COLOURS[y][x])))
        cells.append((y, x))
    return episode, cells


@pytest.fixture
def tiny():
    """A short walk with three clones of each of two looks, and rows at random."""
    paths = LookPaths([walk(7, 3)[0]])
    return paths, SurplusModel.seeded(paths, [3, 3], np.random.default_rng(1))


def test_one_round_expects_the_tries_of_all_paths(tiny):
    paths, model = tiny
    likelihood, tries, _ = enumerated_clones(paths.steps[0], paths.triples, model.rows())
    model.improve()
    assert model.log_likelihood == pytest.approx(np.log(likelihood))
    for ours, theirs in zip(model.counts, tries, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_the_likeliest_path_is_that_of_the_enumeration(tiny):
    paths, model = tiny
    _, _, path = enumerated_clones(paths.steps[0], paths.triples, model.rows())
    assert model.likeliest() == [path]


def test_rows_are_probabilities(tiny):
    paths, model = tiny
    total = Counter()
    for (look, action, _), row in zip(paths.triples, model.rows(), strict=True):
        for clone, share in enumerate(row.sum(axis=1)):
            total[look, action, clone] += share
    np.testing.assert_allclose(list(total.values()), 1.0)


def test_no_round_lowers_the_likelihood():
    paths = LookPaths([walk(150, 5)[0], walk(50, 6)[0]])
    model = SurplusModel.seeded(paths, [4, 4], np.random.default_rng(0))
    found = []
    for _ in range(12):
        model.improve()
        found.append(model.log_likelihood)
    assert min(np.diff(found)) > -0.01  # the tries before anything was seen are a weak prior
    assert found[-1] > found[0] + 10.0


def test_a_reward_makes_another_look_and_an_end_has_one_clone():
    goal = Outcome(END, 1.0, True)
    happy = Outcome(0, 1.0, False)
    episode = [Happening(BEGIN, seen(0)), Happening(0, happy), Happening(0, seen(0))]
    paths = LookPaths([[*episode, Happening(1, goal)]])
    assert len(paths.visits) == 3
    assert sorted(paths.sizes(30))[0] == 1
    assert paths.sizes(30)[paths.is_end.index(True)] == 1


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


def test_rounds_end_when_they_gain_nothing(monkeypatch):
    paths = LookPaths([walk(7, 3)[0]])
    model = SurplusModel.seeded(paths, [3, 3], np.random.default_rng(1))
    gains = iter([-9.0, -5.0, -5.0 + 2e-3, -5.0 + 2.5e-3, 99.0])
    monkeypatch.setattr(
        SurplusModel, "improve", lambda self: setattr(self, "log_likelihood", next(gains))
    )
    model.fit(10)
    assert model.log_likelihood == -5.0 + 2.5e-3
    model.fit(1)
    assert model.log_likelihood == 99.0


def test_tries_at_random_beside_those_of_labels():
    paths = LookPaths([walk(4, 3)[0]])
    rng, labels = np.random.default_rng(2), [[0, 1, 1, 0, 1]]
    expected = np.random.default_rng(2)
    model = SurplusModel.seeded(paths, [2, 2], rng, labels, 0.25)
    counts = [0.25 * expected.random((2, 2)) for _ in paths.triples]
    for number, one, other in zip(paths.steps[0], labels[0], labels[0][1:], strict=False):
        counts[number][one, other] += 1.0
    for ours, theirs in zip(model.counts, counts, strict=True):
        np.testing.assert_allclose(ours, theirs)
    plain = SurplusModel.seeded(paths, [2, 2], np.random.default_rng(2))
    assert max(count.max() for count in plain.counts) <= 1.0
    assert sum(count.sum() for count in plain.counts) > 0.3 * 4 * len(paths.triples)


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


def corridor(*symbols, ends: bool = False):
    steps = [Happening(BEGIN, seen(symbols[0]))]
    steps += [Happening(0, seen(symbol)) for symbol in symbols[1:]]
    return [*steps, Happening(1, Outcome(END, 1.0, True))] if ends else steps


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
