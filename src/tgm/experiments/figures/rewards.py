"""Figure 13: reward curves of TGM, DQN and A2C in six mazes."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tgm.distributions import FloatArray
from tgm.envs import load_maze, maze_names
from tgm.errors import ConfigError, DataError, RunError
from tgm.experiments.comparison.trial_store import open_table
from tgm.experiments.figures import style, trial_runs
from tgm.experiments.figures.drawing import Claim, Drawing, Settings

COLUMNS = ("maze", "agent", "seed", "step")
REWARD_COLUMNS = ("mean_return_last_100", "recent_reward")  # one of them is required
PRESET_OF = {"tgm": "default", "tgm-paper": "paper"}
# Name, colour and dashes: in maze 10 three curves coincide, and each must be visible.
LOOKS: dict[str, tuple[str, str, Any]] = {
    "tgm": ("TGM, ours", style.GREEN, "-"),
    "tgm-paper": ("TGM, the paper's procedure", style.BLUE, "-"),
    "dqn": ("DQN", style.VERMILLION, (0, (6, 1.2))),
    "a2c": ("A2C", style.PURPLE, (0, (1.6, 1.2))),
}
CORRIDOR = "10"
SIMILAR = 1.0  # in return, one step of the mouse: closer means count as equal


@dataclass(frozen=True)
class Row:
    """One point of one learning curve; the columns of the table."""

    maze: str
    agent: str
    seed: int
    step: int
    mean_return_last_100: float


@dataclass(frozen=True, eq=False)
class Curve:
    """Mean and standard deviation over seeds: steps (n,), mean (n,), sd (n,)."""

    steps: FloatArray
    mean: FloatArray
    sd: FloatArray
    n_seeds: int

    @property
    def last(self) -> float:
        """The mean at the end."""
        return float(self.mean[-1])


def reward_curves(settings: Settings) -> Drawing:
    """Mean reward of the last 100 episodes over the steps, mean and deviation over seeds."""
    rows = read_results(settings.results) if settings.results else trained_rows(settings)
    curves = {
        (maze, agent): curve
        for (maze, agent), curve in curves_of(rows).items()
        if agent in LOOKS and maze in maze_names()
    }
    mazes = [name for name in maze_names() if any(maze == name for maze, _ in curves)]
    agents = [agent for agent in LOOKS if any(name == agent for _, name in curves)]
    if not mazes:
        raise DataError(
            "the learning curves hold none of the six mazes, or none of the agents "
            f"{', '.join(LOOKS)}"
        )
    see = (
        "Lines are means over seeds, bands one standard deviation. A mean over 100 episodes lags "
        "behind the current policy: exploration and early failures count for a long time."
    )
    if not {"dqn", "a2c"} & set(agents):
        see += " DQN and A2C are drawn when --results names a table with their curves."
    figure = draw_curves(curves, mazes, agents)
    return Drawing("Reward while learning", figure, see, _claims(curves, mazes, agents))


def draw_curves(
    curves: Mapping[tuple[str, str], Curve], mazes: Sequence[str], agents: Sequence[str]
) -> Figure:
    """One panel for each maze, one legend for all."""
    n_columns = min(3, len(mazes))
    n_rows = math.ceil(len(mazes) / n_columns)
    figure = style.new_figure(3.6 * n_columns, 2.75 * n_rows + 0.4)
    axes = figure.subplots(n_rows, n_columns, squeeze=False).ravel()
    for panel, maze in zip(axes, mazes, strict=False):
        draw_maze(
            panel, maze, {agent: curves[maze, agent] for agent in agents if (maze, agent) in curves}
        )
    for panel in axes[len(mazes) :]:
        panel.set_axis_off()
    figure.supxlabel("environment steps", fontsize=9.5)
    figure.supylabel("mean reward of the last 100 episodes", fontsize=9.5)
    handles = [
        Line2D([], [], color=LOOKS[a][1], ls=LOOKS[a][2], lw=2, label=LOOKS[a][0]) for a in agents
    ]
    handles.append(Line2D([], [], color=style.GREY, ls=":", lw=1.4, label="best possible"))
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return figure


def _claims(
    curves: Mapping[tuple[str, str], Curve], mazes: Sequence[str], agents: Sequence[str]
) -> tuple[Claim, ...]:
    """A verdict on each claim for which the agents' curves are available."""
    claims = []
    if "tgm-paper" in agents:
        claims.append(_claim_paper_agent(curves, mazes))
    for other, in_paper, words in (
        ("dqn", DQN_IN_PAPER, DQN_WORDS),
        ("a2c", A2C_IN_PAPER, A2C_WORDS),
    ):
        both = [m for m in mazes if (m, other) in curves and (m, "tgm-paper") in curves]
        if both:
            claims.append(_claim_against(curves, both, other, in_paper, words))
    if "tgm" in agents and len(agents) > 1:
        claims.append(_claim_ours(curves, mazes, agents))
    return tuple(claims)


