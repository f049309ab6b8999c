"""The agents of a comparison by name."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium as gym

from tgm.agent import TGMAgent, TGMConfig
from tgm.errors import ConfigError
from tgm.experiments.baselines.deep import DEEP_CONFIGS, DeepAgent, missing_extra
from tgm.experiments.baselines.oracle import OracleAgent
from tgm.experiments.baselines.random_agent import RandomAgent
from tgm.experiments.harness.agent import Agent, InPieces

TGM_PRESETS = {"tgm": "default", "tgm-paper": "paper"}

AGENTS = (*TGM_PRESETS, *DEEP_CONFIGS, "random", "oracle")
"""Their names: ours, the paper's, deep learners with the paper's settings and tuned, the limits."""


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


def make_agent(
    name: str, env: gym.Env[Any, Any], seed: int, settings: Mapping[str, Any] | None = None
) -> Agent:
    """A new agent in `env`; everything random follows from `seed`.

    Args:
        name: one of AGENTS.
        env: where it learns.
        seed: of its generators.
        settings: what differs from the preset of a TGM agent; other agents take none.
    """
    if check_agent_name(name) in TGM_PRESETS:
        config = TGMConfig.preset(TGM_PRESETS[name], **(settings or {}))
        agent = TGMAgent(env, config, seed=seed)
        return InPieces(agent, lambda: agent.n_states)
    if settings:
        raise ConfigError(f"agent '{name}' takes no settings, but got {', '.join(settings)}")
    if name in DEEP_CONFIGS:
        return DeepAgent(env, DEEP_CONFIGS[name], seed=seed)
    if name == "random":
        return InPieces(RandomAgent(env, seed=seed))
    oracle = OracleAgent(env, seed=seed)
    return InPieces(oracle, lambda: oracle.n_states)
