"""One trial: an agent lives in a maze and is looked at on the way. The cell of a comparison."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from tgm.agent import TGMAgent
from tgm.agent.info import EpisodeInfo
from tgm.envs import EnvSpec, Maze, make_env
from tgm.envs.maze_env import DEFAULT_NOISE
from tgm.envs.time_limit import PAPER_LIMIT
from tgm.errors import RunError
from tgm.experiments.baselines import Agent, make_agent
from tgm.experiments.baselines.protocol import InPieces
from tgm.experiments.baselines.recording import EpisodeRecorder
from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side
from tgm.experiments.solving import EPISODES, check_rng, check_steps, solved_from
from tgm.experiments.structure import compare_structure
from tgm.experiments.trial_record import NoRecord, TrialRecord, begin_record

SCHEMA = 1
CURVE_EPISODES = 100  # the paper's curves: mean reward over the last so many episodes

# The deep learners draw from generators of the whole process: in a worker with several threads
# two trials at a time would disturb each other.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Trial:
    """What is to be run.

    Attributes:
        maze: the maze, whole: a worker on another machine has no file of it.
        agent: its name, see `baselines.AGENTS`.
        seed: everything random follows from it.
        steps: steps of training.
        check_every: steps between checks; None: every 10 up to 1,000, every 100 after.
        noise: standard deviation of the observations, in cells.
        max_episode_steps: steps after which an episode is cut off.
    """

    maze: Maze
    agent: str
    seed: int
    steps: int
    check_every: int | None = None
    noise: float = DEFAULT_NOISE
    max_episode_steps: int = PAPER_LIMIT

    @property
    def name(self) -> str:
        """For people: maze, agent, seed."""
        return f"maze {self.maze.name}, {self.agent}, seed {self.seed}"

    @property
    def folder_name(self) -> str:
        """Maze, agent, seed and steps as the name of a folder."""
        return f"{as_folder(self.maze.name)}-{self.agent}-seed-{self.seed}-steps-{self.steps}"

    @property
    def best_return(self) -> float:
        """The best return of an episode, by the maze and the time limit."""
        return self.maze.best_return(self.max_episode_steps)

    def checks(self) -> list[int]:
        """The steps at which the agent is looked at; the last step is always one of them."""
        steps = check_steps(self.steps)
        if self.check_every is not None:
            steps = iter(range(self.check_every, self.steps + 1, self.check_every))
        return sorted({*steps, self.steps})

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        maze = {"name": self.maze.name, "grid": list(self.maze.grid)}
        return {**asdict(self), "maze": maze}


@dataclass(frozen=True)
class Check:
    """One look at an agent.

    Attributes:
        step: steps of training so far.
        greedy_return: mean return of 20 greedy episodes.
        recent_reward: mean reward of the last 100 episodes of training; None before the first.
    """

    step: int
    greedy_return: float
    recent_reward: float | None


@dataclass(frozen=True)
class TrialResult:
    """What came of a trial.

    Attributes:
        solved_at: the step from which on every check was solved; None if the last one was not.
        final_return: greedy mean return at the last check.
        regret: reward that the best policy would have had in as many steps, less the reward of
            training; None for a maze without a way to the goal.
        recent_reward: mean reward of the last 100 episodes of training; None before the first.
        n_episodes: episodes that ended.
        n_states: states found; None for an agent that knows of none.
        is_exact: whether the structure is exact at the end; None for agents without one.
        seconds: wall-clock of training alone, checks not counted.
        checks: all looks, in order.
    """

    solved_at: int | None
    final_return: float
    regret: float | None
    recent_reward: float | None
    n_episodes: int
    n_states: int | None
    is_exact: bool | None
    seconds: float
    checks: tuple[Check, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON; the checks are rows."""
        rows = [[check.step, check.greedy_return, check.recent_reward] for check in self.checks]
        return {**asdict(self), "checks": rows}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TrialResult:
        """What `to_dict` gave."""
        try:
            known = {field.name: values[field.name] for field in fields(cls)}
            checks = tuple(Check(*row) for row in values["checks"])
        except (KeyError, TypeError) as error:
            raise RunError(f"not the result of a trial ({error})") from None
        return cls(**{**known, "checks": checks})


