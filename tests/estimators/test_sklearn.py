"""The estimator keeps the rules of scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import tgm


# The checks fit data of a few points again and again: fewer sweeps are enough.
@parametrize_with_checks(
    [
        tgm.VariationalMixture(max_iter=20, tol=1e-3),
        tgm.VariationalMixture(
            covariance_type="low_rank",
            weight_concentration_prior_type="dirichlet_distribution",
            max_iter=20,
            tol=1e-3,
        ),
    ]
)
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


def three_clusters(n=120, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    return np.array([(0.0, 0.0), (8.0, 0.0), (0.0, 8.0)])[labels] + rng.normal(size=(n, 2)), labels


def test_in_a_pipeline_and_a_grid_search():
    points, _ = three_clusters()
    pipeline = make_pipeline(StandardScaler(), tgm.VariationalMixture())
    grid = GridSearchCV(
        pipeline, {"variationalmixture__n_components": [1, "auto"]}, cv=2, error_score="raise"
    )
    grid.fit(points)
    assert grid.best_params_ == {"variationalmixture__n_components": "auto"}
    assert grid.best_estimator_[-1].n_components_ == 3


def test_clone_has_the_parameters_and_nothing_learned():
    model = tgm.VariationalMixture(7, covariance_type="diag", tol=1e-4).fit(three_clusters()[0])
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "weights_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, 'n_components is 0; it must be "auto" or an integer above 0'),
        ({"n_components": 2.5}, "n_components is 2.5"),
        ({"n_components": True}, "n_components is True"),
        ({"n_components": "many"}, "n_components is 'many'"),
        ({"covariance_type": "tied"}, "wanted one of full, diag, low_rank"),
        ({"weight_concentration_prior_type": "x"}, "wanted one of dirichlet_process"),
        ({"weight_concentration_prior": 0.0}, "must be a number above 0"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"tol": None}, "tol is None"),
    ],
)
def test_a_wrong_parameter_is_named(settings, message):
    with pytest.raises(tgm.errors.ConfigError, match=message):
        tgm.VariationalMixture(**settings).fit(np.eye(3))


def test_without_scikit_learn_one_line_names_the_extra(monkeypatch):
    import builtins
    import sys

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "sklearn":
            raise ModuleNotFoundError("No module named 'sklearn'", name="sklearn")
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, "tgm.estimators.variational_mixture", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(tgm.errors.ConfigError, match=r"mixture\[estimators\]$"):
        tgm.VariationalMixture  # noqa: B018
