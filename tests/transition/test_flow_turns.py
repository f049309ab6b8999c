"""Coordinates that are angles: seen by laws as cosine and sine, and turned back at a seam."""

import numpy as np

from tgm.transition.flow_chart import Chart, Circle
from tgm.transition.flow_turns import Turn, embedded, turns_of, wrapped
from tgm.transition.flow_units import FlowUnits

COMMON = np.zeros((2, 3))
CIRCLE = Circle(1, 2, 5.0, 0.7, is_whole=True)
CHART = Chart(np.array([0]), (CIRCLE,), np.array([], dtype=np.intp), -1, 0.0, COMMON)
UNITS = FlowUnits(np.array([1.0, -3.0]), np.diag([2.0, 6.0]), np.diag([0.5, 1 / 6.0]))


def test_laws_see_the_features_themselves():
    angle = np.random.default_rng(0).uniform(-np.pi, np.pi, size=50)
    points = np.column_stack([angle, 5.0 * np.cos(angle), 5.0 * np.sin(angle)])
    units = UNITS._replace(chart=CHART)
    found = embedded(units.local(points), turns_of(UNITS, CHART))
    np.testing.assert_allclose(found[:, 0], units.local(points)[:, 0])
    np.testing.assert_allclose(10.0 * found[:, 1:] - 5.0, points[:, 1:], atol=1e-9)


def test_what_turns_on_comes_back_on_the_other_side():
    (turn,) = turns_of(UNITS, CHART)
    z = np.array([[0.0, 0.1], [0.0, 0.1 + 2.0 * np.pi / 6.0], [0.0, 0.1 - 4.0 * np.pi / 6.0]])
    np.testing.assert_allclose(wrapped(z, (turn,)), np.tile(wrapped(z[:1], (turn,)), (3, 1)))
    back = wrapped(z, (turn,))
    assert (np.abs(6.0 * back[:, 1] - 3.0) <= np.pi + 1e-9).all()  # half a turn from its middle
    np.testing.assert_allclose(embedded(z, (turn,))[0], embedded(z, (turn,))[1])


def test_without_turns_nothing_changes():
    z = np.ones((2, 2))
    assert embedded(z, ()) is z
    assert wrapped(z, ()) is z
    partly = CHART._replace(circles=(CIRCLE._replace(is_whole=False),))
    assert turns_of(UNITS, partly) == ()
    assert turns_of(UNITS, CHART) == (Turn(1, 6.0, 0.7 - 3.0, 0.7),)
