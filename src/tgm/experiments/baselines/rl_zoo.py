"""The settings of deep learners outside mazes: RL Zoo's where it has some, else the library's.

`rl_zoo.json` is the table, with its source.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from tgm.experiments.baselines.deep import DeepConfig, PlainDeep

ALGORITHMS: dict[str, PlainDeep] = {"dqn": "DQN", "a2c": "A2C", "ppo": "PPO"}
"""The agents for any environment; the tuned ones are tuned for mazes."""


@cache
def zoo_table() -> dict[str, Any]:
    """The table as it stands in the file: source, notes, and settings by algorithm and id."""
    text = resources.files(__package__).joinpath("rl_zoo.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table


def published_steps(name: str, env_id: str) -> int | None:
    """Steps of training that RL Zoo's settings of an agent are for; None if it has none.

    >>> published_steps("dqn", "CartPole-v1")
    50000
    >>> published_steps("tgm", "CartPole-v1") is None
    True
    """
    settings = zoo_table().get(ALGORITHMS.get(name, ""), {}).get(env_id)
    return None if settings is None else int(settings["n_timesteps"])


def zoo_config(name: str, env_id: str) -> DeepConfig:
    """How the agent `name` is made for an environment; the library's defaults if none is known."""
    algorithm = ALGORITHMS[name]
    published = zoo_table().get(algorithm, {}).get(env_id)
    if published is None:
        return DeepConfig(algorithm)
    settings = dict(published)
    del settings["n_timesteps"]
    n_envs, normalized = settings.pop("n_envs", 1), settings.pop("normalize", False)
    return DeepConfig(algorithm, settings, n_envs=n_envs, normalized=normalized)
