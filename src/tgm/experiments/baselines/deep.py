"""DQN, A2C and PPO of Stable-Baselines3 behind the protocol of the comparison.

Each comes twice. The plain names have the paper's settings (what it does not state is the
library's default) and see a time limit as a terminal state, as the paper's environment returned it.
The tuned ones see it as what it is: DQN takes the value behind the limit from its target network,
A2C and PPO from their critic. Their settings suit worlds of tens of cells and 5,000 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from tgm.errors import ConfigError
from tgm.experiments.baselines.recording import TimeLimitAsEnd
from tgm.experiments.harness.agent import OnStep


@dataclass(frozen=True)
class DeepConfig:
    """How a deep baseline is made.

    Attributes:
        algorithm: its class in Stable-Baselines3.
        settings: what differs from the library's defaults.
        time_limit_ends: whether it takes a time limit for a terminal state.
        rescaled: whether it sees observations within [-1, 1].
    """

    algorithm: Literal["DQN", "A2C", "PPO"]
    settings: dict[str, Any] = field(default_factory=dict)
    time_limit_ends: bool = False
    rescaled: bool = False


DEEP_CONFIGS = {
    "dqn": DeepConfig(
        "DQN",
        {
            "learning_rate": 0.01,
            "learning_starts": 0,
            "target_update_interval": 100,
            "exploration_fraction": 0.7,
        },
        time_limit_ends=True,
    ),
    "a2c": DeepConfig("A2C", {"learning_rate": 1e-4}, time_limit_ends=True),
    "ppo": DeepConfig("PPO", time_limit_ends=True),
    "dqn-tuned": DeepConfig(
        "DQN",
        {
            "learning_rate": 1e-3,
            "learning_starts": 50,
            "batch_size": 128,
            "train_freq": 2,
            "target_update_interval": 250,
            "exploration_fraction": 0.6,
            "gamma": 0.97,
        },
        rescaled=True,
    ),
    "a2c-tuned": DeepConfig(
        "A2C", {"learning_rate": 2e-3, "n_steps": 16, "ent_coef": 0.01}, rescaled=True
    ),
    "ppo-tuned": DeepConfig(
        "PPO",
        {"learning_rate": 1e-3, "n_steps": 128, "ent_coef": 0.01, "gae_lambda": 0.9},
        rescaled=True,
    ),
}


def missing_extra(agent: str, package: str) -> ConfigError:
    """The error for a package that is not installed."""
    return ConfigError(f"{agent} needs {package}; pip install temporal-gaussian-mixture[baselines]")


class DeepAgent:
    """A learner of Stable-Baselines3 in one environment, repeatable from its seed."""

    n_states = None

    def __init__(self, env: gym.Env[Any, Any], config: DeepConfig, *, seed: int = 0) -> None:
        """Make the networks; torch keeps to one thread, so that the result is always the same."""
        try:
            import stable_baselines3
            import torch
        except ImportError as error:
            raise missing_extra(config.algorithm, str(error.name)) from None
        torch.set_num_threads(1)
        self.config = config
        box = env.observation_space
        assert isinstance(box, gym.spaces.Box)
        self._low, self._width = box.low, box.high - box.low
        if config.time_limit_ends:
            env = TimeLimitAsEnd(env)
        if config.rescaled:
            unit = gym.spaces.Box(-1.0, 1.0, box.shape, np.float64)
            env = gym.wrappers.TransformObservation(env, self._rescale, unit)
        algorithm = getattr(stable_baselines3, config.algorithm)
        self.model = algorithm("MlpPolicy", env, seed=seed, device="cpu", **config.settings)

    def learn(self, n_steps: int, callback: OnStep | None = None, at: Sequence[int] = ()) -> None:
        """Live for `n_steps` more steps, from a new episode on.

        Schedules, such as that of epsilon, are fractions of these steps: the looks come out of
        one call, not out of many short ones.
        """
        looks = set(at)
        # A batch of steps that is under way would go beyond; one that ends here may end.
        ends_a_batch = n_steps % self._batch_steps() == 0

        def on_step(names: dict[str, Any], _: dict[str, Any]) -> bool:
            step = int(self.model.num_timesteps)
            if callback is not None and step in looks:
                callback(step)
            return step < n_steps or ends_a_batch

        self.model.learn(n_steps, callback=on_step)

    def _batch_steps(self) -> int:
        """Steps between two updates."""
        if self.config.algorithm == "DQN":
            return int(self.model.train_freq.frequency)
        return int(self.model.n_steps)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The action for an observation, or one for each row of a batch."""
        seen = self._rescale(np.asarray(observation)) if self.config.rescaled else observation
        actions, _ = self.model.predict(seen, deterministic=deterministic)
        return actions, state

    def _rescale(self, observation: Any) -> Any:
        return 2.0 * (observation - self._low) / self._width - 1.0
