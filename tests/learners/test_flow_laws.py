"""Laws of a world that flows: a new shape now and then, unless those before explain more."""

import numpy as np
import pytest
from tests.transition.swing import NOISE, swung

from tgm.learners.flow_laws import Laws, _of_smoothed, continued, shaped
from tgm.transition.flow_law import FlowLaw
from tgm.transition.flow_model import FlowModel, Wall
from tgm.transition.flow_settling import settled
from tgm.transition.flow_smoothing import follows
from tgm.transition.flow_units import FlowUnits


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


def spoilt(model):
    """The model with wrong laws, and noise that is too large."""
    other = model.frozen()
    other.law = other.law.with_weights(*(5.0 + part for part in other.law.weights), other.law.noise)
    other.observation_noise = 1e4 * other.observation_noise
    return other


def test_laws_that_explain_more_are_kept_when_shapes_are_chosen(noisy, monkeypatch):
    steps, _, first = noisy
    monkeypatch.setattr("tgm.learners.flow_laws.SMOOTHING_ROUNDS", 1)
    monkeypatch.setattr("tgm.learners.flow_laws.NOISE_FIRST_ROUNDS", 0)
    worse = FlowUnits.of_features(steps), spoilt(first.model)
    monkeypatch.setattr("tgm.learners.flow_laws._of_smoothed", lambda *_: worse)
    assert shaped(steps, 2, first.units, first.model).units is first.units


def test_laws_that_explain_less_are_not(noisy, monkeypatch):
    steps, _, first = noisy
    monkeypatch.setattr("tgm.learners.flow_laws.SMOOTHING_ROUNDS", 3)
    assert shaped(steps, 2, first.units, spoilt(first.model)).units is not first.units


def test_laws_that_went_astray_begin_afresh(noisy, monkeypatch):
    steps, true, first = noisy
    monkeypatch.setattr("tgm.learners.flow_laws.SMOOTHING_ROUNDS", 1)
    astray = spoilt(first.model)
    monkeypatch.setattr("tgm.learners.flow_laws._of_smoothed", lambda *_: (first.units, astray))
    found = shaped(steps, 2, first.units, astray)
    where = found.units.observations(found.steps.departure)
    assert (np.abs(where - true) < np.abs(steps.departure - true)).mean() > 0.7


@pytest.mark.parametrize(("length", "n_settled"), [(0.0, 2), (0.8, 3)])
def test_the_same_shape_is_not_learned_twice(length, n_settled, noisy, monkeypatch):
    steps, _, first = noisy
    assert first.model.law.shape.length == 0.0
    assert first.units.is_plain
    asked = []

    def counted(model, *rest):
        asked.append(model)
        return settled(model, *rest)

    def other(same, units, n_actions):
        model, before = same.model.frozen(), same.model.law
        shape = before.shape._replace(length=length)
        model.law = FlowLaw(shape, np.full((1, 2), 0.5), before.unit, n_actions)
        model.law.noise, model.total = before.noise, model.law.sums
        return units, model

    monkeypatch.setattr("tgm.learners.flow_laws.settled", counted)
    monkeypatch.setattr("tgm.learners.flow_laws._of_smoothed", other)
    monkeypatch.setattr("tgm.learners.flow_laws.SMOOTHING_ROUNDS", 0)
    shaped(steps, 2, first.units, first.model)
    assert len(asked) == n_settled


def test_a_new_shape_is_judged_by_smoothed_steps_and_has_their_noise(noisy):
    steps, _, first = noisy
    same = settled(first.model, first.units.seen(steps), follows(steps), 2)
    units, model = _of_smoothed(same, first.units, 2)
    # Without the noise of observations the same laws explain nearly all of each step.
    assert model.law.shape.looseness > first.model.law.shape.looseness
    for one, other in (
        (model.observation_noise, same.model.observation_noise),
        (model.law.noise, same.model.law.noise),
    ):
        seen, before = (u.axes.T @ r @ u.axes for u, r in ((units, one), (first.units, other)))
        np.testing.assert_allclose(seen, before, atol=1e-12)


@pytest.mark.parametrize(("nats", "stays"), [(1e6, True), (-1e6, False)])
def test_laws_with_a_wall_stay_if_new_ones_explain_less(nats, stays, monkeypatch):
    steps, _ = swung(200, 0.0)
    first = shaped(steps.chosen(slice(150)), 2, None, None)
    wall = Wall(np.array([1.0, 0.0]), 1e3, first.model.law)
    known = Laws(first.units, first.model.frozen(), first.steps)
    known.model.wall, known.model.log_evidence = wall, nats
    monkeypatch.setattr("tgm.learners.flow_laws.continued", lambda *_: known)
    found = shaped(steps, 2, known.units, known.model, 50)
    assert (found is known) == stays


def test_laws_without_a_wall_do_not_stay():
    steps, _ = swung(200, 0.0)
    first = shaped(steps.chosen(slice(150)), 2, None, None)
    first.model.log_evidence = 1e9
    later = shaped(steps, 2, first.units, first.model, 50)
    assert later.model is not first.model
