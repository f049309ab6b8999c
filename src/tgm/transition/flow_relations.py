"""Which features of a world that flows are one angle, a clock, or an echo: found by evidence.

A pair of features is an angle if x^2 + y^2 does not vary, while x^2 and y^2 do. A feature is a
clock if every step adds the same to it, and laws and rewards of the others have the higher evidence
without it; so are echoes left out, which have the values that others had before, those of many
steps ago first. An episode whose time is over ends nowhere: such ends say nothing of places. A
feature of two values is a flag if thresholds on the others tell which of them it has.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.perception.clocks import echoes, have_same_pace
from tgm.transition.flow_chart import Chart, Circle, turned
from tgm.transition.flow_ends import region
from tgm.transition.flow_law import best_shape, bump_centres
from tgm.transition.flow_rewards import RewardLaw
from tgm.transition.flow_turns import embedded, turns_of
from tgm.transition.flow_units import FlowUnits, Steps, charted

ON_CIRCLE = 1e-3  # deviation of x^2 + y^2, in those of x^2 and of y^2, up to which it is a circle
OPEN_ARC = 0.25  # of the arc of angles that were seen: if less is unseen it is a whole turn
FLAG_VALUES = 2  # of a feature that may be a flag


def find_chart(steps: Steps, n_actions: int) -> Chart | None:
    """The coordinates of observations; None if each feature is one."""
    points = steps.points
    n_features = points.shape[1]
    circles, clock = _circles(points), clock_of(steps)
    moved = float((steps.arrival - steps.departure)[:, clock].mean()) if clock >= 0 else 0.0
    n_values = [len(np.unique(points[:, one])) for one in range(n_features)]
    few = [one for one in range(n_features) if n_values[one] <= FLAG_VALUES]
    kept = set(range(n_features)) - {one for pair in circles for one in pair[:2]}
    lag = echoes(steps.departure, steps.arrival)
    common = np.array([points.mean(axis=0), points.var(axis=0)])

    def chart(left_out: list[int]) -> Chart:
        """With some features left out, the clock only if it is one of them."""
        plain = np.array(sorted(kept - set(left_out)), dtype=np.intp)
        out, is_timed = np.array(sorted(left_out), dtype=np.intp), clock in left_out
        time = (clock, moved) if is_timed else (-1, 0.0)
        heard = {one for one in left_out if lag[one]}
        seen = tuple(one for one in circles if not heard.intersection(one[:2]))
        return Chart(plain, seen, out, *time, common)

    late = [np.flatnonzero(lag >= least).tolist() for least in range(1, int(lag.max()) + 1)]
    needless = (one for one in late if not _depends_on(steps, chart(one), one, n_actions))
    echo = next(needless, [])
    few = [one for one in few if one not in echo]
    out = [*few, *echo] if clock < 0 else [*few, *echo, clock]
    least = chart(out)
    if least.n_coordinates == 0:
        return None
    local = least.local(points)
    out = [one for one in out if one not in few or are_told(points[:, one], local)]
    if clock >= 0 and _depends_on(steps, chart(out), [clock], n_actions):
        out.remove(clock)
    found = chart(out)
    return found if found.n_coordinates < n_features else None


def are_told(values: FloatArray, local: FloatArray) -> bool:
    """Whether thresholds on points (n, n_coordinates) tell which of two values (n,) there is."""
    is_first, axes = values == values[0], np.eye(local.shape[1])
    if is_first.all():
        return True
    if len(np.unique(values)) > FLAG_VALUES:
        return False
    first, second = local[is_first], local[~is_first]
    return any(region(*pair, axes) is not None for pair in ((first, second), (second, first)))


def _circles(points: FloatArray) -> tuple[Circle, ...]:
    """Pairs of features on a circle about zero."""
    square = np.square(points)
    deviation, found = square.std(axis=0), list[Circle]()
    free = [one for one in range(points.shape[1]) if deviation[one] > 0.0]
    for across, along in combinations(free, 2):
        if any(one in circle[:2] for circle in found for one in (across, along)):
            continue
        both = square[:, across] + square[:, along]
        if both.std() < ON_CIRCLE * min(deviation[across], deviation[along]):
            angle = np.sort(np.arctan2(points[:, along], points[:, across]))
            gaps = np.diff(angle, append=angle[0] + 2.0 * np.pi)
            widest = int(gaps.argmax())
            middle = float(turned(angle[widest] + 0.5 * gaps[widest] + np.pi))
            is_whole = bool(gaps[widest] < OPEN_ARC * (2.0 * np.pi - gaps[widest]))
            found.append(Circle(across, along, float(np.sqrt(both.mean())), middle, is_whole))
    return tuple(found)


def clock_of(steps: Steps) -> int:
    """The feature to which every step adds the same; -1 if there is none."""
    same = have_same_pace(steps.departure, steps.arrival)
    return int(same.argmax()) if same.any() else -1


def _depends_on(steps: Steps, chart: Chart, others: list[int], n_actions: int) -> bool:
    """Whether laws and rewards in the coordinates are more evident with other features too."""
    local = charted(steps, chart)
    units = FlowUnits.of_features(local)
    local, turns = units.seen(local), turns_of(units, chart)
    place, there = embedded(local.departure, turns), embedded(local.arrival, turns)
    found = steps.departure[:, others], steps.arrival[:, others]
    first = found[0].min(axis=0)
    span = np.maximum(np.ptp(np.concatenate(found), axis=0), 1e-300)
    before, after = (
        np.column_stack([at, (one - first) / span])
        for at, one in zip((place, there), found, strict=True)
    )
    goes_on, evidence = ~steps.ended, list[float]()
    for one, other in ((place, there), (before, after)):
        seen = steps._replace(departure=one, arrival=other).chosen(goes_on)
        laws = best_shape(local, bump_centres(one), n_actions, inputs=one)[1]
        evidence.append(laws + RewardLaw.log_evidence(seen, n_actions))
    return evidence[1] > evidence[0]


def lasting(steps: Steps, chart: Chart | None) -> BoolArray:
    """(n,) the steps that say where a world ends or goes on.

    An end later than all steps that went on may be the end of the time of an episode.
    """
    everything = np.ones(len(steps.action), dtype=bool)
    return everything if chart is None else everything & ~_late(steps, chart)


def time_limit(steps: Steps, chart: Chart | None) -> float:
    """The time at which episodes end wherever they are; infinite if it is not known.

    It is known from two ends later than all steps that went on.
    """
    if chart is None:
        return np.inf
    late = _late(steps, chart)
    return float(chart.time(steps.arrival)[late].min()) if late.sum() > 1 else np.inf


def _late(steps: Steps, chart: Chart) -> BoolArray:
    """(n,) the ends that are later than all steps that went on."""
    if not chart.pace or not steps.ended.any() or steps.ended.all():
        return np.zeros(len(steps.action), dtype=bool)
    time = chart.time(steps.arrival)
    return np.asarray(steps.ended & (time > time[~steps.ended].max()))
