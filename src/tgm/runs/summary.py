"""One line about each run: how it stands and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tgm.envs import EnvSpec
from tgm.errors import TGMError
from tgm.files.schema import LARGEST_NUMBER
from tgm.runs.reader import Run, RunStatus, State, find_runs
from tgm.runs.result import texts


@dataclass(frozen=True)
class RunSummary:
    """What a list of runs tells.

    Attributes:
        name: the directory's.
        state: live, unknown, finished, interrupted, failed or broken.
        reason: why, where there is something to say.
        agent: what learned.
        world: the maze or the environment.
        seed: what everything random followed from.
        steps, planned: done, and wanted.
        states: found so far.
        solved: whether greedy episodes solve the maze; None if that was not checked.
        mean_return: of greedy episodes, or else of the last episodes while learning.
        advice: signs that learning does not work, each with what to do.
        health: what the inspector finds wrong, a few words each; () before it has checked.
    """

    name: str
    state: State
    reason: str = ""
    agent: str = "-"
    world: str = "-"
    seed: int | None = None
    steps: int | None = None
    planned: int | None = None
    states: int | None = None
    solved: bool | None = None
    mean_return: float | None = None
    advice: tuple[str, ...] = ()
    health: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)


def summaries(root: Path) -> list[RunSummary]:
    """A summary of each run under `root`, by name."""
    return [summary_of(folder) for folder in find_runs(root)]


def summary_of(folder: Path) -> RunSummary:
    """A summary of the run in `folder`, whatever is in it."""
    try:
        run = Run.open(folder)
        status = run.status()
        world = run.world
    except TGMError as error:
        return RunSummary(folder.name, "broken", " ".join(str(error).split()))
    result, last = status.result, status.last
    returns = [_number(result.get(name)) for name in ("mean_return", "recent_return")]
    return RunSummary(
        name=folder.name,
        state=status.state,
        reason=status.reason,
        agent=run.metadata["agent"],
        world=world.name,
        seed=run.metadata["seed"],
        steps=_whole(result.get("steps", last.get("step", 0))),
        planned=run.metadata["steps"],
        states=_whole(result.get("states", last.get("n_states"))),
        solved=solved_of(result, world),
        mean_return=next((value for value in returns if value is not None), None),
        advice=advice_in(status),
    )


def advice_in(status: RunStatus) -> tuple[str, ...]:
    """The advice at the end of a run, or in the last line of its metrics."""
    return texts(status.result.get("advice", status.last.get("advice")))


def solved_of(result: dict[str, Any], world: EnvSpec) -> bool | None:
    """The verdict in result.json on the greedy episodes at the end; None if there is none.

    Older versions also called a run solved whose episodes were all cut off by the time limit,
    if that was shorter than the way to the goal: those are not.
    """
    solved, limit = result.get("solved"), world.episode_limit
    if not isinstance(solved, bool):
        return None
    mean_return = _number(result.get("mean_return"))
    was_cut_off = limit is not None and mean_return is not None and mean_return <= -limit
    return solved and not was_cut_off


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) <= LARGEST_NUMBER else None


def _whole(value: object) -> int | None:
    number = _number(value)
    return None if number is None else int(number)
