"""What `train`, `evaluate` and `structure` tell about an agent in its maze."""

from __future__ import annotations

import math
import sys
from typing import Any

from rich.text import Text

from tgm.agent import TGMAgent
from tgm.cli.drawing import LEGEND, draw_learned
from tgm.cli.output import one_line
from tgm.envs import Maze
from tgm.experiments.evaluation import Evaluation
from tgm.experiments.structure import StructureReport
from tgm.runs import Run


def newest_agent(run: Run) -> TGMAgent:
    """The newest agent of a run that can be read; what could not is told on standard error."""
    agent, troubles = run.agent_and_troubles()
    for trouble in troubles:
        print(f"tgm: {one_line(trouble)}; taking an earlier one", file=sys.stderr)
    return agent


def evaluation_facts(evaluation: Evaluation, maze: Maze | None) -> dict[str, Any]:
    """The outcome of greedy episodes as plain values."""
    facts: dict[str, Any] = {
        "mean_return": evaluation.mean_return,
        "episodes": len(evaluation.returns),
        "returns": list(evaluation.returns),
    }
    if maze is not None:
        best = maze.optimal_return if math.isfinite(maze.optimal_return) else None
        facts |= {"optimal_return": best, "solved": evaluation.solves(maze)}
    return facts


def evaluation_line(evaluation: Evaluation, maze: Maze | None) -> str:
    """The outcome of greedy episodes in one line."""
    outcome = f"mean return {evaluation.mean_return:.2f} over {len(evaluation.returns)} episodes"
    if maze is None:
        return outcome
    verdict = "solved" if evaluation.solves(maze) else "not solved"
    return f"maze {maze.name} is {verdict}: {outcome}, the best is {maze.optimal_return:g}"


def structure_lines(report: StructureReport) -> list[str]:
    """States and transitions against the true maze, in words."""
    cells, steps = report.counts, report.transition_counts
    return [
        f"{len(report.state_cells)} states found for {len(report.cells)} cells: "
        + ", ".join(f"{count} {name}" for name, count in cells.items()),
        f"{sum(steps.values())} most likely successors: "
        + ", ".join(f"{count} {name}" for name, count in steps.items()),
    ]


def learned_map(maze: Maze, agent: TGMAgent, report: StructureReport) -> Text:
    """The drawing with its legend."""
    return draw_learned(maze, agent, report).append(LEGEND)
