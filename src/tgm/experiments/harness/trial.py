"""One trial: an agent is trained in a maze and evaluated on the way."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent
from tgm.agent.info import EpisodeInfo
from tgm.envs import EnvSpec, Maze, make_env
from tgm.envs.maze_env import DEFAULT_NOISE
from tgm.envs.time_limit import PAPER_LIMIT
from tgm.experiments.baselines import make_agent
from tgm.experiments.baselines.recording import EpisodeRecorder
from tgm.experiments.evaluation import MazeWorld
from tgm.experiments.harness.agent import Agent, InPieces, OnStep
from tgm.experiments.harness.plain import as_folder
from tgm.experiments.harness.training import TrialRun, check_steps, train
from tgm.experiments.harness.trial_record import NoRecord, TrialRecord, begin_record
from tgm.experiments.structure import compare_structure

CURVE_EPISODES = 100  # the paper's curves: mean reward over the last so many episodes

# The deep learners draw from generators of the whole process: in a worker with several threads
# two trials at a time would disturb each other.
ONE_AT_A_TIME = threading.Lock()


class Check(NamedTuple):
    """One evaluation of an agent.

    Attributes:
        step: steps of training so far.
        greedy_return: mean return of 20 greedy episodes.
        recent_reward: mean reward of the last 100 episodes of training; None before the first.
    """

    step: int
    greedy_return: float
    recent_reward: float | None


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
        settings: what differs from the preset of a TGM agent, as (name, value).
        scale, shift: observations are scale * (position + noise) + shift.
    """

    maze: Maze
    agent: str
    seed: int
    steps: int
    check_every: int | None = None
    noise: float = DEFAULT_NOISE
    max_episode_steps: int = PAPER_LIMIT
    settings: tuple[tuple[str, Any], ...] = ()
    scale: float = 1.0
    shift: float = 0.0

    @property
    def world(self) -> str:
        """The name of the maze."""
        return self.maze.name

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
        """The steps at which the agent is evaluated; the last step is always one of them."""
        steps = check_steps(self.steps)
        if self.check_every is not None:
            steps = iter(range(self.check_every, self.steps + 1, self.check_every))
        return sorted({*steps, self.steps})

    def make_env(self) -> tuple[EnvSpec, gym.Env[Any, Any]]:
        """The environment as a run directory describes it, and the environment itself."""
        spec = EnvSpec.of_maze(
            self.maze, noise=self.noise, max_episode_steps=self.max_episode_steps
        )
        return spec, in_units(make_env(spec), self.scale, self.shift)


