"""Imagined episodes in a world that flows: what a way to act is worth by the laws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.planning.flow_support import Box
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_rewards import has_found
from tgm.transition.flow_units import FlowUnits, Steps

OUTSIDE = 0.1  # spans beyond all that was seen: there the greedy value is the lowest
SURE_END = 0.5  # probability of an end from which a point is known to be one
HELD_IN_ACTING = 2  # steps for which an action is held in acting
WORTH_COSTS = 10.0  # dearest actions for ever, that anything is worth while nothing was found
IMAGINED = 200  # steps of an imagined episode
LONG_IMAGINED = 1000  # steps of a long one, which shows where a way to act leads in the end
AS_GOOD = 1e-3  # of the range of values: a smaller difference between two plans is none


class Outlook(NamedTuple):
    """By what episodes are imagined.

    Attributes:
        units: of points.
        model: the laws.
        seen: bounds of what was seen; outside the rest is worth the lowest value.
        lowest, highest: bounds of values.
    """

    units: FlowUnits
    model: FlowModel
    seen: Box
    lowest: float
    highest: float

    @classmethod
    def of(cls, model: FlowModel, units: FlowUnits, steps: Steps, gamma: float) -> Outlook:
        """Of laws and steps in the same units."""
        # Noise of rewards is no reason to hope for more elsewhere than was ever to be expected.
        expected = model.expected_rewards(steps).clip(steps.reward.min(), steps.reward.max())
        lowest = min(0.0, float(expected.min()) / (1.0 - gamma))
        highest = max(0.0, float(expected.max()) / (1.0 - gamma))
        if not has_found(steps):
            # Actions cost, and nothing is known that they could be spent for: it is worth a lot.
            highest += WORTH_COSTS * float(np.ptp(expected)) / (1.0 - gamma)
        return cls(units, model, Box.of(steps).wider(OUTSIDE), lowest, highest)


Choice = Callable[[FloatArray, IntArray], IntArray]
"""The actions (n,) of rivals (n,) at observations (n, n_features)."""


def imagined_returns(
    outlook: Outlook,
    starts: FloatArray,
    gamma: float,
    choose: Choice,
    n_rivals: int = 1,
    enough: float = -np.inf,
    n_steps: int = IMAGINED,
) -> FloatArray:
    """(n_rivals,) mean discounted rewards of episodes from observations (n, n_features).

    Actions are held as long as the values of plans assume. Where observations have noise, what is
    believed changes with each of them; the same random numbers serve all rivals.

    Returns:
        the means; if all are below `enough`, something from them to `enough`.
    """
    model, units, n = outlook.model, outlook.units, len(starts)
    rival, episode = np.divmod(np.arange(n_rivals * n), n)
    now, gone_on, total = np.tile(starts, (n_rivals, 1)), np.ones(len(rival)), np.zeros(n_rivals)
    rng, actions = np.random.default_rng(0), np.zeros(len(rival), dtype=np.intp)
    root = np.linalg.cholesky(model.news) if model.news.any() else None
    for step in range(n_steps):
        most = outlook.highest * (1.0 - gamma ** (n_steps - step))
        left = np.bincount(rival, gone_on, n_rivals)
        if len(now) == 0 or (total + left * most < enough * n).all():
            break
        if step % HELD_IN_ACTING == 0:
            actions = choose(now, rival)
        arrival, p_end, reward = model.advance(units.local(now), actions)
        p_end = (p_end > SURE_END).astype(float)  # half an end is no end: episodes go on
        total += np.bincount(rival, gone_on * reward, n_rivals)
        inside = outlook.seen.holds(arrival)
        gone_on = gone_on * (1.0 - p_end) * gamma
        total += np.bincount(rival, gone_on * ~inside, n_rivals) * outlook.lowest
        goes_on = inside & (gone_on > 1e-3)
        now, gone_on, actions = arrival[goes_on], gone_on[goes_on], actions[goes_on]
        rival, episode = rival[goes_on], episode[goes_on]
        if root is not None:
            now = now + (rng.normal(size=starts.shape) @ root.T)[episode]
        now = units.observations(now)
    return total / n
