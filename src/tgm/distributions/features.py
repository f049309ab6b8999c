"""The features phi(x) = (1, x, upper triangle of x x^T), in coordinates centred on the data.

Both halves of a variational sweep are one matrix product with the features: log responsibilities
are phi @ theta, sums for the moments are resp.T @ phi.
"""

from dataclasses import dataclass
from functools import cache
from typing import Self

import numpy as np

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray


@cache
def upper_triangle(n_features: int) -> tuple[IntArray, IntArray]:
    """Rows and columns of the upper triangle; cached: to make them costs more than to use them."""
    rows, columns = np.triu_indices(n_features)
    rows.flags.writeable = columns.flags.writeable = False
    return rows, columns


@dataclass(frozen=True, eq=False)
class Features:
    """The features of N points.

    centre (O,): the origin of the coordinates.
    points (N, O): the points minus the centre.
    values (N, F): phi of these points, F = 1 + O + O (O + 1) / 2.
    """

    centre: FloatArray
    points: FloatArray
    values: FloatArray

    @classmethod
    def of_points(cls, points: FloatArray) -> Self:
        """The features of points (N, O) about their own mean."""
        centre = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
        centred = points - centre
        rows, columns = upper_triangle(points.shape[1])
        ones = np.ones((len(points), 1))
        values = np.hstack([ones, centred, centred[:, rows] * centred[:, columns]])
        return cls(centre=centre, points=centred, values=values)

    def take(self, selection: BoolArray | IntArray) -> Self:
        """The features of some of the points, about the same centre."""
        return type(self)(self.centre, self.points[selection], self.values[selection])


def symmetric(upper: FloatArray, n_features: int) -> FloatArray:
    """Symmetric matrices (K, O, O) from their upper triangles (K, O (O + 1) / 2)."""
    rows, columns = upper_triangle(n_features)
    matrices = np.empty((len(upper), n_features, n_features))
    matrices[:, rows, columns] = upper
    matrices[:, columns, rows] = upper
    return matrices
