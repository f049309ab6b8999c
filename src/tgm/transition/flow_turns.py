"""Coordinates that are angles: after a whole turn what comes next is the first angle again.

Laws see an angle as its cosine and sine, which know of no seam.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray
from tgm.transition.flow_chart import Chart, turned
from tgm.transition.flow_units import FlowUnits


class Turn(NamedTuple):
    """A coordinate that is an angle.

    Attributes:
        place: its number.
        scale: radians of one unit.
        phase: the angle where it is zero.
        middle: the angle opposite of the seam.
    """

    place: int
    scale: float
    phase: float
    middle: float


def turns_of(units: FlowUnits, chart: Chart) -> tuple[Turn, ...]:
    """Those of a chart, in units whose axes are its coordinates."""
    return tuple(
        Turn(place, float(units.axes[place, place]), circle.middle + float(units.origin[place]),
             circle.middle)
        for place, circle in enumerate(chart.circles, len(chart.plain))
        if circle.is_whole
    )  # fmt: skip


def embedded(z: FloatArray, turns: tuple[Turn, ...]) -> FloatArray:
    """(n, n_inputs) what laws see of points (n, n_coordinates); the same where nothing turns."""
    if not turns:
        return z
    angles = [turn.scale * z[:, turn.place] + turn.phase for turn in turns]
    pairs = [0.5 + 0.5 * wave for angle in angles for wave in (np.cos(angle), np.sin(angle))]
    straight = np.delete(z, [turn.place for turn in turns], axis=1)
    return np.concatenate([straight, np.array(pairs).T], axis=1)


def wrapped(z: FloatArray, turns: tuple[Turn, ...]) -> FloatArray:
    """Points (n, n_coordinates) with each angle at most half a turn from its middle."""
    if not turns:
        return z
    z = z.copy()
    for turn in turns:
        angle = turned(turn.scale * z[:, turn.place] + turn.phase - turn.middle)
        z[:, turn.place] = (angle + turn.middle - turn.phase) / turn.scale
    return z
