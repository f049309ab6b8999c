"""Variational learning of a hidden Markov model with a given number of states.

Beliefs about parameters are a Normal-Wishart distribution for each state and a Dirichlet
distribution for each row of each action's matrix and for the start. A sweep finds the posterior
over paths by forward-backward with the expected logarithms of the parameters, then the parameters
from the expected sums. The bound on ln evidence never falls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from tgm.distributions import FloatArray, IntArray, Moments, NormalWishart, dirichlet
from tgm.distributions import normal_wishart as nw
from tgm.temporal.episodes import Episodes
from tgm.temporal.messages import Smoothed, smooth
from tgm.temporal.rows import LEAST_VALUE_VARIANCE, ObservedRows

TRIES, REWARDED, REWARD, ENDS = range(4)
N_TALLIES = 4


@dataclass(frozen=True, eq=False)
class ChainPrior:
    """What is believed before any data; the same of every state.

    Attributes:
        mean: (n_features,) of the means.
        mean_precision: points that it is worth.
        covariance: (n_features, n_features) of a state.
        dof: points that the covariance is worth, above n_features - 1.
        row: concentration of a row of transitions, for each next state.
        start: the same of the start of an episode.
    """

    mean: FloatArray
    mean_precision: float
    covariance: FloatArray
    dof: float
    row: float
    start: float

    def states(self, n_states: int) -> NormalWishart:
        """The same belief about each of `n_states` states."""
        return NormalWishart(
            np.tile(self.mean, (n_states, 1)),
            np.full(n_states, self.mean_precision),
            np.full(n_states, self.dof),
            np.tile(self.covariance * self.dof, (n_states, 1, 1)),
        )


@dataclass(frozen=True, eq=False)
class ChainSums:
    """The sums that a model is learned from: knowledge is addition.

    Attributes:
        moments: of the points of each of n_states states.
        transitions: (n_actions, n_states, n_states) counts.
        starts: (n_states,) counts.
        tallies: (N_TALLIES, n_actions, n_states) tries, tries with a known reward, sum of rewards
            and ends of each action in each state; inference does not use them.
    """

    moments: Moments
    transitions: FloatArray
    starts: FloatArray
    tallies: FloatArray

    @classmethod
    def of_nothing(cls, n_features: int, n_actions: int, n_states: int) -> ChainSums:
        """No data."""
        return cls(
            Moments.of_nothing(n_features, (n_states,)),
            np.zeros((n_actions, n_states, n_states)),
            np.zeros(n_states),
            np.zeros((N_TALLIES, n_actions, n_states)),
        )

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.starts)

    def emptied(self) -> ChainSums:
        """The same states without data."""
        n_actions, n_states = self.transitions.shape[:2]
        return ChainSums.of_nothing(self.moments.n_features, n_actions, n_states)

    def __add__(self, other: ChainSums) -> ChainSums:
        """The sums of both sets of data."""
        return ChainSums(
            self.moments + other.moments,
            self.transitions + other.transitions,
            self.starts + other.starts,
            self.tallies + other.tallies,
        )

    def take(self, states: IntArray) -> ChainSums:
        """Some states, in the order given; what others have is dropped.

        Arrays are laid out as those of a file, so that products with them have the same bits.
        """
        return ChainSums(
            self.moments[states],
            np.ascontiguousarray(self.transitions[:, states][:, :, states]),
            self.starts[states],
            np.ascontiguousarray(self.tallies[:, :, states]),
        )

    def widened(self, n_more: int) -> ChainSums:
        """With `n_more` states without data at the end."""
        n_actions, n_states = self.transitions.shape[:2]
        more = Moments.of_nothing(self.moments.n_features, (n_more,))
        moments = Moments(
            np.concatenate([self.moments.weight, more.weight]),
            np.concatenate([self.moments.mean, more.mean]),
            np.concatenate([self.moments.scatter, more.scatter]),
        )
        transitions = np.zeros((n_actions, n_states + n_more, n_states + n_more))
        transitions[:, :n_states, :n_states] = self.transitions
        tallies = np.concatenate([self.tallies, np.zeros((N_TALLIES, n_actions, n_more))], axis=2)
        starts = np.concatenate([self.starts, np.zeros(n_more)])
        return ChainSums(moments, transitions, starts, tallies)

    def merged(self, one: int, other: int) -> ChainSums:
        """With the data of `other` added to `one`, and `other` taken out."""
        moments, tallies = self.moments, self.tallies.copy()
        transitions, starts = self.transitions.copy(), self.starts.copy()
        both = moments[one] + moments[other]
        weight, mean, scatter = moments.weight.copy(), moments.mean.copy(), moments.scatter.copy()
        weight[one], mean[one], scatter[one] = both.weight, both.mean, both.scatter
        transitions[:, one] += transitions[:, other]
        transitions[:, :, one] += transitions[:, :, other]
        starts[one] += starts[other]
        tallies[:, :, one] += tallies[:, :, other]
        sums = ChainSums(Moments(weight, mean, scatter), transitions, starts, tallies)
        return sums.take(np.flatnonzero(np.arange(self.n_states) != other))


@dataclass(frozen=True, eq=False)
class ChainBelief:
    """The posterior over the parameters of n_states states."""

    prior: ChainPrior
    sums: ChainSums

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.sums.n_states

    @cached_property
    def states(self) -> NormalWishart:
        """What each state looks like."""
        return nw.update(self.prior.states(self.n_states), self.sums.moments)

    @cached_property
    def rows(self) -> FloatArray:
        """(n_actions, n_states, n_states) concentrations of the rows."""
        return np.asarray(self.sums.transitions + self.prior.row)

    @cached_property
    def start(self) -> FloatArray:
        """(n_states,) concentration of the start."""
        return np.asarray(self.sums.starts + self.prior.start)

    def divergence(self, base: ChainBelief) -> float:
        """KL of this belief about the parameters from another one of the same states."""
        return float(
            nw.kl(self.states, base.states).sum()
            + dirichlet.kl(self.rows, base.rows).sum()
            + dirichlet.kl(self.start, base.start)
        )

    @cached_property
    def log_evidence(self) -> float:
        """ln evidence of the sums, as if the state of every point were known."""
        empty = ChainBelief(self.prior, self.sums.emptied())
        return float(
            nw.log_evidence(empty.states, self.sums.moments).sum()
            + (dirichlet.log_normaliser(self.rows) - dirichlet.log_normaliser(empty.rows)).sum()
            + (dirichlet.log_normaliser(self.start) - dirichlet.log_normaliser(empty.start))
        )

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features) inverse of the expected precisions."""
        return nw.expected_covariance(self.states)

    def smooth(self, rows: ObservedRows, episodes: Episodes) -> Smoothed:
        """The posterior over paths, with the expected logarithms of the parameters."""
        return smooth(
            episodes,
            np.exp(dirichlet.expected_log(self.start)),
            np.exp(dirichlet.expected_log(self.rows)),
            rows.expected_log_densities(self.states),
        )

    def learn(self, rows: ObservedRows, smoothed: Smoothed) -> ChainSums:
        """The expected sums of the data, given the posterior over paths."""
        moments = rows.moments(smoothed.marginals, self.states.mean, self.covariances)
        tallies = np.zeros_like(self.sums.tallies)
        return ChainSums(moments, smoothed.transitions, smoothed.starts, tallies)


