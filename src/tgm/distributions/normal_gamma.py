"""The normal-gamma distribution: the mean and the precision of numbers, both unknown."""

from __future__ import annotations

import math
from typing import NamedTuple


class NormalGamma(NamedTuple):
    """precision ~ Gamma(shape, rate), mean ~ N(mean, 1 / (strength precision)).

    Attributes:
        mean: expected mean.
        strength: numbers that the expected mean is worth.
        shape: half the numbers that the expected precision, shape / rate, is worth.
        rate: half the squared deviation of those.
    """

    mean: float
    strength: float
    shape: float
    rate: float


def posterior(prior: NormalGamma, count: float, total: float, square: float) -> NormalGamma:
    """What is known after `count` numbers of this sum and sum of squares."""
    if count <= 0.0:
        return prior
    strength = prior.strength + count
    off = total / count - prior.mean
    within = max(0.0, square - total * total / count)
    return NormalGamma(
        (prior.strength * prior.mean + total) / strength,
        strength,
        prior.shape + 0.5 * count,
        prior.rate + 0.5 * within + 0.5 * off * off * prior.strength * count / strength,
    )


def log_evidence(prior: NormalGamma, count: float, total: float, square: float) -> float:
    """ln of the marginal likelihood of `count` numbers of this sum and sum of squares."""
    after = posterior(prior, count, total, square)
    return (
        math.lgamma(after.shape)
        - math.lgamma(prior.shape)
        + prior.shape * math.log(prior.rate)
        - after.shape * math.log(after.rate)
        + 0.5 * math.log(prior.strength / after.strength)
        - 0.5 * count * math.log(2.0 * math.pi)
    )
