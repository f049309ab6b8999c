"""What later looks ask the first look of an episode for, and where they ask for nothing."""

import numpy as np
import pytest
from tests import oracles

from tgm.perception.exact_relevance import ROW_STRENGTHS
from tgm.structure import cue_features
from tgm.structure.cue_features import find_cue
from tgm.transition.automaton import BEGIN, END, Happening, Outcome

N_BITS = 6


def questions(n, seed=0, asks=lambda bits, query: bits[query], n_bits=N_BITS):
    """Episodes that show bits twice, then a query; an answer is right if it is what this asks."""
    rng, episodes, points = np.random.default_rng(seed), [], []
    for _ in range(n):
        bits, query = rng.integers(2, size=n_bits), int(rng.integers(n_bits))
        before, answer = (int(one) for one in rng.integers(2, size=2))
        reward = 1.0 if answer == asks(bits, query) else -1.0
        first, later = np.array([1.0, *bits]), np.array([0.5, query, *np.zeros(n_bits - 1)])
        episodes.append([
            Happening(BEGIN, Outcome(0, 0.0, False)),
            Happening(before, Outcome(0, 0.0, False)),
            Happening(before, Outcome(0, 0.0, False)),
            Happening(answer, Outcome(END, reward, True)),
        ])  # fmt: skip
        points.append([first, first, later, np.zeros(1 + n_bits)])
    return episodes, points


def test_each_query_asks_for_its_bit():
    cue = find_cue(*questions(200))
    assert sorted((int(look[1]), int(one)) for look, one in zip(*cue, strict=True)) == [
        (query, 1 + query) for query in range(N_BITS)
    ]
    assert (cue.looks[:, 0] == 0.5).all()


@pytest.mark.parametrize(
    "asks",
    [
        lambda bits, query: 1,  # it is always the same
        lambda bits, query: int(np.random.default_rng(bits.sum() * 7 + query).integers(2)),
        lambda bits, query: sum(bits) % 2,  # of all bits together
    ],
)
def test_where_no_single_feature_decides_there_is_no_cue(asks):
    assert find_cue(*questions(200, asks=asks)) is None


@pytest.mark.parametrize("n_bits", [2, 3, 4])
def test_of_few_bits_each_is_asked_for_too(n_bits):
    cue = find_cue(*questions(200, n_bits=n_bits))
    assert sorted(zip(cue.looks[:, 1].tolist(), cue.features.tolist(), strict=True)) == [
        (query, 1 + query) for query in range(n_bits)
    ]


def test_one_feature_or_a_code_of_them_is_a_matter_of_clones():
    assert find_cue(*questions(300, n_bits=1)) is None
    # One of four bits is one, and the answer is right if it is said which.
    episodes, points = questions(300, n_bits=4)
    rng = np.random.default_rng(0)
    for episode, seen in zip(episodes, points, strict=True):
        kind = int(rng.integers(4))
        seen[0][1:] = seen[1][1:] = np.eye(4)[kind]
        seen[2] = np.array([0.5, 0.0, 0.0, 0.0, 0.0])
        reward = float(kind) if episode[3].action else 1.5
        episode[3] = Happening(episode[3].action, Outcome(END, reward, True))
    assert find_cue(episodes, points) is None


def test_where_the_first_look_is_a_place_there_is_no_cue():
    """What follows from each of them is another look, for sure: each is a place of its own."""
    episodes, points = questions(400, n_bits=5)
    for episode, seen in zip(episodes, points, strict=True):
        del episode[1], seen[0]
        seen[1] = np.array([0.5, seen[1][1], *(seen[0][1:] + 1.0)])[:6]
        episode[1] = Happening(0, Outcome(0, 0.0, False))
    assert find_cue(episodes, points) is None


@pytest.mark.parametrize(("n", "seed"), [(80, 2), (120, 5), (240, 4)])
def test_nats_are_those_of_urns(n, seed, monkeypatch):
    episodes, points = questions(n, seed)
    plain = []
    for episode, seen in zip(episodes, points, strict=True):
        looks = [tuple(point.tolist()) for point in seen]
        steps = enumerate(episode[1:])
        plain.append([
            (looks[i], action, (END if outcome.ended else looks[i + 1], outcome.reward))
            for i, (action, outcome) in steps
        ])  # fmt: skip
    wanted = oracles.nats_for_a_cue(
        [[(look, action, str(outcome)) for look, action, outcome in one] for one in plain],
        range(1, 1 + N_BITS),  # the first feature is the time
        ROW_STRENGTHS,
    )
    for needed, is_found in ((wanted - 1e-6, True), (wanted + 1e-6, False)):
        monkeypatch.setattr(cue_features, "CUE_NEEDED", needed)
        monkeypatch.setattr(cue_features, "_gain_of_one_place", lambda begun: 1e9)
        assert (find_cue(episodes, points) is not None) == is_found