def run_trial(trial: Trial, record: Path | None = None) -> TrialResult:
    """Run one trial; the result depends on nothing but the trial, its seconds apart.

    Args:
        trial: what to run.
        record: a folder in which to leave a run directory; its cost is part of the seconds.
    """
    with _ONE_AT_A_TIME:
        return _run(trial, record)


def _run(trial: Trial, folder: Path | None) -> TrialResult:
    spec = EnvSpec.of_maze(trial.maze, noise=trial.noise, max_episode_steps=trial.max_episode_steps)
    recorder = EpisodeRecorder(make_env(spec), trial.seed)
    learner = make_agent(trial.agent, recorder, trial.seed)
    record: TrialRecord = NoRecord()
    if folder is not None:
        record = begin_record(
            folder,
            trial.folder_name,
            agent=trial.agent,
            learner=learner,
            episodes=recorder,
            world=spec,
            seed=trial.seed,
            steps=trial.steps,
        )
    try:
        result = _live(trial, learner, recorder, record)
    except BaseException as error:
        is_stopped = isinstance(error, KeyboardInterrupt)
        record.close("interrupted" if is_stopped else "failed", {}, str(error))
        raise
    record.close("finished", _facts(trial, result))
    return result


def _live(
    trial: Trial, learner: Agent, recorder: EpisodeRecorder, record: TrialRecord
) -> TrialResult:
    world = MazeWorld(trial.maze, trial.noise, trial.max_episode_steps)
    rng = check_rng(trial.seed)
    checks: list[Check] = []
    verdicts: list[tuple[int, bool]] = []
    looking = 0.0

    def look(step: int) -> None:
        nonlocal looking
        began = time.perf_counter()
        evaluation = evaluate_side_by_side(learner, world, EPISODES, rng)
        checks.append(Check(step, evaluation.mean_return, recent_reward(recorder.episodes)))
        verdicts.append((step, evaluation.solves(trial.maze)))
        record.look(step)
        looking += time.perf_counter() - began

    began = time.perf_counter()
    learner.learn(trial.steps, look, trial.checks())
    seconds = time.perf_counter() - began - looking
    limit = trial.max_episode_steps
    return TrialResult(
        solved_at=solved_from(verdicts),
        final_return=checks[-1].greedy_return,
        regret=regret(trial.maze, recorder.n_steps, recorder.total_reward, limit),
        recent_reward=checks[-1].recent_reward,
        n_episodes=len(recorder.episodes),
        n_states=learner.n_states,
        is_exact=_is_exact(learner, trial.maze),
        seconds=round(seconds, 4),
        checks=tuple(checks),
    )


def _facts(trial: Trial, result: TrialResult) -> dict[str, Any]:
    """What result.json of a run directory says of a trial."""
    return {
        "steps": trial.steps,
        "episodes": result.n_episodes,
        "states": result.n_states,
        "mean_return": result.final_return,
        "optimal_return": trial.best_return,
        "solved": result.solved_at is not None,
        "solved_at": result.solved_at,
        "seconds": result.seconds,
    }


def recent_reward(episodes: Sequence[EpisodeInfo]) -> float | None:
    """Mean reward of the last 100 episodes; None if there is none."""
    last = [episode.total_reward for episode in episodes[-CURVE_EPISODES:]]
    return float(np.mean(last)) if last else None


def regret(maze: Maze, n_steps: int, total_reward: float, limit: int) -> float | None:
    """Reward that the best policy has in `n_steps`, less `total_reward`.

    The best policy walks the shortest path, eats, and begins again; every step costs 1 but the
    bite, which gives 1. Where the path is longer than the time limit, no step gives more than -1.
    """
    if not math.isfinite(maze.optimal_return):
        return None
    length = len(maze.shortest_path)  # one step for each move, and the bite
    bites = n_steps // length if maze.can_be_solved(limit) else 0
    return 2.0 * bites - n_steps - total_reward


def as_folder(text: str) -> str:
    """Any text as the name of a folder."""
    return re.sub(r"[^\w.-]", "_", text).lstrip(".") or "_"


def _is_exact(learner: Agent, maze: Maze) -> bool | None:
    if isinstance(learner, InPieces) and isinstance(learner.agent, TGMAgent):
        return compare_structure(learner.agent, maze).is_exact
    return None
