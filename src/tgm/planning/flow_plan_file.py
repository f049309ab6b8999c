"""A plan in a world that flows as arrays, and back."""

from __future__ import annotations

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST_SUM, ArrayReader, Arrays, prefixed
from tgm.planning.flow_planner import Plan
from tgm.planning.flow_support import COARSEST, MOST_POINTS, Box, Reach, Support
from tgm.planning.interpolation import Interpolation
from tgm.planning.linear_policy import LinearPolicy
from tgm.transition.flow_file import (
    model_from_arrays,
    model_to_arrays,
    units_from_arrays,
    units_to_arrays,
)


def plan_to_arrays(plan: Plan) -> Arrays:
    """Everything."""
    support = plan.support
    policy = {} if plan.policy is None else {"policy": plan.policy.weights}
    return policy | {
        **prefixed("units", units_to_arrays(plan.units)),
        **prefixed("model", model_to_arrays(plan.model)),
        "points": support.points,
        "n_visited": np.array([support.n_visited]),
        "n_coarse": np.array([support.n_coarse]),
        "spacing": np.array([support.spacing]),
        "finest": np.array([support.finest]),
        "box": np.array([support.box.low, support.box.high]),
        **prefixed("reach", support.reach._asdict()),
        "seen": np.array([plan.seen.low, plan.seen.high]),
        "greedy": plan.greedy,
        "hopeful": plan.hopeful,
        "is_unknown": plan.is_unknown,
        "bounds": np.array([plan.lowest, plan.highest]),
    }


def plan_from_arrays(saved: ArrayReader, n_features: int, n_actions: int, gamma: float) -> Plan:
    """Take over what `plan_to_arrays` gave, of observations of `n_features`, checked."""
    policy = _policy(saved, n_features, n_actions)
    units = units_from_arrays(saved.part("units"), n_features)
    n_features = len(units.origin)
    points = saved.floats("points", ANY, n_features).copy()
    n_points, n_visited = len(points), saved.count("n_visited")
    if not 0 < n_points <= MOST_POINTS or n_visited > n_points:
        raise DataError(f"array 'points' holds {n_points} points, of which {n_visited} are visited")
    n_coarse = saved.count("n_coarse")
    if not n_visited <= n_coarse <= n_points:
        raise DataError(f"array 'n_coarse' holds {n_coarse}")
    n_rows, reach = n_points * n_actions, saved.part("reach")
    support = Support(
        points,
        n_visited,
        n_coarse,
        Reach(
            reach.floats("arrival", n_rows, n_features),
            reach.floats("reward", n_rows, size=LARGEST_SUM),
            reach.floats("discount", n_rows, low=0.0, high=1.0),
        ),
        saved.number("spacing", low=1e-6, high=2.0 * COARSEST),
        Box(*saved.floats("box", 2, n_features)),
        saved.number("finest", low=1e-6, high=2.0 * COARSEST),
    )
    lowest, highest = saved.floats("bounds", 2, size=LARGEST_SUM).tolist()
    return Plan(
        units,
        model_from_arrays(saved.part("model"), n_features, n_actions),
        support,
        Interpolation(points, support.finest),
        Box(*saved.floats("seen", 2, n_features)),
        saved.floats("greedy", n_points, size=LARGEST_SUM),
        saved.floats("hopeful", n_points, size=LARGEST_SUM),
        saved.flags("is_unknown", n_points),
        lowest,
        highest,
        gamma,
        policy,
    )


def plans_to_arrays(best: Plan | None, newest: Plan | None) -> Arrays:
    """The greedy plan and the newest, which may be one."""
    arrays: Arrays = {"is_new_best": np.array([newest is best])}
    if best is not None and newest is not None:
        arrays |= prefixed("best", plan_to_arrays(best))
        if newest is not best:
            arrays |= prefixed("newest", plan_to_arrays(newest))
    return arrays


def plans_from_arrays(
    saved: ArrayReader, n_features: int, n_actions: int, gamma: float
) -> tuple[Plan, Plan] | None:
    """Take over what `plans_to_arrays` gave, checked; None if there was no plan."""
    if not saved.has("best.points"):
        return None
    best = plan_from_arrays(saved.part("best"), n_features, n_actions, gamma)
    if saved.flags("is_new_best", 1)[0]:
        return best, best
    return best, plan_from_arrays(saved.part("newest"), n_features, n_actions, gamma)


def _policy(saved: ArrayReader, n_features: int, n_actions: int) -> LinearPolicy | None:
    if not saved.has("policy"):
        return None
    return LinearPolicy(saved.floats("policy", n_actions, 1 + n_features).copy())
