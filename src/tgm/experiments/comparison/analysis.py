"""From the rows of a comparison to the few numbers that people read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tgm.distributions import FloatArray
from tgm.experiments.comparison.trial_store import Row
from tgm.experiments.statistics import (
    Interval,
    interquartile_mean,
    mean_and_deviation,
    median,
    performance_profile,
    probability_of_improvement,
    stratified_bootstrap,
)

PROFILE = tuple(round(0.1 * tenth, 1) for tenth in range(10))
"""Thresholds of the performance profile, in normalised return."""

_SEED = 0  # of the resamples: the same results give the same intervals


def per_maze(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One row of plain values for each maze and agent, in the order in which they come.

    `solve_*` is the median of steps to solve with its interval, where a run that never solves
    counts as infinite, which is null here. `return_*` is the interquartile mean of the final
    greedy return with its interval.
    """
    return [_summary(group) for group in grouped(rows, "maze", "agent").values()]


def _summary(rows: list[Row]) -> dict[str, Any]:
    solve = interval_of_steps([rows])
    final = stratified_bootstrap([column(rows, "final_return")], interquartile_mean, _rng())
    recent = [row["recent_reward"] for row in rows if row["recent_reward"] is not None]
    mean, deviation = mean_and_deviation(recent) if recent else (None, None)
    exact = [row["is_exact"] for row in rows if row["is_exact"] is not None]
    return {
        "maze": rows[0]["maze"],
        "agent": rows[0]["agent"],
        "runs": len(rows),
        "solved": sum(row["solved_at"] is not None for row in rows),
        "solve_steps": finite(solve.estimate),
        "solve_low": finite(solve.low),
        "solve_high": finite(solve.high),
        "return_mean": final.estimate,
        "return_low": final.low,
        "return_high": final.high,
        "recent_reward_mean": mean,
        "recent_reward_deviation": deviation,
        "regret_mean": _mean_or_none(rows, "regret"),
        "states_median": _median_or_none(rows, "n_states"),
        "true_states": rows[0].get("true_states"),
        "exact": sum(exact) if exact else None,
        "solved_return": rows[0].get("solved_return"),
        "optimal_return": rows[0]["optimal_return"],
        "seconds_mean": float(column(rows, "seconds").mean()),
    }


def per_agent(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One row for each agent over all its mazes.

    `score_*` is the interquartile mean of the normalised final return (0: every episode cut off,
    1: the best there is), its interval stratified by maze; `profile` the share of runs above each
    threshold of PROFILE; `first_is_better` the chance that a run of the first agent solves the
    same maze sooner than one of this agent.
    """
    agents = grouped(rows, "agent")
    first = next(iter(agents.values()), [])
    return [_overall(group, first) for group in agents.values()]


def _overall(rows: list[Row], first: list[Row]) -> dict[str, Any]:
    strata = [normalised_returns(group) for group in grouped(rows, "maze").values()]
    strata = [scores for scores in strata if len(scores)]
    ours, theirs = grouped(first, "maze"), grouped(rows, "maze")
    both = [maze for maze in theirs if maze in ours]
    better = None
    if both:
        better = probability_of_improvement(
            [-steps_to_solve(ours[maze]) for maze in both],
            [-steps_to_solve(theirs[maze]) for maze in both],
        )
    score = None
    if strata:
        score = stratified_bootstrap(strata, interquartile_mean, _rng())
    return {
        "agent": rows[0]["agent"],
        "runs": len(rows),
        "solved": sum(row["solved_at"] is not None for row in rows),
        "score_mean": score.estimate if score else None,
        "score_low": score.low if score else None,
        "score_high": score.high if score else None,
        "profile": performance_profile(strata, PROFILE).tolist() if strata else None,
        "first_is_better": better,
        "seconds_mean": float(column(rows, "seconds").mean()),
    }


def grouped(rows: Sequence[Row], *names: str) -> dict[Any, list[Row]]:
    """The rows by the values of one column or several, in the order in which they come."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        groups.setdefault(key if len(names) > 1 else key[0], []).append(row)
    return groups


def column(rows: Sequence[Row], name: str) -> FloatArray:
    """(n_runs,) one measure."""
    return np.array([row[name] for row in rows], dtype=np.float64)


def steps_to_solve(rows: Sequence[Row]) -> FloatArray:
    """(n_runs,) steps to solve, infinite for a run that never does."""
    return np.array([np.inf if row["solved_at"] is None else row["solved_at"] for row in rows])


def interval_of_steps(groups: Sequence[Sequence[Row]]) -> Interval:
    """Median of steps to solve with its interval; infinite where most runs never solve."""
    return stratified_bootstrap([steps_to_solve(rows) for rows in groups], median, _rng())


def normalised_returns(rows: Sequence[Row]) -> FloatArray:
    """(n_runs,) final greedy return: 0 if all episodes are cut off, 1 for the best.

    Runs that the time limit keeps from the goal are left out: nothing is better than the worst;
    and all outside mazes, where the worst is not known. Only mazes have noise.
    """
    ends = [
        (row, -float(row["max_episode_steps"]), row["optimal_return"])
        for row in rows
        if row.get("noise", 0.0) is not None
    ]
    return np.array(
        [
            (row["final_return"] - worst) / (best - worst)
            for row, worst, best in ends
            if best > worst
        ]
    )


def finite(value: float) -> float | None:
    """The value for JSON, which has no infinity."""
    return value if math.isfinite(value) else None


def _mean_or_none(rows: list[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return float(np.mean(values)) if values else None


def _median_or_none(rows: list[Row], name: str) -> float | None:
    values = [row[name] for row in rows if row[name] is not None]
    return float(np.median(values)) if values else None


def _rng() -> np.random.Generator:
    return np.random.default_rng(_SEED)
