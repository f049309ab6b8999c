"""Input and output of a function that draws a figure: settings, drawing, claims with verdicts."""

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
    """Settings of all figures.

    Attributes:
        seed: seed of all random numbers.
        quick: fewer seeds and shorter runs, for tests and previews.
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
    """A statement of the paper about a figure, and whether our data confirm it.

    Attributes:
        text: the statement.
        verdict: whether our data confirm it.
        measured: the evidence, in a sentence with its numbers.
        numbers: the same numbers by name.
    """

    text: str
    verdict: Verdict
    measured: str
    numbers: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with its title, a description of what it shows, and the claims."""

    title: str
    figure: Figure
    see: str
    claims: tuple[Claim, ...]


def below(difference: float) -> str:
    """A difference as text; one below 1e-9 is rounding, and its digits mean nothing."""
    return "less than 1e-9" if difference < 1e-9 else f"{difference:.2g}"
