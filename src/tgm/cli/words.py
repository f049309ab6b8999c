"""What `train`, `evaluate` and `structure` tell about an agent in its maze."""

from __future__ import annotations

import math
from typing import Any

from rich.text import Text

from tgm.agent import TGMAgent
from tgm.cli.drawing import LEGEND, draw_learned
from tgm.cli.output import say
from tgm.envs import Maze
from tgm.experiments.evaluation import LONGEST, Evaluation
from tgm.experiments.structure import StructureReport
from tgm.runs import Run, World


def newest_agent(run: Run) -> TGMAgent:
    """The newest agent of a run that can be read; what could not is told on standard error."""
    agent, troubles = run.agent_and_troubles()
    for trouble in troubles:
        say(f"tgm: {trouble}; taking an earlier one")
    return agent


def evaluation_facts(evaluation: Evaluation, world: World) -> dict[str, Any]:
    """The outcome of greedy episodes as plain values; in a maze, with what there was to reach."""
    facts: dict[str, Any] = {
        "mean_return": evaluation.mean_return,
        "episodes": len(evaluation.returns),
        "returns": list(evaluation.returns),
    }
    if evaluation.n_cut:
        facts["cut_off"] = evaluation.n_cut
    maze, limit = world.maze, world.episode_limit
    if maze is not None:
        best = maze.best_return(limit)
        facts |= {
            "reached_goal": sum(evaluation.terminated),
            "max_episode_steps": limit,
            "optimal_return": best if math.isfinite(best) else None,
            "solved": evaluation.solves(maze),
        }
    return facts


def evaluation_line(evaluation: Evaluation, world: World) -> str:
    """The outcome of greedy episodes in one line."""
    n_episodes = len(evaluation.returns)
    outcome = f"mean return {evaluation.mean_return:.2f} over {n_episodes} episodes"
    if evaluation.n_cut:
        outcome += f", {evaluation.n_cut} of them cut off after {LONGEST} steps"
    maze = world.maze
    if maze is None:
        return outcome
    if why := maze.why_unsolvable(world.episode_limit):
        return f"maze {maze.name} is not solved: {outcome}; {why}"
    outcome = f"{outcome}, the best is {maze.optimal_return:g}"
    if evaluation.solves(maze):
        return f"maze {maze.name} is solved: {outcome}"
    reached = f"{sum(evaluation.terminated)} of {n_episodes} reached the goal"
    return f"maze {maze.name} is not solved: {outcome}; {reached}"


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
