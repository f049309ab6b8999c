"""Which states may be two, and which two may be one: estimates that rank what is worth a trial."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import xlogy

from tgm.distributions import (
    BoolArray,
    Features,
    FloatArray,
    IntArray,
    Moments,
    NormalWishart,
    dirichlet,
)
from tgm.distributions import normal_wishart as nw
from tgm.temporal.chain import N_TALLIES, ChainBelief, ChainFit, ChainPrior, ChainSums
from tgm.temporal.episodes import Episodes
from tgm.temporal.rows import LEAST_VALUE_VARIANCE, blurred

SPLIT_SWEEPS = 25  # of the mixture of two that proposes a split
SETTLED_SHARE = 0.01  # change of a share below which the mixture of two is found
LEAST_SPLIT_SHARE = 1e-3  # of a state in a row that is looked at for its split
ENOUGH_WHOLE = 0.2  # of the rows of a state: without missing values, to judge by them alone
FLAT_DIRECTION = 1e-10  # of the largest variance of a state: a direction with less has none
MOST_JUDGED = 4000  # rows of a state by which its split is judged: of more, every n-th
LEAST_SPLIT_ROWS = 4.0  # of a state that may be two
LEAST_STATE_ROWS = 1.0  # rows; a state with fewer is none


@dataclass(frozen=True, eq=False)
class Split:
    """A state as two.

    Attributes:
        state: which.
        share: (n_rows,) how much of each of its rows is the new state.
        gain: nats, estimated with everything else as it is.
    """

    state: int
    share: FloatArray
    gain: float

    def keeping(self, earlier: Moments, points: FloatArray, weight: FloatArray) -> Split:
        """The same, or the other half as the new state: earlier data stays with the nearer one."""
        if earlier.weight <= 0.0:
            return self
        new, old = weight * self.share, weight * (1.0 - self.share)
        gaps = [(one @ points) / max(float(one.sum()), 1e-300) - earlier.mean for one in (new, old)]
        is_nearer = float(gaps[0] @ gaps[0]) < float(gaps[1] @ gaps[1])
        return replace(self, share=1.0 - self.share) if is_nearer else self


@dataclass(frozen=True, eq=False)
class Neighbours:
    """What comes before and after each row, as probabilities of states, by the action between.

    Attributes:
        before, after: (n_rows, n_actions * n_states); zero where an episode starts or ends.
        steps: for each action, the rows that it leads on from.
    """

    before: FloatArray
    after: FloatArray
    steps: list[IntArray]

    @classmethod
    def of(cls, episodes: Episodes, marginals: FloatArray) -> Neighbours:
        """Those of the posterior over paths."""
        n_rows, n_states = marginals.shape
        before = np.zeros((n_rows, episodes.n_actions * n_states))
        after = np.zeros_like(before)
        for action, rows in enumerate(episodes.steps):
            part = slice(action * n_states, (action + 1) * n_states)
            before[rows + 1, part] = marginals[rows]
            after[rows, part] = marginals[rows + 1]
        return cls(before, after, episodes.steps)


def best_split(
    prior: ChainPrior,
    points: FloatArray,
    is_whole: BoolArray,
    weight: FloatArray,
    neighbours: Neighbours,
    state: int,
) -> Split | None:
    """The best way that was found to see a state as two; None if it has too few points.

    Args:
        prior: of states and rows.
        points: (n_rows, n_features) with expected values in place of missing ones.
        is_whole: (n_rows,) where none is missing.
        weight: (n_rows,) how much of each row belongs to the state.
        neighbours: what comes before and after each row.
        state: its index.
    """
    rows = np.flatnonzero(weight > LEAST_SPLIT_SHARE)
    if weight[rows].sum() < LEAST_SPLIT_ROWS:
        return None
    # Expected values lie closer together than observed ones would: they decide only in need.
    judged = rows[is_whole[rows]]
    if weight[judged].sum() < max(LEAST_SPLIT_ROWS, ENOUGH_WHOLE * weight[rows].sum()):
        judged = rows
    judged = judged[:: -(-len(judged) // MOST_JUDGED)]
    sides = neighbours.before, neighbours.after
    pair = _Pair(
        prior, Features.of_points(points[judged]), weight[judged], *(side[judged] for side in sides)
    )
    best: Split | None = None
    for start in pair.starts():
        gain, two = pair.fit(start)
        share = np.zeros(len(points))
        share[rows] = two.share(points[rows], *(side[rows] for side in sides))[0]
        gain += order_gain(prior.row, weight, share, neighbours.steps)
        is_split = min(weight @ share, weight @ (1.0 - share)) >= LEAST_STATE_ROWS
        if is_split and np.isfinite(gain) and (best is None or gain > best.gain):
            best = Split(state, share, gain)
    return best


def order_gain(
    concentration: float, weight: FloatArray, share: FloatArray, steps: list[IntArray]
) -> float:
    """Nats won by knowing which half of a state was there a row before.

    Halves that last for many rows are told apart by that, even where their points overlap. The
    halves of neighbouring rows count as independent: an estimate.

    Args:
        concentration: of the prior of rows of transitions.
        weight: (n_rows,) how much of each row belongs to the state.
        share: (n_rows,) how much of that is the second half.
        steps: for each action, the rows that it leads on from.
    """
    halves = weight[:, None] * np.stack([1.0 - share, share], axis=1)
    followed = np.stack([halves[rows].T @ halves[rows + 1] for rows in steps])
    apart = _log_multinomial(followed, concentration).sum()
    return float(apart - _log_multinomial(followed.sum(axis=(0, 1)), 1.0))


def _log_multinomial(counts: FloatArray, concentration: float) -> FloatArray:
    """ln probability of counts (..., K) in their order, under a symmetric Dirichlet prior: (...)"""
    prior = np.full_like(counts, concentration)
    return np.asarray(dirichlet.log_normaliser(prior + counts) - dirichlet.log_normaliser(prior))


@dataclass(frozen=True, eq=False)
class _Two:
    """A mixture of two states, with what comes before and after each."""

    states: NormalWishart
    size: FloatArray
    counts: list[FloatArray]

    def share(
        self, points: FloatArray, before: FloatArray, after: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """(n,) the probability of the second, and (n,) ln of the sum of both."""
        log_weight = dirichlet.expected_log(self.size) + nw.expected_log_density(
            self.states, points
        )
        traces = self.states.dof * np.square(self.states.factor.whitening).sum(axis=(1, 2))
        log_weight -= 0.5 * LEAST_VALUE_VARIANCE * traces
        for side, count in zip((before, after), self.counts, strict=True):
            log_weight += side @ dirichlet.expected_log(count).T
        total = np.logaddexp(log_weight[:, 0], log_weight[:, 1])
        return np.exp(log_weight[:, 1] - total), total


@dataclass(frozen=True, eq=False)
class _Pair:
    """The rows of one state, to be seen as a mixture of two states."""

    prior: ChainPrior
    features: Features
    weight: FloatArray
    before: FloatArray
    after: FloatArray

    def starts(self) -> list[FloatArray]:
        """Cuts to start from: along axes of the points, and by what comes before and after."""
        moments = Moments.of_points(self.features.points, self.weight)
        values, vectors = np.linalg.eigh(moments.scatter)
        along = (self.features.points - moments.mean) @ vectors
        varies = values > FLAT_DIRECTION * values.max()
        along = np.where(varies, along / np.sqrt(np.where(varies, values / moments.weight, 1.0)), 0)
        shares = self.weight / self.weight.sum()
        kurtosis = shares @ along**4
        axes = {len(values) - 1, int(kurtosis.argmin()), int(kurtosis.argmax())}
        cuts = [along[:, axis] > 0.0 for axis in sorted(axes)]
        gap = [one - shares @ one for one in (self.before, self.after)]
        left, size, right = np.linalg.svd((gap[0] * shares[:, None]).T @ gap[1])
        if size[0] > 1e-3:
            cuts.append(gap[0] @ left[:, 0] + gap[1] @ right[0] > 0.0)
        wide = int(kurtosis.argmax())
        cuts.append(np.abs(along[:, wide]) > 2.0)  # a wide state around a narrow one
        return [np.where(cut, 0.95, 0.05) for cut in cuts if cut.any() and not cut.all()]

    def fit(self, share: FloatArray) -> tuple[float, _Two]:
        """The gain of a mixture of two over one state, in nats, and the mixture."""
        prior, weight = self.prior, self.weight
        states, row = prior.states(2), np.full((2, self.before.shape[1]), prior.row)
        points = self.features.points + self.features.centre
        for _ in range(SPLIT_SWEEPS):
            resp = np.stack([1.0 - share, share], axis=1) * weight[:, None]
            two = _Two(
                nw.update(states, _moments(self.features, resp)),
                1.0 + resp.sum(axis=0),
                [row + resp.T @ side for side in (self.before, self.after)],
            )
            last = share
            share, total = two.share(points, self.before, self.after)
            if np.abs(share - last).max() < SETTLED_SHARE:
                break
        bound = float(weight @ total) - float(nw.kl(two.states, states).sum())
        bound -= float(dirichlet.kl(two.size, np.ones(2)))
        bound -= float(sum(dirichlet.kl(count, row).sum() for count in two.counts))
        return bound - self._alone(), two

    def _alone(self) -> float:
        """ln evidence of one state."""
        prior, weight = self.prior, self.weight
        moments = _moments(self.features, weight[:, None])
        total = float(nw.log_evidence(prior.states(1), moments)[0])
        for side in (self.before, self.after):
            total += float(_log_multinomial(weight @ side, prior.row))
        return total


def _moments(features: Features, weights: FloatArray) -> Moments:
    return blurred(Moments.of_features(features, weights), LEAST_VALUE_VARIANCE)


def merge_gains(belief: ChainBelief, sums: ChainSums, marginals: FloatArray) -> FloatArray:
    """(n_states, n_states) nats won by making each pair one; estimated, -inf on and below the
    diagonal.

    The evidence of the sums as if states were known, and the entropy of which of the two it is.
    """
    n_states, prior = sums.n_states, belief.prior
    gains = np.full((n_states, n_states), -np.inf)
    one, other = np.triu_indices(n_states, 1)
    if not len(one):
        return gains
    alone = nw.log_evidence(prior.states(n_states), sums.moments)
    both = nw.log_evidence(prior.states(len(one)), sums.moments[one] + sums.moments[other])
    entropy = np.array(
        [
            (xlogy(a, a) + xlogy(b, b) - xlogy(a + b, a + b)).sum()
            for a, b in zip(marginals.T[one], marginals.T[other], strict=True)
        ]
    )
    rows = np.array(
        [_row_gain(prior, sums, i, j) for i, j in zip(one.tolist(), other.tolist(), strict=True)]
    )
    gains[one, other] = both - alone[one] - alone[other] + entropy + rows
    gains[one, other] -= np.log(n_states)
    return gains


def _row_gain(prior: ChainPrior, sums: ChainSums, one: int, other: int) -> float:
    """Nats of the transitions and starts won by a merge."""
    merged = sums.merged(one, other)
    gain = 0.0
    for table, sign in ((merged, 1.0), (sums, -1.0)):
        for counts, base in ((table.transitions, prior.row), (table.starts, prior.start)):
            gain += sign * float(_log_multinomial(counts, base).sum())
    return gain


def disjoint(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs that share no state with an earlier one."""
    used: set[int] = set()
    chosen = []
    for one, other in pairs:
        if not {one, other} & used:
            used |= {one, other}
            chosen.append((one, other))
    return chosen


