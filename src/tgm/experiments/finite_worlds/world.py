"""A world of the study: the environment, how it is seen, and when it counts as solved."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym

from tgm.envs.decision_table import DecisionTable
from tgm.experiments.finite_worlds.views import View
from tgm.experiments.finite_worlds.wanted import Wanted


@dataclass(frozen=True)
class Scene:
    """An environment to learn in, its rules, and the view through which its states are seen."""

    env: gym.Env[Any, Any]
    table: DecisionTable
    view: View


@dataclass(frozen=True)
class World:
    """A row of the study.

    Attributes:
        title: for people.
        make: the scene for a seed.
        checks: rising numbers of steps at which the greedy policy is judged; the last one is the
            end of training.
        wanted: the figures that are wanted.
        solved_gap, solved_share: the world is solved if the return of the greedy policy lacks no
            more than the larger of the two, the second as a part of the best return. Without a
            gap there is nothing to solve.
        must_end: whether every greedy episode has to end by itself, too.
        episodes: sampled episodes of a check, where states are seen with noise.
        reference: name of the world to whose steps those of this one are compared.
        episode_length: if steps to solve are shown as episodes, their length; else 0.
        is_extra: whether it is run only with `--extra`, or by name.
    """

    title: str
    make: Callable[[int], Scene]
    checks: tuple[int, ...]
    wanted: Wanted
    solved_gap: float | None = 0.5
    solved_share: float = 0.0
    must_end: bool = False
    episodes: int = 20
    reference: str = ""
    episode_length: int = 0
    is_extra: bool = False

    def enough_return(self, best: float) -> float:
        """The mean return from which on the world counts as solved.

        Args:
            best: the best return.
        """
        if self.solved_gap is None:
            return math.inf
        return best - max(self.solved_gap, self.solved_share * abs(best))


def every(step: int, last: int) -> tuple[int, ...]:
    """The checks after every `step` steps, up to the last."""
    return tuple(range(step, last + 1, step))
