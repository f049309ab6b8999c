"""docs/results.md from the tables of a campaign: every number on the page comes from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tgm.experiments.baselines.deep import DEEP_CONFIGS
from tgm.experiments.comparison.analysis import (
    PROFILE,
    column,
    grouped,
    interval_of_steps,
    per_agent,
    per_maze,
    steps_to_solve,
)
from tgm.experiments.comparison.trial_store import Row
from tgm.experiments.results.claims import Groups, judge_all, n_solved, share
from tgm.experiments.statistics import bootstrap_ratio, median

IDLE = 0.5  # load of a machine that does nothing else

INTRODUCTION = """\
## The mazes of the paper
The whole campaign runs again, or goes on where it was stopped, with
`python -m tgm.experiments.results --run campaign --jobs 2`.

{about}

Every agent lives in the same environment with the same seeds: {steps} steps, observation noise
0.15, 50 steps to an episode. `tgm` is the agent we recommend, `tgm-paper` the published procedure
with its equations mended. `dqn`, `a2c` and `ppo` have the paper's settings (PPO: the library's
defaults) and see a time limit as a terminal state, as the paper's environment returned it. The
`-tuned` ones have settings for small mazes and see a time limit as what it is. `random` learns
nothing; `oracle` is an optimistic tabular learner that observes the true cell, the floor for
everybody else.
"""

DEFINITIONS = """\
### What the words mean
- **Solved at step n**: the greedy mean return over 20 episodes is within 0.5 of the best, at the
  check at step n and at every later one. Checks are every 10 steps up to 1,000 and every 100
  after, the same for every agent.
- **Intervals** are 95 % percentile intervals of 2,000 bootstrap resamples of the runs, stratified
  by maze where mazes are pooled. A run that never solves counts as infinitely slow.
- **Score**: final greedy return, 0 if every episode is cut off, 1 for the best there is; pooled by
  the interquartile mean, the mean of the middle half of the runs.
- **Last 100 episodes**: mean reward of training episodes, exploration included: the measure of the
  paper's figure 13, mean and standard deviation over runs.
- **Regret**: reward that the best policy would have had in {steps} steps, less the reward of
  training.
- **Seconds**: wall-clock of training alone, checks not counted.
- **Truncation-correct**: at a time limit DQN takes the value behind it from its target network,
  A2C and PPO from their critic; at a terminal state that value is 0.
