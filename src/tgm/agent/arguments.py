"""What a user may give to an agent: an environment by its id, settings as keywords, and so on.

Each function gives what the agent works with, or raises an error that says what to write.
"""

from __future__ import annotations

import difflib
import warnings
from dataclasses import fields, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from tgm.config import TGMConfig
from tgm.errors import ConfigError, SpaceError, TGMWarning
from tgm.planning.exploration import STRATEGIES, ExplorationStrategy

ALSO_CALLED = {"discount": "gamma"}
"""Other names of settings, as keywords of an agent."""

MAY_CHANGE = (
    "exploration",
    "epsilon_decay",
    "temperature",
    "moves",
    "reassign_steps",
    "learn_every",
    "learning_rate",
    "kl_threshold",
    "fix_after",
    "forget",
)
"""Settings of what is done from now on; what was learned with the others has their form."""

_LEFT_OUT = "leave it out, an agent of tgm needs none"

# Arguments of agents and estimators of other libraries -> what to write here.
_OF_OTHERS = {
    "policy": _LEFT_OUT,
    "policy_kwargs": _LEFT_OUT,
    "verbose": _LEFT_OUT,
    "device": _LEFT_OUT,
    "buffer_size": _LEFT_OUT,
    "batch_size": _LEFT_OUT,
    "learning_starts": _LEFT_OUT,
    "train_freq": _LEFT_OUT,
    "gradient_steps": _LEFT_OUT,
    "custom_objects": _LEFT_OUT,
    "tensorboard_log": "write tgm train --tensorboard DIR",
    "n_envs": "leave it out, an agent learns in one environment",
    "random_state": "write seed=0",
}

# The same of the arguments of `learn`.
_OF_OTHERS_LEARN = {
    "log_interval": "leave it out, write progress_bar=True or a callback",
    "reset_num_timesteps": "leave it out, learn always goes on; a new agent starts again",
    "tb_log_name": "leave it out, write tgm train --tensorboard DIR",
    "eval_env": "leave it out, evaluate between two calls of learn",
    "eval_freq": "leave it out, evaluate between two calls of learn",
    "n_episodes": "write learn(n_steps), or stop in a callback: info.episodes are those that ended",
}

_MEAN_SHIFT_ONLY = ("learning_rate", "kl_threshold", "fix_after", "forget", "transition_prior")

# Attributes of agents and estimators of other libraries -> what to write here.
_ATTRIBUTES_OF_OTHERS = {
    "num_timesteps": "agent.n_steps",
    "observation_space": "agent.env.observation_space",
    "action_space": "agent.env.action_space",
    "get_env": "agent.env",
    "policy": "agent.predict(observation), the agent is its own policy",
    "fit": "agent.learn(n_steps)",
    "get_params": "agent.config.to_dict()",
    "set_params": "TGMAgent(env, gamma=0.95), settings are chosen once",
    "set_random_seed": "TGMAgent(env, seed=0), a seed is chosen once",
}


def environment(env: object, env_kwargs: dict[str, Any] | None = None) -> gym.Env[Any, Any]:
    """The environment that is meant: one of Gymnasium, or the id or spec of a registered one.

    >>> environment("FrozenLake-v1", {"map_name": "8x8"}).observation_space
    Discrete(64)
    """
    if isinstance(env, str | EnvSpec):
        try:
            return gym.make(env, **(env_kwargs or {}))
        except Exception as error:  # code of the environment, with the user's arguments
            reason = " ".join(f"{error}".split())
            if isinstance(error, KeyError):  # its text is the bare key
                reason = f"KeyError: {reason}"
            name = env if isinstance(env, str) else env.id
            raise ConfigError(f"environment '{name}' cannot be made: {reason}") from error
    if env_kwargs:
        raise ConfigError("env_kwargs belong to an environment that is given by its id")
    if isinstance(env, gym.Env):
        return env
    if (n_envs := getattr(env, "num_envs", None)) is not None:
        raise SpaceError(
            f"the environment is a vector of {n_envs}; an agent learns in one of them: give "
            "gymnasium.make(id), without vectorizing it"
        )
    raise SpaceError(
        f"the environment is {env!r:.100}; wanted one of Gymnasium: gymnasium.make(id), or its id"
    )


