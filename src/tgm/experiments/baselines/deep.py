"""DQN, A2C and PPO of Stable-Baselines3 behind the protocol of the comparison.

In mazes each comes twice. The plain names have the paper's settings (what it does not state is the
library's default) and see a time limit as a terminal state, as the paper's environment returned it.
The tuned ones see it as what it is: DQN takes the value behind the limit from its target network,
A2C and PPO from their critic. Their settings suit worlds of tens of cells and 5,000 steps.
Elsewhere the plain names have the settings of `rl_zoo.py`, and see time limits as what they are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import gymnasium as gym
import numpy as np

from tgm.errors import ConfigError
from tgm.experiments.baselines.recording import TimeLimitAsEnd
from tgm.experiments.harness.agent import OnStep

PlainDeep = Literal["DQN", "A2C", "PPO"]
LINEAR = "lin_"  # begins a setting that falls linearly to 0 over the steps of training


@dataclass(frozen=True)
class DeepConfig:
    """How a deep baseline is made.

    Attributes:
        algorithm: its class in Stable-Baselines3.
        settings: what differs from the library's defaults.
        time_limit_ends: whether it takes a time limit for a terminal state.
        rescaled: whether it sees observations within [-1, 1].
        n_envs: copies of the environment that it steps at once; their steps all count.
        normalized: whether observations and rewards are scaled by their running deviations.
    """

    algorithm: PlainDeep
    settings: dict[str, Any] = field(default_factory=dict)
    time_limit_ends: bool = False
    rescaled: bool = False
    n_envs: int = 1
    normalized: bool = False


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

    def __init__(
        self,
        env: gym.Env[Any, Any],
        config: DeepConfig,
        *,
        seed: int = 0,
        copies: Sequence[gym.Env[Any, Any]] = (),
    ) -> None:
        """Make the networks; torch keeps to one thread, so that the result is always the same.

        Args:
            env: where it learns.
            config: how it is made.
            seed: of its generators.
            copies: further environments like `env`, one less than `config.n_envs`.
        """
        try:
            import stable_baselines3
            import torch
        except ImportError as error:
            raise missing_extra(config.algorithm, str(error.name)) from None
        torch.set_num_threads(1)
        self.config = config
        worlds = [self._seen(one) for one in (env, *copies)]
        monitors = [stable_baselines3.common.monitor.Monitor(one) for one in worlds]
        vector: Any = stable_baselines3.common.vec_env.DummyVecEnv(
            [partial(_itself, one) for one in monitors]
        )
        settings = {name: _schedule(value) for name, value in config.settings.items()}
        self._normalize: Callable[[Any], Any] | None = None
        if config.normalized:
            gamma = settings.get("gamma", 0.99)
            vector = stable_baselines3.common.vec_env.VecNormalize(vector, gamma=gamma)
            self._normalize = vector.normalize_obs
        is_dict = isinstance(env.observation_space, gym.spaces.Dict)
        policy = "MultiInputPolicy" if is_dict else "MlpPolicy"
        algorithm = getattr(stable_baselines3, config.algorithm)
        with warnings.catch_warnings():
            # A2C and PPO: "truncated mini-batch", of settings that are published so.
            warnings.simplefilter("ignore", UserWarning)
            self.model = algorithm(policy, vector, seed=seed, device="cpu", **settings)

    def _seen(self, env: gym.Env[Any, Any]) -> gym.Env[Any, Any]:
        """The environment as the learner sees it."""
        if self.config.time_limit_ends:
            env = TimeLimitAsEnd(env)
        if self.config.rescaled:
            box = env.observation_space
            assert isinstance(box, gym.spaces.Box)
            self._low, self._width = box.low, box.high - box.low
            unit = gym.spaces.Box(-1.0, 1.0, box.shape, np.float64)
            env = gym.wrappers.TransformObservation(env, self._rescale, unit)
        return env

    def learn(self, n_steps: int, callback: OnStep | None = None, at: Sequence[int] = ()) -> None:
        """Live for `n_steps` more steps, from a new episode on.

        Schedules, such as that of epsilon, are fractions of these steps: the looks come out of
        one call, not out of many short ones.
        """
        looks = sorted(set(at))
        # A batch of steps that is under way would go beyond; one that ends here may end.
        ends_a_batch = n_steps % self._batch_steps() == 0

        def on_step(names: dict[str, Any], _: dict[str, Any]) -> bool:
            step = int(self.model.num_timesteps)
            while looks and looks[0] <= step:  # copies step together, and may pass a look
                look = looks.pop(0)
                if callback is not None:
                    callback(look)
            return step < n_steps or ends_a_batch

        self.model.learn(n_steps, callback=on_step)

    def _batch_steps(self) -> int:
        """Steps between two updates."""
        if self.config.algorithm == "DQN":
            return int(self.model.train_freq.frequency) * self.config.n_envs
        return int(self.model.n_steps) * self.config.n_envs

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The action for an observation, or one for each row of a batch."""
        seen = self._rescale(np.asarray(observation)) if self.config.rescaled else observation
        seen = seen if self._normalize is None else self._normalize(np.asarray(seen))
        actions, _ = self.model.predict(seen, deterministic=deterministic)
        return actions, state

    def _rescale(self, observation: Any) -> Any:
        return 2.0 * (observation - self._low) / self._width - 1.0


def _itself(env: Any) -> Any:
    return env


def _schedule(value: Any) -> Any:
    """A setting as Stable-Baselines3 takes it: "lin_x" falls from x to 0."""
    if not isinstance(value, str) or not value.startswith(LINEAR):
        return value
    start = float(value.removeprefix(LINEAR))
    return lambda remaining: start * remaining
