"""Support points of a value function in a world that flows, closed under imagination.

One point for each cell of a grid that was visited, then one for each cell to which the laws lead
from there, until nothing new appears. An action is held until it has left the point's
neighbourhood: a row of the plan spans a cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import Steps

MOST_POINTS = 4000  # visited and imagined
POINTS_PER_STEP = 5  # that was lived: a plan from few steps has few points
FEWEST_POINTS = 400  # that a plan may always have
MOST_VISITED = 0.75  # share of the most points
MOST_HELD = 12  # steps for which an action is held
FINEST, COARSEST = 0.025, 0.34  # spacing in spans of a feature
REFINED = 0.5  # spacings of the support, of that where imagined episodes pass
REFINED_ROUNDS = 2  # of imagination there
COARSER, FINER = 1.15, 1.2  # factors by which the spacing changes
MOST_IMAGINED_ROUNDS = 60  # of imagination
LIVELY = 0.3  # discount times survival above which an arrival needs a point
GONE = 0.01  # probability that the episode goes on, below which an action is not held longer
MARGIN = 0.75  # spacings that points may lie outside of what was seen
LEAST_MARGIN = 0.11  # spans that points may lie outside of it at least


class Reach(NamedTuple):
    """What holding an action leads to.

    Attributes:
        arrival: (n, n_features) where it is left.
        reward: (n,) discounted rewards on the way.
        discount: (n,) discount times the probability that the episode goes on.
    """

    arrival: FloatArray
    reward: FloatArray
    discount: FloatArray


class Box(NamedTuple):
    """Bounds of all that was seen, in each feature."""

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, steps: Steps) -> Box:
        """The bounds of steps."""
        return cls(steps.points.min(axis=0), steps.points.max(axis=0))

    def wider(self, margin: float) -> Box:
        """The same with a margin on each side."""
        return Box(self.low - margin, self.high + margin)

    def holds(self, points: FloatArray) -> BoolArray:
        """(n,) whether points are in it."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(axis=1))

    def clip(self, points: FloatArray) -> FloatArray:
        """The nearest points in it."""
        return np.minimum(np.maximum(points, self.low), self.high)


class Support(NamedTuple):
    """Support points and what each action leads to from there.

    Attributes:
        points: (n_points, n_features) the visited ones first.
        n_visited: how many were visited.
        n_coarse: how many are there without refinement.
        reach: of (n_actions * n_points) rows, action after action.
        spacing: width of a cell.
        box: no point is outside of it.
        finest: width of the cells where the greedy policy leads.
    """

    points: FloatArray
    n_visited: int
    n_coarse: int
    reach: Reach
    spacing: float
    box: Box
    finest: float


def hold(
    model: FlowModel,
    z: FloatArray,
    actions: IntArray,
    spacing: float,
    gamma: float,
    box: Box,
    most: int = MOST_HELD,
) -> Reach:
    """Hold actions (n,) from points (n, n_features) until they have moved by `spacing`."""
    wide = box.wider(1.0)
    now, p_end, reward = model.advance(z, actions)
    now, discount = wide.clip(now), gamma * (1.0 - p_end)
    active, without_ends = np.arange(len(z)), gamma
    for _ in range(most - 1):
        moved = now[active] - z[active]
        near = np.einsum("nf,nf->n", moved, moved) <= spacing**2
        active = active[near & (discount[active] > GONE * without_ends)]
        if len(active) == 0:
            break
        arrival, p_end, gain = model.advance(now[active], actions[active])
        reward[active] += discount[active] * gain
        discount[active] *= gamma * (1.0 - p_end)
        now[active] = wide.clip(arrival)
        without_ends *= gamma
    return Reach(now, reward, discount)


def most_points(n_steps: int) -> int:
    """How many support points a plan may have after so many steps."""
    return min(MOST_POINTS, max(FEWEST_POINTS, POINTS_PER_STEP * n_steps))


def find_support(
    model: FlowModel, steps: Steps, spacing: float, gamma: float, most: int = MOST_POINTS
) -> Support:
    """Support of the finest spacing from `spacing` on that allows at most `most` points."""
    box = Box.of(steps)
    seen = np.concatenate([steps.departure, steps.arrival[steps.ended]])
    most_visited = min(MOST_VISITED * most, len(steps.departure))
    while True:
        support = _close(model, seen, spacing, gamma, box, (most_visited, most))
        if support is not None:
            return support
        spacing *= COARSER


