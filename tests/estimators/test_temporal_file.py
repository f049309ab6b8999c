"""A fitted model in a file: the same to the bit, and refused by name if it does not fit."""

from __future__ import annotations

import numpy as np
import pytest

import tgm
from tgm.errors import NotFittedError, RunError
from tgm.files.store import read_arrays, write_arrays

KIND = "tgm-temporal"


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    points = np.tile([[0.0, 0.0], [9.0, 0.0]], (20, 1)) + 0.1 * rng.normal(size=(40, 2))
    return tgm.TemporalMixture(7).fit(points, ["a", "b"] * 20, rewards=np.arange(40.0)), points


def test_what_is_saved_is_loaded_to_the_bit(model, tmp_path):
    model, points = model
    model.save(tmp_path / "model")
    again = tgm.TemporalMixture.load(tmp_path / "model")
    assert repr(again) == repr(model)
    for name in ("means_", "covariances_", "transitions_", "start_", "rewards_", "tries_"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes()
    assert again.policy().actions == model.policy().actions
    more = points, ["b", "a"] * 20
    ours, theirs = (one.partial_fit(*more).means_.tobytes() for one in (model, again))
    assert ours == theirs
    with pytest.raises(NotFittedError):
        tgm.TemporalMixture().save(tmp_path / "nothing")


@pytest.mark.parametrize("acts", [False, True])
def test_answers_of_a_loaded_model_have_the_same_bits(acts, tmp_path):
    rng = np.random.default_rng(0)
    points = np.array([[0, 0], [6, 0], [6, 6]])[np.repeat([0, 1, 2, 1], 25)]
    points = points + rng.normal(size=(100, 2))
    asked = (points, rng.integers(0, 2, 100)) if acts else (points,)
    model = tgm.TemporalMixture().fit(*asked)
    model.save(tmp_path / "model")
    again = tgm.TemporalMixture.load(tmp_path / "model")
    assert again.smooth(*asked).tobytes() == model.smooth(*asked).tobytes()
    assert again.score(*asked) == model.score(*asked)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale", np.zeros(2), "array 'scale' holds 0"),
        ("mean", np.zeros((1, 2)), "array 'mean'"),
        ("scatter", -np.ones((2, 2, 2)), "scatter"),
        ("starts", np.array([-1.0, 1.0]), "array 'starts'"),
        ("prior.covariance", np.zeros((2, 2)), "prior.covariance"),
        ("weight", np.zeros(0), "no states"),
    ],
)
def test_files_of_others_are_checked(name, value, message, model, tmp_path):
    model[0].save(tmp_path / "model")
    arrays, facts = read_arrays(tmp_path / "model", KIND)
    write_arrays(tmp_path / "model", arrays | {name: value}, KIND, facts)
    with pytest.raises(RunError, match=message):
        tgm.TemporalMixture.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "value"),
    [("prior", [1, 0, 1, 1]), ("actions", ["b", "a"]), ("features", []), ("bound", "x")],
)
def test_facts_of_others_are_checked(name, value, model, tmp_path):
    model[0].save(tmp_path / "model")
    arrays, facts = read_arrays(tmp_path / "model", KIND)
    write_arrays(tmp_path / "model", arrays, KIND, facts | {name: value})
    with pytest.raises(RunError, match="model: "):
        tgm.TemporalMixture.load(tmp_path / "model")
