"""Laws of a world that flows: a new shape now and then, unless those before explain more."""

import numpy as np
import pytest
from tests.transition.swing import NOISE, swung

from tgm.learners.flow_laws import continued, shaped
from tgm.transition.flow_model import FlowModel


def test_without_noise_shapes_are_those_of_the_highest_evidence():
    steps, _ = swung(200, 0.0)
    laws = shaped(steps, 2, None, None)
    units, model, local = FlowModel.in_best_units(steps, 2)
    np.testing.assert_array_equal(laws.units.axes, units.axes)
    np.testing.assert_array_equal(laws.steps.departure, local.departure)
    assert laws.model.law.shape == model.law.shape
    assert not laws.model.has_noise


def test_without_noise_new_steps_are_added_to_the_laws():
    steps, _ = swung(200, 0.0)
    first = shaped(steps.chosen(slice(150)), 2, None, None)
    weight = first.model.law.sums.weight
    later = continued(steps, 50, first.units, first.model)
    assert later.model.law.sums.weight == weight + 50
    np.testing.assert_array_equal(later.steps.departure, first.units.local(steps.departure))


@pytest.fixture(scope="module")
def noisy():
    steps, true = swung(400, NOISE)
    return steps, true, shaped(steps.chosen(slice(280)), 2, None, None)


def test_with_noise_steps_are_smoothed(noisy):
    steps, true, first = noisy
    laws = continued(steps, 120, first.units, first.model)
    where = laws.units.observations(laws.steps.departure)
    assert (np.abs(where - true) < np.abs(steps.departure - true)).mean() > 0.7
    assert laws.model.has_noise


def test_laws_that_explain_more_are_kept_when_shapes_are_chosen(noisy, monkeypatch):
    steps, _, first = noisy
    monkeypatch.setattr("tgm.learners.flow_laws.SMOOTHING_ROUNDS", 1)  # new ones learn less
    assert shaped(steps, 2, first.units, first.model).units is first.units


def test_laws_that_explain_less_are_not(noisy):
    steps, _, first = noisy
    other = first.model.frozen()
    other.law = other.law.with_weights(*(5.0 + part for part in other.law.weights), other.law.noise)
    other.observation_noise = 1e4 * other.observation_noise
    assert shaped(steps, 2, first.units, other).units is not first.units