"""


def write_page(rows: Sequence[Row], about: dict[str, Any]) -> str:
    """The part on mazes as Markdown.

    Args:
        rows: of results.csv.
        about: facts of the campaign: steps, cores, jobs, minutes, versions.
    """
    groups = grouped(rows, "maze", "agent")
    mazes, agents = (list(dict.fromkeys(row[name] for row in rows)) for name in ("maze", "agent"))
    agents.sort(key=_AGENT_ORDER.index)
    steps = f"{about['steps']:,}"
    sections = [
        INTRODUCTION.format(about=_about(about), steps=steps),
        "### In short\n" + "".join(f"- {line}\n" for line in _in_short(groups, mazes)),
        _solved(groups, mazes, agents),
        _steps(groups, mazes, agents),
        _ratios(groups, mazes, about["steps"]),
        _overall(rows, agents),
        _training(rows, mazes, agents),
        _structure(rows, mazes),
        _claims(groups),
        DEFINITIONS.format(steps=steps),
        _settings(),
    ]
    return "\n".join(sections)


_AGENT_ORDER = ("tgm", "tgm-paper", *DEEP_CONFIGS, "random", "oracle")


def _about(about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    before = about["finished_before"]
    which = f"What was left after {before} trials" if before else "All of it"
    where = f"with {about['jobs']} processes on {about['cores']} cores"
    text = f"{which} took {about['minutes']:.0f} minutes {where}\n({versions})."
    if about["load"] > IDLE:
        text += (
            f"\nOther work took part of the machine (load {about['load']:.1f} before the start): "
            "every wall-clock\nfigure on this page is rough. Nothing else depends on it."
        )
    return text


def _in_short(groups: Groups, mazes: list[str]) -> list[str]:
    lines = []
    runs = [row for (_, agent), rows in groups.items() if agent == "tgm" for row in rows]
    solved = sum(row["solved_at"] is not None for row in runs)
    lines.append(f"`tgm` solves {solved} of {len(runs)} runs over {len(mazes)} mazes.")
    for agent in ("dqn", "dqn-tuned"):
        counted = [maze for maze in mazes if n_solved(groups, maze, agent)]
        if not counted:
            lines.append(f"`{agent}` solves no maze.")
            continue
        bounds = [_ratio_bound(groups, maze, agent) for maze in counted]
        lines.append(
            f"Where `{agent}` solves at all (mazes {', '.join(counted)}), it needs at least "
            f"{min(bounds):.0f} times the steps of `tgm` (median over runs)."
        )
    verdicts = [verdict.holds for _, verdict in judge_all(groups)]
    counts = [verdicts.count(holds) for holds in (True, False, None)]
    lines.append(
        f"Of {len(verdicts)} claims of the paper {counts[0]} hold, {counts[1]} do not, and "
        f"{counts[2]} cannot be decided by these runs; see below."
    )
    return lines


def _ratio_bound(groups: Groups, maze: str, agent: str) -> float:
    """Ratio of median steps to solve; where the median run never solves, to the end of the run."""
    ours, theirs = (float(median(steps_to_solve(groups[maze, a]))) for a in ("tgm", agent))
    return min(theirs, float(groups[maze, agent][0]["steps"])) / ours


def _solved(groups: Groups, mazes: list[str], agents: list[str]) -> str:
    rows = [[agent, *(share(groups, maze, agent) for maze in mazes)] for agent in agents]
    return "### Share of seeds that solve each maze\n" + markdown_table(["agent", *mazes], rows)


def _steps(groups: Groups, mazes: list[str], agents: list[str]) -> str:
    def cell(maze: str, agent: str) -> str:
        interval = interval_of_steps([groups[maze, agent]])
        ends = f"[{_steps_text(interval.low)}, {_steps_text(interval.high)}]"
        return "never" if np.isinf(interval.low) else f"{_steps_text(interval.estimate)} {ends}"

    rows = [[agent, *(cell(maze, agent) for maze in mazes)] for agent in agents]
    return "### Steps to solve\nMedian over seeds, with its interval.\n\n" + markdown_table(
        ["agent", *mazes], rows
    )


def _ratios(groups: Groups, mazes: list[str], steps: int) -> str:
    def ratio(maze: str, agent: str) -> str:
        ours, theirs = (steps_to_solve(groups[maze, name]) for name in ("tgm", agent))
        if not np.isfinite(theirs).any():
            return "never solves"
        if np.isinf(median(theirs)):
            return f"> {steps / float(median(ours)):.0f}"
        interval = bootstrap_ratio(theirs, ours, median, np.random.default_rng(0))
        high = f"{interval.high:.0f}" if np.isfinite(interval.high) else "never"
        return f"{interval.estimate:.0f} [{interval.low:.0f}, {high}]"

    def seconds(maze: str, agent: str) -> float:
        return float(np.median(column(groups[maze, agent], "seconds")))

    rivals = ("tgm-paper", "dqn", "a2c", "dqn-tuned", "a2c-tuned", "ppo-tuned")
    rows = [[rival, *(ratio(maze, rival) for maze in mazes)] for rival in rivals]
    clocks = [
        [rival, *(f"{seconds(maze, rival) / seconds(maze, 'tgm'):.1f}" for maze in mazes)]
        for rival in rivals
    ]
    ours = ["tgm, seconds", *(f"{seconds(maze, 'tgm'):.2f}" for maze in mazes)]
    return (
        "### Ratios to tgm\n"
        'Steps to solve, median of the agent over median of `tgm`; "> n" where most of its runs '
        f"never solve within {steps:,} steps, so that n is a lower bound.\n\n"
        + markdown_table(["agent", *mazes], rows)
        + f"\nWall-clock of {steps:,} steps of training, over that of `tgm`.\n\n"
        + markdown_table(["agent", *mazes], [*clocks, ours])
    )


def _overall(rows: Sequence[Row], agents: list[str]) -> str:
    ordered = sorted(rows, key=lambda row: agents.index(row["agent"]))
    table = [
        [
            row["agent"],
            f"{row['solved']}/{row['runs']}",
            f"{row['score_mean']:.3f} [{row['score_low']:.3f}, {row['score_high']:.3f}]",
            *(f"{row['profile'][PROFILE.index(tau)]:.0%}" for tau in (0.0, 0.5, 0.9)),
            "-" if row["agent"] == agents[0] else f"{row['first_is_better']:.0%}",
        ]
        for row in per_agent(ordered)
    ]
    heads = [
        "agent",
        "solved",
        "score",
        "runs above 0",
        "above 0.5",
        "above 0.9",
        f"slower than {agents[0]}",
    ]
    return (
        "### All mazes together\n"
        "The three shares are points of the performance profile; the last column is the chance "
        f"that a run of `{agents[0]}` solves the same maze sooner than one of the agent (an equal "
        "step, or neither ever, counts half).\n\n" + markdown_table(heads, table)
    )


def _training(rows: Sequence[Row], mazes: list[str], agents: list[str]) -> str:
    summaries = {(row["maze"], row["agent"]): row for row in per_maze(rows)}

    def table(cell: Callable[[dict[str, Any]], str]) -> str:
        body = [[agent, *(cell(summaries[maze, agent]) for maze in mazes)] for agent in agents]
        return markdown_table(["agent", *mazes], body)

    return (
        "### While training\n"
        "Mean reward of the last 100 episodes (standard deviation over runs), as at the right end "
        "of the paper's figure 13.\n\n"
        + table(lambda row: _with_deviation(row, "recent_reward"))
        + "\nRegret, mean over runs.\n\n"
        + table(lambda row: f"{row['regret_mean']:,.0f}")
    )


def _with_deviation(row: dict[str, Any], name: str) -> str:
    if row[f"{name}_mean"] is None:
        return "-"
    return f"{row[f'{name}_mean']:.1f} ({row[f'{name}_deviation']:.1f})"


def _structure(rows: Sequence[Row], mazes: list[str]) -> str:
    summaries = {(row["maze"], row["agent"]): row for row in per_maze(rows)}
    body = []
    for agent in ("tgm", "tgm-paper"):
        found = [summaries[maze, agent] for maze in mazes]
        body.append([f"{agent}, median", *(f"{row['states_median']:g}" for row in found)])
        body.append([f"{agent}, exact", *(f"{row['exact']}/{row['runs']}" for row in found)])
    cells = ["cells", *(f"{summaries[maze, 'oracle']['states_median']:g}" for maze in mazes)]
    return (
        "### States found\n"
        "Exact: one state for each reachable cell, and the right most likely successor of every "
        "tried action.\n\n" + markdown_table(["", *mazes], [cells, *body])
    )


def _claims(groups: Groups) -> str:
    body = [
        [claim.text, claim.in_words(verdict), verdict.seen, claim.why]
        for claim, verdict in judge_all(groups)
    ]
    return (
        "### What holds of the paper's claims\n"
        '"TGM" is the paper\'s agent: `tgm-paper` here. Errata are those listed in '
        "[equations.md](equations.md).\n\n"
        + markdown_table(["claim", "verdict", "measured", "why"], body)
    )


def _settings() -> str:
    lines = []
    for name, config in DEEP_CONFIGS.items():
        settings = ", ".join(f"{key} {value:g}" for key, value in config.settings.items())
        more = [settings or "all defaults"]
        if config.rescaled:
            more.append("observations scaled to [-1, 1]")
        if config.time_limit_ends:
            more.append("a time limit is an end")
        lines.append(f"- `{name}`: {config.algorithm}; {'; '.join(more)}.\n")
    return (
        "### Settings of the deep learners\n"
        "Stable-Baselines3, its defaults except what is named here. Each tuned one was chosen\n"
        "among three, on mazes 8, 25, 26 and 27 with seeds 100 and 101, which are not among those\n"
        "above.\n\n" + "".join(lines)
    )


def _steps_text(value: float) -> str:
    return f"{value:.0f}" if np.isfinite(value) else "never"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
