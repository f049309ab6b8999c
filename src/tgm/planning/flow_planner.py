"""Plans in a world that flows: two value functions on support points.

The greedy one follows the laws within the bounds of all observations, and has the lowest value
outside. The hopeful one has the highest value at points that are unknown. Both are averages of the
values at support points; acting reads planes through them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.planning.flow_support import (
    FINER,
    FINEST,
    Box,
    Reach,
    Support,
    find_support,
    hold,
    most_points,
    refined,
)
from tgm.planning.interpolation import Interpolation
from tgm.planning.local_planes import plane_values
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_rewards import has_found
from tgm.transition.flow_units import FlowUnits, Steps

FAR = 0.7  # spacings from any arrival, beyond which an imagined point is unknown
LEAST_FAR = 0.1  # spans from any arrival, below which no imagined point is unknown
NEARER = (1.0, 0.5, 0.25, 0.1)  # shares of that distance, if nothing is so far
OUTSIDE = 0.1  # spans beyond all that was seen: there the greedy value is the lowest
FRONTIER = 0.05  # spans beyond all that was seen: there the hopeful value is the highest
SURE_END = 0.5  # probability of an end from which a point is known to be one
PLAN_CONVERGED = 1e-6  # of the range of values
MOST_PLAN_SWEEPS = 100  # rounds of policy iteration of one plan
EVALUATIONS = 30  # sweeps over the actions of one policy
CLEARLY = 0.05  # of the range of values: the hopeful value must be so much above the greedy one
ROOMY = 0.6  # of the most points: with fewer points the next support may be finer
HELD_IN_ACTING = 2  # steps for which an action is held in acting
LOOKED_AHEAD_IN_NOISE = 2  # actions in acting, before values are read; one where there is no noise
WORTH_COSTS = 10.0  # dearest actions for ever, that anything is worth while nothing was found
IMAGINED = 200  # steps of an imagined episode
COARSE = 0.55  # share of the most points, if the support is refined
REFINEMENTS = 2  # of a plan: each follows the greedy episodes of the one before


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


class Plan(NamedTuple):
    """A plan: laws, support and values, all in its own units.

    Attributes:
        units: of points.
        model: the laws.
        support: the points.
        interpolation: on them.
        seen: bounds of what was seen; outside the greedy value is the lowest.
        greedy, hopeful: (n_points,) values.
        is_unknown: (n_points,) where the hopeful value is set to the highest.
        lowest, highest: bounds of values.
        gamma: discount of a step.
    """

    units: FlowUnits
    model: FlowModel
    support: Support
    interpolation: Interpolation
    seen: Box
    greedy: FloatArray
    hopeful: FloatArray
    is_unknown: BoolArray
    lowest: float
    highest: float
    gamma: float

    def action_values(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Greedy and hopeful values (n, n_actions) of observations (n, n_features).

        Where observations have noise, those of the best of all sequences of LOOKED_AHEAD_IN_NOISE
        actions; where they lead all values are read from one plane.
        """
        n, n_actions, support = len(points), self.model.n_actions, self.support
        z, reward, discount = self.units.local(points), np.zeros((2, n)), np.ones((2, n))
        for _ in range(LOOKED_AHEAD_IN_NOISE if self.model.has_noise else 1):
            z, actions = np.repeat(z, n_actions, axis=0), np.arange(len(z) * n_actions) % n_actions
            spacing, most = support.spacing, HELD_IN_ACTING
            reach = hold(self.model, z, actions, spacing, self.gamma, support.box, most)
            careful, z = _careful(reach, self.seen, self.lowest), reach.arrival
            reward, discount = (np.repeat(part, n_actions, axis=1) for part in (reward, discount))
            reward += discount * (careful.reward, reach.reward)
            discount *= (careful.discount, reach.discount)
        arrival = support.box.clip(z).reshape(n, len(z) // n, -1)
        later = plane_values(self.interpolation, (self.greedy, self.hopeful), arrival)
        values = reward + discount * later.swapaxes(0, 1).reshape(2, -1)
        greedy, hopeful = values.reshape(2, n, n_actions, -1).max(axis=3)
        return greedy, hopeful

    def weights(self, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """The support points of each z (n, n_features), or of the nearest point that has some."""
        return self.interpolation.weights(self.support.box.clip(z))

    def promises_more(self, greedy: FloatArray, hopeful: FloatArray) -> bool:
        """Whether the hopeful values are clearly higher than the greedy ones, both (n_actions,)."""
        gain = float(hopeful.max() - greedy.max())
        return gain > CLEARLY * self.range

    @property
    def range(self) -> float:
        """How far values may be apart."""
        return self.highest - self.lowest

    @property
    def most_imagined(self) -> float:
        """No imagined episode is worth more."""
        return self.highest * (1.0 - self.gamma**IMAGINED)

    @property
    def outlook(self) -> Outlook:
        """What the plan was made by."""
        return Outlook(self.units, self.model, self.seen, self.lowest, self.highest)

    def passed(self, outlook: Outlook, starts: FloatArray) -> FloatArray:
        """(n, n_features) where greedy episodes from observations pass, by an outlook's laws.

        In units of the outlook, and without noise.
        """
        model, units, now, found = outlook.model, outlook.units, starts, []
        for _ in range(IMAGINED // HELD_IN_ACTING):
            actions = self.action_values(now)[0].argmax(axis=1)
            for _ in range(HELD_IN_ACTING):
                arrival, p_end, _ = model.advance(units.local(now), actions)
                found.append(arrival)
                goes_on = (p_end <= SURE_END) & outlook.seen.holds(arrival)
                now, actions = units.observations(arrival[goes_on]), actions[goes_on]
            if len(now) == 0:
                break
        return np.concatenate(found)

    def imagined_return(
        self, outlook: Outlook, starts: FloatArray, enough: float = -np.inf
    ) -> float:
        """Mean discounted reward of greedy episodes from observations, by the laws of an outlook.

        Actions are held as long as the values assume. Where observations have noise, what is
        believed changes with each of them; the same random numbers serve every plan.

        Returns:
            the mean; if it is below `enough`, something from it to `enough`.
        """
        model, units = outlook.model, outlook.units
        now, gone_on = starts, np.ones(len(starts))
        root, rng = _root(model), np.random.default_rng(0)
        total, actions = 0.0, np.zeros(len(starts), dtype=np.intp)
        for step in range(IMAGINED):
            most = outlook.highest * (1.0 - self.gamma ** (IMAGINED - step))
            if total + float(gone_on.sum()) * most < enough * len(starts):
                break
            if step % HELD_IN_ACTING == 0:
                actions = self.action_values(now)[0].argmax(axis=1)
            arrival, p_end, reward = model.advance(units.local(now), actions)
            p_end = (p_end > SURE_END).astype(float)  # half an end is no end: episodes go on
            total += float(gone_on @ reward)
            inside = outlook.seen.holds(arrival)
            gone_on = gone_on * (1.0 - p_end) * self.gamma
            total += float(gone_on @ ~inside) * outlook.lowest
            goes_on = inside & (gone_on > 1e-3)
            now, gone_on = arrival[goes_on], gone_on[goes_on]
            if root is not None:
                now = now + rng.normal(size=now.shape) @ root.T
            now = units.observations(now)
            actions = actions[goes_on]
            if len(now) == 0:
                break
        return total / len(starts)


def make_plan(
    model: FlowModel,
    units: FlowUnits,
    steps: Steps,
    gamma: float,
    before: Plan | None = None,
    starts: FloatArray | None = None,
) -> Plan:
    """Plan with laws and steps in the same units; a plan before says how fine it may be.

    Where imagined episodes from `starts` (n, n_features) pass, by this plan or the one before, the
    support is refined, if rewards or ends are known and observations have no noise.
    """
    spacing, most = FINEST, most_points(len(steps.action))
    # In noise the agent is believed to be elsewhere, and few points are near.
    if model.has_noise or not has_found(steps):
        starts = None
    n_coarse = most if starts is None else int(COARSE * most)
    if before is not None:
        is_roomy = before.support.n_coarse < ROOMY * n_coarse
        spacing = max(FINEST, before.support.spacing / (FINER if is_roomy else 1.0))
    support = find_support(model, steps, spacing, gamma, n_coarse)
    outlook = Outlook.of(model, units, steps, gamma)
    plan = _solved(outlook, support, steps, gamma, None)
    if starts is None:
        return plan
    passed = [] if before is None else [before.passed(outlook, starts)]
    for _ in range(REFINEMENTS):
        passed.append(plan.passed(outlook, starts))
        n_left = max(0, most - len(support.points))
        finer = refined(model, support, np.concatenate(passed), gamma, n_left)
        if len(finer.points) == len(support.points):
            break
        plan = _solved(outlook, finer, steps, gamma, plan)
    return plan


def _solved(
    outlook: Outlook, support: Support, steps: Steps, gamma: float, before: Plan | None
) -> Plan:
    """Both values of a support; a plan with the same first points makes it faster."""
    units, model, seen, lowest, highest = outlook
    reach, n_points, n_actions = support.reach, len(support.points), model.n_actions
    interpolation = Interpolation(support.points, support.finest)
    index, weights = interpolation.weights(support.box.clip(reach.arrival))
    is_unknown = _unknown(model, support, steps)
    careful, nothing = _careful(reach, seen, lowest), np.zeros(n_points, dtype=bool)
    shape, bounds = (n_actions * n_points, n_points), (lowest, highest)
    rows = _rows(index, weights, careful.discount, shape)
    start = np.full(n_points, lowest)
    if before is not None:
        n_known = support.n_coarse
        start[:n_known] = before.greedy[:n_known]
    greedy = _solve(rows, careful.reward, nothing, start, bounds)
    hopeful = greedy
    if is_unknown.any():
        rows = _rows(index, weights, reach.discount, shape)
        hopeful = _solve(rows, reach.reward, is_unknown, greedy, bounds)
    return Plan(units, model, support, interpolation, seen, greedy, hopeful, is_unknown, lowest,
                highest, gamma)  # fmt: skip


def _careful(reach: Reach, seen: Box, lowest: float) -> Reach:
    """The same reach, if everything outside of the bounds is worth the lowest value."""
    discount = reach.discount * seen.holds(reach.arrival)
    lost = (reach.discount - discount) * lowest
    return Reach(reach.arrival, reach.reward + lost, discount)


def _rows(
    index: IntArray, weights: FloatArray, discount: FloatArray, shape: tuple[int, int]
) -> sparse.csr_matrix:
    """(n_actions * n_points, n_points) discounted weights, action after action."""
    starts = np.arange(0, index.size + 1, index.shape[1])
    data = (weights * discount[:, None]).ravel()
    return sparse.csr_matrix((data, index.ravel().astype(np.int32), starts), shape=shape)


def _unknown(model: FlowModel, support: Support, steps: Steps) -> BoolArray:
    """(n_points,) where something may be found, unless it is known to be an end.

    Points beyond all that was seen; while all rewards were the same and nothing ended also imagined
    points far from any arrival, and less far if there are none.
    """
    points = support.points
    is_end = model.ends.probability(model.inputs(points)) > SURE_END
    is_beyond = ~Box.of(steps).wider(FRONTIER).holds(points) & ~is_end
    if has_found(steps):
        return is_beyond
    distance = cKDTree(steps.arrival).query(points)[0]
    distance[: support.n_visited] = 0.0
    far = max(FAR * support.spacing, LEAST_FAR)
    for nearer in NEARER:
        is_unknown = is_beyond | ((distance > nearer * far) & ~is_end)
        if is_unknown.any():
            break
    return np.asarray(is_unknown)


def _root(model: FlowModel) -> FloatArray | None:
    """Of the covariance of what an observation changes in the belief; None without noise."""
    return np.asarray(np.linalg.cholesky(model.news)) if model.has_noise else None


def _solve(
    rows: sparse.csr_matrix,
    reward: FloatArray,
    is_set: BoolArray,
    start: FloatArray,
    bounds: tuple[float, float],
) -> FloatArray:
    """Modified policy iteration: (n_points,) values; where `is_set` they are the highest.

    Begins with `start` (n_points,). A sweep over all actions improves the policy, some sweeps over
    its actions alone evaluate it.
    """
    n_points = rows.shape[1]
    value, every = start, np.arange(n_points)
    for _ in range(MOST_PLAN_SWEEPS):
        q = (reward + rows @ value).reshape(-1, n_points)
        best = q.argmax(axis=0)
        new = q[best, every]
        new[is_set] = bounds[1]
        moved = float(np.abs(new - value).max())
        value = new
        if moved < PLAN_CONVERGED * (bounds[1] - bounds[0]):
            break
        chosen = best * n_points + every
        policy, gain = rows[chosen], reward[chosen]
        for _ in range(EVALUATIONS):
            value = gain + policy @ value
            value[is_set] = bounds[1]
    return value
