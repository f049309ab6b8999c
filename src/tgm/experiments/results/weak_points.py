"""What we are bad at, by the same tables as the rest of docs/results.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tgm.experiments.comparison.analysis import column, grouped, steps_to_solve
from tgm.experiments.comparison.trial_store import Row
from tgm.experiments.results.suite_part import LOW, N_EXPERIMENTS, low_settings
from tgm.experiments.statistics import median

OURS, RIVALS = "tgm", ("dqn", "ppo")
TOLD = ("oracle", "rmax", "psrl")  # they see the true state, so that being behind them is no fault


def weak_points(
    mazes: Sequence[Row], worlds: Sequence[Row], suite: dict[str, Any] | None
) -> list[str]:
    """One line for each thing, the worst first within each part."""
    lines = [*_unsolved(mazes, "maze "), *_unsolved(worlds, ""), *_slower(worlds), *_clock(worlds)]
    if suite is not None:
        lines += _low_scores(suite)
    return lines or ["By these tables: nothing. That says more of the tables than of the agent."]


def _unsolved(rows: Sequence[Row], what: str) -> list[str]:
    """Worlds that some runs do not solve."""
    found = []
    for (world, agent), own in grouped(rows, "maze", "agent").items():
        missing = sum(row["solved_at"] is None for row in own)
        if agent == OURS and missing:
            final = float(np.mean(column(own, "final_return")))
            found.append(
                f"{what}{world}: {missing} of {len(own)} runs do not solve it within "
                f"{max(row['steps'] for row in own):,} steps (mean return {final:.4g} at the end)."
            )
    return found


def _slower(rows: Sequence[Row]) -> list[str]:
    """Worlds that another agent, which sees no more, solves in fewer steps."""
    groups = grouped(rows, "maze", "agent")
    found = []
    for (world, agent), own in groups.items():
        if agent == OURS or (world, OURS) not in groups:
            continue
        ours, theirs = (float(median(steps_to_solve(one))) for one in (groups[world, OURS], own))
        if theirs < ours:
            told = ", which is told the true state" if agent in TOLD else ""
            needs = "never" if np.isinf(ours) else f"{ours:.0f}"
            found.append(f"{world}: `{agent}`{told} needs {theirs:.0f} steps, `tgm` {needs}.")
    return found


def _clock(rows: Sequence[Row]) -> list[str]:
    """Worlds in which a step takes longer than with DQN or PPO."""
    groups = grouped(rows, "maze", "agent")
    found = []
    for (world, agent), own in groups.items():
        if agent == OURS:
            ms = _milliseconds(own)
            others = {rival: _milliseconds(groups.get((world, rival), ())) for rival in RIVALS}
            faster = {rival: time for rival, time in others.items() if time < ms}
            if faster:
                theirs = ", ".join(f"`{rival}` {time:.2f}" for rival, time in faster.items())
                found.append(f"{world}: a step takes {ms:.2f} ms; {theirs}.")
    return found


def _milliseconds(rows: Sequence[Row]) -> float:
    """Wall-clock of a step of training; infinite without any run."""
    if not rows:
        return float("inf")
    return 1000.0 * float(np.mean(column(rows, "seconds") / column(rows, "steps")))


def _low_scores(suite: dict[str, Any]) -> list[str]:
    """Experiments of bsuite with a low score, as a whole or in a setting that was tried."""
    rows = suite["experiments"]
    whole = sorted(
        (row for row in rows if row["is_whole"] and (row["score"] or 0.0) < LOW),
        key=lambda row: row["score"] or 0.0,
    )
    looks = sorted(
        (row for row in rows if not row["is_whole"] and low_settings(row)),
        key=lambda row: min(score or 0.0 for score in row["by_setting"].values()),
    )
    lines = [
        f"bsuite's {row['experiment']}, run whole: {row['score'] or 0.0:.2f}"
        + (f" (settings {low})." if (low := low_settings(row)) else ".")
        for row in whole
    ]
    lines += [
        f"bsuite's {row['experiment']}, a first look ({row['settings']} of {row['n_settings']} "
        f"settings, {row['episodes']:,} episodes or more of {row['n_episodes']:,}): "
        f"{low_settings(row)}."
        for row in looks
    ]
    n_whole = sum(row["is_whole"] for row in rows)
    if n_whole < N_EXPERIMENTS:
        lines.append(
            f"bsuite: {n_whole} of {N_EXPERIMENTS} experiments were run whole. All of it has up to "
            "170 million steps."
        )
    return lines
