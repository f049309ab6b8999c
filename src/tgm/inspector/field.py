"""Value, greedy action and laws of a world that flows, over pairs of its features.

All numbers are computed here, by the agent's own methods: a page without a server cannot. Of the
features that matter most each pair is drawn; the other ones of them are held at some levels.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np

from tgm.agent import TGMAgent
from tgm.distributions import FloatArray, IntArray
from tgm.inspector.plain import numbers, rounded, text
from tgm.learners.learner import Learner

MOST_DRAWN = 4  # features that may be an axis: six pairs
MOST_FEATURES, MOST_ACTIONS = 64, 24  # of a world that is drawn
LEVELS = (5, 25, 50, 75, 95)  # per cent of the observations, of a held feature
GRID = {0: 41, 1: 31, 2: 21}  # points along an axis, by the number of features with levels
ARROWS = {0: 11, 1: 9, 2: 7}  # the same of laws
FEWER_ARROWS = 5  # of worlds with many actions
MANY_ACTIONS = 6
MARGIN = 0.05  # of the range that was seen, on each side
ASKED = 4_000  # observations at a time
JUDGED = 40  # observations by which it is judged how much a feature matters
ARROW_DIGITS = 4  # significant
ANY = -1  # no action is better than another
SAME = 1e-9  # of the largest value: a smaller difference is none


def field_of(agent: TGMAgent, points: FloatArray) -> dict[str, Any] | None:
    """The field of an agent in the range of observations (n, n_features); None without laws."""
    learner, (n, n_features) = agent.learner, points.shape
    n_actions = agent.interface.n_actions
    fits = n_features == agent.interface.n_features and 2 <= n_features <= MOST_FEATURES
    if not fits or n == 0 or n_actions > MOST_ACTIONS or learner.forecast(points[:1]) is None:
        return None
    levels = np.percentile(points, LEVELS, axis=0)
    matters = _importance(learner, points, levels)
    drawn = np.sort(np.argsort(-matters, kind="stable")[:MOST_DRAWN])
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    axes = _Axes(drawn, low - MARGIN * span, high + MARGIN * span, levels)
    first = np.argsort(-matters[drawn], kind="stable")[:2]
    pairs = [_pair(learner, axes, pair, n_actions) for pair in combinations(range(len(drawn)), 2)]
    names = [text(name) for name in agent.interface.feature_names]
    rest = [k for k in range(n_features) if k not in drawn.tolist()]
    return {
        "step": agent.n_steps,
        "features": drawn.tolist(),
        "names": [names[k] for k in drawn],
        "first": sorted(first.tolist()),
        "low": numbers(axes.low[drawn]),
        "high": numbers(axes.high[drawn]),
        "levels": [numbers(levels[:, k]) for k in drawn],
        "rest": [{"feature": k, "name": names[k], "value": rounded(axes.middle[k])} for k in rest],
        "grid": axes.n_grid,
        "arrows": axes.n_arrows(n_actions),
        "n_actions": n_actions,
        "pairs": pairs,
    }


class _Axes:
    """Where the field is computed.

    Attributes:
        drawn: features that may be an axis.
        low, high: (n_features,) ends of the axes.
        levels: (n_levels, n_features) at which features are held.
        middle: (n_features,) where features are held that are no axis.
    """

    def __init__(self, drawn: IntArray, low: FloatArray, high: FloatArray, levels: FloatArray):
        self.drawn, self.low, self.high, self.levels = drawn, low, high, levels
        self.middle = levels[len(levels) // 2]

    @property
    def n_held(self) -> int:
        """Features with levels beside each pair."""
        return len(self.drawn) - 2

    @property
    def n_grid(self) -> int:
        """Points along an axis."""
        return GRID[self.n_held]

    def n_arrows(self, n_actions: int) -> int:
        """Points along an axis from which laws are drawn."""
        return FEWER_ARROWS if n_actions > MANY_ACTIONS else ARROWS[self.n_held]

    def points(self, pair: tuple[int, int], n: int, *, inside: bool = False) -> FloatArray:
        """(n_slices * n * n, n_features) all slices of a pair: rows from low to high.

        A slice is one choice of levels; that of the last held feature changes first. With `inside`
        points are in the middle of n cells, otherwise the first and last are the ends.
        """
        x, y = self.drawn[list(pair)]
        share = (np.arange(n) + 0.5) / n if inside else np.linspace(0.0, 1.0, n)
        along = self.low + share[:, None] * (self.high - self.low)
        held = [k for index, k in enumerate(self.drawn.tolist()) if index not in pair]
        slices = list(product(range(len(self.levels)), repeat=len(held)))
        found = np.tile(self.middle, (len(slices), n, n, 1))
        for slice_, chosen in zip(found, slices, strict=True):
            slice_[..., held] = self.levels[list(chosen), held]
        found[..., x] = along[:, x]
        found[..., y] = along[:, y][:, None]
        return found.reshape(-1, len(self.low))


def _pair(learner: Learner, axes: _Axes, pair: tuple[int, int], n_actions: int) -> dict[str, Any]:
    """One pair of features: value and action of each grid point, and laws."""
    values = values_at(learner, axes.points(pair, axes.n_grid))
    columns = axes.drawn[list(pair)]
    starts = axes.points(pair, axes.n_arrows(n_actions), inside=True)
    moves, spreads, ends = [], [], []
    for part in _parts(starts):
        forecast = learner.forecast(part)
        assert forecast is not None
        moves.append(forecast.expected[..., columns] - part[:, None, columns])
        spreads.append(forecast.covariance[..., columns[:, None], columns])
        ends.append(forecast.end)
    covariance = np.concatenate(spreads)
    return {
        "x": pair[0],
        "y": pair[1],
        "value": numbers(values.max(axis=1)),
        "action": numbers(_greedy(values)),
        "move": _short(np.concatenate(moves)),
        "spread": _short(covariance[..., [0, 0, 1], [0, 1, 1]]),
        "end": _short(np.concatenate(ends), 3),
    }


def _greedy(values: FloatArray) -> IntArray:
    """(n,) the best action; ANY where all actions are worth the same."""
    spread = np.ptp(values, axis=1)
    is_same = spread <= SAME * max(1.0, float(np.abs(values).max()))
    return np.where(is_same & (values.shape[1] > 1), ANY, values.argmax(axis=1))


def values_at(learner: Learner, points: FloatArray) -> FloatArray:
    """(n, n_actions) greedy values of observations, where there are laws."""
    n_states = len(learner.state_ids)
    # With laws the values are those of where they lead: a belief is not looked at.
    return np.concatenate([
        learner.values_of(part, np.broadcast_to(0.0, (len(part), n_states)))
        for part in _parts(points)
    ])  # fmt: skip


def _importance(learner: Learner, points: FloatArray, levels: FloatArray) -> FloatArray:
    """(n_features,) by how much the value changes, on average, along each feature."""
    if points.shape[1] == 2:
        return np.ones(2)
    judged = points[np.linspace(0, len(points) - 1, min(JUDGED, len(points))).astype(np.intp)]
    change = np.zeros(points.shape[1])
    for feature in range(points.shape[1]):
        moved = np.repeat(judged[None], len(levels), axis=0)
        moved[..., feature] = levels[:, feature, None]
        values = values_at(learner, moved.reshape(-1, points.shape[1])).max(axis=1)
        change[feature] = np.ptp(values.reshape(len(levels), -1), axis=0).mean()
    return change


def _parts(points: FloatArray) -> list[FloatArray]:
    return [points[at : at + ASKED] for at in range(0, len(points), ASKED)]


def _short(values: FloatArray, places: int | None = None) -> list[float | None]:
    """All values in one flat list, with few digits; with at most so many after the point."""
    flat = values.ravel().tolist()
    if places is not None:
        flat = [round(value, places) for value in flat]
    return [float(f"{v:.{ARROW_DIGITS}g}") if math.isfinite(v) else None for v in flat]
