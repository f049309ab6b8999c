"""Acting in a world that flows: by two plans, and each action for as long as its value assumes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray
from tgm.planning.flow_planner import HELD_IN_ACTING, Plan

LOOK_FOR_HOPE = 5  # steps between two looks, where the newest plan is not the greedy one


class _Held(NamedTuple):
    """An action that is held.

    Attributes:
        action: index.
        plan: by which it was chosen.
        start: (n_features,) where that was, in the units of the plan.
        n_left: steps for which it may still be held.
    """

    action: int
    plan: Plan
    start: FloatArray
    n_left: int


class FlowActor:
    """What was decided in this episode.

    The value of an action is that of holding it for HELD_IN_ACTING steps, unless it has left the
    neighbourhood of the point before. So it is held when there are many steps, and half of them
    need no decision. While there are few, a decision at each step shows more of the world.
    """

    def __init__(self) -> None:
        """Nothing was decided."""
        self._held: _Held | None = None
        self._hopes: bool | None = None  # whether hopeful values are followed; None: undecided
        self._looked_at = 0  # the step at which that was decided

    def begin(self) -> None:
        """An episode begins, or there is another plan: decide at the next step."""
        self._held = self._hopes = None

    def choose(
        self, best: Plan, newest: Plan, point: FloatArray, n_steps: int, *, holds: bool
    ) -> int:
        """An action at an observation (n_features,): the one that is held, or another.

        Args:
            best: the greedy plan.
            newest: is followed where its hopeful value is clearly higher.
            point: the observation.
            n_steps: number of steps before.
            holds: whether actions are held.
        """
        held = self._held
        if holds and held is not None and held.n_left:
            moved = held.plan.units.local(point) - held.start
            if float(moved @ moved) <= held.plan.support.spacing**2:
                self._held = held._replace(n_left=held.n_left - 1)
                return held.action
        action, plan = self._decided(best, newest, point[None], n_steps)
        self._held = _Held(action, plan, plan.units.local(point), HELD_IN_ACTING - 1)
        return action

    def _decided(
        self, best: Plan, newest: Plan, point: FloatArray, n_steps: int
    ) -> tuple[int, Plan]:
        """By the hopeful values where they are clearly higher, else by the greedy plan."""
        is_due = self._hopes is None or n_steps - self._looked_at >= LOOK_FOR_HOPE
        if is_due or self._hopes or newest is best:
            greedy, hopeful = newest.action_values(point)
            if is_due or newest is best:
                self._hopes, self._looked_at = newest.promises_more(greedy[0], hopeful[0]), n_steps
            if self._hopes:
                return int(np.argmax(hopeful[0])), newest
            if newest is best:
                return int(np.argmax(greedy[0])), best
        return int(np.argmax(best.action_values(point)[0][0])), best