@dataclass(frozen=True)
class TrialResult:
    """The measures of a trial.

    Attributes:
        solved_at: the step from which on every check was solved; None if the last one was not.
        final_return: greedy mean return at the last check.
        regret: reward that the best policy would have had in as many steps, less the reward of
            training; None for a maze without a way to the goal.
        recent_reward: mean reward of the last 100 episodes of training; None before the first.
        n_episodes: episodes that ended.
        n_states: states found; None for an agent without states.
        is_exact: whether the structure is exact at the end; None for agents without one.
        seconds: wall-clock of training alone, checks not counted.
        checks: all checks, in order.
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


class InCells:
    """The learned map of an agent that sees other units, in cells."""

    def __init__(self, agent: TGMAgent, scale: float, shift: float) -> None:
        """Undo scale * position + shift."""
        self.n_states = agent.n_states
        self.means = (agent.means - shift) / scale
        self.covariances = agent.covariances / scale**2
        self.transition_matrix = agent.transition_matrix
        self.transition_counts = agent.transition_counts


def run_trial(trial: Trial, record: Path | None = None) -> TrialResult:
    """Run one trial; the result depends on nothing but the trial, its seconds apart.

    Args:
        trial: what to run.
        record: a folder in which to leave a run directory; its cost is part of the seconds.
    """
    with ONE_AT_A_TIME:
        return _run(trial, record)


def in_units(env: gym.Env[Any, Any], scale: float, shift: float) -> gym.Env[Any, Any]:
    """The environment with observations times `scale` plus `shift`."""
    if (scale, shift) == (1.0, 0.0):
        return env
    box = env.observation_space
    assert isinstance(box, gym.spaces.Box)
    other = gym.spaces.Box(scale * box.low + shift, scale * box.high + shift, dtype=np.float64)
    return gym.wrappers.TransformObservation(env, lambda x: scale * x + shift, other)


def _run(trial: Trial, folder: Path | None) -> TrialResult:
    spec, env = trial.make_env()
    recorder = EpisodeRecorder(env, trial.seed)
    agent = make_agent(trial.agent, recorder, trial.seed, dict(trial.settings))
    limit = trial.max_episode_steps
    world = MazeWorld(trial.maze, trial.noise, limit, trial.scale, trial.shift)

    def live(after_check: OnStep) -> TrialResult:
        run = train(agent, world, trial.seed, trial.checks(), after_check)
        return replace(
            result_of(run, agent, recorder),
            regret=regret(trial.maze, recorder.n_steps, recorder.total_reward, limit),
            is_exact=_is_exact(agent, trial),
        )

    return in_record(folder, trial, agent, recorder, spec, live, trial.best_return)


class Described(Protocol):
    """What the run directory of a trial says of it."""

    @property
    def agent(self) -> str:
        """Name of the agent."""

    @property
    def seed(self) -> int:
        """Everything random follows from it."""

    @property
    def steps(self) -> int:
        """Steps of training."""

    @property
    def folder_name(self) -> str:
        """The name of its folder."""


def in_record(
    folder: Path | None,
    trial: Described,
    agent: Agent,
    recorder: EpisodeRecorder,
    world: EnvSpec,
    live: Callable[[OnStep], TrialResult],
    best: float | None,
) -> TrialResult:
    """The result of `live`, which is called with what comes after each check; recorded if wanted.

    Args:
        folder: where to leave a run directory; None: nowhere.
        trial: what is run.
        agent, recorder: the agent, and what records its episodes.
        world: the environment, for the run directory.
        live: trains the agent.
        best: best return of an episode, for the run directory.
    """
    record: TrialRecord = NoRecord()
    if folder is not None:
        record = begin_record(
            folder,
            trial.folder_name,
            agent=trial.agent,
            learner=agent,
            episodes=recorder,
            world=world,
            seed=trial.seed,
            steps=trial.steps,
        )
    recent: list[float | None] = []

    def after_check(step: int) -> None:
        recent.append(recent_reward(recorder.episodes))
        record.look(step)

    try:
        result = live(after_check)
    except BaseException as error:
        is_stopped = isinstance(error, KeyboardInterrupt)
        record.close("interrupted" if is_stopped else "failed", {}, str(error))
        raise
    checks = tuple(
        check._replace(recent_reward=reward)
        for check, reward in zip(result.checks, recent, strict=True)
    )
    result = replace(result, checks=checks, recent_reward=checks[-1].recent_reward)
    record.close("finished", _summary(trial.steps, result, best))
    return result


def result_of(run: TrialRun, agent: Agent, recorder: EpisodeRecorder) -> TrialResult:
    """The measures that every world has; `in_record` adds the rewards of training."""
    checks = tuple(Check(step, mean_return, None) for step, mean_return in run.returns)
    return TrialResult(
        solved_at=run.solved_at,
        final_return=checks[-1].greedy_return,
        regret=None,
        recent_reward=None,
        n_episodes=len(recorder.episodes),
        n_states=agent.n_states,
        is_exact=None,
        seconds=round(run.seconds, 4),
        checks=checks,
    )


def _summary(steps: int, result: TrialResult, best: float | None) -> dict[str, Any]:
    """The fields of result.json in the run directory of a trial."""
    return {
        "steps": steps,
        "episodes": result.n_episodes,
        "states": result.n_states,
        "mean_return": result.final_return,
        "optimal_return": best,
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


def _is_exact(agent: Agent, trial: Trial) -> bool | None:
    if not (isinstance(agent, InPieces) and isinstance(agent.agent, TGMAgent)):
        return None
    return compare_structure(InCells(agent.agent, trial.scale, trial.shift), trial.maze).is_exact
