"""Values of a plan whose rows go on for several legs, as the greedy policy would.

A value that is averaged at each arrival leaks: some weight is always nearer to the goal, so that a
plan promises more than its episodes give. On a second and a third leg the laws are followed from
where the first one truly arrives, and averages are taken where the last one ends.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.planning.flow_planner import Plan, careful, discounted_rows, solve
from tgm.planning.flow_support import GONE, Reach, hold

LEGS = 3  # actions that are held one after the other, in a row
LEG_ROUNDS = 2  # of rows and values: the later legs follow the values of the round before


def with_legs(plan: Plan) -> Plan:
    """The same plan with greedy values from rows of LEGS legs."""
    support, n_actions = plan.support, plan.model.n_actions
    n_points = len(support.points)
    first = careful(support.reach, plan.seen, plan.lowest)
    where = plan.weights(first.arrival)
    shape, nothing = (n_actions * n_points, n_points), np.zeros(n_points, dtype=bool)
    value = plan.greedy
    q = first.reward + discounted_rows(*where, first.discount, shape) @ value
    for _ in range(LEG_ROUNDS):
        reach, (index, weights) = _followed(plan, first, where, q.reshape(n_actions, -1))
        rows = discounted_rows(index, weights, reach.discount, shape)
        value = solve(rows, reach.reward, nothing, value, (plan.lowest, plan.highest))
        q = reach.reward + rows @ value
    return plan._replace(greedy=value)


def _followed(
    plan: Plan, first: Reach, where: tuple[IntArray, FloatArray], q: FloatArray
) -> tuple[Reach, tuple[IntArray, FloatArray]]:
    """What rows lead to after all legs, and the support points there with their weights.

    Each later leg has the action that is best by the values q (n_actions, n_points), averaged where
    the one before arrives.
    """
    arrival, reward, discount = (part.copy() for part in first)
    index, weights = where[0].copy(), where[1].copy()
    support, gamma = plan.support, plan.gamma
    for _ in range(LEGS - 1):
        left = np.flatnonzero(discount > GONE)
        known = np.einsum("ank,nk->na", q[:, index[left]], weights[left])
        reach = hold(
            plan.model, arrival[left], known.argmax(axis=1), support.spacing, gamma, support.box
        )
        reach = careful(reach, plan.seen, plan.lowest)
        reward[left] += discount[left] * reach.reward
        discount[left] *= reach.discount
        arrival[left] = reach.arrival
        index[left], weights[left] = plan.weights(reach.arrival)
    return Reach(arrival, reward, discount), (index, weights)
