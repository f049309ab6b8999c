"""What is known about an environment besides its steps: its optimum, when it is solved, names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gymnasium as gym

from tgm.envs.decision_table import DecisionTable, open_model
from tgm.envs.env_spec import EnvSpec
from tgm.envs.maze import Maze
from tgm.envs.maze_env import MazeEnv
from tgm.envs.optimum import best_mean_return

SOLVED_WITHIN = 0.5  # of the best return of a maze, in mean return
SOLVED_SHARE = 0.05  # of the best return, that may be lacking where an environment has no threshold


@dataclass(frozen=True)
class EnvFacts:
    """Facts that commands and studies report; None or () where nothing is known.

    Attributes:
        maze: the maze with its true cells, for the structure report.
        optimal_return: the best undiscounted return of an episode.
        solved_return: mean return from which on the environment counts as solved.
        must_terminate: whether an episode that the time limit cuts off counts as not solved.
        why_unsolvable: why no agent can solve it; "" if one can.
        action_names: (n_actions,)
        feature_names: (n_features,)
        table: the rules of an environment that carries them.
    """

    maze: Maze | None = None
    optimal_return: float | None = None
    solved_return: float | None = None
    must_terminate: bool = False
    why_unsolvable: str = ""
    action_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] = ()
    table: DecisionTable | None = None

    def is_solved(self, mean_return: float, terminated: Sequence[bool]) -> bool | None:
        """Whether episodes solve the environment; None if it does not say what counts as solved.

        Args:
            mean_return: mean undiscounted return of the episodes.
            terminated: (n_episodes,) whether each ended by itself, not by the time limit.
        """
        if self.why_unsolvable:
            return False
        if self.solved_return is None:
            return None
        has_ended = not self.must_terminate or all(terminated)
        return has_ended and mean_return >= self.solved_return


def facts_of(spec: EnvSpec) -> EnvFacts:
    """What is known about an environment; it is not made for that."""
    if spec.maze is not None:
        return facts_of_maze(spec.maze, spec.episode_limit, spec.slip)
    registered = gym.registry.get(spec.id)
    threshold = None if registered is None else registered.reward_threshold
    return EnvFacts(solved_return=None if threshold is None else float(threshold))


def facts_of_env(env: gym.Env[Any, Any]) -> EnvFacts:
    """What is known about an environment that exists: also what its own rules say, if it has them.

    With open rules the optimum comes from value iteration over the steps of an episode. The
    threshold is the environment's own, if the best policy comes that far (Taxi's is beyond it);
    otherwise the best return less 5 % of it.
    """
    facts = facts_of(EnvSpec.of(env))
    table = open_model(env)
    if facts.maze is not None or table is None:
        return facts
    best, own = table.best_return, facts.solved_return
    if own is None or own > best:
        own = best - SOLVED_SHARE * abs(best)
    return replace(facts, optimal_return=best, solved_return=own, table=table)


def facts_of_maze(maze: Maze, limit: int | None = None, slip: float = 0.0) -> EnvFacts:
    """What is known about a maze whose episodes have at most `limit` steps (None: any number).

    It is solved if all episodes end at the goal and their mean return is within 0.5 of the best.
    With `slip` the best is what can be expected, and episodes may fail.
    """
    best = best_mean_return(maze, limit, slip)
    return EnvFacts(
        maze,
        optimal_return=best if math.isfinite(best) else None,
        solved_return=best - SOLVED_WITHIN,
        must_terminate=slip == 0.0,
        why_unsolvable=maze.why_unsolvable(limit),
        action_names=MazeEnv.action_names,
        feature_names=MazeEnv.feature_names,
    )
