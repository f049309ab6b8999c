"""Learning from what somebody else does: episodes and steps that the agent only observes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Self

import gymnasium as gym
import numpy as np

from tgm.agent.arguments import seed_number, settings
from tgm.agent.filing import AgentFiles
from tgm.agent.recording import Recorder, open_recorder
from tgm.agent.spaces import Interface
from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.errors import ConfigError, DataError


class Guided(NamedTuple):
    """A step whose action somebody else chose: the index of the action, and what came of it."""

    action: int
    observation: Any
    reward: Any
    terminated: bool
    truncated: bool


class GuidedLife(AgentFiles):
    """The part of TGMAgent in which somebody else chooses the actions.

    Attributes:
        is_between_episodes: whether no episode is under way.
        is_guided: whether the newest episode began with `start_episode`.
    """

    is_between_episodes: bool
    is_guided: bool
    _recorder: Recorder | None

    def _live(self, n_steps: int, *, guided: Guided | None = None) -> None:
        raise NotImplementedError

    def _begin_episode(self, guided: FloatArray | None = None) -> None:
        raise NotImplementedError

    def _abandon_episode(self) -> None:
        raise NotImplementedError

    def _close_recorder(self, error: BaseException | None = None) -> None:
        raise NotImplementedError

    @classmethod
    def from_spaces(
        cls,
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        config: TGMConfig | None = None,
        *,
        seed: int | None = None,
        action_names: list[str] | None = None,
        feature_names: list[str] | None = None,
    ) -> Self:
        """An agent without an environment: it learns from `start_episode` and `observe`.

        Args:
            observation_space, action_space: as those of an environment.
            config: the settings; TGMConfig() if not given.
            seed: everything random follows from it; drawn from the system if not given.
            action_names, feature_names: what a person calls them, all different.
        """
        interface = Interface.of_spaces(observation_space, action_space)
        interface = interface.named(feature_names, action_names)
        agent = cls.__new__(cls)
        agent._set_up(None, interface, settings(config, {}), seed_number(seed))
        return agent

    def start_episode(self, observation: Any) -> Self:
        """Learn from the first observation of an episode in which somebody else acts.

        An episode that is under way is broken off: the step to `observation` is not one of it.
        """
        where = f"start of episode {self.n_episodes + 1}"
        checked = self.interface.observation(observation, where)
        if not self.is_between_episodes:
            self._abandon_episode()
        self._begin_episode(checked)
        return self

    def observe(
        self,
        action: Any,
        reward: Any,
        observation: Any,
        terminated: Any = False,
        truncated: Any = False,
    ) -> Self:
        """Learn from one step that somebody else chose, exactly as `learn` learns from its own.

        The arguments are checked first: a DataError names the one that cannot be used, nothing is
        learned from it, and the episode goes on.

        Args:
            action: as `env.step` takes it.
            reward, observation, terminated, truncated: as `env.step` returns them.
        """
        where = f"step {self.n_steps + 1}"
        if self.is_between_episodes:
            raise ConfigError(f"{where}: no episode is under way; call start_episode(observation)")
        index = self.interface.actions.index(action, where)
        self.interface.outcome(observation, reward, where)  # while nothing has changed yet
        ends = _flag(terminated, "terminated", where), _flag(truncated, "truncated", where)
        self._live(1, guided=Guided(index, observation, reward, *ends))
        return self

    @contextmanager
    def recording(self, run_dir: str | Path | Recorder, n_steps: int = 1) -> Iterator[Self]:
        """Record what the agent observes within a `with` block, as `learn(run_dir=...)` does.

        Args:
            run_dir: a directory that does not exist yet, or a recorder of your own.
            n_steps: how many steps are planned; runs show it, and it is no limit.
        """
        if self._recorder is not None:
            raise ConfigError("the agent is being recorded already")
        if isinstance(run_dir, str | Path):
            run_dir = open_recorder(self, Path(run_dir), self.n_steps + int(n_steps))  # type: ignore[arg-type]
        self._recorder = run_dir
        try:
            yield self
        except BaseException as error:
            self._close_recorder(error)
            raise
        self._close_recorder()


def _flag(value: Any, name: str, where: str) -> bool:
    """True or False, or a DataError that names the argument."""
    given = np.asarray(value)
    if given.size != 1 or given.dtype.kind not in "biuf" or given.item() not in (0, 1):
        raise DataError(f"{where}: {name} is {value!r:.100}; it must be True or False")
    return bool(given.item())
