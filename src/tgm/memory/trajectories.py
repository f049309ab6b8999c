"""The observations that the agent keeps, and the actions between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError

NO_ACTION = -1  # in place of an action, where the next kept point is not the next one in time


@dataclass(frozen=True)
class Transitions:
    """Steps between kept points that are neighbours in time.

    Attributes:
        before, after: (n_transitions,) indices of points.
        actions: (n_transitions,) the action between them.
    """

    before: IntArray
    actions: IntArray
    after: IntArray

    def where(self, chosen: BoolArray) -> Transitions:
        """The steps for which `chosen` (n_transitions,) is true."""
        return Transitions(self.before[chosen], self.actions[chosen], self.after[chosen])


class Trajectories:
    """The kept points, in the order of time.

    `actions[n]` is the action that led from point n to point n + 1, or NO_ACTION where the next
    point of the array is not the next one in time (a trial ended, or a neighbour was forgotten).
    """

    def __init__(self, n_features: int) -> None:
        """Start without points."""
        self._points = np.empty((64, n_features))
        self._actions = np.full(64, NO_ACTION, dtype=np.intp)
        self._n_points = 0
        self._trial_is_open = False

    def __len__(self) -> int:
        return self._n_points

    @property
    def points(self) -> FloatArray:
        """(n_points, n_features) kept observations."""
        return self._points[: self._n_points]

    @property
    def actions(self) -> IntArray:
        """(n_points,) the action after each point, or NO_ACTION."""
        return self._actions[: self._n_points]

    @property
    def has_next(self) -> BoolArray:
        """(n_points,) whether the next point of the array is the next one in time."""
        return np.not_equal(self.actions, NO_ACTION)

    @property
    def transitions(self) -> Transitions:
        """The steps between kept neighbours."""
        before = np.flatnonzero(self.has_next)
        return Transitions(before, self._actions[before], before + 1)

    @property
    def newest_is_open(self) -> bool:
        """Whether the trial of the newest point goes on: the next action is not known yet."""
        return self._trial_is_open and self._n_points > 0

    def begin_trial(self, observation: FloatArray) -> None:
        """Keep the first observation of a trial."""
        self._append(observation)
        self._trial_is_open = True

    def add_step(self, action: int, observation: FloatArray) -> None:
        """Keep an action and the observation after it."""
        self._actions[self._n_points - 1] = action
        self._append(observation)

    def end_trial(self) -> None:
        """End the trial: the newest point has no successor."""
        self._trial_is_open = False

    def forget(self, chosen: BoolArray) -> None:
        """Remove the points where `chosen` (n_points,) is true, and the steps to and from them."""
        actions = self._actions[: self._n_points]
        followed_by_forgotten = np.append(chosen[1:], False)
        actions[followed_by_forgotten] = NO_ACTION
        kept = ~chosen
        n_kept = int(kept.sum())
        self._points[:n_kept] = self.points[kept]
        self._actions[:n_kept] = actions[kept]
        self._actions[n_kept : self._n_points] = NO_ACTION
        self._n_points = n_kept

    def restore(self, points: FloatArray, actions: IntArray) -> None:
        """Set points (n_points, n_features) and actions (n_points,) read from a file."""
        n_features = self._points.shape[1]
        if points.ndim != 2 or points.shape[1] != n_features:
            raise DataError(f"kept points have shape {points.shape}; wanted (n, {n_features})")
        if actions.shape != (len(points),):
            raise DataError(f"kept actions have shape {actions.shape}; wanted ({len(points)},)")
        if (actions[-1:] != NO_ACTION).any():
            raise DataError(
                f"kept actions end with {actions[-1]}; the newest point has no successor, "
                f"so that the last action must be {NO_ACTION}"
            )
        self._points = np.concatenate([points, np.empty((64, n_features))])
        self._actions = np.concatenate([actions, np.full(64, NO_ACTION, dtype=np.intp)])
        self._n_points = len(points)
        self._trial_is_open = False

    def _append(self, observation: FloatArray) -> None:
        if self._n_points == len(self._points):
            self._points = np.concatenate([self._points, np.empty_like(self._points)])
            self._actions = np.concatenate([self._actions, np.full_like(self._actions, NO_ACTION)])
        self._points[self._n_points] = observation
        self._n_points += 1
