"""What the agent can see and do: spaces of any finite kind as one flat vector, and as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent.action_table import MOST_ACTION, ActionTable
from tgm.agent.layout import FEW, MOST_NUMBERS, MOST_PARTS, NUMERIC, Part, as_floats, parts_of
from tgm.distributions import BoolArray, FloatArray
from tgm.errors import DataError, SpaceError
from tgm.files.arrays import LARGEST
from tgm.learners.limits import MOST_FEATURES

MOST_NAMED = 1000  # features: the environment's own names of more of them are not kept
FLOATS = np.dtype(np.float64)


@dataclass(frozen=True)
class Interface:
    """The shape of an environment's observations and actions.

    Attributes:
        n_features: length of an observation, as one flat vector.
        n_actions: number of actions.
        first_action: the environment's number for action 0, if it takes one number.
        action_names: what a person calls the actions.
        parts: of the observation, in the order of the vector.
        actions: which action of the environment each index stands for.
        given_names: what the environment calls the features; () if it does not say.
    """

    n_features: int
    n_actions: int
    first_action: int
    action_names: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    actions: ActionTable = field(default=ActionTable((0,), (0,)))
    given_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.parts:  # a flat Box
            object.__setattr__(self, "parts", (Part((), "box", (self.n_features,)),))
        if self.actions.n_actions != self.n_actions:
            object.__setattr__(
                self, "actions", ActionTable((self.first_action,), (self.n_actions,))
            )

    @classmethod
    def of(cls, env: gym.Env[Any, Any]) -> Interface:
        """The interface of an environment, or a SpaceError that names the space."""
        world = env.unwrapped
        for name in ("observation_space", "action_space"):
            if not isinstance(getattr(env, name, None), gym.Space):
                raise SpaceError(
                    f"the environment has no {name}; give it one of gymnasium.spaces in __init__"
                )
        given_actions = getattr(world, "action_names", None)
        given_features = getattr(world, "feature_names", None)
        return cls.of_spaces(env.observation_space, env.action_space, given_actions, given_features)

    @classmethod
    def of_spaces(
        cls,
        observation_space: gym.Space[Any],
        action_space: gym.Space[Any],
        action_names: Any = None,
        feature_names: Any = None,
    ) -> Interface:
        """The interface of two spaces; names that do not fit them are not used."""
        parts = parts_of(observation_space)
        n_features = sum(part.size for part in parts)
        of_boxes = sum(part.size for part in parts if not part.is_categorical)
        if of_boxes > MOST_FEATURES:
            raise SpaceError(
                f"an observation has {of_boxes} features in a Box; at most {MOST_FEATURES} can "
                "be used: choose or compute fewer (gymnasium.wrappers.TransformObservation)"
            )
        actions = ActionTable.of(action_space)
        names, given = actions.names(action_names), feature_names
        fits = isinstance(given, Sequence) and len(given) == n_features <= MOST_NAMED
        fits = fits and len({str(name) for name in given or ()}) == n_features  # all different
        given = tuple(str(name) for name in given) if fits and given is not None else ()
        return cls(n_features, actions.n_actions, actions.starts[0], names, parts, actions, given)

    def named(
        self, feature_names: Sequence[str] | None, action_names: Sequence[str] | None
    ) -> Interface:
        """The same with these names of features and actions; None keeps what there is."""
        given = {
            "feature": (feature_names, self.n_features),
            "action": (action_names, self.n_actions),
        }
        kept: dict[str, tuple[str, ...]] = {}
        for kind, (names, n) in given.items():
            if names is None:
                continue
            kept[kind] = tuple(map(str, [names] if isinstance(names, str) else names))
            if len(set(kept[kind])) != n or len(kept[kind]) != n:
                raise SpaceError(
                    f"{kind}_names are {kept[kind]!r:.200}; wanted {n} different names, one for "
                    f"each {kind}"
                )
        if len(kept.get("feature", ())) > MOST_NAMED:
            raise SpaceError(f"feature_names: at most {MOST_NAMED} names are kept")
        return replace(
            self,
            given_names=kept.get("feature", self.given_names),
            action_names=kept.get("action", self.action_names),
        )

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Interface:
        """What `to_dict` wrote, checked; files of version 0.1 know flat Boxes only."""
        n_features, n_actions, first_action = (
            int(values[key]) for key in ("n_features", "n_actions", "first_action")
        )
        names = tuple(str(name) for name in values["action_names"])
        if n_features < 1 or n_actions < 1 or len(names) != n_actions:
            raise SpaceError(f"an interface of {n_features} features and {n_actions} actions")
        if not -MOST_ACTION <= first_action <= MOST_ACTION:
            raise SpaceError(f"an interface whose first action is {first_action}")
        saved = values.get("parts") or [{"path": [], "kind": "box", "shape": [n_features]}]
        parts = tuple(Part.from_dict(part) for part in saved[: MOST_PARTS + 1])
        sizes = [part.size for part in parts]
        in_boxes = sum(part.size for part in parts if not part.is_categorical)
        fits = sum(sizes) == n_features <= MOST_NUMBERS and len(parts) <= MOST_PARTS
        if not fits or in_boxes > MOST_FEATURES:
            raise SpaceError(f"an interface of {n_features} features in {len(parts)} parts")
        flat = {"starts": [first_action], "counts": [n_actions], "is_array": False}
        actions = ActionTable.from_dict(values.get("actions") or flat)
        if actions.n_actions != n_actions or actions.starts[0] != first_action:
            raise SpaceError(f"an interface of {n_actions} actions and {actions.counts}")
        given = tuple(str(name) for name in values.get("given_names") or ())
        if len(given) not in (0, n_features):
            raise SpaceError(f"an interface of {n_features} features and {len(given)} names")
        return cls(n_features, n_actions, first_action, names, parts, actions, given)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return asdict(self)

    def fits(self, other: Interface) -> bool:
        """Whether an agent for one environment fits the other; names do not matter."""
        return self.parts == other.parts and self.actions == other.actions

    def check_fits(self, other: Interface) -> None:
        """A SpaceError if an agent for this does not fit the other."""
        if not self.fits(other):
            raise SpaceError(
                f"the agent is of another environment: it has learned with {self.summary}, and "
                f"this one has {other.summary}"
            )

    @property
    def summary(self) -> str:
        """Its sizes in words."""
        shapes = ", ".join(f"{part.kind} {list(part.shape)}" for part in self.parts[:3])
        return f"observations of {self.n_features} features ({shapes}) and {self.n_actions} actions"

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """(n_features,) what a person calls the features."""
        return self.given_names or tuple(
            part.feature_name(index) for part in self.parts for index in range(part.size)
        )

    @cached_property
    def is_categorical(self) -> BoolArray:
        """(n_features,) whether the space says that a feature is a name, not an amount."""
        return np.repeat(
            [part.is_categorical for part in self.parts], [part.size for part in self.parts]
        )

    @cached_property
    def indices(self) -> range:
        """The actions as the agent numbers them."""
        return range(self.n_actions)

    # --- observations -----------------------------------------------------------------------------

    def observation(self, values: object, where: str) -> FloatArray:
        """(n_features,) a checked observation, or a DataError that names place and feature."""
        plain = self._plain(values)
        if plain is not None:
            return plain
        if len(self.parts) == 1:
            part = self.parts[0]
            return part.numbers(part.of(values, where) if part.path else values, where)
        return np.concatenate([part.numbers(part.of(values, where), where) for part in self.parts])

    def observations(self, values: Any, where: str) -> tuple[FloatArray, bool]:
        """(n, n_features) of one observation or a batch, checked; and whether it is a batch.

        A batch has one more dimension in each part, as vectorised environments give them.
        """
        first = self.parts[0]
        try:
            leaf = first.of(values, where)
            is_batch = np.ndim(leaf) == len(first.shape) + 1
        except ValueError:
            if isinstance(values, tuple) and isinstance(values[-1], dict):
                raise DataError(
                    f"{where}: a tuple that ends with a dictionary is what reset or step of an "
                    "environment returned; give its first part, the observation"
                ) from None
            raise DataError(f"{where}: the rows of the batch differ in length") from None
        if not is_batch:
            return self.observation(values, where)[None], False
        rows = [
            self.observation(self._row(values, index, where), f"{where}, row {index}")
            for index in range(len(leaf))
        ]
        return np.array(rows).reshape(len(rows), self.n_features), True

    def _row(self, values: Any, index: int, where: str) -> Any:
        """One observation of a batch."""
        if isinstance(values, dict):
            return {key: self._row(part, index, where) for key, part in values.items()}
        if isinstance(values, tuple):
            return tuple(self._row(part, index, where) for part in values)
        try:
            return values[index]
        except (IndexError, TypeError):
            raise DataError(f"{where}: the parts of the batch differ in length") from None

    def outcome(self, values: object, reward: object, where: str) -> tuple[FloatArray, float]:
        """A checked observation and a checked reward."""
        return self.observation(values, where), self.reward(reward, where)

    def plain_outcome(self, values: object, reward: object) -> tuple[FloatArray, float] | None:
        """The same of an ordinary observation and reward; None if they must be looked at."""
        if type(reward) is float and -LARGEST <= reward <= LARGEST:  # NaN is not
            plain = self._plain(values)
            if plain is not None:
                return plain, reward
        return None

    def _plain(self, values: object) -> FloatArray | None:
        """(n_features,) an ordinary observation of a flat Box; None if it must be looked at."""
        if type(values) is not np.ndarray or values.shape != self._plain_shape:
            return None
        if values.dtype is FLOATS:
            numbers = values.copy()
        elif values.dtype.kind in NUMERIC:
            numbers = values.astype(FLOATS)
        else:
            return None
        for number in numbers.tolist():
            if not -LARGEST <= number <= LARGEST:  # NaN is not
                return None
        return numbers

    @cached_property
    def _plain_shape(self) -> tuple[int, ...] | None:
        """The shape of an observation that is one flat Box of few numbers; None if it is not."""
        first = self.parts[0]
        is_flat = not first.path and first.kind == "box" and len(first.shape) == 1
        return first.shape if is_flat and first.size <= FEW else None

    def reward(self, value: object, where: str) -> float:
        """A checked reward, or a DataError that names the place."""
        if type(value) is float:
            reward = value
        else:
            try:
                given = as_floats(np.asarray(value))
            except ValueError:
                given = np.empty(0)
            if given.dtype.kind not in NUMERIC or given.size != 1 or np.ma.is_masked(value):
                raise DataError(f"{where}: the reward {value!r:.100} is not one number")
            reward = float(given.item())
        if not -LARGEST <= reward <= LARGEST:  # NaN is not
            raise DataError(
                f"{where}: the reward is {reward}; it must be finite "
                f"and at most {LARGEST:g} in size; the agent is unchanged"
            )
        return reward
