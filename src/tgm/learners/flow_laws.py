"""Laws of a world that flows: their shape and units now and then, despite noise if there is any."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tgm.transition.flow_chart import Chart
from tgm.transition.flow_law import JUDGED_IN_NOISE
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_noise import NOISE_FIRST_ROUNDS, Denoised, suspected, with_noise
from tgm.transition.flow_relations import find_chart, lasting
from tgm.transition.flow_settling import settled
from tgm.transition.flow_smoothing import follows
from tgm.transition.flow_units import FlowUnits, Steps, charted

SMOOTHING_ROUNDS = 16  # of expectation and maximisation for each plan, if observations have noise


class Laws(NamedTuple):
    """What is known of steps, and the kept ones in its units, without their noise if there is any.

    Attributes:
        units: of the laws.
        model: the laws.
        steps: n of them.
    """

    units: FlowUnits
    model: FlowModel
    steps: Steps


def shaped(
    kept: Steps,
    n_actions: int,
    units: FlowUnits | None,
    before: FlowModel | None,
    n_new: int = 0,
) -> Laws:
    """Laws of the best shape and units, despite noise if there is any.

    Laws before that know a wall learn the `n_new` newest steps, and stay if all steps say so: few
    steps lead into it, and narrow bumps imitate it.

    Whether there is any is asked of the steps as they were seen. Laws that know it already say
    where steps truly were: there a new shape is found, which noise would hide, and takes over if
    it explains more. The evidence is that of Schwarz's criterion.
    """
    had_noise = before is not None and before.has_noise
    chart = None if had_noise else find_chart(kept, n_actions)
    if chart is not None and (laws := _on_chart(kept, n_actions, chart)) is not None:
        return laws
    if before is not None and units is not None and had_noise:
        known = _shaped_despite_noise(kept, n_actions, units, before)
        if known is not None:
            return known
    new_units, model, local = FlowModel.in_best_units(kept, n_actions)
    is_next = follows(kept)
    first = with_noise(model, local, is_next)
    if first is not None:
        found = settled(first[0].model, local, is_next, SMOOTHING_ROUNDS)
        return Laws(new_units, found.model, found.smoothed.steps)
    new = Laws(new_units, model, local)
    if before is None or units is None or had_noise or not before.wall:
        return new
    old = continued(kept, n_new, units, before)
    return new if _mean_evidence(new) >= _mean_evidence(old) else old


def _shaped_despite_noise(
    kept: Steps, n_actions: int, units: FlowUnits, before: FlowModel
) -> Laws | None:
    """The best of laws that go on, laws that begin afresh, and those of a new shape.

    What few steps led to may be a place from which rounds lead no further. None if steps do not
    look as if they had noise any more.
    """
    is_next = follows(kept)
    new_units, model, local = FlowModel.in_best_units(kept, n_actions, JUDGED_IN_NOISE)
    suspicion = suspected(model, local, is_next)
    if suspicion is None:
        return None
    fresh = settled(suspicion.model, local, is_next, NOISE_FIRST_ROUNDS + SMOOTHING_ROUNDS)
    same = settled(before, units.seen(kept), is_next, SMOOTHING_ROUNDS)
    found = [(same, units), (fresh, new_units)]
    best = max(found, key=lambda one: _evidence(*one))
    new_units, model = _of_smoothed(*best, n_actions)
    if model.law.shape != best[0].model.law.shape or not (new_units.is_plain and best[1].is_plain):
        other = settled(model, new_units.seen(kept), is_next, SMOOTHING_ROUNDS)
        best = max(best, (other, new_units), key=lambda one: _evidence(*one))
    return Laws(best[1], best[0].model, best[0].smoothed.steps)


def _on_chart(kept: Steps, n_actions: int, chart: Chart) -> Laws | None:
    """Laws in the coordinates of a chart; None if observations have noise, which has none.

    There is none where features are on a circle.
    """
    steps = charted(kept.chosen(lasting(kept, chart)), chart)
    units, model, local = FlowModel.in_best_units(steps, n_actions, chart=chart)
    if not chart.circles and with_noise(model, local, follows(steps)) is not None:
        return None
    return Laws(units._replace(chart=chart), model, local)


def _of_smoothed(same: Denoised, units: FlowUnits, n_actions: int) -> tuple[FlowUnits, FlowModel]:
    """Units and laws of the best shape for smoothed steps, with the noise that is known."""
    steps = same.smoothed.steps
    departure, arrival = units.observations(steps.departure), units.observations(steps.arrival)
    seen = steps._replace(departure=departure, arrival=arrival)
    new_units, model, _ = FlowModel.in_best_units(seen, n_actions, JUDGED_IN_NOISE)
    across = units.axes @ new_units.inverse
    model.observation_noise = across.T @ same.model.observation_noise @ across
    model.law.noise = across.T @ same.model.law.noise @ across
    return new_units, model


def continued(kept: Steps, n_new: int, units: FlowUnits, before: FlowModel) -> Laws:
    """Laws of the same shape that know the newest steps as well."""
    is_new = np.arange(len(kept.action)) >= len(kept.action) - n_new
    is_lasting = lasting(kept, units.chart)
    kept, is_new = kept.chosen(is_lasting), is_new[is_lasting]
    local = units.seen(kept)
    if before.has_noise:
        found = settled(before, local, follows(kept), SMOOTHING_ROUNDS)
        return Laws(units, found.model, found.smoothed.steps)
    before.learn(local.chosen(is_new), local)
    return Laws(units, before, local)


def _mean_evidence(laws: Laws) -> float:
    """ln evidence of laws for a step, as a density of observations."""
    model = laws.model
    scale = float(np.log(model.law.unit).sum() + np.linalg.slogdet(laws.units.axes)[1])
    return model.log_evidence / model.total.weight - scale


def _evidence(found: Denoised, units: FlowUnits) -> float:
    """ln density of the observations, less the cost of the weights that steps determine."""
    law, n = found.model.law, len(found.smoothed.steps.action)
    inputs = found.model.total.inputs
    determined = np.linalg.solve(inputs + np.diag(law.prior.precision), inputs)
    cost = 0.5 * math.log(n) * len(law.unit) * float(np.trace(determined))
    return found.smoothed.log_density - n * float(np.linalg.slogdet(units.axes)[1]) - cost
