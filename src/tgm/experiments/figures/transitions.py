"""Figure 7: the transition matrices learned in maze 8, and the states."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from tgm.distributions import FloatArray, IntArray
from tgm.envs import Cell, Maze
from tgm.envs.maze import ACTION_NAMES, EAT
from tgm.experiments.figures import style, trial_runs
from tgm.experiments.figures.drawing import Claim, Drawing, Settings
from tgm.experiments.figures.trial_runs import TrialRun
from tgm.experiments.structure import compare_structure

MAZE = "8"
RECENT = 100


def transition_matrices(settings: Settings) -> Drawing:
    """Five matrices and the components, after 5,000 steps of the paper's preset."""
    n_steps, n_seeds = settings.choose((5000, 5), (600, 2))
    runs = [trial_runs.train(MAZE, "paper", settings.seed + k, n_steps) for k in range(n_seeds)]
    run = runs[0]
    order = order_of_states(run)
    figure = style.new_figure(10.4, 7.2)
    axes = figure.subplots(2, 3).ravel()
    matrices = run.agent.transition_matrix[:, order][:, :, order]
    for action, name in enumerate(ACTION_NAMES):
        image = _draw_matrix(axes[action], matrices[action], name)
        _mark_truth(axes[action], run, order, action)
    figure.colorbar(
        image, ax=axes[:5].tolist(), label="probability of the next state", shrink=0.5, aspect=30
    )
    _draw_states(axes[5], run, order)
    return Drawing(
        "The transitions of each action, as learned in maze 8",
        figure,
        "A row is the state before, a column the state after; the orange frame marks the true next "
        "state. State 0 is the start. Eating at the goal ends the episode and has no next state. "
        "A row without a dark cell belongs to a surplus state, in which few actions were tried. "
        "Last panel: the states, and the observations of the last 100 steps.",
        (_claim_transitions(runs),),
    )


def order_of_states(run: TrialRun) -> IntArray:
    """The states by the distance of their cells from the start; states without a cell come last."""
    far = len(run.maze.cells)
    steps = {cell: n for n, cell in enumerate(_by_distance(run.maze))}
    cells = compare_structure(run.agent, run.maze).state_cells
    keys = [far if cell is None else steps[cell] for cell in cells]
    return np.argsort(keys, kind="stable")


def _by_distance(maze: Maze) -> list[Cell]:
    distance = {maze.start: 0}
    waiting = [maze.start]
    for cell in waiting:
        for there in maze.moves[cell]:
            if there not in distance:
                distance[there] = distance[cell] + 1
                waiting.append(there)
    return sorted(distance, key=lambda cell: (distance[cell], cell))


def _draw_matrix(axes: Axes, matrix: FloatArray, name: str) -> AxesImage:
    image = style.matrix(axes, matrix, vmin=0.0, vmax=1.0)
    ticks = np.arange(len(matrix))
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.set_yticks(ticks, [str(tick) for tick in ticks])
    axes.set(xlabel="state after", ylabel="state before")
    style.title(axes, name)
    return image


def _mark_truth(axes: Axes, run: TrialRun, order: IntArray, action: int) -> None:
    """Frame the true next state of each row, if the next cell has a state."""
    cells = compare_structure(run.agent, run.maze).state_cells
    owner = {cells[state]: row for row, state in reversed(list(enumerate(order)))}
    for row, state in enumerate(order):
        cell = cells[state]
        if cell is None or (action == EAT and cell == run.maze.goal):
            continue
        column = owner.get(run.maze.next_cell(cell, action))
        if column is not None:
            axes.add_patch(
                Rectangle(
                    (column - 0.5, row - 0.5),
                    1,
                    1,
                    fill=False,
                    edgecolor=style.ORANGE,
                    lw=2.0,
                    zorder=4,
                )
            )


def _draw_states(axes: Axes, run: TrialRun, order: IntArray) -> None:
    style.draw_walls(axes, run.maze)
    recent = run.seen[-RECENT:]
    style.dots(axes, recent, 7, color=style.SKY, alpha=0.8)
    for number, state in enumerate(order):
        mean = run.agent.means[state]
        style.ellipse(
            axes, mean, run.agent.covariances[state], fill=False, edgecolor=style.INK, lw=1.4
        )
        style.write(axes, mean, str(number), weight="bold", fontsize=11)
    style.title(axes, f"the {len(order)} states, and the last {RECENT} steps")


def _claim_transitions(runs: list[TrialRun]) -> Claim:
    right = wrong = untried = 0
    certainty: list[float] = []
    extra = []
    for run in runs:
        report = compare_structure(run.agent, run.maze)
        counts = report.transition_counts
        right, wrong = right + counts["right"], wrong + counts["wrong"]
        untried += counts["untried"]
        extra.append(run.agent.n_states - len(run.maze.cells))
        certainty += _probability_of_truth(run)
    share = right / max(right + wrong, 1)
    return Claim(
        "The model learns the states of the maze and the transitions between them.",
        "yes" if share >= 0.95 and max(extra) == 0 else "partly",
        f"Over {len(runs)} runs {right} of {right + wrong} tried (cell, action) pairs have the "
        f"true next cell as the most likely one; the true cell has probability "
        f"{np.mean(certainty):.2f} on average. But mean shift leaves {min(extra)} to {max(extra)} "
        f"surplus states (erratum 8).",
        {
            "runs": len(runs),
            "right": right,
            "wrong": wrong,
            "untried": untried,
            "mean_probability_of_truth": float(np.mean(certainty)),
            "fewest_surplus_states": min(extra),
            "most_surplus_states": max(extra),
        },
    )


def _probability_of_truth(run: TrialRun) -> list[float]:
    """Probability of the true next cell, for each tried action in a learned cell."""
    report = compare_structure(run.agent, run.maze)
    cells = np.array([cell if cell is not None else (-1, -1) for cell in report.state_cells])
    matrix = run.agent.transition_matrix
    found = []
    for (cell, action), verdict in report.transitions.items():
        if verdict == "untried":
            continue
        state = int(np.flatnonzero((cells == cell).all(axis=1))[0])
        there = (cells == run.maze.next_cell(cell, action)).all(axis=1)
        found.append(float(matrix[action, state, there].sum()))
    return found