def read_results(path: Path) -> list[Row]:
    """The learning curves in a CSV file, or in the first file of a directory that has them."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    for file in files:
        try:
            reader = csv.DictReader(open_table(file))
            heads = set(reader.fieldnames or ())
            rewards = [name for name in REWARD_COLUMNS if name in heads]
            if set(COLUMNS) <= heads and rewards:
                return [
                    _row(record, rewards[0], f"{file}:{line}")
                    for line, record in enumerate(reader, 2)
                ]
        except (RunError, csv.Error) as error:
            raise ConfigError(f"--results {file}: {error}") from None
    wanted = f"{', '.join(COLUMNS)} and {' or '.join(REWARD_COLUMNS)}"
    raise ConfigError(f"--results {path}: no CSV file there has the columns {wanted}")


def _row(record: Mapping[str, str], reward: str, place: str) -> Row:
    try:
        value = record[reward]
        return Row(
            record["maze"],
            record["agent"],
            int(record["seed"]),
            int(record["step"]),
            float(value) if value else math.nan,
        )
    except (TypeError, ValueError) as error:
        raise DataError(f"{place}: {error}") from None


def trained_rows(settings: Settings) -> list[Row]:
    """The curves of both TGM presets, trained now."""
    names = settings.choose(maze_names(), ("8", "25"))
    n_steps, n_seeds = settings.choose((5000, 5), (500, 2))
    return [
        Row(name, agent, seed, snapshot.step, snapshot.mean_return)
        for name in names
        for agent, preset in PRESET_OF.items()
        for seed in range(settings.seed, settings.seed + n_seeds)
        for snapshot in trial_runs.train(name, preset, seed, n_steps).snapshots
    ]


def curves_of(rows: Iterable[Row]) -> dict[tuple[str, str], Curve]:
    """(maze, agent) -> curve, over the steps for which at least one seed has a value."""
    values: dict[tuple[str, str], dict[int, dict[int, float]]] = {}
    for row in rows:
        if not math.isnan(row.mean_return_last_100):
            by_step = values.setdefault((row.maze, row.agent), {})
            by_step.setdefault(row.step, {})[row.seed] = row.mean_return_last_100
    curves = {}
    for key, by_step in values.items():
        steps = sorted(by_step)
        at = [list(by_step[step].values()) for step in steps]
        curves[key] = Curve(
            np.array(steps, dtype=float),
            np.array([np.mean(some) for some in at]),
            np.array([np.std(some) for some in at]),
            len({seed for some in by_step.values() for seed in some}),
        )
    return curves


def draw_maze(axes: Axes, maze: str, curves: Mapping[str, Curve]) -> None:
    """The curves of all agents in one maze."""
    for agent, curve in curves.items():
        _, colour, dashes = LOOKS[agent]
        style.spread(
            axes, curve.steps, curve.mean, curve.sd, color=colour, ls=dashes, lw=1.9, label=agent
        )
    axes.axhline(load_maze(maze).optimal_return, color=style.GREY, ls=":", lw=1.4)
    last = max(curve.steps[-1] for curve in curves.values())
    axes.set(xlim=(0, last), ylim=(-52, 3))
    axes.grid(color=style.PALE, lw=0.8)
    style.title(axes, f"maze {maze}")


# The paper's text on TGM compared with the other agent: 1 better, 0 similar, -1 worse.
DQN_IN_PAPER = {"8": 1, "10": 0, "20": 0, "25": 0, "26": -1, "27": -1}
A2C_IN_PAPER = {"8": 1, "10": 0, "20": 1, "25": 1, "26": 1, "27": 1}
DQN_WORDS = "TGM ends better than DQN in maze 8, similar in 10, 20 and 25, and worse in 26 and 27."
A2C_WORDS = "TGM outperforms A2C in every maze but 10, where all fail."


def _claim_paper_agent(curves: Mapping[tuple[str, str], Curve], mazes: Sequence[str]) -> Claim:
    ends = {maze: curves[maze, "tgm-paper"] for maze in mazes if (maze, "tgm-paper") in curves}
    listed = ", ".join(
        f"{maze}: {c.last:.1f} +- {c.sd[-1]:.1f} (best {load_maze(maze).optimal_return:g})"
        for maze, c in ends.items()
    )
    fails = [maze for maze in ("10", "27") if maze in ends and ends[maze].last < -45]
    wanted = [maze for maze in ("10", "27") if maze in ends]
    learns = all(ends[m].last > -45 for m in ("8", "20", "25", "26") if m in ends)
    return Claim(
        "TGM learns mazes 8, 20 and 25, alternates between success and failure in 26, and fails "
        "in 10 and 27.",
        "yes" if fails == wanted and learns else "partly",
        f"Mean and deviation over seeds at the end, the paper's procedure: {listed}.",
        {f"end_{maze}": curve.last for maze, curve in ends.items()},
    )


def _claim_against(
    curves: Mapping[tuple[str, str], Curve],
    mazes: Sequence[str],
    other: str,
    in_paper: Mapping[str, int],
    words: str,
) -> Claim:
    gaps = {m: curves[m, "tgm-paper"].last - curves[m, other].last for m in mazes}
    same = [m for m in mazes if _sign(gaps[m]) == in_paper[m]]
    # Adding zero turns -0.0 into 0.0.
    listed = ", ".join(f"{m}: {round(gap, 1) + 0.0:+.1f}" for m, gap in gaps.items())
    return Claim(
        words,
        "yes" if len(same) == len(mazes) else "partly" if same else "no",
        f"The paper's TGM minus {LOOKS[other][0]}, mean reward at the end: {listed}. As printed in "
        f"{len(same)} of {len(mazes)} mazes (differences within {SIMILAR:g} count as similar).",
        {f"gap_{maze}": gap for maze, gap in gaps.items()} | {"as_printed": len(same)},
    )


def _sign(gap: float) -> int:
    return 0 if abs(gap) <= SIMILAR else int(math.copysign(1, gap))


def _claim_ours(
    curves: Mapping[tuple[str, str], Curve], mazes: Sequence[str], agents: Sequence[str]
) -> Claim:
    ends = {
        maze: {agent: curves[maze, agent].last for agent in agents if (maze, agent) in curves}
        for maze in mazes
    }
    ours = {maze: of["tgm"] for maze, of in ends.items() if "tgm" in of and len(of) > 1}
    rivals = {
        maze: max(end for agent, end in ends[maze].items() if agent != "tgm") for maze in ours
    }
    behind = [maze for maze in ours if ours[maze] < rivals[maze] - SIMILAR]
    listed = ", ".join(f"{maze}: {ours[maze]:.1f} and {rivals[maze]:.1f}" for maze in ours)
    hard = ours.get(CORRIDOR, -math.inf) > rivals.get(CORRIDOR, math.nan) + SIMILAR
    return Claim(
        "The corridor of maze 10 needs an agent that actively seeks rarely visited states (the "
        "paper's outlook).",
        "yes" if hard and not behind else "partly" if hard or not behind else "no",
        f"At the end, our preset and the best of the other agents drawn: {listed}.",
        {f"end_{maze}": value for maze, value in ours.items()}
        | {f"best_rival_{maze}": value for maze, value in rivals.items()},
    )
