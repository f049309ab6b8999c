"""All settings of an agent, with the presets."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from tgm.errors import ConfigError

Exploration = Literal["epsilon_greedy", "softmax", "greedy"]
Preset = Literal["default", "paper"]


@dataclass(frozen=True)
class TGMConfig:
    """Settings of a TGMAgent. Every field is also a flag of `tgm train`."""

    learn_every: int = 100
    """Steps between two searches for structure."""

    bandwidth: float = 0.5
    """Radius within which observations count as one place: the window of mean shift (theta_b)."""

    kl_threshold: float = 0.5
    """Two components whose KL divergence is below this are the same (theta_kl)."""

    fix_after: int = 4
    """A component found more often than this in a row becomes fixed (theta_counts)."""

    forget: bool = True
    """Fold what fixed components have explained into the priors and forget it."""

    transition_prior: float | None = None
    """Pseudo-count b0 of every transition; None means one divided by the number of states."""

    gamma: float = 0.99
    """Discount: what a reward is worth one step later."""

    learning_rate: float = 0.1
    """Step size of Q-learning (alpha)."""

    exploration: Exploration = "epsilon_greedy"
    """How actions are chosen while learning."""

    epsilon_decay: float = 2000.0
    """Steps after which epsilon has fallen to 1/e: epsilon = exp(-t / epsilon_decay)."""

    temperature: float = 1.0
    """Temperature of softmax exploration, in units of reward."""

    def __post_init__(self) -> None:
        for name in ("learn_every", "fix_after"):
            _check(self, name, _is_count(getattr(self, name)), "a whole number above 0")
        for name in ("bandwidth", "kl_threshold", "epsilon_decay", "temperature"):
            _check(self, name, _is_positive(getattr(self, name)), "a finite number above 0")
        if self.transition_prior is not None:
            _check(
                self, "transition_prior", _is_positive(self.transition_prior), "above 0, or None"
            )
        _check(self, "gamma", _is_number(self.gamma, 0.0, 1.0), "a number from 0 to 1")
        rate_is_right = _is_positive(self.learning_rate) and self.learning_rate <= 1.0
        _check(self, "learning_rate", rate_is_right, "above 0 and at most 1")
        known = Exploration.__args__  # type: ignore[attr-defined]
        _check(self, "exploration", self.exploration in known, f"one of {', '.join(known)}")

    @classmethod
    def paper(cls, **changes: Any) -> TGMConfig:
        """The published procedure with its equations mended, and the published constants."""
        return replace(cls(), **changes)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> TGMConfig:
        """A preset by name, with some settings changed."""
        if name == "paper":
            return cls.paper(**changes)
        if name == "default":
            return cls(**changes)
        raise ConfigError(f"preset is '{name}'; there are default, paper")

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TGMConfig:
        """The settings that `dataclasses.asdict` wrote; unknown ones are refused by name."""
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
