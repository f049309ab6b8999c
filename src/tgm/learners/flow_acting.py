"""What to do in a world that flows: the greedy action, or a hopeful one if that promises more."""

from __future__ import annotations

from tgm.distributions import FloatArray
from tgm.planning.flow_planner import IMAGINED, Plan

LOOK_FOR_HOPE = 5  # steps between two looks, where the newest plan is not the greedy one


class FlowActing:
    """Chooses actions in one episode after the other.

    Attributes:
        hopes: whether hopeful values are followed; None: undecided.
    """

    def __init__(self) -> None:
        """No episode has begun."""
        self.begin()

    def begin(self) -> None:
        """An episode began."""
        self.hopes: bool | None = None
        self._held: int | None = None  # the greedy action, if it was chosen a step ago
        self._best_until = 0  # the step until which nothing is left to gain

    def choose(
        self,
        best: Plan,
        newest: Plan,
        point: FloatArray,
        n_steps: int,
        *,
        enough: float,
        is_settled: bool,
    ) -> int:
        """By the hopeful values of the newest plan where they are clearly higher, else greedily.

        Args:
            best: the greedy plan.
            newest: the newest one.
            point: (1, n_features) an observation.
            n_steps: steps so far.
            enough: what imagined episodes are worth from which no other is better.
            is_settled: whether life is as good as can be: then a greedy action is held for two
                steps, as in the imagined episodes that are as good.
        """
        held, self._held = self._held, None
        if held is not None and is_settled:
            return held
        if self.hopes is None or newest is best or n_steps % LOOK_FOR_HOPE == 0:
            greedy, hopeful = newest.action_values(point)
            promises = newest.promises_more(greedy[0], hopeful[0])
            self.hopes = promises and not self._is_at_best(best, point, n_steps, enough)
            if not self.hopes and newest is best:
                self._held = int(greedy[0].argmax())
                return self._held
        elif self.hopes:
            hopeful = newest.action_values(point)[1]
        if self.hopes:
            return int(hopeful[0].argmax())
        self._held = int(best.action_values(point)[0][0].argmax())
        return self._held

    def _is_at_best(self, best: Plan, point: FloatArray, n_steps: int, enough: float) -> bool:
        """Whether nothing is left to hope for: no episode from here is better than greedy ones."""
        if n_steps >= self._best_until:
            if best.imagined_return(best.outlook, point, enough) < enough:
                return False
            self._best_until = n_steps + IMAGINED // 2
        return True
