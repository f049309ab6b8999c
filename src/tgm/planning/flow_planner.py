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
from tgm.planning.imagination import (
    AS_GOOD,
    HELD_IN_ACTING,
    IMAGINED,
    SURE_END,
    Outlook,
    imagined_returns,
)
from tgm.planning.interpolation import Interpolation
from tgm.planning.linear_policy import LinearPolicy
from tgm.planning.local_planes import plane_values
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_rewards import has_found
from tgm.transition.flow_units import FlowUnits, Steps

FAR = 0.7  # spacings from any arrival, beyond which an imagined point is unknown
LEAST_FAR = 0.1  # spans from any arrival, below which no imagined point is unknown
NEARER = (1.0, 0.5, 0.25, 0.1)  # shares of that distance, if nothing is so far
FRONTIER = 0.05  # spans beyond all that was seen: there the hopeful value is the highest
PLAN_CONVERGED = 1e-6  # of the range of values
MOST_PLAN_SWEEPS = 100  # rounds of policy iteration of one plan
EVALUATIONS = 30  # sweeps over the actions of one policy
CLEARLY = 0.05  # of the range of values: the hopeful value must be so much above the greedy one
ROOMY = 0.6  # of the most points: with fewer points the next support may be finer
LOOKED_AHEAD_IN_NOISE = 2  # actions in acting, before values are read; one where there is no noise
COARSE = 0.55  # share of the most points, if the support is refined
REFINEMENTS = 2  # of a plan: each follows the greedy episodes of the one before


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
        policy: takes the place of the greedy actions, if it was imagined to be better.
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
    policy: LinearPolicy | None = None

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
        if self.policy is not None:
            greedy = self.policy.leads(points, greedy)
        return greedy, hopeful

    def best_actions(self, points: FloatArray) -> IntArray:
        """(n,) what is done at observations (n, n_features) without hope."""
        if self.policy is not None:
            return self.policy.actions(points)
        return np.asarray(self.action_values(points)[0].argmax(axis=1))

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

    def most_imagined(self, n_steps: int = IMAGINED) -> float:
        """No imagined episode is worth more."""
        return self.highest * (1.0 - self.gamma**n_steps)

    @property
    def enough(self) -> float:
        """What imagined episodes are worth from which no other plan is better."""
        return self.most_imagined() - AS_GOOD * self.range

    @property
    def least_reward(self) -> float:
        """A reward that is as good as the highest one."""
        return (1.0 - self.gamma) * (self.highest - AS_GOOD * self.range)

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
            actions = self.best_actions(now)
            for _ in range(HELD_IN_ACTING):
                arrival, p_end, _ = model.advance(units.local(now), actions)
                found.append(arrival)
                goes_on = (p_end <= SURE_END) & outlook.seen.holds(arrival)
                now, actions = units.observations(arrival[goes_on]), actions[goes_on]
            if len(now) == 0:
                break
        return np.concatenate(found)

    def imagined_return(
        self,
        outlook: Outlook,
        starts: FloatArray,
        enough: float = -np.inf,
        n_steps: int = IMAGINED,
    ) -> float:
        """Mean discounted reward of greedy episodes from observations, by the laws of an outlook.

        If it is below `enough`, something from it to `enough`.
        """

        def choose(points: FloatArray, _: IntArray) -> IntArray:
            return self.best_actions(points)

        found = imagined_returns(outlook, starts, self.gamma, choose, 1, enough, n_steps)
        return float(found[0])


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
