"""Rows of surplus clones, against the enumeration of all paths."""

from collections import Counter

import numpy as np
import pytest
from tests.oracles import enumerated_clones
from tests.structure.rooms import seen, walk

from tgm.structure.surplus_model import LookPaths, SurplusModel
from tgm.transition.automaton import BEGIN, END, Happening, Outcome


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
