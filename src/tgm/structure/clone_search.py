"""Places that look alike, without resets: surplus clones, their likeliest path, then merging."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tgm.structure.clone_model import BASE_STRENGTHS, folding_evidence
from tgm.structure.folding import Folding
from tgm.structure.label_graph import END_LABEL, LabelGraph, Replay
from tgm.structure.surplus_model import Labels, LookPaths, SurplusModel
from tgm.transition.automaton import Episode

STEPS_EACH = 25  # steps for each surplus clone
LEAST_CLONES, MOST_CLONES = 20, 200  # surplus clones, at least and at most
ROUNDS = 60  # of expectation maximisation, at most
MOST_VAIN = 2  # rounds in a row that gained nothing
NOISE = 0.1  # tries at random beside what was found
PARTS = 4  # clones that a doubtful place becomes


def surplus_folding(
    episodes: Sequence[Episode], rng: np.random.Generator, floor: float
) -> Folding | None:
    """The folding with the highest evidence that surplus clones lead to; nothing is undecided.

    Places whose rows had several outcomes, and their neighbours, are doubtful: they become several
    clones at random, and all are improved again, while that is a gain.

    Args:
        episodes: what happened.
        rng: for the beginnings.
        floor: evidence that must be reached at once; None is returned if it is not.
    """
    paths = LookPaths(episodes)
    n_steps = sum(len(steps) for steps in paths.steps)
    n_clones = min(MOST_CLONES, max(LEAST_CLONES, n_steps // STEPS_EACH))
    model = SurplusModel.seeded(paths, paths.sizes(n_clones), rng)
    model.fit(ROUNDS)
    labels = _as_labels(paths, model.likeliest())
    best, folding, n_vain = floor, None, 0
    while n_vain < MOST_VAIN:
        graph = LabelGraph(episodes, labels)
        graph.merge_all()
        labels = [[graph.place(label) for label in path] for path in labels]
        evidence, found = _best_folding(Replay(graph, episodes, labels))
        n_vain = 0 if evidence > best else n_vain + 1
        if evidence > best:
            best, folding = evidence, found
        labels = _likeliest_again(paths, labels, rng)
        doubtful = _doubtful(episodes, labels) - {END_LABEL}
        if not doubtful or folding is None:
            break
        labels = _searched_again(paths, labels, doubtful, rng)
    return folding


def merged_again(folding: Folding, episodes: Sequence[Episode]) -> Folding:
    """A folding whose clones are merged as far as the evidence of all episodes is for it."""
    graph, labels = folding.closed().graph, []
    for episode in episodes:
        path = [0]
        for action, outcome in episode:
            path.append(graph.rows[path[-1]][action][outcome][1])
        if episode[-1].outcome.ended:
            path[-1] = END_LABEL
        labels.append(path[1:])
    merged = LabelGraph(episodes, labels)
    merged.merge_all()
    labels = [[merged.place(label) for label in path] for path in labels]
    return _best_folding(Replay(merged, episodes, labels))[1]


def _best_folding(replay: Replay) -> tuple[float, Folding]:
    found = [replay.folding(strength) for strength in BASE_STRENGTHS]
    return max(((folding_evidence(one), one) for one in found), key=lambda pair: pair[0])


def _as_labels(paths: LookPaths, clones: Labels) -> Labels:
    """Numbers that no two classes share."""
    most = 1 + max(max(path) for path in clones)
    return [
        [
            END_LABEL if paths.is_end[look] else look * most + clone
            for look, clone in zip(*both, strict=True)
        ]
        for both in zip(paths.classes, clones, strict=True)
    ]


def _numbered(paths: LookPaths, labels: Sequence[Sequence[object]]) -> tuple[Labels, list[int]]:
    """The number of each label among those of its class, and how many there are."""
    known: list[dict[object, int]] = [{} for _ in paths.visits]
    numbers = []
    for path, names in zip(paths.classes, labels, strict=True):
        pairs = zip(path, names, strict=True)
        numbers.append([known[look].setdefault(name, len(known[look])) for look, name in pairs])
    return numbers, [len(one) for one in known]


def _likeliest_again(paths: LookPaths, labels: Labels, rng: np.random.Generator) -> Labels:
    """The likeliest path among the labels that there are."""
    numbers, sizes = _numbered(paths, labels)
    model = SurplusModel.seeded(paths, sizes, rng, numbers, noise=0.0)
    return _as_labels(paths, model.likeliest())


def _doubtful(episodes: Sequence[Episode], labels: Labels) -> set[int]:
    """Labels with an action that did several things, and those before and after."""
    rows = LabelGraph(episodes, labels).rows
    found = {
        label
        for label, by_action in rows.items()
        if any(sum(len(reached) for reached in row.values()) > 1 for row in by_action.values())
    }
    near = set(found)
    for path in labels:
        for one, other in pairwise(path):
            if one in found or other in found:
                near |= {one, other}
    return near if found else set()


def _searched_again(
    paths: LookPaths, labels: Labels, doubtful: set[int], rng: np.random.Generator
) -> Labels:
    """Improve all labels, after doubtful ones became several at random."""
    parts = [
        [(one, int(rng.integers(PARTS)) if one in doubtful else 0) for one in path]
        for path in labels
    ]
    numbers, sizes = _numbered(paths, parts)
    model = SurplusModel.seeded(paths, sizes, rng, numbers, NOISE)
    model.fit(ROUNDS)
    return _as_labels(paths, model.likeliest())