def as_merged(marginals: FloatArray, pairs: list[tuple[int, int]]) -> FloatArray:
    """(n_rows, fewer states) with the second of each pair added to the first."""
    merged = marginals.copy()
    for one, other in pairs:
        merged[:, one] += merged[:, other]
    gone = {other for _, other in pairs}
    return merged[:, [state for state in range(marginals.shape[1]) if state not in gone]]


def as_split(marginals: FloatArray, splits: list[Split]) -> FloatArray:
    """(n_rows, more states) with a new state at the end for each split."""
    columns = [marginals]
    parents = marginals.copy()
    for split in splits:
        new = marginals[:, split.state] * split.share
        parents[:, split.state] -= new
        columns.append(new[:, None])
    columns[0] = parents
    return np.concatenate(columns, axis=1)


def order_of(gains: FloatArray, least: float) -> list[tuple[int, int]]:
    """Pairs with a gain above `least`, the largest first."""
    flat = np.argsort(-gains, axis=None, kind="stable")
    pairs: list[tuple[int, int]] = []
    for index in flat.tolist():
        one, other = divmod(index, gains.shape[1])
        if gains[one, other] <= least:
            break
        pairs.append((one, other))
    return pairs


def sums_of(episodes: Episodes, points: FloatArray, resp: FloatArray) -> ChainSums:
    """Sums of rows with given responsibilities, as if neighbouring rows were independent."""
    transitions = np.stack([resp[rows].T @ resp[rows + 1] for rows in episodes.steps])
    moments = blurred(Moments.of_points(points, resp), LEAST_VALUE_VARIANCE)
    starts = resp[episodes.starts].sum(axis=0)
    tallies = np.zeros((N_TALLIES, episodes.n_actions, resp.shape[1]))
    return ChainSums(moments, transitions, starts, tallies)


def weights_of(fit: ChainFit) -> FloatArray:
    """(n_states,) expected number of rows of each state, earlier ones included."""
    return np.asarray(fit.earlier.moments.weight + fit.smoothed.marginals.sum(axis=0))
