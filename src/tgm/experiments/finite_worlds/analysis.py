"""From runs to docs/worlds.md: where the default agent works, and where it does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tgm.experiments.finite_worlds.sweep import FiniteTrial
from tgm.experiments.finite_worlds.wanted import WorldResult
from tgm.experiments.finite_worlds.world import World
from tgm.experiments.finite_worlds.worlds import WORLDS
from tgm.experiments.harness.tables import count, grouped, markdown, median

Results = Sequence[tuple[FiniteTrial, WorldResult]]

NO_GOAL = "-"
MISS = re.compile(r"- (.*?) \(\d+ runs\): .*")
REMARK = "Rows of worlds that were not run again (--update) are of the code of their time."

PAGE = """\
# Where it works, and where it does not

Written by `python -m tgm.experiments.finite_worlds`: do not edit. The agent is `TGMConfig()` as it
is, in every world the same, with {seeds} in each. Of its world it sees
observations and rewards only.

{summary}

{table}
## How to read the table
- **wanted**: a run meets it if all of it holds. "0.7 at 4,000": the greedy return after 4,000
  steps. "within 2%": of the best return. "x1.5 steps": the median of the steps to solve, over that
  of the same world without the difficulty. "-": nothing was promised.
- **return**: expected return of the greedy policy at the end of training, median and worst run.
  Where each true state is seen in one way it is exact, by dynamic programming over the rules of
  the world and its time limit. Where there is noise it comes from at least 200 sampled episodes.
- **best**: the best expected return within the time limit, by dynamic programming. It may use the
  number of steps that are left, which no observation tells; without it the best policy at discount
  0.99 has 0.740 in FrozenLake 4x4 and 0.632 in 8x8. The time limit is 100 steps in FrozenLake, 200
  in Taxi, 50 in mazes; CliffWalking has none, and a greedy episode there is cut off after 1,000.
- **solved**: runs that are near the best return at the last check and at all checks before it from
  some step on; then that step, median and worst. In mazes 20 greedy episodes (100 with outliers)
  all reach the goal with a mean return within 0.5 of the best. Where the mouse slips the mean is
  within 2 % of the best; FrozenLake 5.5 %, Taxi 0.43, Blackjack 0.02, CliffWalking 0.5 (slippery
  5 %).
- **states**: states found for each true state in which an action can be chosen, median and worst
  run. **exact**: every such state has one state of its own, and there is no other.
- **us a step**: processor time of one step of learning in microseconds, with the environment.

Deep sea is that of bsuite: an N x N picture, two actions whose meaning is drawn for each cell. The
goal is twice the episodes of R-max that observes the cell (34, 66 and 101 for 10, 20 and 30).
Outliers: with that probability N(0, (10 * 0.15)^2) is added to every feature of an observation.
In the worlds of nothing but noise, "bounded" means that the second half of the run adds at most a
tenth to the number of states, and that a step in the last quarter takes at most 1.5 times as long
as one in the second.

## What misses its goal
{misses}
## Not yet
Places that look alike are in a study of their own: `python -m tgm.experiments.hidden_worlds`.