def settings(config: object, changes: dict[str, Any]) -> TGMConfig:
    """The settings `config` (those of TGMConfig() if None) with the keywords of an agent.

    >>> settings(None, {"discount": 0.95})
    TGMConfig(gamma=0.95)
    """
    if config is None:
        config = TGMConfig()
    if isinstance(config, dict):
        raise ConfigError("config is a dictionary; write **config, or config=TGMConfig(**config)")
    if not isinstance(config, TGMConfig):
        raise ConfigError(
            f"config is {config!r:.100}; the order is TGMAgent(env, TGMConfig(...), seed=0)"
        )
    known = [field.name for field in fields(TGMConfig)]
    named = {ALSO_CALLED.get(name, name): value for name, value in changes.items()}
    if len(named) < len(changes):
        raise ConfigError("gamma and discount are one setting; give one of them")
    for name in named:
        if name in _OF_OTHERS:
            raise ConfigError(f"{name} is no setting: {_OF_OTHERS[name]}")
        if name not in known:
            raise ConfigError(f"{name} is no setting; {_nearest(name, known)}")
    wanted = replace(config, **named) if named else config
    unused = [name for name in named if name in _MEAN_SHIFT_ONLY]
    if unused and wanted.structure != "mean_shift":
        warnings.warn(
            f"{', '.join(unused)}: used with structure='mean_shift' only; leave it out",
            TGMWarning,
            stacklevel=3,
        )
    return wanted


def unknown_argument(name: str, known: list[str]) -> ConfigError:
    """The error for an argument that `learn` does not have."""
    written = _OF_OTHERS_LEARN.get(name)
    hint = f": {written}" if written else f"; {_nearest(name, known)}"
    return ConfigError(f"{name} is no argument of learn{hint}")


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


def changed_settings(saved: TGMConfig, config: object, changes: dict[str, Any]) -> TGMConfig:
    """The settings of a saved agent with what may change; the others are refused by name."""
    wanted = settings(saved if config is None else config, changes)
    before, now = saved.to_dict(), wanted.to_dict()
    fixed = [name for name in now if now[name] != before[name] and name not in MAY_CHANGE]
    if fixed:
        names = ", ".join(f"{name} ({before[name]!r})" for name in fixed)
        raise ConfigError(
            f"the agent has learned with other settings, which stay: {names}; only "
            f"{', '.join(MAY_CHANGE)} may change"
        )
    begun = wanted.exploration
    keeps_books = STRATEGIES[begun].to_arrays is not ExplorationStrategy.to_arrays
    if begun != saved.exploration and keeps_books:
        raise ConfigError(
            f"exploration '{begun}' counts from the first step on, and the agent began with "
            f"'{saved.exploration}': choose another, or train a new agent"
        )
    return wanted


def missing_attribute(name: str) -> AttributeError:
    """The error for an attribute that an agent does not have."""
    written = _ATTRIBUTES_OF_OTHERS.get(name)
    hint = f"; write {written}" if written else ""
    return AttributeError(f"'TGMAgent' object has no attribute '{name}'{hint}")


def seed_number(seed: object) -> int | None:
    """A seed, checked; None stays None."""
    if seed is None:
        return None
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ConfigError(f"seed is {seed!r}; it must be a whole number from 0")
    return int(seed)


def number_of_steps(n_steps: object, total_timesteps: object) -> int:
    """The steps that `learn` was asked for, by either of the two names."""
    if n_steps is None and total_timesteps is None:
        raise ConfigError("learn for how many steps? learn(1000)")
    if n_steps is not None and total_timesteps is not None:
        raise ConfigError("n_steps and total_timesteps are the same; give one of them")
    name, given = ("n_steps", n_steps) if n_steps is not None else ("total_timesteps", None)
    given = total_timesteps if given is None else given
    if isinstance(given, float) and given.is_integer():
        given = int(given)  # 1e5 is often written
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise ConfigError(f"{name} is {given!r}; it must be a whole number above 0")
    return int(given)
