"""A finding about a run: what is wrong, what is unusual, what is sound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["good", "note", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        level: how bad it is.
        title: about three words.
        text: one or two sentences.
        ids: the components that it concerns.
        step: the step that it concerns, if there is one.
    """

    level: Level
    title: str
    text: str
    ids: tuple[int, ...] = ()
    step: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "level": self.level,
            "title": self.title,
            "text": self.text,
            "ids": list(self.ids),
            "step": self.step,
        }


def worst_first(found: list[Finding]) -> list[Finding]:
    """The findings, problems first and good news last."""
    order = ("problem", "warning", "note", "good")
    return sorted(found, key=lambda finding: order.index(finding.level))


def serious(found: Sequence[Finding]) -> tuple[str, ...]:
    """Titles of what is wrong with the learning, for lists that show the state of the run too."""
    return tuple(
        finding.title
        for finding in found
        if finding.level in ("warning", "problem") and not finding.title.startswith("The run ")
    )
