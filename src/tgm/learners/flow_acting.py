"""What to do in a world that flows: the greedy action, or a hopeful one if that promises more."""

from __future__ import annotations

import math

from tgm.distributions import FloatArray
from tgm.planning.flow_planner import Plan
from tgm.planning.imagination import IMAGINED

LOOK_FOR_HOPE = 5  # steps between two looks, where the newest plan is not the greedy one


class FlowActing:
    """Chooses actions in one episode after the other.

    Attributes:
        hopes: whether hopeful values are followed; None: undecided.
        best_until: the step until which nothing is left to gain.
    """

    def __init__(self) -> None:
        """No episode has begun."""
        self.hopes: bool | None = None
        self._held: int | None = None  # the greedy action, if it was chosen a step ago
        self.best_until = 0

    def begin(self) -> None:
        """An episode began."""
        self.hopes = self._held = None

    def choose(
        self,
        best: Plan,
        newest: Plan,
        point: FloatArray,
        n_steps: int,
        *,
        enough: float,
        lived_well: int,
    ) -> int:
        """By the hopeful values of the newest plan where they are clearly higher, else greedily.

        Args:
            best: the greedy plan.
            newest: the newest one.
            point: (1, n_features) an observation.
            n_steps: steps so far.
            enough: what imagined episodes are worth from which no other is better; infinite if
                imagination is not to be trusted.
            lived_well: steps for which life was as good as can be. After as many as are imagined
                a greedy action is held for two steps, as in those episodes.
        """
        held, self._held = self._held, None
        if held is not None and lived_well >= IMAGINED and enough < math.inf:
            return held
        if self.hopes is None or newest is best or n_steps % LOOK_FOR_HOPE == 0:
            greedy, hopeful = newest.action_values(point)
            promises = newest.promises_more(greedy[0], hopeful[0])
            self.hopes = promises and not (
                enough < math.inf and self._is_at_best(best, point, n_steps, enough, lived_well)
            )
            if not self.hopes and newest is best:
                self._held = int(greedy[0].argmax())
                return self._held
        elif self.hopes:
            hopeful = newest.action_values(point)[1]
        if self.hopes:
            return int(hopeful[0].argmax())
        self._held = int(best.action_values(point)[0][0].argmax())
        return self._held

    def _is_at_best(
        self, best: Plan, point: FloatArray, n_steps: int, enough: float, lived_well: int
    ) -> bool:
        """Whether nothing is left to hope for: no episode from here is better than greedy ones.

        It is asked again after some steps, and the more life has been as imagined, the later.
        """
        if lived_well == 0 or n_steps >= self.best_until:
            if best.imagined_return(best.outlook, point, enough) < enough:
                return False
            self.best_until = n_steps + max(IMAGINED // 2, lived_well)
        return True
