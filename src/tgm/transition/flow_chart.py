"""Coordinates of a world that flows: fewer than the features where some say nothing of their own.

Two features on a circle are one angle. A clock is no coordinate: no action changes how it goes on.
Nor is a flag that tells on which side of thresholds the others are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray


class Circle(NamedTuple):
    """Two features on a circle about zero.

    Attributes:
        across, along: the features that are radius times cosine and sine of an angle.
        radius: of the circle.
        middle: the angle that is zero as a coordinate; opposite of it least was seen.
        is_whole: whether nearly all angles were seen, so that it may turn on and on.
    """

    across: int
    along: int
    radius: float
    middle: float
    is_whole: bool = False


class Chart(NamedTuple):
    """Which features are coordinates, which pairs of them are angles, and which is a clock.

    Attributes:
        plain: (n_plain,) features that are coordinates themselves; the first coordinates.
        circles: pairs that are one coordinate each; the last ones.
        left_out: features that say nothing else.
        clock: the one of these that is the time; -1 if there is none.
        pace: what every step adds to it; 0.0 if there is none.
        common: (2, n_features) mean and variance of each feature; of those left out they count.
    """

    plain: IntArray
    circles: tuple[Circle, ...]
    left_out: IntArray
    clock: int
    pace: float
    common: FloatArray

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return int(self.common.shape[1])

    @property
    def n_coordinates(self) -> int:
        """Length of a point."""
        return len(self.plain) + len(self.circles)

    @property
    def relevant(self) -> BoolArray:
        """(n_features,) which features say where the world is."""
        return ~np.isin(np.arange(self.n_features), self.left_out)

    def local(self, points: FloatArray) -> FloatArray:
        """(..., n_coordinates) of observations (..., n_features)."""
        found = np.empty((*points.shape[:-1], self.n_coordinates))
        n_plain = len(self.plain)
        found[..., :n_plain] = points[..., self.plain]
        for place, circle in enumerate(self.circles, n_plain):
            angle = np.arctan2(points[..., circle.along], points[..., circle.across])
            found[..., place] = turned(angle - circle.middle)
        return found

    def moved(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """(..., n_coordinates) displacements between coordinates: of angles the shorter way."""
        n_plain, moved = len(self.plain), after - before
        moved[..., n_plain:] = turned(moved[..., n_plain:])
        return np.asarray(moved)

    def time(self, points: FloatArray) -> FloatArray:
        """(...,) the clock of observations (..., n_features); it runs forwards."""
        return np.asarray(np.copysign(1.0, self.pace) * points[..., self.clock])

    def observations(self, local: FloatArray) -> FloatArray:
        """(..., n_features) what has these coordinates; what is left out has its mean."""
        found = np.empty((*local.shape[:-1], self.n_features))
        found[:] = self.common[0]
        n_plain = len(self.plain)
        found[..., self.plain] = local[..., :n_plain]
        for place, circle in enumerate(self.circles, n_plain):
            angle = local[..., place] + circle.middle
            found[..., circle.across] = circle.radius * np.cos(angle)
            found[..., circle.along] = circle.radius * np.sin(angle)
        return found

    def covariances(self, local: FloatArray, spread: FloatArray) -> FloatArray:
        """(n, n_features, n_features) about points (n, n_coordinates) with such covariances.

        Across a circle it is as wide as along; what is left out varies as it ever did.
        """
        n, n_plain = len(local), len(self.plain)
        slopes = np.zeros((n, self.n_coordinates, self.n_features))
        slopes[:, np.arange(n_plain), self.plain] = 1.0
        covariance = np.zeros((n, self.n_features, self.n_features))
        for place, circle in enumerate(self.circles, n_plain):
            angle, variance = local[:, place] + circle.middle, spread[:, place, place]
            radial = circle.radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
            slopes[:, place, circle.across] = -radial[:, 1]
            slopes[:, place, circle.along] = radial[:, 0]
            pair = np.array([circle.across, circle.along])
            outward = radial[:, :, None] * radial[:, None] * variance[:, None, None]
            covariance[:, pair[:, None], pair] += outward
        covariance[:, self.left_out, self.left_out] = self.common[1, self.left_out]
        return np.asarray(covariance + slopes.swapaxes(1, 2) @ spread @ slopes)


def turned(angle: FloatArray) -> FloatArray:
    """Angles from -pi to pi."""
    return np.asarray((angle + np.pi) % (2.0 * np.pi) - np.pi)
