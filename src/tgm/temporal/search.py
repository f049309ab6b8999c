"""The number of states: splits and merges that raise the bound on ln evidence.

Nothing is random: the search starts with one state, and every proposal follows from the data. A
proposal is ranked by a cheap estimate, tried with whole sweeps, and kept if the bound rises.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.linalg import eigh

from tgm.distributions import FloatArray
from tgm.temporal.chain import ChainData, ChainFit, ChainPrior, ChainSums, with_pooled_scale
from tgm.temporal.proposals import (
    LEAST_STATE_ROWS,
    Neighbours,
    Split,
    as_merged,
    as_split,
    best_split,
    disjoint,
    merge_gains,
    order_of,
    sums_of,
    weights_of,
)

ROUGH = 2e-4  # nats per row: tolerance of a trial
FINE = 1e-6  # nats per row: tolerance of the result
ROUGH_SWEEPS = 15
FINE_SWEEPS = 100
MOST_SEARCH_ROUNDS = 30
LEAST_GAIN = 2.0  # nats of a trial that is kept
SAME_GAIN = 20.0  # the same if it has as many states as before
MOST_RESCALINGS = 10  # of the prior, one after the other
PRIOR_TOO_WIDE = 3.0  # a prior that is that many times too wide in some direction is narrowed again
SINGLES = 4  # proposals to try one by one in a round
HOPELESS_SPLIT = -20.0  # nats: a split that is estimated below is not tried
WORST_MERGE = -40.0  # nats: a merge that is estimated below is not tried


Start = tuple[FloatArray, ChainSums]
"""Responsibilities (n_rows, n_states) to start a trial with, and the earlier sums of its states."""


class Search:
    """A search for the model of one set of data."""

    def __init__(self, data: ChainData, max_states: int) -> None:
        """Search in `data` for at most `max_states` states."""
        self.data = data
        self.max_states = max_states
        self._refused: set[tuple[object, ...]] = set()

    def run(self, prior: ChainPrior, earlier: ChainSums | None = None) -> ChainFit:
        """The best model that was found: from one state on, or from those of earlier data."""
        episodes = self.data.episodes
        if earlier is None:
            n_features = episodes.points.shape[1]
            earlier = ChainSums.of_nothing(n_features, episodes.n_actions, 1)
        fit = self._rescaled(self.data.refine(prior, earlier.emptied(), earlier, most=3))
        for _ in range(MOST_SEARCH_ROUNDS):
            changed = self._shrunk(self._grown(fit))
            if changed is fit:
                break
            fit = self._rescaled(changed)
        return self.data.refine(
            fit.belief.prior, self.sums(fit), fit.earlier, tolerance=FINE, most=FINE_SWEEPS
        )

    def sums(self, fit: ChainFit) -> ChainSums:
        """The sums of the data."""
        return fit.belief.learn(self.data.rows, fit.smoothed)

    # --- trials -----------------------------------------------------------------------------------

    def _points(self, fit: ChainFit) -> FloatArray:
        belief = fit.belief
        return self.data.rows.filled(fit.smoothed.marginals, belief.states.mean, belief.covariances)

    def _rescaled(self, fit: ChainFit) -> ChainFit:
        """The same with the prior that its states suggest.

        What the prior says counts as some points of its own. Where features do not vary, or go
        together, it would be too wide after one step, and larger states would be better for that
        reason alone.
        """
        for step in range(MOST_RESCALINGS):
            sums = self.sums(fit)
            prior = with_pooled_scale(fit.belief.prior, fit.earlier + sums)
            if step and not _is_narrower(prior, fit.belief.prior):
                break
            fit = self.data.refine(prior, sums, fit.earlier, tolerance=ROUGH, most=ROUGH_SWEEPS)
        return fit

    def _tried(self, fit: ChainFit, resp: FloatArray, earlier: ChainSums) -> ChainFit:
        """A model of the same prior that starts with given responsibilities."""
        sums, prior = sums_of(self.data.episodes, self._points(fit), resp), fit.belief.prior
        trial = self.data.refine(prior, sums, earlier, tolerance=ROUGH, most=ROUGH_SWEEPS)
        if trial.n_states > fit.n_states and not _is_better(trial, fit):
            # The prior is as wide as the states of `fit`; narrower ones suggest a narrower one.
            trial = self._rescaled(trial)
        while trial.n_states > 1 and (weights_of(trial) < LEAST_STATE_ROWS).any():
            kept = np.flatnonzero(weights_of(trial) >= LEAST_STATE_ROWS)
            sums, earlier = self.sums(trial).take(kept), trial.earlier.take(kept)
            prior = trial.belief.prior
            trial = self.data.refine(prior, sums, earlier, tolerance=ROUGH, most=ROUGH_SWEEPS)
        return trial

    def _best_of(
        self,
        fit: ChainFit,
        n_likely: int,
        n_proposals: int,
        start_of: Callable[[list[int]], Start],
    ) -> tuple[ChainFit, list[int]]:
        """The first trial that raises the bound: all likely ones, the better half, and so on.

        Returns the model, and the single proposals that were refused.
        """
        n, refused = n_likely, list[int]()
        while n > 1:
            trial = self._tried(fit, *start_of(list(range(n))))
            if _is_better(trial, fit):
                return trial, refused
            n //= 2
        for index in range(min(n_proposals, SINGLES)):
            trial = self._tried(fit, *start_of([index]))
            if _is_better(trial, fit):
                return trial, refused
            refused.append(index)
        return fit, refused

    # --- moves ------------------------------------------------------------------------------------

    def _grown(self, fit: ChainFit) -> ChainFit:
        """Splits until none is accepted."""
        while fit.n_states < self.max_states:
            splits = self._splits(fit)[: self.max_states - fit.n_states]
            n_likely = sum(split.gain > 0.0 for split in splits)
            better, refused = self._best_of(
                fit, n_likely, len(splits), partial(_split_start, fit, splits)
            )
            self._refused |= {_key(fit, splits[index].state) for index in refused}
            if better is fit:
                return fit
            fit = better
        return fit

    def _splits(self, fit: ChainFit) -> list[Split]:
        """Promising splits, the best first."""
        points, marginals, prior = self._points(fit), fit.smoothed.marginals, fit.belief.prior
        is_whole = np.asarray(~np.isnan(self.data.rows.points).any(axis=1))
        neighbours = Neighbours.of(self.data.episodes, marginals)
        found = []
        for state in range(fit.n_states):
            if _key(fit, state) in self._refused:
                continue
            split = best_split(prior, points, is_whole, marginals[:, state], neighbours, state)
            if split is not None:
                split = split.keeping(fit.earlier.moments[state], points, marginals[:, state])
            if split is None or split.gain <= HOPELESS_SPLIT:
                self._refused.add(_key(fit, state))
            else:
                found.append(split)
        return sorted(found, key=lambda split: -split.gain)

    def _shrunk(self, fit: ChainFit) -> ChainFit:
        """Merges until none is accepted."""
        while fit.n_states > 1:
            gains = merge_gains(fit.belief, fit.earlier + self.sums(fit), fit.smoothed.marginals)
            keys = {
                pair: (_key(fit, pair[0]), _key(fit, pair[1]))
                for pair in order_of(gains, WORST_MERGE)
            }
            pairs = [pair for pair in keys if keys[pair] not in self._refused]
            n_likely = sum(gains[pair] > 0.0 for pair in pairs)
            better, refused = self._best_of(
                fit, n_likely, len(pairs), partial(_merge_start, fit, pairs)
            )
            self._refused |= {keys[pairs[index]] for index in refused}
            if better is fit:
                return fit
            fit = better
        return fit


def _split_start(fit: ChainFit, splits: list[Split], chosen: list[int]) -> Start:
    marginals = fit.smoothed.marginals
    return as_split(marginals, [splits[i] for i in chosen]), fit.earlier.widened(len(chosen))


def _merge_start(fit: ChainFit, pairs: list[tuple[int, int]], chosen: list[int]) -> Start:
    apart = disjoint([pairs[i] for i in chosen])
    earlier = fit.earlier
    for one, other in sorted(apart, key=lambda pair: -pair[1]):  # the last first: indices stay
        earlier = earlier.merged(one, other)
    return as_merged(fit.smoothed.marginals, apart), earlier


def _is_better(trial: ChainFit, fit: ChainFit) -> bool:
    """Whether the bound is higher, and not only because of the further sweeps of a trial."""
    least = LEAST_GAIN if trial.n_states != fit.n_states else SAME_GAIN
    return trial.bound > fit.bound + least


def _is_narrower(prior: ChainPrior, than: ChainPrior) -> bool:
    """Whether a state is much narrower in some direction by the one prior than by the other."""
    ratios = eigh(than.covariance, prior.covariance, eigvals_only=True)
    return bool(ratios[-1] > PRIOR_TOO_WIDE)


def _key(fit: ChainFit, state: int) -> tuple[object, ...]:
    """What a state is recognised by, as long as it hardly changes."""
    moments = fit.belief.sums.moments
    spread = np.sqrt(np.diagonal(fit.belief.covariances[state]))
    place = np.rint(moments.mean[state] / (0.2 * spread)).astype(int).tolist()
    return (round(5.0 * float(np.log(moments.weight[state] + 1.0))), *place)
