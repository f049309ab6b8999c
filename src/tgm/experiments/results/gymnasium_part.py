"""The part of docs/results.md on environments that others wrote: tables of `tgm compare --envs`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tgm.experiments.baselines.rl_zoo import ALGORITHMS, zoo_table
from tgm.experiments.comparison.analysis import (
    column,
    finite,
    grouped,
    interval_of_steps,
    per_maze,
    steps_to_solve,
)
from tgm.experiments.comparison.trial_store import Row
from tgm.experiments.results.page import markdown_table
from tgm.experiments.statistics import median

INTRODUCTION = """\
## Gymnasium
Environments that others wrote, with the defaults of `TGMConfig()`. DQN and PPO have RL Zoo's
published settings where it has some, the defaults of their library elsewhere; their schedules are
fitted to the steps given here. R-max and PSRL know the true state, the range of rewards, and
R-max whether there is chance; its number of tries was chosen in slippery FrozenLake, with seeds
that include those below, which favours it. Solved: the environment's own threshold, or within 5 %
of the best return where it has none that can be reached; at that check and at every later one.
Other work took part of the machine: wall-clock is rough.

- Source of the settings: {zoo}.
- Steps that they were published for: {budgets}.
- Not in these tables, though there are settings for them: {missing}.
"""

CURVE_POINTS = 5  # of a learning curve on the page
OUTCOMES = (
    "world",
    "agent",
    "steps",
    "solved",
    "steps to solve",
    "final return",
    "best",
    "exact",
    "ms a step",
)


def gymnasium_part(rows: Sequence[Row], curves: Sequence[Row]) -> str:
    """Tables of shares, steps, returns and wall-clock, and learning curves."""
    worlds = list(dict.fromkeys(row["maze"] for row in rows))
    return "\n".join(
        [
            INTRODUCTION.format(
                zoo=zoo_table()["source"],
                budgets=_budgets(worlds),
                missing=", ".join(one for one in zoo_table()["DQN"] if one not in worlds) or "none",
            ),
            _outcomes(rows),
            _ratios(rows),
            _curves(curves),
        ]
    )


def _budgets(worlds: Sequence[str]) -> str:
    found = [
        f"{name.upper()} in {world}: {zoo_table()[algorithm][world]['n_timesteps']:,}"
        for world in worlds
        for name, algorithm in ALGORITHMS.items()
        if world in zoo_table().get(algorithm, {})
    ]
    return ", ".join(found) or "none of these worlds has any"


def _outcomes(rows: Sequence[Row]) -> str:
    body = []
    for row in per_maze(rows):
        own = grouped(rows, "maze", "agent")[row["maze"], row["agent"]]
        interval = interval_of_steps([own])
        low, high = (_steps(value) for value in (interval.low, interval.high))
        steps = "never" if low == "never" else f"{_steps(interval.estimate)} [{low}, {high}]"
        structure = "-" if row["exact"] is None else f"{row['exact']}/{row['runs']}"
        body.append(
            [
                row["maze"],
                row["agent"],
                f"{own[0]['steps']:,}",
                f"{row['solved']}/{row['runs']}",
                steps,
                f"{row['return_mean']:.4g} [{row['return_low']:.4g}, {row['return_high']:.4g}]",
                "-" if row["optimal_return"] is None else f"{row['optimal_return']:.4g}",
                structure,
                f"{1000.0 * row['seconds_mean'] / own[0]['steps']:.2f}",
            ]
        )
    return (
        "### What each agent reached\n"
        "Median of steps to solve, interquartile mean of the final greedy return, each with its "
        "95 % interval; milliseconds of wall-clock for a step of training. Exact: one state for "
        "each true state, where the rules are open.\n\n" + markdown_table(OUTCOMES, body)
    )


def _ratios(rows: Sequence[Row]) -> str:
    groups = grouped(rows, "maze", "agent")
    body = []
    for (world, agent), own in groups.items():
        if agent == "tgm" or (world, "tgm") not in groups:
            continue
        ours = float(median(steps_to_solve(groups[world, "tgm"])))
        theirs = float(median(steps_to_solve(own)))
        budget = float(max(row["steps"] for row in own))
        if np.isinf(ours):
            text = "tgm never solves it" if np.isinf(theirs) else "only the other solves it"
        elif np.isinf(theirs):
            text = f"> {budget / ours:.1f} (most runs never solve)"
        else:
            text = f"{theirs / ours:.1f}"
        seconds = float(
            column(own, "seconds").mean() / column(groups[world, "tgm"], "seconds").mean()
        )
        body.append([world, agent, text, f"{seconds:.2f}"])
    return (
        "### Ratios to tgm\n"
        "Median steps to solve of the agent over those of `tgm`, and its wall-clock of training "
        "over that of `tgm`: below 1 it is better than `tgm`.\n\n"
        + markdown_table(["world", "agent", "steps", "wall-clock"], body)
    )


def _curves(curves: Sequence[Row]) -> str:
    body = []
    heads: list[str] = []
    for (world, agent), own in grouped(curves, "maze", "agent").items():
        steps = sorted({row["step"] for row in own})
        chosen = [
            steps[round(k * (len(steps) - 1) / (CURVE_POINTS - 1))] for k in range(CURVE_POINTS)
        ]
        means = [
            float(np.mean([row["greedy_return"] for row in own if row["step"] == step]))
            for step in chosen
        ]
        heads = heads or [f"{k}/{CURVE_POINTS - 1} of the steps" for k in range(CURVE_POINTS)]
        body.append(
            [
                world,
                agent,
                *(f"{mean:.4g} ({step:,})" for mean, step in zip(means, chosen, strict=True)),
            ]
        )
    if not body:
        return ""
    heads[0] = "first check"
    return (
        "### Learning curves\n"
        "Mean greedy return over seeds (step of the check); every check is in `curves.csv`.\n\n"
        + markdown_table(["world", "agent", *heads], body)
    )


def _steps(value: float) -> str:
    return "never" if finite(value) is None else f"{value:.0f}"
