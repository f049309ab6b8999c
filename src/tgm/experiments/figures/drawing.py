"""What a figure's function takes and gives: settings, a drawing, and a verdict on its claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["yes", "partly", "no"]
Value = TypeVar("Value")


@dataclass(frozen=True)
class Settings:
    """What the figures are drawn from.

    Attributes:
        seed: everything random follows from it.
        quick: fewer seeds and shorter lives, for a first look and for tests.
        results: a CSV file of learning curves, or a directory with one, for figure 13.
    """

    seed: int = 0
    quick: bool = False
    results: Path | None = None

    def choose(self, full: Value, quick: Value) -> Value:
        """The full setting, or the quick one."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Claim:
    """Something the paper says about a figure, and whether it holds here.

    Attributes:
        text: what the paper says.
        verdict: whether it holds.
        measured: the evidence, in a sentence with its numbers.
        numbers: the same numbers by name.
    """

    text: str
    verdict: Verdict
    measured: str
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with its words: what it is, what to see in it, what it says of the claims."""

    title: str
    figure: Figure
    see: str
    claims: tuple[Claim, ...]


def below(difference: float) -> str:
    """A small difference in words; its exact size is the machine's rounding and says nothing."""
    return "less than 1e-9" if difference < 1e-9 else f"{difference:.2g}"