Worlds that are not finite (CartPole, MountainCar, Acrobot) are measured by
`python -m benchmarks.flowing`; docs/flowing.md has the figures. LunarLander was not tried. Actions
must be Discrete or MultiDiscrete, which those of Pendulum are not. A Box of more than 5,000 numbers
is refused.
"""


def report(results: Results) -> str:
    """The table, one row for each world."""
    by_world = _by_world(results)
    return markdown([summarise(name, by_world) for name in by_world])


def page(results: Results, before: str = "") -> str:
    """The whole page; worlds that were not run keep their rows of the page of before."""
    by_world = _by_world(results)
    rows, missed = _rows_of(before), _misses_of(before)
    for name in by_world:
        title = WORLDS[name].title
        row = {column: f"{value}" for column, value in summarise(name, by_world).items()}
        rows[title] = row
        missed.pop(title, None)
        found = misses(name, by_world)
        if row["met"] != NO_GOAL and found:
            n_runs = len(by_world[name])
            missed[title] = f"- {title} ({n_runs} runs): {'; '.join(found)}.\n"
    titles = [world.title for world in WORLDS.values() if world.title in rows]
    promised = [title for title in titles if rows[title]["met"] != NO_GOAL]
    met = sum(title not in missed for title in promised)
    n_seeds = sorted({int(rows[title]["exact"].split(" of ")[1]) for title in titles})
    summary = f"Of {len(promised)} worlds with a goal, {met} meet it with every seed."
    is_mixed = len(by_world) < len(titles)
    return PAGE.format(
        seeds=f"{' or '.join(map(str, n_seeds))} seed" + ("" if n_seeds == [1] else "s"),
        summary=f"{summary}\n{REMARK}" if is_mixed else summary,
        table=markdown([rows[title] for title in titles]),
        misses="".join(missed[title] for title in promised if title in missed) or "Nothing.\n",
    )


def _rows_of(before: str) -> dict[str, dict[str, str]]:
    """The rows of a page by the title of the world."""
    lines = [line.strip("| ").split(" | ") for line in before.splitlines() if line[:2] == "| "]
    return {cells[0]: dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]}


def _misses_of(before: str) -> dict[str, str]:
    """What misses its goal by the title of the world."""
    part = before.partition("## What misses its goal\n")[2].partition("\n## ")[0]
    found = (MISS.match(line) for line in part.splitlines())
    return {one[1]: f"{one[0]}\n" for one in found if one is not None}


def misses(name: str, by_world: dict[str, Results]) -> list[str]:
    """What the runs of a world miss, in words, with their seeds."""
    world = WORLDS[name]
    found = []
    for trial, result in by_world[name]:
        missed = world.wanted.misses(result)
        if missed:
            found.append(f"seed {trial.seed}: {', '.join(missed)}")
    ratio = _times_reference(world, by_world, name)
    most = world.wanted.times_reference
    if most is not None and ratio is not None and ratio > most:
        found.append(f"x{ratio:.2f} steps")
    return found


def summarise(name: str, by_world: dict[str, Results]) -> dict[str, Any]:
    """The row of one world."""
    world = WORLDS[name]
    group = [result for _, result in by_world[name]]
    solved = [result.solved_at for result in group if result.solved_at is not None]
    ratio = _times_reference(world, by_world, name)
    is_slow = ratio is not None and ratio > (world.wanted.times_reference or ratio)
    meets = [not world.wanted.misses(result) and not is_slow for result in group]
    has_goal = str(world.wanted) != "-"
    returns = [result.final_return for result in group if result.final_return is not None]
    states = [result.states_per_true for result in group if result.states_per_true is not None]
    times = [result.microseconds for result in group if result.microseconds is not None]
    return {
        "world": world.title,
        "wanted": world.wanted,
        "met": count(meets) if has_goal else NO_GOAL,
        "return": f"{median(returns):.3g}, {min(returns):.3g}" if returns else "failed",
        "best": f"{median([result.best_return for result in group]):.3g}",
        "solved": _solved(solved, len(group), world),
        "times": "-" if ratio is None else f"x{ratio:.2f}",
        "states": f"{median(states):.2f}, {max(states):.2f}" if states else "failed",
        "exact": count([result.is_exact for result in group]),
        "us a step": f"{median(times):.0f}" if times else "failed",
    }


def _by_world(results: Results) -> dict[str, Results]:
    return dict(grouped(results, lambda pair: pair[0].world))


def _solved(solved: Sequence[int], n_runs: int, world: World) -> str:
    if world.solved_gap is None:
        return "-"
    text = f"{len(solved)} of {n_runs}"
    if not solved:
        return text
    unit, size = ("episodes", world.episode_length) if world.episode_length else ("steps", 1)
    middle, worst = (median(solved) or 0.0) / size, max(solved) / size
    return f"{text}: {middle:,.0f}, {worst:,.0f} {unit}"


def _times_reference(world: World, by_world: dict[str, Results], name: str) -> float | None:
    """Median steps to solve over those of the reference; None if either never solves."""
    medians = [
        median([result.solved_at for _, result in by_world[one] if result.solved_at is not None])
        for one in (name, world.reference)
        if one in by_world
    ]
    if len(medians) < 2 or name == world.reference or None in medians:
        return None
    here, there = medians
    return (here or 0.0) / (there or 1.0)
