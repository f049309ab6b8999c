"""A model of a world that flows as arrays, and back."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.linear_gaussian import RegressionSums
from tgm.errors import DataError
from tgm.files.arrays import ANY, LARGEST, LARGEST_SUM, ArrayReader, Arrays, number, prefixed
from tgm.transition.flow_chart import Chart, Circle
from tgm.transition.flow_ends import EndLaw, HalfSpaces, LogisticEnds, NoEnds, Thresholds
from tgm.transition.flow_law import FlowLaw
from tgm.transition.flow_model import FlowModel, Wall
from tgm.transition.flow_rewards import RewardLaw
from tgm.transition.flow_turns import Turn
from tgm.transition.flow_units import FlowUnits

LARGEST_BOUND = 1e50  # stands for an infinite threshold in a file


def model_to_arrays(model: FlowModel) -> Arrays:
    """What a model predicts with."""
    arrays = prefixed("law", model.law.to_arrays()) | {"features": model.features}
    if model.turns:
        arrays["turns"] = np.array(model.turns, dtype=np.float64)
    if model.wall is not None:
        wall = model.wall
        arrays["wall.where"] = np.array([*wall.normal, wall.threshold])
        arrays |= prefixed("wall.law", wall.law.to_arrays())
    if isinstance(model.ends, Thresholds):
        arrays["ends.bounds"] = _bounds(model.ends)
    elif isinstance(model.ends, HalfSpaces):
        arrays["ends.planes"] = model.ends.weights
    elif isinstance(model.ends, LogisticEnds):
        arrays["ends.weights"] = model.ends.weights
    if model.has_noise:
        arrays |= {"observation_noise": model.observation_noise, "news": model.news}
    rewards = model.rewards
    arrays["reward.forms"] = np.array(rewards.forms, dtype=np.int64)
    for name, weights in zip(("going", "ending"), rewards.weights, strict=True):
        arrays[f"reward.{name}"] = weights
    for name, where in zip(("going", "ending"), rewards.regions, strict=True):
        if where is not None:
            arrays[f"reward.{name}_bounds"] = _bounds(where)
    arrays["reward.noise"] = number(rewards.noise)
    return arrays


def model_from_arrays(saved: ArrayReader, n_features: int, n_actions: int) -> FlowModel:
    """Take over what `model_to_arrays` gave, checked; it can predict, its sums are empty."""
    features, turns = (
        saved.floats("features", n_features, n_features).copy(),
        _turns(saved, n_features),
    )
    n_inputs = n_features + len(turns)
    law = FlowLaw.from_arrays(saved.part("law"), n_features, n_actions, n_inputs)
    model = FlowModel(law, features, turns)
    if saved.has("wall.where"):
        where = saved.floats("wall.where", n_inputs + 1)
        law = FlowLaw.from_arrays(saved.part("wall.law"), n_features, n_actions, n_inputs)
        model.wall = Wall(where[:-1].copy(), float(where[-1]), law)
    model.ends = _ends(saved.part("ends"), model.directions)
    if saved.has("observation_noise"):
        shape = (n_features, n_features)
        model.observation_noise = saved.positive_definite("observation_noise", *shape).copy()
        if saved.has("news"):
            model.news = saved.scatter("news", *shape).copy()
    forms = saved.whole("reward.forms", 2, high=3).tolist()
    weights, regions = list[FloatArray](), list[Thresholds | None]()
    for name, form in zip(("going", "ending"), forms, strict=True):
        own = n_inputs + n_actions
        sizes = (1, 1 + n_inputs + own, _n_quadratic(n_inputs) + own, 2 + n_actions)
        weights.append(saved.floats(f"reward.{name}", sizes[form], size=LARGEST_SUM))
        name, directions = f"reward.{name}_bounds", model.directions
        regions.append(_thresholds(saved, name, directions) if form == 3 else None)
    model.rewards = RewardLaw(n_actions, tuple(forms), tuple(weights), tuple(regions))
    model.rewards.noise = saved.number("reward.noise", low=0.0)
    return model


def _turns(saved: ArrayReader, n_features: int) -> tuple[Turn, ...]:
    if not saved.has("turns"):
        return ()
    rows = saved.floats("turns", ANY, len(Turn._fields), size=LARGEST).tolist()
    if any(not (0 <= row[0] < n_features and row[1] > 0.0) for row in rows):
        raise DataError(f"array 'turns' holds {rows}")
    return tuple(Turn(int(place), *rest) for place, *rest in rows)


def _ends(saved: ArrayReader, directions: FloatArray) -> EndLaw:
    n_features = directions.shape[1]
    if saved.has("bounds"):
        return _thresholds(saved, "bounds", directions)
    if saved.has("planes"):
        return HalfSpaces(saved.floats("planes", ANY, 1 + n_features).copy())
    if saved.has("weights"):
        return LogisticEnds(saved.floats("weights", _n_quadratic(n_features)))
    return NoEnds()


def _bounds(where: Thresholds) -> FloatArray:
    """(2, n_directions) low and high ones, finite."""
    bounds = np.array([where.low, where.high])
    return np.asarray(np.clip(bounds, -LARGEST_BOUND, LARGEST_BOUND))


def _thresholds(saved: ArrayReader, name: str, directions: FloatArray) -> Thresholds:
    low, high = saved.floats(name, 2, len(directions))
    low = np.where(low <= -LARGEST_BOUND, -np.inf, low)
    return Thresholds(directions, low, np.where(high >= LARGEST_BOUND, np.inf, high))


def _n_quadratic(n_features: int) -> int:
    return 1 + n_features + n_features * (n_features + 1) // 2


def sums_to_arrays(sums: RegressionSums) -> Arrays:
    """The sums of a law."""
    return {
        "weight": np.array([float(sums.weight)]),
        "inputs": sums.inputs,
        "products": sums.products,
        "targets": sums.targets,
    }


def sums_from_arrays(saved: ArrayReader, n_inputs: int, n_targets: int) -> RegressionSums:
    """Take over what `sums_to_arrays` gave, checked."""
    return RegressionSums(
        saved.number("weight", low=0.0),
        saved.floats("inputs", n_inputs, n_inputs, size=LARGEST_SUM).copy(),
        saved.floats("products", n_inputs, n_targets, size=LARGEST_SUM).copy(),
        saved.floats("targets", n_targets, n_targets, size=LARGEST_SUM).copy(),
    )


def units_to_arrays(units: FlowUnits) -> Arrays:
    """Everything."""
    arrays: Arrays = {"origin": units.origin, "axes": units.axes, "inverse": units.inverse}
    return arrays if units.chart is None else arrays | prefixed("chart", _of_chart(units.chart))


def _of_chart(chart: Chart) -> Arrays:
    circles = np.array(chart.circles, dtype=np.float64).reshape(-1, len(Circle._fields))
    return {
        "plain": chart.plain,
        "left_out": chart.left_out,
        "circles": circles,
        "clock": np.array([chart.clock, chart.pace]),
        "common": chart.common,
    }


def _chart(saved: ArrayReader, n_features: int) -> Chart:
    """What `_of_chart` gave, checked: each feature is used once."""
    plain, out = (
        saved.whole(name, ANY, high=n_features - 1).astype(np.intp)
        for name in ("plain", "left_out")
    )
    circles = tuple(
        Circle(int(across), int(along), radius, middle, bool(is_whole))
        for across, along, radius, middle, is_whole in saved.floats(
            "circles", ANY, len(Circle._fields), size=LARGEST
        ).tolist()
    )
    used = [*plain.tolist(), *out.tolist(), *(one for circle in circles for one in circle[:2])]
    clock, pace = saved.floats("clock", 2, size=LARGEST).tolist()
    is_timed = clock in out.tolist()
    if sorted(used) != list(range(n_features)) or not (is_timed or clock == -1.0):
        raise DataError("arrays 'plain', 'left_out' and 'circles' do not name each feature once")
    common = saved.floats("common", 2, n_features, size=LARGEST_SUM)
    return Chart(plain, circles, out, int(clock), pace, common)


def units_from_arrays(saved: ArrayReader, n_features: int) -> FlowUnits:
    """Take over what `units_to_arrays` gave of observations of `n_features`, checked."""
    part = saved.part("chart")
    chart = None if part.is_empty else _chart(part, n_features)
    n = n_features if chart is None else chart.n_coordinates
    origin = saved.floats("origin", n, size=LARGEST)
    axes, inverse = (
        saved.floats(name, n, n, size=LARGEST_SUM).copy() for name in ("axes", "inverse")
    )
    if not np.allclose(axes @ inverse, np.eye(n), atol=1e-6):
        raise DataError("array 'inverse' is not the inverse of array 'axes'")
    return FlowUnits(origin, axes, inverse, chart)
