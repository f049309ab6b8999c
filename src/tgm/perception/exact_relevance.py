"""Which exact features matter: one that is noise, and on which nothing depends, is left out.

Whether something depends on a feature is weighed by Dirichlet-multinomial rows: one row for each
value of the feature, against a common one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln, logsumexp

from tgm.distributions import BoolArray, FloatArray, IntArray

SELDOM = 0.125  # share of other values than the commonest, below which nothing is said of a feature
MOST_VARYING = 128  # features that vary; with more of them nothing is decided
MOST_VALUES = 1000  # values of all these features together: the weighing stays below seconds
ROW_STRENGTHS = (0.5, 2.0, 8.0, 32.0, 1e6)  # counts that the shares of all rows together are worth
MOST_PAIRED = 16  # features of which rewards may depend on two together
MOST_REWARDS = 16  # different rewards; more of them are compared by their quarters
RELEVANCE_NEEDED = 3.0  # nats, for noise and for what depends on a feature
NOISE_ROUNDS = 20  # rounds in which the share of noise is learned

Evidence = Callable[[IntArray, IntArray], FloatArray]


class ExactSteps(NamedTuple):
    """Steps, seen by their exact features.

    Attributes:
        before, after: (n, n_features) observations of each step.
        action: (n,)
        reward: (n,)
        ended: (n,) whether the episode ended.
    """

    before: FloatArray
    action: IntArray
    reward: FloatArray
    after: FloatArray
    ended: BoolArray

    def chosen(self, which: BoolArray) -> ExactSteps:
        """Some of the steps (n,)."""
        return ExactSteps(
            self.before[which],
            self.action[which],
            self.reward[which],
            self.after[which],
            self.ended[which],
        )


def noise_features(steps: ExactSteps, left_out: BoolArray, *, may_grow: bool) -> BoolArray:
    """(n_features,) the features that are noise and on which nothing depends.

    Args:
        steps: all steps so far.
        left_out: (n_features,) those that are left out now; what depends on one brings it back.
        may_grow: whether others may be left out too.
    """
    varying = np.flatnonzero(np.any(steps.before != steps.before[0], axis=0) | left_out)
    n_values = sum(len(np.unique(steps.before[:, i])) for i in varying[:MOST_VARYING])
    if not 0 < len(varying) <= MOST_VARYING or n_values > MOST_VALUES:
        return left_out
    found = np.zeros(len(left_out), dtype=bool)
    tables = Tables(steps._replace(before=steps.before[:, varying], after=steps.after[:, varying]))
    odds = tables.odds_of_noise()
    noise = left_out[varying] & (odds > -RELEVANCE_NEEDED)
    if may_grow and odds[odds > 0.0].sum() > RELEVANCE_NEEDED:
        noise = noise | (odds > 0.0)
    found[varying[tables.without_influence(noise)]] = True
    return found


class Tables:
    """Steps as labels, from which rows are counted.

    Features are numbered among those that are given. The observation after the end of an episode
    says nothing of its features: it may be a blank.
    """

    def __init__(self, steps: ExactSteps) -> None:
        """Label everything once."""
        n_features = steps.before.shape[1]
        goes_on = ~steps.ended
        pairs = [
            label(np.concatenate([steps.before[:, i], steps.after[:, i]]))
            for i in range(n_features)
        ]
        self._before = [pair[: len(steps.action)] for pair in pairs]
        self._action = label(steps.action)
        self._by_action = [joined(before, self._action) for before in self._before]
        self._goes_on = goes_on
        self._after = [pair[len(steps.action) :][goes_on] for pair in pairs]
        self._outcomes = [label_of_rewards(steps.reward), label(steps.ended)]

    def odds_of_noise(self) -> FloatArray:
        """(n_features,) ln odds that a feature depends on no value before, nor on the action.

        The share of features that are noise is learned from all of them.
        """
        nats = np.array([self._nats_for_noise(i) for i in range(len(self._before))])
        share = np.full(len(nats), 0.5)
        for _ in range(NOISE_ROUNDS):
            odds = nats + np.log((1.0 + share.sum()) / (1.0 + (1.0 - share).sum()))
            share = expit(odds)
        return np.asarray(odds)

    def _nats_for_noise(self, i: int) -> float:
        """Nats for one row of the next value against rows by value, by action, or by both.

        A feature of too many or too rare values can not be judged, and is no noise.
        """
        target = self._after[i]
        counts = np.bincount(target)
        n_values = np.count_nonzero(counts)
        n_other = len(target) - counts.max(initial=0)
        if n_other < max(1.0, SELDOM * len(target)) or n_values**2 > len(target):
            return -np.inf
        contexts = [self._before[i], self._action, self._by_action[i]]
        own = mixed(self._gains([one[self._goes_on] for one in contexts], target, evidence_of_rows))
        return -max(own, self._nats_for_others(i) - RELEVANCE_NEEDED)

    def _nats_for_others(self, i: int) -> float:
        """Nats for rows of the next value of a feature by the value of another one."""
        others = [j for j in range(len(self._before)) if j != i]
        contexts = [
            rows[j][self._goes_on] for j in others for rows in (self._before, self._by_action)
        ]
        if not others:
            return -np.inf
        return mixed(self._gains(contexts, self._after[i], evidence_by_any_strength))

    def _gains(
        self, contexts: Sequence[IntArray], target: IntArray, evidence: Evidence
    ) -> FloatArray:
        common = np.zeros(len(target), dtype=np.intp)
        found = evidence(np.stack([common, *contexts], axis=1), target)
        return np.asarray(found[1:] - found[0])

    def without_influence(self, noise: BoolArray) -> BoolArray:
        """(n_features,) features of `noise` on which no reward, end or other feature depends.

        A feature that matters is one of the others from then on, so those that it depends on
        matter too.
        """
        found = noise.copy()
        while found.any():
            kept = np.flatnonzero(~found).tolist()
            code = joined(*(self._before[k] for k in kept), self._action)
            names = np.flatnonzero(found).tolist()
            matters = [i for i in names if self._influence(i, kept, code) > RELEVANCE_NEEDED]
            matters = matters or self._together(names, code)
            if not matters:
                break
            found[matters] = False
        return found

    def _together(self, names: list[int], code: IntArray) -> list[int]:
        """The two features on which rewards or ends depend; or all of them; [] if they do not."""
        pairs = list(combinations(names, 2)) if len(names) <= MOST_PAIRED else []
        for groups in (pairs, [tuple(names)]):
            nats = []
            for group in groups:
                values = joined(*(self._before[i] for i in group))
                parts = [self._gain_of(values, [self._action, code], one) for one in self._outcomes]
                nats.append(mixed(np.array(parts)))
            if nats and mixed(np.array(nats)) > RELEVANCE_NEEDED:
                return list(groups[int(np.argmax(nats))])
        return []

    def _influence(self, i: int, kept: list[int], code: IntArray) -> float:
        """Nats for rows by the value of a feature too, of rewards, ends or one of the others."""
        own, goes_on = self._before[i], self._goes_on
        parts = [self._gain_of(own, [self._action, code], target) for target in self._outcomes]
        of_kept = [
            self._gain_of(own, [self._by_action[k], code], self._after[k], goes_on) for k in kept
        ]
        if of_kept:
            parts.append(mixed(np.array(of_kept)))
        return mixed(np.array(parts))

    def _gain_of(
        self,
        values: IntArray,
        contexts: list[IntArray],
        target: IntArray,
        chosen: BoolArray | None = None,
    ) -> float:
        """Nats for rows by contexts and values, against those by contexts; of `chosen` steps."""
        if not target.any():  # there is but one outcome
            return 0.0
        both = np.stack(contexts + [joined(one, values) for one in contexts], axis=1)
        found = evidence_by_any_strength(both if chosen is None else both[chosen], target)
        without, with_them = np.split(found, 2)
        return mixed(with_them - without)


def evidence_of_rows(
    contexts: IntArray, target: IntArray, base: FloatArray | None = None
) -> FloatArray:
    """(m,) ln evidence of labels (n,), in rows by each of m contexts (n, m).

    Each row is a Dirichlet-multinomial that has `base` (n_values,) counts of each label before it
    is seen; one in all, the same for each label, if it is not given.
    """
    n, n_values = len(target), int(target.max(initial=0)) + 1
    base = np.full(n_values, 1.0 / n_values) if base is None else base
    starts = np.concatenate([[0], np.cumsum(contexts.max(axis=0, initial=0) + 1)])
    places = (contexts + starts[:-1]) * n_values + target[:, None]
    counts = np.bincount(places.ravel(), minlength=starts[-1] * n_values).reshape(-1, n_values)
    of_entries = gammaln(base + np.arange(n + 1)[:, None]) - gammaln(base)  # (n + 1, n_values)
    of_totals = gammaln(base.sum() + np.arange(n + 1)) - gammaln(base.sum())
    of_rows = of_entries[counts, np.arange(n_values)].sum(axis=1) - of_totals[counts.sum(axis=1)]
    return np.asarray(np.add.reduceat(of_rows, starts[:-1]))


def evidence_by_any_strength(contexts: IntArray, target: IntArray) -> FloatArray:
    """The same for rows that are like the common row; how much is not known.

    So that splitting rows of chance into smaller ones gains nothing.
    """
    counts = np.bincount(target)
    base = np.asarray((counts + 1.0 / len(counts)) / (len(target) + 1.0), dtype=np.float64)
    found = [evidence_of_rows(contexts, target, strength * base) for strength in ROW_STRENGTHS]
    return np.asarray(logsumexp(found, axis=0) - np.log(len(found)))


def mixed(nats: FloatArray) -> float:
    """Nats for one of several, each as likely as the others before anything is seen."""
    return float(logsumexp(nats) - np.log(len(nats)))


def label(values: FloatArray | IntArray | BoolArray) -> IntArray:
    """(n,) values as whole numbers from 0."""
    return np.unique(values, return_inverse=True)[1].astype(np.intp)


def joined(*labels: IntArray) -> IntArray:
    """(n,) a label for each combination of labels."""
    found = labels[0]
    for one in labels[1:]:
        found = label(found * (one.max() + 1) + one)
    return found


def label_of_rewards(rewards: FloatArray) -> IntArray:
    """(n,) labels of rewards: their values, or their quarters if there are many."""
    found = label(rewards)
    if found.max() < MOST_REWARDS:
        return found
    return label(np.searchsorted(np.quantile(rewards, [0.25, 0.5, 0.75]), rewards))
