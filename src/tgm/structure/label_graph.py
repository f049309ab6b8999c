"""Labels of steps as places: which of them are one place, by the evidence of what followed."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tgm.structure.folding import FOLDED_CHANCE, Folding, labelled_folding
from tgm.transition.automaton import END, Episode, Outcome
from tgm.transition.clone_evidence import (
    CONCENTRATION,
    MISREAD,
    OutcomeBase,
    log_evidence,
    log_mixed,
)

LEAST_FOLLOWED = -8.0  # nats for being one place, below which it is not followed further
LONGEST_SEARCH = 50  # steps in which the place is found where a piece of an episode begins
END_LABEL = -1  # of all ends

Ways = dict[Outcome, Counter[int]]
"""By outcome: how often which label was reached."""
LabelRows = dict[int, Ways]
"""By action."""
Key = tuple[int, int, Outcome]
"""Label, action and outcome."""


class LabelGraph:
    """What followed on each label.

    Attributes:
        symbols: what each label looks like.
        rows: by label.
    """

    def __init__(self, episodes: Sequence[Episode], labels: Sequence[Sequence[int]]) -> None:
        """Count; `labels` has one for each step of each episode."""
        self.symbols: dict[int, int] = {}
        self.rows: dict[int, LabelRows] = {}
        for episode, path in zip(episodes, labels, strict=True):
            for (_, outcome), label in zip(episode, path, strict=True):
                self.symbols[label] = END if outcome.ended else outcome.symbol
                self.rows.setdefault(label, {})
            for (action, outcome), label, after in zip(episode[1:], path, path[1:], strict=False):
                row = self.rows[label].setdefault(action, {})
                row.setdefault(outcome, Counter())[after] += 1
        self._base = self.base(0.5)
        self._n_alike = Counter(self.symbols.values())
        self._parents: dict[int, int] = {}
        self._into: dict[int, set[Key]] = defaultdict(set)
        for key, reached in self._ways(self.rows):
            for after in reached:
                self._into[after].add(key)

    def base(self, strength: float) -> OutcomeBase:
        """What actions do at labels that look alike."""
        found = OutcomeBase(strength)
        for (label, action, outcome), _ in self._ways(self.rows):
            found.add((self.symbols[label], action), outcome)
        return found

    @staticmethod
    def _ways(rows: dict[int, LabelRows]) -> Iterable[tuple[Key, Counter[int]]]:
        for label, by_action in rows.items():
            for action, row in by_action.items():
                for outcome, reached in row.items():
                    yield (label, action, outcome), reached

    def place(self, label: int) -> int:
        """The label that stands for a place after all merges."""
        return self._root(label, {})

    def _root(self, label: int, trial: dict[int, int]) -> int:
        while True:
            parent = trial.get(label, self._parents.get(label))
            if parent is None:
                return label
            label = parent

    # --- merges -----------------------------------------------------------------------------------

    def merge_all(self) -> None:
        """Merge labels while the evidence is for it, the surest first."""
        while True:
            found = []
            for one, other in self._pairs():
                gain = self.merged(one, other)[0]
                if gain > 0.0:
                    found.append((gain, one, other))
            found.sort(reverse=True)
            if sum(self._merge(one, other) for _, one, other in found) == 0:
                return

    def _pairs(self) -> Iterable[tuple[int, int]]:
        alike: dict[int, list[int]] = defaultdict(list)
        for label in self.rows:
            for other in alike[self.symbols[label]]:
                yield other, label
            alike[self.symbols[label]].append(label)

    def _merge(self, one: int, other: int) -> bool:
        """Merge two labels if that still is a gain."""
        one, other = self.place(one), self.place(other)
        if one == other:
            return False
        gain, parents, rows = self.merged(one, other)
        if gain <= 0.0:
            return False
        self._parents |= parents
        self.rows |= rows
        for label in parents:
            del self.rows[label]
            self._n_alike[self.symbols[label]] -= 1
            root = self.place(label)
            self._into[root] |= self._into.pop(label, set())
        for key, reached in self._ways(rows):
            for after in reached:
                self._into[self.place(after)].add(key)
        return True

    def merged(self, one: int, other: int) -> tuple[float, dict[int, int], dict[int, LabelRows]]:
        """The gain if two labels were one place, and so all that they usually lead to.

        Also which labels become which, and the rows that change. Nothing is changed.
        """
        parents: dict[int, int] = {}
        rows: dict[int, LabelRows] = {}
        gain, pairs = 0.0, [(one, other)]
        while pairs:
            first, second = pairs.pop()
            first, second = self._root(first, parents), self._root(second, parents)
            if first == second:
                continue
            known, laid = (rows.get(label, self.rows[label]) for label in (first, second))
            parents[second] = first
            rows.pop(second, None)
            joined = rows[first] = known | laid
            for action in known.keys() & laid.keys():
                joined[action], after = _joined(known[action], laid[action])
                pairs += after
                kind = (self.symbols[first], action)
                gain += self._row_evidence(kind, joined[action])
                gain -= self._row_evidence(kind, known[action])
                gain -= self._row_evidence(kind, laid[action])
            if gain < LEAST_FOLLOWED:
                return gain, parents, rows
        return gain + self._gain_of_ways(parents, rows), parents, rows

    def _row_evidence(self, kind: tuple[int, int], row: Ways) -> float:
        totals = {outcome: [sum(reached.values()), 0] for outcome, reached in row.items()}
        return log_evidence(totals, kind, self._base, FOLDED_CHANCE)

    def _gain_of_ways(self, parents: dict[int, int], rows: dict[int, LabelRows]) -> float:
        """Nats by which it is clearer where outcomes lead."""
        gone = {label: self.rows[label] for label in (*parents, *rows)}
        before = dict(self._ways(gone))
        after = dict(self._ways(rows))
        for label in gone:
            for source, action, outcome in self._into[label]:
                place = self.place(source)
                if place not in gone:
                    key = (place, action, outcome)
                    before[key] = after[key] = self.rows[place][action][outcome]
        found = sum(self._way_evidence(key[2], way, parents) for key, way in after.items())
        return found - sum(self._way_evidence(key[2], way, {}) for key, way in before.items())

    def _way_evidence(
        self, outcome: Outcome, reached: Counter[int], trial: dict[int, int]
    ) -> float:
        """Where an outcome leads: always to one place, but for misreading, or to several."""
        n_alike = self._n_alike[END if outcome.ended else outcome.symbol]
        cost = -math.log(1 + n_alike)
        if len(reached) == 1:
            return cost
        counts = Counter[int]()
        for label, count in reached.items():
            counts[self._root(label, trial)] += count
        return cost + log_ways(list(counts.values()), n_alike)


def log_ways(counts: Sequence[int], n_alike: int) -> float:
    """ln probability of the places that one outcome led to; `counts` are of each place."""
    if len(counts) == 1:
        return 0.0
    total = sum(counts)
    share = CONCENTRATION / max(2, n_alike)
    chance = math.lgamma(CONCENTRATION) - math.lgamma(CONCENTRATION + total)
    chance += sum(math.lgamma(share + count) - math.lgamma(share) for count in counts)
    return log_mixed((total - max(counts)) * math.log(MISREAD), chance, FOLDED_CHANCE)


def _joined(one: Ways, other: Ways) -> tuple[Ways, list[tuple[int, int]]]:
    """Two rows as one, and the pairs of labels that both usually lead to."""
    both, pairs = dict(one), []
    for outcome, reached in other.items():
        known = both.get(outcome)
        if known is None:
            both[outcome] = reached
        else:
            pairs.append((_usual(known), _usual(reached)))
            both[outcome] = known + reached
    return both, pairs


def _usual(reached: Counter[int]) -> int:
    return max(reached, key=lambda label: reached[label])


# --- as a folding ---------------------------------------------------------------------------------


class Replay:
    """Follows episodes along the usual ways of a graph of labels, where each outcome leads on.

    Attributes:
        labels: where each step is then.
    """

    def __init__(
        self, graph: LabelGraph, episodes: Sequence[Episode], labels: Sequence[Sequence[int]]
    ) -> None:
        """Follow; where nothing is known of an outcome, the labels say where it leads."""
        self._episodes = episodes
        self._ways = {
            (label, action, outcome): graph.place(_usual(reached))
            for label, rows in graph.rows.items()
            for action, row in rows.items()
            for outcome, reached in row.items()
        }
        self._alike = defaultdict[int, list[int]](list)
        for label in graph.rows:
            self._alike[graph.symbols[label]].append(label)
        starts = self._starts(labels)
        self.labels = []
        for episode, path in zip(episodes, labels, strict=True):
            found = [starts[episode[0].outcome]]
            for (action, outcome), label in zip(episode[1:], path[1:], strict=True):
                found.append(self._ways.setdefault((found[-1], action, outcome), label))
            self.labels.append(found)

    def _starts(self, labels: Sequence[Sequence[int]]) -> dict[Outcome, int]:
        """The label from which all episodes that begin in the same way are followed furthest."""
        alike: dict[Outcome, list[int]] = defaultdict(list)
        for number, episode in enumerate(self._episodes):
            alike[episode[0].outcome].append(number)
        found = {}
        for begin, numbers in alike.items():
            usual = Counter(labels[number][0] for number in numbers)
            found[begin] = max(
                self._alike[begin.symbol],
                key=lambda label: (self._n_followed(label, numbers), usual[label]),
            )
        return found

    def _n_followed(self, label: int, numbers: Sequence[int]) -> int:
        """Steps of some episodes that can be followed from a label."""
        n = 0
        for number in numbers:
            at: int | None = label
            for action, outcome in self._episodes[number][1 : 1 + LONGEST_SEARCH]:
                at = None if at is None else self._ways.get((at, action, outcome))
                n += at is not None
        return n

    def folding(self, strength: float) -> Folding:
        """Each label is a clone, and nothing is undecided."""
        return labelled_folding(self._episodes, self.labels, strength)
