"""Steps of a world that flows, and coordinates in which the world is about as wide as one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.transition.flow_chart import Chart

EDGE = 1  # per cent of the observations that lie below 0 and above 1 in each coordinate
FLAT = 1e-10  # variance of a direction, in that of all, below which nothing varies in it
LINEAR_REST = 1e-4  # share of the displacement that a linear function may leave unexplained
APART = 0.1  # least singular value of positions and speeds of length one that are coordinates
TINY = 1e-300  # instead of a length of zero


class Steps(NamedTuple):
    """Steps in order of time.

    Attributes:
        departure, arrival: (n, n_features) observations before and after.
        action: (n,) indices.
        reward: (n,)
        ended: (n,) whether the episode terminated.
    """

    departure: FloatArray
    action: IntArray
    reward: FloatArray
    arrival: FloatArray
    ended: BoolArray

    @property
    def points(self) -> FloatArray:
        """(2 n, n_features) where they began, then where they led."""
        return np.concatenate([self.departure, self.arrival])

    def chosen(self, which: IntArray | BoolArray | slice) -> Steps:
        """Some of them."""
        return Steps(
            self.departure[which],
            self.action[which],
            self.reward[which],
            self.arrival[which],
            self.ended[which],
        )


class FlowUnits(NamedTuple):
    """Coordinates z with x = origin + z axes, in which most observations are from 0 to 1.

    With a chart, x are the chart's coordinates of an observation, which may be fewer.

    Attributes:
        origin: (n_features,) where all coordinates are zero.
        axes: (n_features, n_features) what one of each coordinate adds to an observation.
        inverse: (n_features, n_features) of the axes.
        chart: of observations; None where each feature is a coordinate.
    """

    origin: FloatArray
    axes: FloatArray
    inverse: FloatArray
    chart: Chart | None = None

    @classmethod
    def of_motion(cls, steps: Steps) -> FlowUnits:
        """Positions and their speeds: the same, however observations are mixed.

        A position is a direction in which the displacement is a linear function of where a step
        began, whatever the action; that function is its speed. In the other directions, and
        among positions, axes go from the slowest to the fastest: in them neither the observations
        nor the displacements are correlated.
        """
        plain = cls.of_features(steps)
        local = plain.seen(steps)
        centre = local.points.mean(axis=0)
        values, vectors = np.linalg.eigh(
            np.cov((local.points - centre).T, ddof=0).reshape(len(centre), -1)
        )
        varies = values > FLAT * values[-1]
        if not varies.any():
            return plain
        white = vectors[:, varies] / np.sqrt(values[varies])
        z, moved = (local.departure - centre) @ white, (local.arrival - local.departure) @ white
        chosen = _positions_and_speeds(z, moved)
        # Where nothing varies, nothing is stretched.
        inverse = np.concatenate([white @ chosen, vectors[:, ~varies]], axis=1)
        low, span = _spans(local.points @ inverse)
        inverse = inverse / span
        axes = np.linalg.inv(inverse)
        return cls(
            plain.origin + ((low / span) @ axes) @ plain.axes,
            axes @ plain.axes,
            plain.inverse @ inverse,
        )

    @classmethod
    def of_features(cls, steps: Steps) -> FlowUnits:
        """Each feature is an axis."""
        low, span = _spans(steps.points)
        return cls(low, np.diag(span), np.diag(1.0 / span))

    @property
    def features(self) -> FloatArray:
        """(n_features, n_features) a row for each feature: what it adds of the coordinates."""
        length = np.sqrt(np.square(self.axes).sum(axis=0))
        return np.asarray((self.axes / length).T)

    def charted(self, points: FloatArray) -> FloatArray:
        """Observations in the coordinates of the chart; themselves if there is none."""
        return points if self.chart is None else self.chart.local(points)

    def local(self, points: FloatArray) -> FloatArray:
        """Observations in these units."""
        return (self.charted(points) - self.origin) @ self.inverse

    def observations(self, local: FloatArray) -> FloatArray:
        """What has these coordinates."""
        found = local @ self.axes + self.origin
        return found if self.chart is None else self.chart.observations(found)

    def moved(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """Displacement in these units between points in the coordinates of the chart."""
        moved = after - before if self.chart is None else self.chart.moved(before, after)
        return moved @ self.inverse

    def time(self, observation: FloatArray) -> float:
        """What the clock of an observation (n_features,) shows; -inf if there is none."""
        if self.chart is None or not self.chart.pace:
            return -np.inf
        return float(self.chart.time(observation))

    def covariances(self, local: FloatArray, spread: FloatArray) -> FloatArray:
        """(n, n_features, n_features) of observations about points, which have such covariances.

        Args:
            local: (n, n_coordinates)
            spread: (n, n_coordinates, n_coordinates) in these units.
        """
        covariance = self.axes.T @ spread @ self.axes
        if self.chart is None:
            return np.asarray(covariance)
        return self.chart.covariances(local @ self.axes + self.origin, covariance)

    def seen(self, steps: Steps) -> Steps:
        """Steps in these units; an arrival is as far from its departure as the step moved."""
        if self.chart is not None:
            steps = charted(steps, self.chart)
        plain = self.plain
        return steps._replace(
            departure=plain.local(steps.departure), arrival=plain.local(steps.arrival)
        )

    @property
    def is_plain(self) -> bool:
        """Whether each coordinate is one feature."""
        return bool((self.axes == np.diag(np.diag(self.axes))).all())

    @property
    def plain(self) -> FlowUnits:
        """The same for what is in the coordinates of the chart."""
        return self._replace(chart=None)


def charted(steps: Steps, chart: Chart) -> Steps:
    """Steps in the coordinates of a chart; an arrival is as far from its departure as it moved."""
    departure = chart.local(steps.departure)
    arrival = departure + chart.moved(departure, chart.local(steps.arrival))
    return steps._replace(departure=departure, arrival=arrival)


def _positions_and_speeds(z: FloatArray, moved: FloatArray) -> FloatArray:
    """(n_features, n_features) columns: coordinates of white points z (n, n_features)."""
    inputs = np.concatenate([np.ones((len(z), 1)), z], axis=1)
    weights = np.linalg.lstsq(inputs, moved, rcond=None)[0]
    off = moved - inputs @ weights
    motion = moved.T @ moved
    slow = np.linalg.eigh(motion)[1]
    try:
        share, directions = eigh(off.T @ off, motion)
    except np.linalg.LinAlgError:  # something does not move
        return np.asarray(slow)
    basis = np.linalg.qr(directions[:, share < LINEAR_REST])[0]
    positions = basis @ np.linalg.eigh(basis.T @ motion @ basis)[1]
    speeds = weights[1:] @ positions
    found = np.concatenate([positions, speeds], axis=1)
    found /= np.maximum(np.linalg.norm(found, axis=0), TINY)
    if 2 * basis.shape[1] > len(slow) or np.linalg.svd(found)[1].min(initial=1.0) < APART:
        return np.asarray(slow)
    rest = np.linalg.svd(found.T)[2][found.shape[1] :].T  # orthogonal to what was found
    rest = rest @ np.linalg.eigh(rest.T @ motion @ rest)[1]
    return np.concatenate([found, rest], axis=1)


def _spans(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(n_features,) where most values begin, and how far they reach; one if they do not vary."""
    low, high = np.percentile(points, [EDGE, 100 - EDGE], axis=0)
    whole = np.ptp(points, axis=0)
    return low, np.where(high > low, high - low, np.where(whole > 0.0, whole, 1.0))
