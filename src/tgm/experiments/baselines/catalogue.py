"""The agents of a comparison by name."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent, TGMConfig
from tgm.envs import MazeEnv
from tgm.errors import ConfigError, TGMError
from tgm.experiments.baselines.deep import DEEP_CONFIGS, DeepAgent, DeepConfig, missing_extra
from tgm.experiments.baselines.oracle import OracleAgent
from tgm.experiments.baselines.random_agent import RandomAgent
from tgm.experiments.baselines.rl_zoo import ALGORITHMS, zoo_config
from tgm.experiments.baselines.tabular import PSRLAgent, RMaxAgent, true_states
from tgm.experiments.harness.agent import Agent, InPieces

TGM_PRESETS = {"tgm": "default", "tgm-paper": "paper"}
TABULAR = {"rmax": RMaxAgent, "psrl": PSRLAgent}

PAPER_AGENTS = (*TGM_PRESETS, *DEEP_CONFIGS, "random", "oracle")
"""Those of the campaign in the mazes of the paper."""

AGENTS = (*PAPER_AGENTS, *TABULAR)
"""Their names: ours, the paper's, deep learners with the paper's settings and tuned, the limits,
and learners that are told the true state."""


def check_agent_name(name: str) -> str:
    """The name itself, or a ConfigError that suggests another."""
    if name in AGENTS:
        return name
    close = difflib.get_close_matches(name, AGENTS, n=1)
    hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(AGENTS)}"
    raise ConfigError(f"unknown agent '{name}'; {hint}")


def check_extras(names: Iterable[str]) -> None:
    """Raise a ConfigError now if one of these agents needs a package that is not installed."""
    deep = [name for name in names if name in DEEP_CONFIGS]
    for package in ("stable_baselines3", "torch"):
        if deep and importlib.util.find_spec(package) is None:
            raise missing_extra(deep[0], package)


def unfit(name: str, env: gym.Env[Any, Any]) -> str:
    """Why an agent cannot be used in an environment; "" if it can."""
    if name in TGM_PRESETS:
        try:
            TGMAgent(env, TGMConfig.preset(TGM_PRESETS[name]))
        except TGMError as error:
            return str(error)
        return ""
    actions, seen = env.action_space, env.observation_space
    if not isinstance(actions, gym.spaces.Discrete):
        return f"{name} takes Discrete actions, not {type(actions).__name__}"
    is_maze = isinstance(env.unwrapped, MazeEnv)
    if name == "oracle" and not is_maze:
        return "oracle is for mazes; elsewhere use rmax"
    if name in TABULAR:
        return "" if true_states(env) else f"{name} is told the true state, and there is none"
    if name in DEEP_CONFIGS and not is_maze:
        if name not in ALGORITHMS:
            return f"{name} has settings for mazes; take {name.partition('-')[0]}"
        if actions.start != 0:
            return f"{name} takes actions from 0 on, not from {actions.start}"
        if not isinstance(seen, gym.spaces.Box | gym.spaces.Discrete | gym.spaces.Dict):
            return f"{name} takes Box, Discrete or Dict observations, not {type(seen).__name__}"
    return ""


def make_agent(
    name: str,
    env: gym.Env[Any, Any],
    seed: int,
    settings: Mapping[str, Any] | None = None,
    make_copy: Callable[[], gym.Env[Any, Any]] | None = None,
) -> Agent:
    """A new agent in `env`; everything random follows from `seed`.

    Args:
        name: one of AGENTS.
        env: where it learns.
        seed: of its generators.
        settings: what differs from the preset of a TGM agent; other agents take none.
        make_copy: makes one more environment like `env`, for a learner that steps several.
    """
    if check_agent_name(name) in TGM_PRESETS:
        config = TGMConfig.preset(TGM_PRESETS[name], **(settings or {}))
        agent = TGMAgent(env, config, seed=seed)
        return InPieces(agent, lambda: agent.n_states)
    if settings:
        raise ConfigError(f"agent '{name}' takes no settings, but got {', '.join(settings)}")
    if name in DEEP_CONFIGS:
        deep = deep_config(name, env)
        if make_copy is None:
            return DeepAgent(env, replace(deep, n_envs=1), seed=seed)
        copies = [make_copy() for _ in range(deep.n_envs - 1)]
        return DeepAgent(env, deep, seed=seed, copies=copies)
    if name == "random":
        return InPieces(RandomAgent(env, seed=seed))
    if name in TABULAR:
        tabular = TABULAR[name](env, seed=seed)
        return InPieces(tabular, lambda: tabular.n_states)
    oracle = OracleAgent(env, seed=seed)
    return InPieces(oracle, lambda: oracle.n_states)


def deep_config(name: str, env: gym.Env[Any, Any]) -> DeepConfig:
    """How a deep learner is made: in a maze with the paper's settings, else with RL Zoo's."""
    if isinstance(env.unwrapped, MazeEnv) or name not in ALGORITHMS:
        return DEEP_CONFIGS[name]
    return zoo_config(name, "" if env.spec is None else env.spec.id)
