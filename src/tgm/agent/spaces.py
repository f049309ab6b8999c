"""What the agent can see and do: flat boxes and discrete actions, checked at the door."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray
from tgm.errors import DataError, SpaceError
from tgm.files.arrays import LARGEST
from tgm.learners.limits import MOST_FEATURES

MOST_ACTION = 2**62  # as a number of an action
NUMERIC = "biuf"  # NumPy's kinds of truth values, whole numbers and floats


@dataclass(frozen=True)
class Interface:
    """The shape of an environment's observations and actions.

    Attributes:
        n_features: length of an observation.
        n_actions: number of actions.
        first_action: the environment's number for action 0.
        action_names: what a person calls the actions.
    """

    n_features: int
    n_actions: int
    first_action: int
    action_names: tuple[str, ...]

    @classmethod
    def of(cls, env: gym.Env[Any, Any]) -> Interface:
        """The interface of an environment, or a SpaceError that names the space."""
        if not isinstance(env, gym.Env):
            raise SpaceError(
                f"the environment is {env!r:.100}; wanted one of Gymnasium: gymnasium.make(id)"
            )
        observations, actions = env.observation_space, env.action_space
        if not isinstance(observations, gym.spaces.Box) or len(observations.shape) != 1:
            raise SpaceError(
                f"the observation space is {observations}; wanted a flat Box, shape (n,): "
                "gymnasium.wrappers.FlattenObservation makes one"
            )
        if observations.shape[0] > MOST_FEATURES:
            raise SpaceError(
                f"an observation has {observations.shape[0]} features; at most {MOST_FEATURES} can "
                "be used: choose or compute fewer (gymnasium.wrappers.TransformObservation)"
            )
        if not isinstance(actions, gym.spaces.Discrete):
            raise SpaceError(f"the action space is {actions}; wanted Discrete(n)")
        n_actions = int(actions.n)
        names = getattr(env.unwrapped, "action_names", None)
        if names is None or len(names) != n_actions:
            names = [f"action {int(actions.start) + index}" for index in range(n_actions)]
        return cls(observations.shape[0], n_actions, int(actions.start), tuple(names))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Interface:
        """What `dataclasses.asdict` wrote, checked."""
        n_features, n_actions, first_action = (
            int(values[key]) for key in ("n_features", "n_actions", "first_action")
        )
        names = tuple(str(name) for name in values["action_names"])
        if not 1 <= n_features <= MOST_FEATURES or n_actions < 1 or len(names) != n_actions:
            raise SpaceError(f"an interface of {n_features} features and {n_actions} actions")
        if not -MOST_ACTION <= first_action <= MOST_ACTION:
            raise SpaceError(f"an interface whose first action is {first_action}")
        return cls(n_features, n_actions, first_action, names)

    def fits(self, other: Interface) -> bool:
        """Whether an agent for one can live in the other; names do not matter."""
        mine = (self.n_features, self.n_actions, self.first_action)
        return mine == (other.n_features, other.n_actions, other.first_action)

    def observation(self, values: object, where: str) -> FloatArray:
        """(n_features,) a checked observation, or a DataError that names place and feature."""
        try:
            given = np.asarray(values)
        except (TypeError, ValueError):
            raise DataError(f"{where}: the observation {values!r:.100} is not numeric") from None
        if given.dtype.kind == "O":
            given = _as_floats(given)  # whole numbers that are too large for NumPy's
        if given.dtype.kind not in NUMERIC:
            kind = "complex" if given.dtype.kind == "c" else "not numeric"
            raise DataError(f"{where}: the observation {values!r:.100} is {kind}")
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            feature = int(np.flatnonzero(np.ma.getmaskarray(values))[0])
            raise DataError(f"{where}: observation[{feature}] is masked; it must be a number")
        observation = given.astype(np.float64)
        if observation.shape != (self.n_features,):
            raise DataError(
                f"{where}: the observation has shape {observation.shape}, not ({self.n_features},)"
            )
        for feature, value in enumerate(observation.tolist()):  # few: quicker than array operations
            if not -LARGEST <= value <= LARGEST:  # NaN is not
                raise DataError(
                    f"{where}: observation[{feature}] is {value}; it must be finite "
                    f"and at most {LARGEST:g} in size, and nothing was learned from it"
                )
        return observation

    def outcome(self, values: object, reward: object, where: str) -> tuple[FloatArray, float]:
        """A checked observation and a checked reward."""
        return self.observation(values, where), self.reward(reward, where)

    def reward(self, value: object, where: str) -> float:
        """A checked reward, or a DataError that names the place."""
        if type(value) is float:
            reward = value
        else:
            try:
                given = _as_floats(np.asarray(value))
            except ValueError:
                given = np.empty(0)
            if given.dtype.kind not in NUMERIC or given.size != 1 or np.ma.is_masked(value):
                raise DataError(f"{where}: the reward {value!r:.100} is not one number")
            reward = float(given.item())
        if not -LARGEST <= reward <= LARGEST:  # NaN is not
            raise DataError(
                f"{where}: the reward is {reward}; it must be finite "
                f"and at most {LARGEST:g} in size, and nothing was learned from it"
            )
        return reward


def _as_floats(given: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Python's own whole numbers of any size as floats, infinite beyond the largest."""
    if given.dtype.kind != "O" or not all(type(one) in (int, float) for one in given.flat):
        return given
    floats = [one if abs(one) <= LARGEST else math.inf for one in given.flat]
    return np.array(floats, dtype=np.float64).reshape(given.shape)
