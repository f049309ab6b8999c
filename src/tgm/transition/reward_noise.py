"""Noise of rewards: which rows have random rewards, and what their rewards are worth then.

A row is the outcomes of one action in one state. Either each of its outcomes always brings the same
reward, and the others were misread; or its rewards are random about a mean of its own. How much
they vary is learned from all such rows together, and so is what their means are like: those of
rows that end the episode, and those of rows that go on. A mean of few tries is drawn to the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaln

from tgm.distributions import BoolArray, FloatArray
from tgm.transition.chance import (
    MISREAD_PRIOR,
    RANDOM_ROWS,
    probability_of_chance,
    share_of_random_rows,
)

# Beta: a misread step makes two.
MOVES_BY_MISTAKE = (2.0 * MISREAD_PRIOR[0], MISREAD_PRIOR[1] - MISREAD_PRIOR[0])
GROUPS = (False, True)  # of rows: whether they end the episode
ENDS = 0.5  # probability of an end from which a row is one of the second
NOISY_ROWS_WEIGHT = 0.1  # rows that RANDOM_ROWS is worth: all rewards are random, or none
JUDGED_FROM = 2.0  # tries of the rows that say how many rows have random rewards
SAME_REWARD = 1e-9  # share of a reward: two that differ by less are equal
SPREADS = np.power(4.0, np.arange(-7, 4))  # variances of noise: what the variance of means may be


class RewardNoise(NamedTuple):
    """What is known of random rewards; the arrays are (n_groups,).

    Attributes:
        variance: of a reward about the mean of its row.
        centre: expected mean reward of a row.
        spread: variance of the mean rewards of rows about it.
    """

    variance: float
    centre: FloatArray
    spread: FloatArray

    def posterior(
        self, tries: FloatArray, total: FloatArray, ends: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """(n,) mean and variance of the expected reward of rows.

        Precisions add up: tries / variance + 1 / spread.

        Args:
            tries: (n,) of each row.
            total: (n,) sum of its rewards.
            ends: (n,) whether it ends the episode.
        """
        group = np.asarray(ends, dtype=np.intp)
        spread, centre = self.spread[group], self.centre[group]
        precision = tries / self.variance + 1.0 / spread
        mean = (total / self.variance + centre / spread) / precision
        return np.asarray(mean), np.asarray(1.0 / precision)


def is_other_reward(reward: float, before: float) -> bool:
    """Whether a reward differs from the one before it by more than rounding."""
    return abs(reward - before) > SAME_REWARD * max(abs(reward), abs(before))


def log_odds_of_noise(moves: FloatArray, tries: FloatArray) -> FloatArray:
    """Nats by which rows speak for random rewards, against always the same and some misread.

    Each try but the first brings the reward of the try before or another one: another one with any
    probability if rewards are random, and otherwise at a misread step and at the step after it.

    Args:
        moves: how often the reward was another one than at the try before.
        tries: of each row.
    """
    pairs = np.maximum(tries - 1.0, 0.0)
    others = np.clip(moves, 0.0, pairs)
    random = betaln(1.0 + others, 1.0 + pairs - others)
    moves_by_mistake, stays = MOVES_BY_MISTAKE
    same = betaln(moves_by_mistake + others, stays + pairs - others)
    same -= betaln(moves_by_mistake, stays)
    return np.asarray(random - same)


def probability_of_noise(
    moves: FloatArray, tries: FloatArray, ends: BoolArray, shares: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Probability that the rewards of each row are random, and the share of such rows.

    Args:
        moves, tries: see `log_odds_of_noise`.
        ends: whether each row ends the episode.
        shares: (n_groups,) the last estimate of the shares, as `first_shares`.
    """
    odds, found = log_odds_of_noise(moves, tries), np.array(shares)
    probability = np.zeros(odds.shape)
    for group, ends_episode in enumerate(GROUPS):
        own = ends == ends_episode
        judged = own & (tries >= JUDGED_FROM)
        found[group] = share_of_random_rows(odds, judged, float(shares[group]), NOISY_ROWS_WEIGHT)
        probability[own] = probability_of_chance(odds[own], float(found[group]))
    return probability, found


def first_shares() -> FloatArray:
    """(n_groups,) share of rows with random rewards in a world of which nothing is known."""
    return np.full(len(GROUPS), RANDOM_ROWS)


def learn_noise(
    tries: FloatArray, total: FloatArray, square: FloatArray, ends: BoolArray
) -> RewardNoise | None:
    """What rows with random rewards say of them; None if their rewards do not vary.

    Args:
        tries, total, square: (n,) number, sum and sum of squares of the rewards of each row.
        ends: (n,) whether it ends the episode.
    """
    within = float(np.maximum(square - total * total / tries, 0.0).sum())
    free = float((tries - 1.0)[tries > 1.0].sum())
    if within <= 0.0 or free <= 0.0:
        return None
    variance = within / free
    centre, spread = np.zeros(len(GROUPS)), np.full(len(GROUPS), SPREADS[-1] * variance)
    for group, ends_episode in enumerate(GROUPS):
        own = ends == ends_episode
        if own.any():
            centre[group], spread[group] = _centre_and_spread(tries[own], total[own], variance)
    return RewardNoise(variance, centre, spread)


def _centre_and_spread(
    tries: FloatArray, total: FloatArray, variance: float
) -> tuple[float, float]:
    """Mean and variance of the mean rewards of rows, by the evidence of all of them.

    The mean m of a row with n tries is N(centre, spread + variance / n), and any centre is as
    likely before. The spread is the mean of those of SPREADS weighed by their evidence.
    """
    means, spreads = total / tries, SPREADS * variance
    weight = 1.0 / (spreads[:, None] + variance / tries)
    sums = weight.sum(axis=1)
    centres = (weight * means).sum(axis=1) / sums
    misfit = (weight * (means - centres[:, None]) ** 2).sum(axis=1)
    log_evidence = 0.5 * (np.log(weight).sum(axis=1) - np.log(sums) - misfit)
    posterior = np.exp(log_evidence - log_evidence.max())
    posterior /= posterior.sum()
    spread = float(posterior @ spreads)
    weight = 1.0 / (spread + variance / tries)
    return float((weight * means).sum() / weight.sum()), spread
