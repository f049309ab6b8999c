"""From a model that was fitted to a log to an agent that goes on living with it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.agent.spaces import MOST_NAMED, Interface
from tgm.distributions import IntArray, Moments
from tgm.errors import ConfigError, DataError
from tgm.files.arrays import ArrayReader
from tgm.learners.given import GivenWorld, arrays_of
from tgm.temporal.world import World

ONE_ACTION = "step"  # the action of a log without actions


def spaces_of(world: World) -> tuple[gym.Space[Any], gym.Space[Any]]:
    """The spaces of the observations and actions of a log."""
    shape = (len(world.feature_names),)
    return gym.spaces.Box(-np.inf, np.inf, shape), gym.spaces.Discrete(world.n_actions)


def agent_of(
    world: World, env: gym.Env[Any, Any] | None, config: TGMConfig | None, seed: int | None
) -> TGMAgent:
    """An agent that knows a world; without `env` its actions are numbered as in the log."""
    config = TGMConfig() if config is None else config
    if env is None:
        names = [str(value) for value in world.action_values] or [ONE_ACTION]
        features = list(world.feature_names)
        can_be_named = len(set(features)) == len(features) <= MOST_NAMED
        agent = TGMAgent.from_spaces(
            *spaces_of(world),
            config,
            seed=seed,
            action_names=names,
            feature_names=features if can_be_named else None,
        )
        places = np.arange(world.n_actions)
    else:
        agent = TGMAgent(env, config, seed=seed)
        places = _places(world, agent.interface)
    given = _given(world, places, agent.interface.n_actions)
    agent.learner.restore(ArrayReader(arrays_of(given, config)))
    return agent


def _places(world: World, interface: Interface) -> IntArray:
    """(n_actions of the log,) the index of each action in the environment."""
    n_features = len(world.feature_names)
    if interface.n_features != n_features or interface.is_categorical.any():
        raise ConfigError(
            f"the model has {n_features} features, and the environment has "
            f"{interface.n_features} in {', '.join(part.kind for part in interface.parts)}; "
            "wanted a Box of as many"
        )
    if not world.action_values:
        if interface.n_actions != 1:
            raise ConfigError("the model was fitted without actions, and the environment has some")
        return np.zeros(1, dtype=np.intp)
    places = []
    for value in world.action_values:
        if value in interface.action_names:
            places.append(interface.action_names.index(value))
            continue
        try:
            places.append(interface.actions.index(value, "the log"))
        except DataError as error:
            names = ", ".join(interface.action_names[:20])
            raise ConfigError(f"{error}, or one of {names}") from None
    return np.array(places, dtype=np.intp)


def _given(world: World, places: IntArray, n_actions: int) -> GivenWorld:
    """The world with its actions where an environment has them, in units of observations."""
    sums, units = world.sums, world.units
    scale = units.scale
    moments = Moments(
        sums.moments.weight,
        units.outer(sums.moments.mean),
        sums.moments.scatter * scale[:, None] * scale,
    )
    n_states = world.n_states
    transitions = np.zeros((n_actions, n_states, n_states))
    tables = np.zeros((3, n_actions, n_states))
    transitions[places] = sums.transitions
    tries = world.tries if world.action_values else sums.transitions.sum(axis=2)
    tables[:, places] = np.stack([tries, world.rewards, world.ends])
    counts = sums.transitions.sum(axis=0)
    gaps = (world.means[:, None] - world.means) ** 2
    within = np.diagonal(world.prior.covariance) * scale**2
    square = 2.0 * within + np.einsum("ij,ijd->d", counts, gaps) / max(counts.sum(), 1.0)
    return GivenWorld(
        moments,
        transitions,
        sums.starts,
        tries=tables[0],
        rewards=tables[1],
        ends=tables[2],
        deviation=np.sqrt(within),
        typical_step=np.sqrt(square),
        n_steps=world.n_rows,
    )
