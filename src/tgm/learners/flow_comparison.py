"""Which of two plans in a world that flows is better: that of better imagined episodes."""

from __future__ import annotations

from tgm.distributions import FloatArray
from tgm.planning.flow_legs import with_legs
from tgm.planning.flow_planner import Plan


def better_at_first(
    best: Plan | None, plan: Plan, places: FloatArray, margin: float
) -> tuple[Plan | None, float]:
    """A plan unless the best one is clearly better, and what the better of both is worth.

    Both are imagined from the same places (n, n_features) by the new laws. In noise the plan
    has legs if that is better.
    """
    new, value = _with_legs(plan, plan.imagined_return(plan.outlook, places), places, margin)
    if best is None:
        return new, value
    enough = value + margin
    other = best.imagined_return(plan.outlook, places, enough)
    return (None, other) if other >= enough else (new, value)


def better_later(
    known: float, plan: Plan, places: FloatArray, margin: float
) -> tuple[Plan | None, float]:
    """A plan, or in noise the same with legs, if it is clearly worth more than is known; else None.

    Args:
        known: what the best plan so far is worth by the new laws.
        plan: the new one.
        places: (n, n_features) where episodes begin.
        margin: a smaller difference is none.

    Returns:
        the plan, and what the better one is worth.
    """
    better = None
    for new in (plan, with_legs(plan)) if plan.model.has_noise else (plan,):
        enough = known + margin
        if (worth := new.imagined_return(plan.outlook, places, enough)) >= enough:
            known, better = worth, new
    return better, known


def _with_legs(plan: Plan, value: float, places: FloatArray, margin: float) -> tuple[Plan, float]:
    """A plan and what it is worth, or in noise itself with legs if that is worth more."""
    if not plan.model.has_noise or value > plan.most_imagined - margin:
        return plan, value
    enough, other = value + margin, with_legs(plan)
    found = other.imagined_return(plan.outlook, places, enough)
    return (other, found) if found >= enough else (plan, value)
