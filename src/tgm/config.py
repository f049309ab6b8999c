"""All settings of an agent, with the presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from tgm.errors import ConfigError
from tgm.planning.exploration import STRATEGIES

Structure = Literal["evidence", "mean_shift"]
Preset = Literal["default", "paper"]

if TYPE_CHECKING:
    Exploration = str
else:
    Exploration = Literal[tuple(STRATEGIES)]  # the names that the command line offers


@dataclass(frozen=True, repr=False)
class TGMConfig:
    """Settings of a TGMAgent. Every field is also a flag of `tgm train`, and a keyword of TGMAgent.

    >>> from tgm import TGMConfig
    >>> TGMConfig(gamma=0.95, exploration="greedy")
    TGMConfig(gamma=0.95, exploration='greedy')
    """

    structure: Structure = "evidence"
    """How states are found: moves weighed by evidence at every step, or mean shift now and then."""

    bandwidth: float | Literal["auto"] = "auto"
    """Radius within which observations count as one place (theta_b); "auto" learns it, feature by
    feature; with mean shift it is 0.5 unless a number is given."""

    kept_per_state: int = 20
    """Steps into each state that are remembered word by word; older ones stay in the counts."""

    row_prior: float = 0.5
    """Tries that the general belief about an action is worth in a state where it was not tried."""

    filtering: bool = True
    """Expect what the transitions predict; without it each observation is explained by itself."""

    half_life: float | None = None
    """Steps after which what was seen counts half, for worlds that change; None: never."""

    moves: bool = True
    """Merge and split states when the evidence asks for it."""

    reassign_steps: bool = True
    """Assign a kept step again when it lies far from its state."""

    displacement_prior: bool = True
    """Expect of an action that was not tried here what it did to the observation elsewhere."""

    max_states: int | None = None
    """At most so many states, finite Dirichlet weights; None: a Dirichlet process, up to 2000."""

    learn_every: int = 1
    """Steps between two learning steps; with mean shift each is a search for structure."""

    kl_threshold: float = 0.5
    """With mean shift: components whose KL divergence is below this are the same (theta_kl)."""

    fix_after: int = 4
    """With mean shift: a component found more often than this in a row is fixed (theta_counts)."""

    forget: bool = True
    """With mean shift: fold what fixed components have explained into the priors, and forget it."""

    transition_prior: float | None = None
    """With mean shift: pseudo-count b0 of every transition; None: 1 / number of states."""

    gamma: float = 0.99
    """Discount: what a reward is worth one step later."""

    learning_rate: float = 0.1
    """With mean shift: step size of Q-learning (alpha)."""

    exploration: Exploration = "optimism"
    """How actions are chosen while learning."""

    epsilon_decay: float = 2000.0
    """Steps after which epsilon has fallen to 1/e: epsilon = exp(-t / epsilon_decay)."""

    temperature: float = 1.0
    """Temperature of softmax exploration, in units of reward."""

    def __repr__(self) -> str:
        """The settings that differ from the defaults."""
        own = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        )
        return f"TGMConfig({own})"

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, np.generic | np.ndarray) and value.ndim == 0:
                object.__setattr__(self, name, value.item())  # of NumPy: as Python's own
        for name in ("learn_every", "fix_after", "kept_per_state"):
            _check(self, name, _is_count(getattr(self, name)), "a whole number above 0")
        if self.bandwidth != "auto":
            sane = _is_number(self.bandwidth, 1e-50, 1e50)
            _check(self, "bandwidth", sane, "a number above 0, or 'auto'")
        for name in ("row_prior", "kl_threshold", "epsilon_decay", "temperature"):
            _check(self, name, _is_positive(getattr(self, name)), "a finite number above 0")
        for name in ("transition_prior", "half_life"):
            value = getattr(self, name)
            _check(self, name, value is None or _is_positive(value), "above 0, or None")
        for name in ("moves", "reassign_steps", "displacement_prior", "filtering", "forget"):
            _check(self, name, isinstance(getattr(self, name), bool), "True or False")
        limit = self.max_states
        _check(self, "max_states", limit is None or _is_count(limit), "above 0, or None")
        _check(self, "gamma", _is_number(self.gamma, 0.0, 1.0), "a number from 0 to 1")
        rate_is_right = _is_positive(self.learning_rate) and self.learning_rate <= 1.0
        _check(self, "learning_rate", rate_is_right, "above 0 and at most 1")
        for name, known in (("exploration", tuple(STRATEGIES)), ("structure", get_args(Structure))):
            _check(self, name, getattr(self, name) in known, f"one of {', '.join(known)}")
        self._check_combination()

    def _check_combination(self) -> None:
        if self.structure == "evidence":
            # Planning for ever needs a future that is worth less and less.
            _check(self, "gamma", self.gamma < 1.0, "below 1 for planning with a model")
            return
        _check(self, "bandwidth", self.bandwidth != "auto", "a number with mean shift")
        model_free = [name for name, kind in STRATEGIES.items() if not kind.needs_model]
        wanted = f"one of {', '.join(model_free)} with mean shift and Q-learning"
        _check(self, "exploration", self.exploration in model_free, wanted)

    @classmethod
    def paper(cls, **changes: Any) -> TGMConfig:
        """The published procedure with its equations mended, and the published constants."""
        published: dict[str, Any] = {
            "structure": "mean_shift",
            "bandwidth": 0.5,
            "learn_every": 100,
            "exploration": "epsilon_greedy",
        }
        return cls(**(published | changes))

    @classmethod
    def preset(cls, name: str, **changes: Any) -> TGMConfig:
        """A preset by name, with some settings changed."""
        if name == "paper":
            return cls.paper(**changes)
        if name == "default":
            return cls(**changes)
        raise ConfigError(f"preset is '{name}'; there are default, paper")

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TGMConfig:
        """The settings that `to_dict` gave; unknown ones are refused by name."""
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise ConfigError(f"unknown settings {', '.join(unknown)}; written by another version?")
        return cls(**values)


def _check(config: TGMConfig, name: str, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise ConfigError(f"{name} is {getattr(config, name)!r}; it must be {wanted}")


def _is_number(value: object, low: float, high: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and low <= value <= high


def _is_positive(value: object) -> bool:
    return _is_number(value, math.ulp(0.0), math.inf)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
