"""Surplus clones: a hidden Markov model with more clones of each look than there can be places.

Expectation maximisation on kept episodes, from chance or from labels of before, and the likeliest
path. It needs neither resets nor futures that overlap; which clones are one place is decided
afterwards, by evidence (`label_graph.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from tgm.distributions import FloatArray
from tgm.transition.automaton import Episode, Outcome

WAY_PRIOR = 1e-3  # tries that each way to a clone is worth before it was seen
GAIN = 1e-3  # nats by which a round must be better than the one before

Labels = list[list[int]]
"""By episode and step: the number of a clone among those of its look."""
Triple = tuple[int, int, int]
"""Class of look, action, and class of the next look."""


class LookPaths:
    """Episodes as paths of looks: what is seen of a step is a class, its outcome.

    Attributes:
        classes: by episode, the class of each step.
        steps: by episode, the number of the triple of each step but the first.
        triples: those that happened.
        visits: (n_classes,) how often each class was seen.
    """

    def __init__(self, episodes: Sequence[Episode]) -> None:
        """Read episodes; the first look of one is the commonest class of its symbol."""
        seen = Counter(outcome for episode in episodes for _, outcome in episode[1:])
        first: dict[int, Outcome] = {}
        for outcome, _ in seen.most_common():
            first.setdefault(outcome.symbol, outcome)
        number: dict[Outcome, int] = {}
        triples: dict[Triple, int] = {}
        self.classes, self.steps = [], list[list[int]]()
        for episode in episodes:
            begin = episode[0].outcome
            looks = [first.get(begin.symbol, begin), *(outcome for _, outcome in episode[1:])]
            path = [number.setdefault(look, len(number)) for look in looks]
            ways = zip(path, (action for action, _ in episode[1:]), path[1:], strict=False)
            self.classes.append(path)
            self.steps.append([triples.setdefault(way, len(triples)) for way in ways])
        self.triples = list(triples)
        self.is_end = [look.ended for look in number]
        self.visits = np.bincount([c for path in self.classes for c in path])

    def sizes(self, n_clones: int) -> list[int]:
        """Clones of each class: by its visits, at least two; one of an end."""
        shares = self.visits / self.visits.sum()
        wanted = np.maximum(2, np.rint(n_clones * shares)).astype(int).tolist()
        return [1 if end else size for end, size in zip(self.is_end, wanted, strict=True)]


class SurplusModel:
    """Expected tries between clones, which rounds of expectation maximisation improve.

    Attributes:
        counts: by triple, (n_clones, n_clones of the next class) tries.
        log_likelihood: of all episodes, before the last round.
    """

    def __init__(self, paths: LookPaths, sizes: Sequence[int], counts: list[FloatArray]) -> None:
        """Begin with expected tries; any clone of the first look may be the first of an episode."""
        self._paths, self._sizes, self.counts = paths, sizes, counts
        self.log_likelihood = -np.inf
        self._by_row = defaultdict[tuple[int, int], list[int]](list)
        for number, (look, action, _) in enumerate(paths.triples):
            self._by_row[look, action].append(number)

    @classmethod
    def seeded(
        cls,
        paths: LookPaths,
        sizes: Sequence[int],
        rng: np.random.Generator,
        labels: Labels | None = None,
        noise: float = 1.0,
    ) -> SurplusModel:
        """Tries at random, up to `noise`, beside those of labels."""
        counts = [noise * rng.random((sizes[c], sizes[d])) for c, _, d in paths.triples]
        for steps, path in zip(paths.steps, labels or [], strict=False):
            for number, clone, after in zip(steps, path, path[1:], strict=False):
                counts[number][clone, after] += 1.0
        return cls(paths, sizes, counts)

    def rows(self) -> list[FloatArray]:
        """By triple: the probability of the next class and clone, given clone and action."""
        found = list(self.counts)
        for numbers in self._by_row.values():
            total = sum(
                self.counts[k].sum(axis=1) + WAY_PRIOR * self.counts[k].shape[1] for k in numbers
            )
            for k in numbers:
                found[k] = (self.counts[k] + WAY_PRIOR) / np.asarray(total)[:, None]
        return found

    def fit(self, rounds: int) -> None:
        """Expectation maximisation until it gains nothing."""
        for _ in range(rounds):
            before = self.log_likelihood
            self.improve()
            if self.log_likelihood - before < GAIN:
                break

    def improve(self) -> None:
        """One round: the tries that are expected under the rows of now."""
        rows, found = self.rows(), [np.zeros_like(one) for one in self.counts]
        self.log_likelihood = 0.0
        for path, steps in zip(self._paths.classes, self._paths.steps, strict=True):
            if steps:
                self._add_expected(path, steps, rows, found)
        self.counts = found

    def _add_expected(
        self, path: list[int], steps: list[int], rows: list[FloatArray], found: list[FloatArray]
    ) -> None:
        """Forward and backward through one episode; the tries of a triple are one product."""
        size = self._sizes[path[0]]
        ahead, scales = [np.full(size, 1.0 / size)], []
        for number in steps:
            reached = ahead[-1] @ rows[number]
            scale = reached.sum()
            ahead.append(reached / scale)
            scales.append(scale)
        back = [np.ones(self._sizes[path[-1]])]
        for number, scale in zip(reversed(steps), reversed(scales), strict=True):
            back.append(rows[number] @ (back[-1] / scale))
        back.reverse()
        places = defaultdict[int, list[int]](list)
        for place, number in enumerate(steps):
            places[number].append(place)
        for number, at in places.items():
            before = np.array([ahead[place] for place in at])
            after = np.array([back[place + 1] / scales[place] for place in at])
            found[number] += (before.T @ after) * rows[number]
        self.log_likelihood += float(np.log(scales).sum())

    def likeliest(self) -> Labels:
        """The likeliest clones of all episodes (Viterbi)."""
        logs = [np.log(row) for row in self.rows()]
        return [
            self._likeliest(self._sizes[path[0]], steps, logs)
            for path, steps in zip(self._paths.classes, self._paths.steps, strict=True)
        ]

    def _likeliest(self, size: int, steps: list[int], logs: list[FloatArray]) -> list[int]:
        best, origins = np.zeros(size), []
        for number in steps:
            ways = best[:, None] + logs[number]
            origin = ways.argmax(axis=0)
            origins.append(origin)
            best = ways[origin, np.arange(len(origin))]
        path = [int(best.argmax())]
        for origin in reversed(origins):
            path.append(int(origin[path[-1]]))
        return path[::-1]