def _close(
    model: FlowModel,
    seen: FloatArray,
    spacing: float,
    gamma: float,
    box: Box,
    most: tuple[float, int],
) -> Support | None:
    """The support of one spacing; None if it could be coarser and has too many points.

    These are more than `most`, the visited ones and all.
    """
    may_fail = spacing < COARSEST
    wide = box.wider(max(MARGIN * spacing, LEAST_MARGIN))
    known, newest = _one_per_cell(seen, spacing, np.zeros(0, dtype=np.int64))
    n_visited = len(newest)
    if n_visited > most[0] and may_fail:
        return None
    points, reaches = [newest], list[Reach]()
    while True:
        reach = _hold_each(model, newest, spacing, gamma, box)
        reaches.append(reach)
        arrivals = wide.clip(reach.arrival[reach.discount > LIVELY])
        cells, newest = _one_per_cell(arrivals, spacing, known)
        if len(newest) == 0:
            break
        is_over = len(reaches) == MOST_IMAGINED_ROUNDS or len(known) + len(newest) > most[1]
        if is_over and may_fail:
            return None
        if is_over:
            break
        known = np.sort(np.concatenate([known, cells]))
        points.append(newest)
    every, reach = np.concatenate(points), _joined(reaches, model.n_actions)
    return Support(every, n_visited, len(every), reach, spacing, wide, spacing)


def refined(
    model: FlowModel, support: Support, passed: FloatArray, gamma: float, most: int
) -> Support:
    """A support with up to `most` points more: where episodes passed, and where that may lead.

    One point for each narrow cell of `passed` (n, n_features), then for those to which the laws
    lead from there with any action.
    """
    spacing, box = REFINED * support.spacing, support.box
    known, newest = _one_per_cell(box.clip(passed), spacing, np.zeros(0, dtype=np.int64))
    points, reaches, left = [support.points], [support.reach], most
    for _ in range(1 + REFINED_ROUNDS):
        newest = newest[:left]
        if len(newest) == 0:
            break
        left -= len(newest)
        reach = _hold_each(model, newest, spacing, gamma, box)
        points.append(newest)
        reaches.append(reach)
        arrivals = box.clip(reach.arrival[reach.discount > LIVELY])
        cells, newest = _one_per_cell(arrivals, spacing, known)
        known = np.sort(np.concatenate([known, cells]))
    every, reach = np.concatenate(points), _joined(reaches, model.n_actions)
    return support._replace(points=every, reach=reach, finest=spacing)


def _hold_each(
    model: FlowModel, points: FloatArray, spacing: float, gamma: float, box: Box
) -> Reach:
    """What each action leads to from each point, action after action."""
    n_actions = model.n_actions
    actions = np.repeat(np.arange(n_actions), len(points))
    return hold(model, np.tile(points, (n_actions, 1)), actions, spacing, gamma, box)


def _joined(reaches: list[Reach], n_actions: int) -> Reach:
    """That of all points together: each part is of some points, action after action."""
    arrival, reward, discount = (
        np.concatenate([part.reshape(n_actions, len(part) // n_actions, -1) for part in same], 1)
        for same in zip(*reaches, strict=True)
    )
    return Reach(arrival.reshape(-1, arrival.shape[2]), reward.ravel(), discount.ravel())


def _one_per_cell(
    points: FloatArray, spacing: float, known: IntArray
) -> tuple[IntArray, FloatArray]:
    """The cells of some points that are not known (sorted), and the first point in each."""
    cells = _cell_keys(points, spacing)
    keys, first = np.unique(cells, return_index=True)
    if len(known) == 0:
        return keys, points[first]
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    new = known[place] != keys
    return keys[new], points[first[new]]


def _cell_keys(points: FloatArray, spacing: float) -> IntArray:
    """(n,) a number for the cell of each point; a hash, so that any number of features fits."""
    index = np.round(points / spacing).astype(np.int64)
    odd = 6364136223846793005 + 2 * np.arange(points.shape[1], dtype=np.int64)
    key = np.zeros(len(points), dtype=np.int64)
    with np.errstate(over="ignore"):
        for feature in range(points.shape[1]):
            key = (key + index[:, feature]) * odd[feature]
            key ^= key >> 29
    return key
