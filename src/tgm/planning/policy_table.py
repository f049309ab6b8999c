"""The greedy policy of a plan as a table: values of actions at support points, with their slopes.

To read it at the nearest support point costs a tenth of looking ahead by the laws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.planning.flow_planner import Plan
from tgm.planning.imagination import LONG_IMAGINED, SURE_END


class PolicyTable(NamedTuple):
    """Planes of the greedy values of actions, one about each support point.

    Attributes:
        points: (n_points, n_coordinates) the support points.
        values: (n_points, n_actions) there.
        slopes: (n_points, n_actions, n_coordinates) of the values.
    """

    points: FloatArray
    values: FloatArray
    slopes: FloatArray

    @classmethod
    def of(cls, plan: Plan, width: float = 1.0) -> PolicyTable:
        """Slopes are differences across so many of the finest spacings to each side."""
        points, aside = plan.support.points, width * plan.support.finest

        def greedy(z: FloatArray) -> FloatArray:
            return plan.action_values(plan.units.observations(z))[0]

        slopes = [
            (greedy(points + step) - greedy(points - step)) / (2.0 * aside)
            for step in aside * np.eye(points.shape[1])
        ]
        return cls(points, greedy(points), np.stack(slopes, axis=2))

    def action(self, nearest: int, z: FloatArray) -> int:
        """The best action at z (n_coordinates,), next to a support point."""
        values = self.values[nearest] + self.slopes[nearest] @ (z - self.points[nearest])
        return int(values.argmax())

    def actions(self, nearest: IntArray, z: FloatArray) -> IntArray:
        """(n,) the same at points z (n, n_coordinates)."""
        off = (z - self.points[nearest])[:, :, None]
        values = self.values[nearest] + (self.slopes[nearest] @ off)[:, :, 0]
        return np.asarray(values.argmax(axis=1))

    def loses_nothing(self, plan: Plan, starts: FloatArray, least: float) -> bool:
        """Whether long imagined episodes from observations end nowhere, with rewards from `least`.

        Args:
            plan: whose table it is.
            starts: (n, n_features)
            least: a reward that is as good as the highest one.
        """
        z = plan.units.local(starts)
        for _ in range(LONG_IMAGINED):
            actions = self.actions(plan.interpolation.nearest(z), z)
            z, p_end, reward = plan.model.advance(z, actions)
            if (p_end > SURE_END).any() or not plan.seen.holds(z).all() or reward.min() < least:
                return False
        return True
