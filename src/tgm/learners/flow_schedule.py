"""When to plan in a world that flows: the time for plans is bounded by the number of steps."""

from __future__ import annotations

from typing import NamedTuple

SOONEST = 30  # steps between two plans
AFTER_EPISODE = 10  # steps between two plans at the end of an episode, in the first FEW_STEPS
FEW_STEPS = 400  # steps of a run in which plans are made at ends of episodes
LONGEST = 4000  # steps between two plans: those that are new are all kept until then
PACE = 10  # support points of a plan for each step until the next: bounds the cost
FIRST_PACE = 25  # support points for each step while nothing was found: plans are not compared then


class SincePlan(NamedTuple):
    """What has happened since the last plan.

    Attributes:
        n_steps: steps in all.
        n_new: steps since the plan.
        n_points: support points that it has.
        has_found: whether a reward or an end was known, so that it was compared with another.
        episode_ended: whether the last step was the last of its episode.
    """

    n_steps: int
    n_new: int
    n_points: int
    has_found: bool
    episode_ended: bool

    def is_due(self, growth: float) -> bool:
        """Whether to plan: when the steps have grown by a share, sooner if they are few."""
        pace = PACE if self.has_found else FIRST_PACE
        if pace * self.n_new < self.n_points:
            return False
        if self.episode_ended and self.n_steps < FEW_STEPS and self.n_new >= AFTER_EPISODE:
            return True
        return self.n_new >= min(LONGEST, max(SOONEST, growth * self.n_steps))
