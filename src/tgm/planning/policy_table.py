"""The greedy policy of a plan as a table: values of actions at support points, with their slopes.

To read it at the nearest support point costs a tenth of looking ahead by the laws.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray
from tgm.planning.flow_planner import Plan


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
    def of(cls, plan: Plan) -> PolicyTable:
        """Slopes are differences between points half of the finest spacing to each side."""
        points, aside = plan.support.points, 0.5 * plan.support.finest

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
