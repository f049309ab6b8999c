"""Training runs in mazes with a snapshot every 100 steps: the data of figures 7 to 13."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.agent.info import EpisodeInfo, LearningInfo
from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.envs import Cell, Maze, load_maze
from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side
from tgm.experiments.structure import CellVerdict, compare_structure

EVERY = 100  # steps between two snapshots, and between two searches of the paper's preset
LAST_EPISODES = 100
EVALUATION_EPISODES = 20


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The model of an agent at a step.

    Attributes:
        step: steps so far.
        ids, means, covariances: (n,), (n, 2), (n, 2, 2) of its states.
        times_found: (n,) searches in a row that found the state, this one included.
        is_fixed: (n,) whether the state is fixed; False for agents without fixed states.
        n_kept: points in memory.
        cells: the verdict on each reachable cell.
        mean_return: over the last 100 episodes, NaN before the first has ended.
    """

    step: int
    ids: IntArray
    means: FloatArray
    covariances: FloatArray
    times_found: IntArray
    is_fixed: BoolArray
    n_kept: int
    cells: dict[Cell, CellVerdict]
    mean_return: float


@dataclass(frozen=True, eq=False)
class TrialRun:
    """One training run in a maze.

    Attributes:
        maze: the maze.
        agent: the trained agent.
        seen: (N, 2) all observations.
        snapshots: the model every 100 steps.
        mean_return: of the greedy episodes at the end.
        solved: whether the greedy episodes at the end solve the maze.
        path: the cells of a greedy episode without noise.
    """

    maze: Maze
    agent: TGMAgent
    seen: FloatArray
    snapshots: tuple[Snapshot, ...]
    mean_return: float
    solved: bool
    path: tuple[Cell, ...]


@lru_cache(maxsize=256)
def train(maze_name: str, preset: str, seed: int, n_steps: int, *, forget: bool = True) -> TrialRun:
    """Train an agent for `n_steps` steps; the result is cached."""
    maze = load_maze(maze_name)
    seen: list[FloatArray] = []

    def watch(observation: FloatArray) -> FloatArray:
        seen.append(np.array(observation, dtype=float))
        return observation

    plain = gym.make("tgm/Maze-v0", maze=maze)
    env = gym.wrappers.TransformObservation(plain, watch, plain.observation_space)
    agent = TGMAgent(env, TGMConfig.preset(preset, forget=forget), seed=seed)
    taker = _SnapshotTaker(agent, maze)
    agent.learn(n_steps, callback=taker.take)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(99,)))
    outcome = evaluate_side_by_side(agent, MazeWorld(maze), EVALUATION_EPISODES, rng)
    return TrialRun(
        maze,
        agent,
        np.array(seen),
        tuple(taker.snapshots),
        outcome.mean_return,
        outcome.solves(maze),
        greedy_path(agent, maze),
    )


def greedy_path(agent: TGMAgent, maze: Maze) -> tuple[Cell, ...]:
    """The cells that the greedy policy visits without noise; at most one more than the maze has."""
    path, state = [maze.start], None
    while path[-1] != maze.goal and len(path) <= len(maze.cells):
        action, state = agent.predict(np.array(path[-1], float), state, deterministic=True)
        path.append(maze.next_cell(path[-1], int(action)))
    return tuple(path)


class _SnapshotTaker:
    """Takes a snapshot every 100 steps, and counts how often each state id was found."""

    def __init__(self, agent: TGMAgent, maze: Maze) -> None:
        self.snapshots: list[Snapshot] = []
        self._agent, self._maze = agent, maze
        self._found: dict[int, int] = {}
        self._fixed: set[int] = set()
        self._episodes: list[EpisodeInfo] = []

    def take(self, info: LearningInfo) -> None:
        """Callback of `learn`."""
        agent = self._agent
        self._episodes += info.episodes
        self._fixed |= {id_ for move in info.moves if move.kind == "fixed" for id_ in move.ids}
        if info.step % EVERY:
            return
        ids = agent.state_ids
        self._found = {int(id_): self._found.get(int(id_), 0) + 1 for id_ in ids}
        returns = [episode.total_reward for episode in self._episodes[-LAST_EPISODES:]]
        self.snapshots.append(
            Snapshot(
                step=info.step,
                ids=ids,
                means=agent.means,
                covariances=agent.covariances,
                times_found=np.array([self._found[int(id_)] for id_ in ids], dtype=np.intp),
                is_fixed=np.array([int(id_) in self._fixed for id_ in ids], dtype=bool),
                n_kept=info.n_kept,
                cells=compare_structure(agent, self._maze).cells,
                mean_return=float(np.mean(returns)) if returns else float("nan"),
            )
        )
