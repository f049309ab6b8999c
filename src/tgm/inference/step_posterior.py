"""What one observation says of one step."""

from __future__ import annotations

from dataclasses import dataclass

from tgm.memory.step import Belief


@dataclass(slots=True)
class StepPosterior:
    """What one observation says.

    Attributes:
        entries: (state before, state after, probability).
        after: the belief in the known states.
        newness: probability of none of them, where one more is allowed.
        new_from: (state before, probability) that it was left for a new state.
        log_density: ln predictive density of the observation.
        outlier: probability that the observation belongs to no state.
    """

    entries: list[tuple[int, int, float]]
    after: Belief
    newness: float
    new_from: list[tuple[int, float]]
    log_density: float
    outlier: float = 0.0
