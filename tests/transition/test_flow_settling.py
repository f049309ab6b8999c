"""Laws despite noise in few rounds: a swing whose motion has hardly any noise of its own."""

import numpy as np
import pytest
from tests.transition.swing import NOISE, learned, swung

from tgm.transition.flow_noise import learn_despite_noise, with_noise
from tgm.transition.flow_settling import settled
from tgm.transition.flow_smoothing import follows, smoothed

ROUNDS = 12


@pytest.fixture(scope="module")
def begun():
    steps, true = swung(400, NOISE)
    units, plain, local = learned(steps)
    is_next = follows(steps)
    return units, with_noise(plain, local, is_next)[0].model, local, is_next, true


def law_error(model, units, true, local, is_next):
    """(n_features,) mean error of displacements between true points."""
    z = units.local(true)
    expected = z[:-1] + model.displacement(z[:-1], local.action[:-1])
    return np.abs(expected - z[1:])[is_next[1:]].mean(axis=0)


def test_combined_rounds_learn_more_than_as_many_plain_ones(begun):
    units, model, local, is_next, true = begun
    plain = learn_despite_noise(model, local, is_next, ROUNDS)
    found = settled(model, local, is_next, ROUNDS)
    assert found.smoothed.log_density > plain.smoothed.log_density + 20.0
    error, plain_error = (
        law_error(one.model, units, true, local, is_next) for one in (found, plain)
    )
    assert error.sum() < 0.7 * plain_error.sum()
    # The swing itself has no noise: what is left to the motion is a small part of NOISE.
    motion = units.axes.T @ found.model.law.noise @ units.axes
    assert (np.sqrt(np.diag(motion)) < 0.2 * NOISE).all()


def test_the_best_round_counts_and_is_not_worse_than_none(begun):
    _, model, local, is_next, _ = begun
    heights = [
        settled(model, local, is_next, most).smoothed.log_density for most in (0, 1, 4, ROUNDS)
    ]
    assert heights[0] == smoothed(model, local, is_next).log_density
    assert heights == sorted(heights)


def test_what_is_settled_takes_few_rounds(begun, monkeypatch):
    _, model, local, is_next, _ = begun
    done, asked = settled(model, local, is_next, 60), []

    def counted(*given):
        asked.append(1)
        return smoothed(*given)

    monkeypatch.setattr("tgm.transition.flow_settling.smoothed", counted)
    settled(done.model, local, is_next, 60)
    assert len(asked) <= 12


def test_the_model_before_is_not_changed(begun):
    _, model, local, is_next, _ = begun
    before = [part.copy() for part in (*model.law.weights, model.observation_noise)]
    settled(model, local, is_next, 3)
    for one, other in zip(before, (*model.law.weights, model.observation_noise), strict=True):
        np.testing.assert_array_equal(one, other)
