"""An agent in a file: saved whole, and loaded with everything checked."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import gymnasium as gym
import numpy as np

from tgm.agent.arguments import changed_settings, environment, seed_number
from tgm.agent.info import EpisodeInfo
from tgm.agent.metadata import AgentMetadata
from tgm.agent.model_file import read_model, write_model
from tgm.agent.queries import AgentQueries
from tgm.agent.spaces import Interface
from tgm.config import TGMConfig
from tgm.errors import RunError, TGMError
from tgm.files.arrays import ArrayReader
from tgm.perception.component_map import Move


class AgentFiles(AgentQueries):
    """The part of TGMAgent that saves and loads."""

    seed: int
    _rng: np.random.Generator
    _moves: list[Move]
    _n_evicted: int
    _finished: list[EpisodeInfo]

    @abstractmethod
    def _set_up(
        self,
        env: gym.Env[Any, Any] | None,
        interface: Interface,
        config: TGMConfig,
        seed: int | None,
    ) -> None:
        """Know nothing yet."""

    def save(self, path: str | Path, notes: dict[str, Any] | None = None) -> None:
        """Write what the agent knows to a model file; no code is in it, only arrays and JSON.

        What was learned in an episode under way is part of it; its place in the environment cannot
        be: a loaded agent begins a new one. Saved between two episodes and loaded, the agent goes
        on as if it had never stopped, to the bit. The file is loaded before it gets its name: a
        RunError says why it cannot be, and an older one stays.

        Args:
            path: the file; it is replaced, whole or not at all.
            notes: anything that JSON can hold, to be kept in the file's metadata.
        """
        metadata = AgentMetadata(
            self.config,
            self.seed,
            self.interface,
            self.n_steps,
            self.n_episodes,
            self._rng.bit_generator.state,
            self._predict_rng.bit_generator.state,
            self._moves,
            self._n_evicted,
            self._finished,
            notes or {},
        )
        write_model(Path(path), self._learner.to_arrays(), metadata.to_dict(), type(self).load)

    @classmethod
    def load(
        cls,
        path: str | Path,
        env: gym.Env[Any, Any] | str | None = None,
        config: TGMConfig | None = None,
        *,
        env_kwargs: dict[str, Any] | None = None,
        **changes: Any,
    ) -> Self:
        """An agent from a model file; without `env` it can act and explain, but not learn.

        Everything is checked before it is used; a RunError names what does not fit.

        Args:
            path: the file that `save` wrote.
            env: the environment from now on, or its id.
            config: settings for what comes, instead of the saved ones. Those that shape what was
                learned stay: a RunError names them.
            env_kwargs: arguments of an environment that is given by its id.
            changes: single settings to change, by their names: `exploration="greedy"`.
        """
        return cls.load_with_notes(path, env, config, env_kwargs=env_kwargs, **changes)[0]

    @classmethod
    def load_with_notes(
        cls,
        path: str | Path,
        env: gym.Env[Any, Any] | str | None = None,
        config: TGMConfig | None = None,
        *,
        env_kwargs: dict[str, Any] | None = None,
        **changes: Any,
    ) -> tuple[Self, dict[str, Any]]:
        """The same, and the notes that `save` was given."""
        arrays, saved = read_model(Path(path))
        env = environment(env, env_kwargs) if env is not None or env_kwargs else None
        try:
            metadata = AgentMetadata.from_dict(saved)
            if env is not None:
                metadata.interface.check_fits(Interface.of(env))
            agent = cls.__new__(cls)
            config = changed_settings(metadata.config, config, changes)
            agent._set_up(env, metadata.interface, config, seed_number(metadata.seed))
            agent._learner.restore(ArrayReader(arrays))
            agent._moves, agent._n_evicted = metadata.pending_moves, metadata.n_evicted
            agent.n_steps, agent.n_episodes = metadata.n_steps, metadata.n_episodes
            agent._rng.bit_generator.state = metadata.exploration_rng
            agent._predict_rng.bit_generator.state = metadata.predict_rng
            agent._finished = metadata.pending_episodes
        except KeyError as error:
            raise RunError(f"{path}: {error} is missing") from None
        except (TGMError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
            raise RunError(f"{path}: {error}") from None
        return agent, metadata.notes
