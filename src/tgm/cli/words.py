"""Lines and values that `train`, `evaluate` and `structure` print about an agent."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from rich.text import Text

from tgm.agent import TGMAgent
from tgm.cli.drawing import LEGEND, draw_learned
from tgm.cli.output import say
from tgm.envs import EnvSpec, Maze, facts_of_env
from tgm.envs.decision_table import LONGEST
from tgm.experiments.evaluation import Evaluation
from tgm.experiments.structure import StructureReport
from tgm.runs import Run


def newest_agent(run: Run) -> TGMAgent:
    """The newest agent of a run that can be read; standard error names those that cannot."""
    agent, troubles = run.agent_and_troubles()
    for trouble in troubles:
        say(f"tgm: {trouble}; taking an earlier one")
    return agent


def evaluation_facts(
    evaluation: Evaluation, spec: EnvSpec, env: gym.Env[Any, Any]
) -> dict[str, Any]:
    """The outcome of greedy episodes as plain values, with what is known of the environment."""
    facts: dict[str, Any] = {
        "mean_return": evaluation.mean_return,
        "episodes": len(evaluation.returns),
        "returns": list(evaluation.returns),
    }
    if evaluation.n_cut:
        facts["cut_off"] = evaluation.n_cut
    known = facts_of_env(env)
    if known.maze is None and known.solved_return is not None:
        facts |= {
            "solved_return": known.solved_return,
            "solved": known.is_solved(evaluation.mean_return, evaluation.terminated),
        }
        if known.optimal_return is not None:
            facts["optimal_return"] = known.optimal_return
    if known.maze is not None:
        facts |= {
            "reached_goal": sum(evaluation.terminated),
            "max_episode_steps": spec.episode_limit,
            "optimal_return": known.optimal_return,
            "solved": known.is_solved(evaluation.mean_return, evaluation.terminated),
        }
    return facts


def evaluation_line(evaluation: Evaluation, spec: EnvSpec, env: gym.Env[Any, Any]) -> str:
    """The outcome of greedy episodes in one line."""
    n_episodes = len(evaluation.returns)
    outcome = f"mean return {evaluation.mean_return:.2f} over {n_episodes} episodes"
    if evaluation.n_cut:
        outcome += f", {evaluation.n_cut} of them cut off after {LONGEST} steps"
    known = facts_of_env(env)
    if known.maze is None:
        if known.optimal_return is not None:
            outcome += f", the best is {known.optimal_return:.4g}"
        if known.solved_return is None:
            return outcome
        is_solved = known.is_solved(evaluation.mean_return, evaluation.terminated)
        verdict = "is solved" if is_solved else "is not solved"
        return f"{spec.name} {verdict} (from {known.solved_return:.4g} on): {outcome}"
    if known.why_unsolvable:
        return f"{spec.name} is not solved: {outcome}; {known.why_unsolvable}"
    outcome = f"{outcome}, the best is {known.optimal_return:g}"
    if known.is_solved(evaluation.mean_return, evaluation.terminated):
        return f"{spec.name} is solved: {outcome}"
    reached = f"{sum(evaluation.terminated)} of {n_episodes} reached the goal"
    return f"{spec.name} is not solved: {outcome}; {reached}"


def structure_lines(report: StructureReport) -> list[str]:
    """States and transitions against the true maze, in two lines."""
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