@dataclass(frozen=True, eq=False)
class ChainFit:
    """A model and what it makes of the data.

    Attributes:
        belief: about the parameters, from which `smoothed` was found.
        earlier: sums of earlier data, which is not at hand any more.
        smoothed: the posterior over paths.
        bound: lower bound on ln evidence of the data, with ln n_states! for the names of states.
        bounds: (n_sweeps,) its course within the last refinement, without ln n_states!.
    """

    belief: ChainBelief
    earlier: ChainSums
    smoothed: Smoothed
    bound: float
    bounds: tuple[float, ...]

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.belief.n_states


@dataclass(frozen=True, eq=False)
class ChainData:
    """The data of a fit: episodes, and their rows sorted by what is missing."""

    rows: ObservedRows
    episodes: Episodes

    @classmethod
    def of(cls, episodes: Episodes, blur: float = LEAST_VALUE_VARIANCE) -> ChainData:
        """The data of episodes, whose values are known up to a variance of `blur`."""
        return cls(ObservedRows(episodes.points, blur), episodes)

    def refine(
        self,
        prior: ChainPrior,
        sums: ChainSums,
        earlier: ChainSums,
        tolerance: float = 1e-5,
        most: int = 200,
    ) -> ChainFit:
        """Sweep until the bound rises by less than `tolerance` nats per row.

        Args:
            prior: before any data.
            sums: a first guess of the sums of the data.
            earlier: sums of earlier data, of the same states.
            tolerance: nats per row.
            most: number of sweeps.
        """
        base = ChainBelief(prior, earlier)
        bounds: list[float] = []
        for _ in range(most):
            belief = ChainBelief(prior, earlier + sums)
            smoothed = belief.smooth(self.rows, self.episodes)
            bounds.append(smoothed.log_likelihood - belief.divergence(base))
            if len(bounds) > 1 and bounds[-1] - bounds[-2] < tolerance * self.episodes.n_rows:
                break
            sums = belief.learn(self.rows, smoothed)
        names = float(gammaln(belief.n_states + 1.0))
        bound = bounds[-1] + base.log_evidence + names
        return ChainFit(belief, earlier, smoothed, bound, tuple(bounds))


def with_pooled_scale(prior: ChainPrior, sums: ChainSums) -> ChainPrior:
    """The prior with the covariance of states that the data shows: empirical Bayes.

    The sums hold the blur of the values, so that no direction is without variance.
    """
    n_features, weight = len(prior.mean), sums.moments.weight
    within = sums.moments.scatter.sum(axis=0) + prior.covariance * prior.dof
    covariance = within / (weight.sum() + prior.dof)
    whole = sums.moments.sum()
    total = whole.scatter / max(float(whole.weight), 1.0)
    # As many points as make the means spread as the data does.
    ratio = float(np.trace(np.linalg.solve(covariance, total))) / n_features
    precision = 1.0 / max(1.0, ratio)
    return replace(prior, covariance=covariance, mean=whole.mean, mean_precision=precision)
