"""Figure 8: flexible components become fixed."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from tgm.distributions import FloatArray
from tgm.envs import Maze
from tgm.experiments.figures import style, trial_runs
from tgm.experiments.figures.drawing import Claim, Drawing, Settings
from tgm.experiments.figures.trial_runs import Snapshot, TrialRun

MAZE = "8"
PANELS = 8
NEAR = 0.4  # cells


def fixed_components(settings: Settings) -> Drawing:
    """The components at the first eight searches, and how many are fixed over the whole run."""
    n_steps, n_seeds = settings.choose((5000, 5), (1000, 2))
    runs = [trial_runs.train(MAZE, "paper", settings.seed + k, n_steps) for k in range(n_seeds)]
    run = runs[0]
    figure = style.new_figure(10.6, 7.6)
    layout = figure.add_gridspec(3, 4, height_ratios=(1, 1, 0.62))
    for index, snapshot in enumerate(run.snapshots[:PANELS]):
        axes = figure.add_subplot(layout[index // 4, index % 4])
        draw_components(axes, run.maze, snapshot)
        style.title(axes, f"step {snapshot.step}")
    _draw_ages(figure.add_subplot(layout[2, :]), run)
    return Drawing(
        "Components that keep being found become fixed",
        figure,
        "The number counts the searches in a row, one every 100 steps, that found the component. "
        "Orange components are flexible; at the fifth time they become fixed (black). Below, both "
        "kinds over the whole run: cells that are found late start as flexible components.",
        (_claim_fixing(runs),),
    )


def draw_components(axes: Axes, maze: Maze, snapshot: Snapshot) -> None:
    """Ellipses with the number of times that each was found; black is fixed."""
    style.draw_walls(axes, maze)
    for k in np.argsort(~snapshot.is_fixed, kind="stable"):
        fixed, mean = bool(snapshot.is_fixed[k]), snapshot.means[k]
        colour = style.BLACK if fixed else style.VERMILLION
        style.ellipse(axes, mean, snapshot.covariances[k], fill=False, edgecolor=colour, lw=1.7)
        crowded = not fixed and _lies_on_fixed(snapshot, mean)
        style.write(
            axes,
            mean + (0.3 if crowded else 0.0),
            str(snapshot.times_found[k]),
            color=colour,
            fontsize=8 if crowded else 10,
            weight="bold",
        )


def _lies_on_fixed(snapshot: Snapshot, mean: FloatArray) -> bool:
    """Whether a fixed component is so near that the two numbers would overlap."""
    gaps = np.linalg.norm(snapshot.means[snapshot.is_fixed] - mean, axis=1)
    return bool((gaps < NEAR).any())


def _draw_ages(axes: Axes, run: TrialRun) -> None:
    steps = [snapshot.step for snapshot in run.snapshots]
    fixed = np.array([snapshot.is_fixed.sum() for snapshot in run.snapshots])
    total = np.array([len(snapshot.ids) for snapshot in run.snapshots])
    axes.fill_between(steps, 0, fixed, step="post", color=style.INK, alpha=0.85, lw=0)
    axes.fill_between(steps, fixed, total, step="post", color=style.VERMILLION, alpha=0.85, lw=0)
    n_cells = len(run.maze.cells)
    axes.axhline(n_cells, color=style.SKY, lw=1.6, ls="--")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.annotate(
        f"{n_cells} cells",
        (steps[-1], n_cells),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        color=style.BLUE,
    )
    axes.text(0.985, 0.2, "fixed", transform=axes.transAxes, color="white", ha="right", va="center")
    axes.set(xlabel="step", ylabel="components", xlim=(steps[0], steps[-1]), ylim=(0, None))
    style.title(axes, "fixed (black) and flexible (orange) components over the whole run")


def _claim_fixing(runs: list[TrialRun]) -> Claim:
    counts, lost, since = [], 0, []
    for run in runs:
        known: set[int] = set()
        for snapshot in run.snapshots:
            fixed = {int(id_) for id_ in snapshot.ids[snapshot.is_fixed]}
            fresh = snapshot.is_fixed & np.array([int(id_) not in known for id_ in snapshot.ids])
            counts += snapshot.times_found[fresh].tolist()
            lost += len(known - fixed)
            known |= fixed
        since.append(_all_cells_fixed(run))
    reached = [step for step in since if step is not None]
    when = f"the median step is {np.median(reached):.0f}" if reached else "never"
    return Claim(
        "A component that is found five times in a row becomes fixed, and then persists.",
        "yes" if set(counts) == {5} and lost == 0 else "partly",
        f"Over {len(runs)} runs all {len(counts)} components that became fixed had been "
        f"found {_range(counts)} times, and {lost} were lost later. Every cell of maze {MAZE} has "
        f"a fixed component in {len(reached)} of {len(runs)} runs; {when}.",
        {
            "runs": len(runs),
            "fixed": len(counts),
            "fewest_times_found": min(counts),
            "most_times_found": max(counts),
            "lost": lost,
            "runs_with_all_cells_fixed": len(reached),
            "median_step_of_all_fixed": float(np.median(reached)) if reached else None,
        },
    )


def _all_cells_fixed(run: TrialRun) -> int | None:
    """The first snapshot at which every cell has a fixed component."""
    for snapshot in run.snapshots:
        there = {(int(x), int(y)) for x, y in np.rint(snapshot.means[snapshot.is_fixed])}
        if set(run.maze.cells) <= there:
            return snapshot.step
    return None


def _range(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"
