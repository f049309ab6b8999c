"""Policies that are rivals of plans where observations have noise: found in imagination.

Values at support points leak, and in noise their planes mislead; a policy of few numbers does not.
It is found by the cross-entropy method: rivals are drawn about a mean, and those that imagine the
most say where the next ones are drawn.
"""

from __future__ import annotations

import math

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.planning.flow_planner import Plan
from tgm.planning.imagination import IMAGINED, LONG_IMAGINED, imagined_returns
from tgm.planning.linear_policy import LinearPolicy

POLICY_MARGIN = 0.02  # of the range of values: a policy must be so much better than a plan
RIVALS = 24  # policies of one generation
ELITE = 8  # of them, that say where the next ones are drawn
GENERATIONS = 16  # at most
LEAST_SPREAD = 0.1  # deviation of each weight, in the mean size of those of an imitation


def with_policy(
    plan: Plan, starts: FloatArray, lived: FloatArray, before: Plan | None = None
) -> Plan:
    """The plan, or with a policy instead of its greedy actions if that is better.

    Imagined episodes from `starts` (n, n_features) judge, longer ones than in the search: after
    these a policy may drift. The search begins with what the plan does at observations `lived`
    (n, n_features), and with the policy of the plan before, after which half of the generations
    are enough. Without noise support is refined instead.
    """
    if not plan.model.has_noise:
        return plan
    n_steps = _long_enough(plan.gamma)
    enough = (
        plan.imagined_return(plan.outlook, starts, n_steps=n_steps) + POLICY_MARGIN * plan.range
    )
    if enough > plan.most_imagined(n_steps):
        return plan
    mean, deviation = lived.mean(axis=0), np.maximum(lived.std(axis=0), 1e-9)
    first = [_imitation(plan, lived, (mean, deviation))]
    if before is not None and before.policy is not None:
        first.append(_standardised(before.policy, mean, deviation))
    # The search sees half of the starts, all of them judge what it finds.
    weights = _found(plan, starts[::2], np.array(first), (mean, deviation))
    rival = plan._replace(policy=_policy(weights, mean, deviation))
    worth = rival.imagined_return(plan.outlook, starts, enough, n_steps)
    return rival if worth > enough else plan


def _long_enough(gamma: float) -> int:
    """Steps of an episode after which nothing is worth the margin, if they are not many."""
    if gamma**IMAGINED <= POLICY_MARGIN:
        return IMAGINED
    return min(LONG_IMAGINED, math.ceil(math.log(POLICY_MARGIN) / math.log(gamma)))


def _found(
    plan: Plan, starts: FloatArray, first: FloatArray, scale: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """(n_actions, 1 + n_features) the mean of the last elite, which is no lucky draw.

    The first generation is drawn about each of the first weights.
    """
    known = first / np.sqrt(np.square(first).mean(axis=(1, 2), keepdims=True))
    rng, centre = np.random.default_rng(0), known
    spread, highest = np.ones(first.shape[1:]), -np.inf
    for _ in range(GENERATIONS // len(first)):
        about = centre[np.arange(RIVALS - len(known)) % len(centre)]
        rivals = np.concatenate([known, about + spread * rng.normal(size=about.shape)])
        worth = _worth(plan, starts, rivals, scale)
        order = np.argsort(-worth, kind="stable")[:ELITE]
        centre = rivals[order].mean(axis=0, keepdims=True)
        if worth[order[-1]] > plan.enough:
            break
        spread = 0.5 * (spread + rivals[order].std(axis=0)) + LEAST_SPREAD
        if worth[order[0]] > highest:
            best, highest = rivals[order[:1]], float(worth[order[0]])
        known = np.concatenate([best, centre])
    return np.asarray(centre[0])


def _worth(
    plan: Plan, starts: FloatArray, rivals: FloatArray, scale: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """(n_rivals,) mean returns of imagined episodes of policies, in standardised features."""
    weights = np.array([_policy(one, *scale).weights for one in rivals])
    constant, slope = weights[:, :, 0], weights[:, :, 1:]

    def choose(points: FloatArray, rival: IntArray) -> IntArray:
        scores = constant[rival] + (slope[rival] @ points[:, :, None])[..., 0]
        return np.asarray(scores.argmax(axis=1))

    return imagined_returns(plan.outlook, starts, plan.gamma, choose, len(rivals))


def _imitation(plan: Plan, lived: FloatArray, scale: tuple[FloatArray, FloatArray]) -> FloatArray:
    """(n_actions, 1 + n_features) least squares of what the plan does, in standardised features."""
    points = (lived - scale[0]) / scale[1]
    inputs = np.column_stack([np.ones(len(points)), points])
    n_actions = plan.model.n_actions
    does = np.eye(n_actions)[plan.best_actions(lived)] - 1.0 / n_actions
    return np.asarray(np.linalg.lstsq(inputs, does, rcond=None)[0].T)


def _policy(weights: FloatArray, mean: FloatArray, deviation: FloatArray) -> LinearPolicy:
    """Of weights of standardised features."""
    slope = weights[:, 1:] / deviation
    return LinearPolicy(np.column_stack([weights[:, 0] - slope @ mean, slope]))


def _standardised(policy: LinearPolicy, mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Its weights of standardised features."""
    constant, slope = policy.weights[:, 0], policy.weights[:, 1:]
    return np.column_stack([constant + slope @ mean, slope * deviation])
