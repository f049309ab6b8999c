"""Figures 9 and 10: which data can be forgotten, and which are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle

from tgm.distributions import BoolArray
from tgm.experiments.figures import style, trial_runs
from tgm.experiments.figures.drawing import Claim, Drawing, Settings
from tgm.experiments.figures.trial_runs import TrialRun
from tgm.memory import forgettable_points

N_POINTS = 9
FLEXIBLE = (2, 6)  # the points of the paper's example that belong to flexible components
PAPER_POINTS = {0, 4, 8}
PAPER_STEPS = {0, 3, 4, 7}
MAZE = "8"

ROWS = {"a": 2.4, "r": 1.2, "x": 0.0}
STEP_LEVEL = 1.8  # between the row of actions and that of responsibilities
FIXED_FILL, FLEXIBLE_FILL, FORGET_FILL = "#5A6670", "#F2B48C", style.SKY


@dataclass(frozen=True, eq=False)
class Trial:
    """One trial: is_fixed (n,) says whether a point belongs to a fixed component.

    forget_point (n,) and forget_step (n - 1,): which points and steps the rules forget.
    """

    is_fixed: BoolArray
    forget_point: BoolArray
    forget_step: BoolArray

    @classmethod
    def of(cls, is_fixed: BoolArray) -> Trial:
        """Apply the rules for points and for steps."""
        has_next = np.arange(len(is_fixed)) < len(is_fixed) - 1
        forget = forgettable_points(is_fixed, has_next)
        return cls(is_fixed, forget, forget[:-1] | forget[1:])


def papers_trial() -> Trial:
    """Nine points of which the third and the seventh belong to flexible components."""
    return Trial.of(~np.isin(np.arange(N_POINTS), FLEXIBLE))


def before_forgetting(settings: Settings) -> Drawing:
    """The trial; what can be forgotten is marked."""
    trial = papers_trial()
    figure = style.new_figure(10.0, 3.6)
    axes = figure.subplots()
    everything = np.ones(N_POINTS, dtype=bool)
    draw_trial(axes, trial, everything, everything[1:])
    for index, words in ((0, "start of trial"), (4, "middle of trial"), (8, "end of trial")):
        axes.text(index, -0.62, words, ha="center", va="center", color=style.GREY)
    _legend(axes)
    return Drawing(
        "Which data can be forgotten",
        figure,
        "An observation x is forgotten if it and both its neighbours in time belong to fixed "
        "components; a missing neighbour at either end of the trial counts as fixed. A transition, "
        "the small dot between an action and two states, is forgotten if either of its two "
        "observations is.",
        (_claim_sets(trial),),
    )


def after_forgetting(settings: Settings) -> Drawing:
    """The kept part of the trial, and the memory of whole runs with and without forgetting."""
    n_steps, n_seeds = settings.choose((2000, 3), (600, 1))
    seeds = range(settings.seed, settings.seed + n_seeds)
    with_it = [trial_runs.train(MAZE, "paper", seed, n_steps) for seed in seeds]
    without = [trial_runs.train(MAZE, "paper", seed, n_steps, forget=False) for seed in seeds]
    trial = papers_trial()
    figure = style.new_figure(10.0, 5.9)
    top, bottom = figure.subplots(2, 1, height_ratios=(1.15, 1))
    draw_trial(top, trial, ~trial.forget_point, ~trial.forget_step)
    style.title(top, "what is kept of the trial of figure 9", "a")
    _draw_memory(bottom, with_it, without)
    return Drawing(
        "What is kept after forgetting",
        figure,
        "Above, figure 9 without the forgotten data: two intervals around the points of flexible "
        "components. Below, the points in memory in maze 8: once components are fixed "
        "(step 500) the memory no longer grows.",
        (_claim_memory(with_it, without),),
    )


def draw_trial(axes: Axes, trial: Trial, points: BoolArray, steps: BoolArray) -> None:
    """The chosen points (n,) with their responsibilities, and the chosen steps (n - 1,)."""
    for index in np.flatnonzero(points).tolist():
        fill = FORGET_FILL if trial.forget_point[index] else "white"
        _node(axes, "x", index, fill)
        _node(axes, "r", index, FIXED_FILL if trial.is_fixed[index] else FLEXIBLE_FILL)
        axes.plot([index, index], [0.3, 0.9], color=style.WALL_COLOUR, lw=1, zorder=0)
    for index in np.flatnonzero(steps).tolist():
        fill = FORGET_FILL if trial.forget_step[index] else "white"
        _node(axes, "a", index, "white")
        middle = (index + 0.5, STEP_LEVEL)
        for end in ((index, ROWS["a"]), (index, ROWS["r"]), (index + 1, ROWS["r"])):
            axes.plot([end[0], middle[0]], [end[1], middle[1]], color=style.GREY, lw=1, zorder=0)
        axes.add_patch(
            Circle(middle, 0.1, facecolor=fill, edgecolor=style.INK, lw=1.1, label=f"step{index}")
        )
    axes.set(xlim=(-0.6, N_POINTS - 0.4), ylim=(-0.85, 2.85), aspect="equal")
    style.bare(axes)


def _node(axes: Axes, kind: str, index: int, fill: str) -> None:
    x, y = float(index), ROWS[kind]
    axes.add_patch(
        Circle((x, y), 0.29, facecolor=fill, edgecolor=style.INK, lw=1.2, label=f"{kind}{index}")
    )
    ink = "white" if fill == FIXED_FILL else style.INK
    axes.text(x, y, f"${kind}_{index}$", ha="center", va="center", fontsize=11, color=ink)


def _legend(axes: Axes) -> None:
    fills = {
        "of a fixed component": FIXED_FILL,
        "of a flexible component": FLEXIBLE_FILL,
        "forgotten": FORGET_FILL,
        "kept": "white",
    }
    marks = [
        Line2D([], [], marker="o", ls="", ms=10, mfc=fill, mec=style.INK, label=words)
        for words, fill in fills.items()
    ]
    axes.legend(handles=marks, loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=4)


def _draw_memory(axes: Axes, with_it: list[TrialRun], without: list[TrialRun]) -> None:
    for runs, name, colour in (
        (without, "nothing is forgotten", style.GREY),
        (with_it, "with forgetting", style.BLUE),
    ):
        steps = [snapshot.step for snapshot in runs[0].snapshots]
        kept = np.array([[snapshot.n_kept for snapshot in run.snapshots] for run in runs])
        for row in kept:
            axes.plot(steps, row, color=colour, lw=1, alpha=0.45)
        axes.plot(steps, kept.mean(axis=0), color=colour, lw=2.2, label=name)
        axes.annotate(
            name,
            (steps[-1], kept.mean(axis=0)[-1]),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
    axes.set(xlabel="step", ylabel="points in memory", ylim=(0, None), xlim=(0, steps[-1]))
    axes.grid(color=style.PALE)
    style.title(axes, f"points in memory over {len(with_it)} runs in maze {MAZE}", "b")


def _claim_sets(trial: Trial) -> Claim:
    points = np.flatnonzero(trial.forget_point).tolist()
    steps = np.flatnonzero(trial.forget_step).tolist()
    holds = set(points) == PAPER_POINTS and set(steps) == PAPER_STEPS
    return Claim(
        "Of these nine points 0, 4 and 8 can be forgotten, and transitions 0, 3, 4 and 7 too.",
        "yes" if holds else "no",
        f"The agent's own rule forgets points {points} and transitions {steps}.",
        {"forgotten_points": points, "forgotten_transitions": steps},
    )


def _claim_memory(with_it: list[TrialRun], without: list[TrialRun]) -> Claim:
    n_steps = with_it[0].snapshots[-1].step
    kept = np.array([run.snapshots[-1].n_kept for run in with_it])
    all_points = np.array([run.snapshots[-1].n_kept for run in without])
    peak = max(snapshot.n_kept for run in with_it for snapshot in run.snapshots)
    exact = [
        sum(set(run.snapshots[-1].cells.values()) <= {"learned", "duplicated"} for run in runs)
        for runs in (with_it, without)
    ]
    share = float(kept.mean() / all_points.mean())
    return Claim(
        "Forgetting reduces the memory required while the information stays in the priors.",
        "yes" if share < 0.5 and exact[0] >= exact[1] else "partly",
        f"After {n_steps:,} steps {kept.mean():.0f} points are kept instead of "
        f"{all_points.mean():.0f} ({share:.1%}), and never more than {peak}. Every cell has a "
        f"component in {exact[0]} of {len(with_it)} runs with forgetting and in {exact[1]} of "
        f"{len(without)} without.",
        {
            "runs": len(with_it),
            "steps": n_steps,
            "mean_kept": float(kept.mean()),
            "mean_kept_without": float(all_points.mean()),
            "most_kept": int(peak),
            "runs_with_all_cells": exact[0],
            "runs_with_all_cells_without": exact[1],
        },
    )
