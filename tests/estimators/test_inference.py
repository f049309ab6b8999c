"""The fast sweep against the slow equations, and points with missing features against integrals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp, xlogy
from tests import oracles

from tgm.distributions import Moments
from tgm.estimators.covariance import Diagonal, Full, LowRank
from tgm.estimators.model import Model
from tgm.estimators.moves import _falls
from tgm.estimators.partition import moments_of_labels
from tgm.estimators.search import Course, climb, find
from tgm.estimators.shared_prior import SharedPrior
from tgm.estimators.sources import ArrayPoints
from tgm.estimators.sweep import FAR_FROM_MEAN, Assigner
from tgm.estimators.weight_prior import DirichletProcess, FiniteDirichlet

KINDS = [Full(), Diagonal(), LowRank()]


def a_prior(rng, n_features):
    covariance = np.diag(rng.uniform(0.2, 1.0, size=n_features))
    return SharedPrior(rng.normal(size=n_features), 0.3, 3.5, covariance)


def a_model(rng, kind, n_components=3, n_features=2, weight_prior=None):
    moments = [
        Moments.of_points(rng.normal(size=n_features) * 2 + rng.normal(size=(12, n_features)))
        for _ in range(n_components)
    ]
    stacked = Moments(
        np.array([one.weight for one in moments]),
        np.array([one.mean for one in moments]),
        np.array([one.scatter for one in moments]),
    )
    weight_prior = weight_prior or FiniteDirichlet(0.7)
    return Model(kind, weight_prior, a_prior(rng, n_features), stacked, np.zeros(n_features))


def belief_of(model):
    """The posterior of a model with full covariances and finite weights, as the oracle has it."""
    posterior = model.kind._posterior(model.prior, model.moments)
    return oracles.Belief(
        model.weight_prior.concentration + model.moments.weight,
        posterior.mean,
        posterior.mean_precision,
        posterior.dof,
        posterior.inverse_scale,
    )


def prior_belief(model):
    prior, n = model.prior.component, model.n_components
    return oracles.Belief(
        np.full(n, model.weight_prior.concentration),
        np.tile(prior.mean, (n, 1)),
        np.tile(prior.mean_precision, n),
        np.tile(prior.dof, n),
        np.tile(prior.inverse_scale, (n, 1, 1)),
    )


@pytest.mark.parametrize("limit", [FAR_FROM_MEAN, 0.0], ids=["products", "differences"])
def test_a_sweep_is_the_slow_equations(limit, monkeypatch):
    monkeypatch.setattr("tgm.estimators.sweep.FAR_FROM_MEAN", limit)
    rng = np.random.default_rng(0)
    model = a_model(rng, Full())
    points = rng.normal(scale=2.0, size=(9, 2))
    statistics = model.assigner.statistics(points)
    slow = np.exp(np.array(oracles.log_responsibilities(belief_of(model), points), dtype=float))
    np.testing.assert_allclose(model.assigner.responsibilities(points), slow, rtol=1e-9)
    after = model.updated(statistics)
    before = prior_belief(model)
    expected = oracles.updated(before, points, slow)
    found = belief_of(after)
    for name in ("d", "m", "beta", "v", "inverse_w"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8)
    terms = oracles.free_energy_terms(before, expected, points, slow)
    assert after.free_energy(statistics.log_q) == pytest.approx(
        float(oracles.free_energy(terms)), rel=1e-10
    )


def test_independent_features_are_components_of_one_feature():
    rng = np.random.default_rng(1)
    model = a_model(rng, Diagonal(), n_features=3)
    point = rng.normal(size=3)
    own = model.gaussians
    gap = point - own.mean
    found = own.peak - 0.5 * np.einsum("ki,kij,kj->k", gap, own.precision, gap)
    expected, evidence = np.zeros(3), np.zeros(3)
    for feature in range(3):
        one = Model(
            Full(),
            model.weight_prior,
            SharedPrior(
                model.prior.mean[[feature]],
                model.prior.mean_precision,
                model.prior.strength,
                model.prior.covariance[feature, feature] * np.eye(1),
            ),
            Moments(
                model.moments.weight,
                model.moments.mean[:, [feature]],
                model.moments.scatter[:, [feature]][:, :, [feature]],
            ),
            np.zeros(1),
        )
        belief = belief_of(one)
        for k in range(3):
            expected[k] += float(oracles.expected_log_density(belief, k, point[[feature]]))
        evidence += one.evidence
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(model.evidence, evidence, rtol=1e-10)


def test_a_missing_feature_is_integrated_out():
    rng = np.random.default_rng(2)
    model = a_model(rng, Full(), n_components=2)
    belief = belief_of(model)
    point = np.array([0.4, np.nan])
    statistics = model.assigner.statistics(point[None])
    slow = [oracles.marginalised(belief, k, point) for k in range(2)]
    log_weights = [float(x) for x in oracles.dirichlet_expected_log(belief.d)]
    joint = np.array([float(row[0]) for row in slow]) + log_weights
    resp = np.exp(joint - logsumexp(joint))
    np.testing.assert_allclose(statistics.moments.weight, resp, rtol=1e-9)
    assert statistics.log_density == pytest.approx(logsumexp(joint), rel=1e-9)
    for k, (_, mean, second) in enumerate(slow):
        np.testing.assert_allclose(statistics.moments.mean[k], [0.4, float(mean)], rtol=1e-9)
        variance = resp[k] * float(second - mean**2)
        np.testing.assert_allclose(statistics.moments.scatter[k, 1, 1], variance, rtol=1e-8)


def test_the_predictive_density_of_known_features_is_the_integral_over_the_missing():
    rng = np.random.default_rng(3)
    for kind in KINDS:
        predictive = a_model(rng, kind).predictive
        grid = np.linspace(-400, 400, 40_001)
        points = np.stack([np.full(len(grid), 0.3), grid], axis=1)
        marginal = predictive.log_density(np.array([[0.3, np.nan]]))[0]
        integral = np.log(np.exp(predictive.log_density(points)).sum(axis=0) * (grid[1] - grid[0]))
        np.testing.assert_allclose(marginal, integral, atol=1e-5)


def test_a_full_predictive_density_is_the_oracle_student():
    model = a_model(np.random.default_rng(4), Full(), n_features=3)
    point = np.array([0.1, -0.4, 1.0])
    found = model.predictive.log_density(point[None])[0]
    belief = belief_of(model)
    slow = [float(oracles.predictive_log_density(belief, k, point)) for k in range(3)]
    np.testing.assert_allclose(found, slow, rtol=1e-10)


def test_stick_breaking_weights():
    counts = np.array([3.5, 20.0, 0.0, 7.25])
    order = np.argsort(-counts)
    evidence, expected, means = oracles.stick_breaking(counts[order], 1.7)
    prior = DirichletProcess(1.7)
    assert prior.log_evidence(counts) == pytest.approx(float(evidence), rel=1e-12)
    np.testing.assert_allclose(prior.expected_log(counts)[order], np.array(expected, dtype=float))
    share = np.array(means, dtype=float)
    np.testing.assert_allclose(prior.mean(counts)[order], share / share.sum())


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("weights", [DirichletProcess(), FiniteDirichlet()])
def test_the_free_energy_never_rises_with_missing_values_and_rounding(kind, weights):
    rng = np.random.default_rng(5)
    points = np.concatenate([rng.normal(size=(60, 3)), 2.0 + rng.normal(size=(60, 3))])
    points = np.round(points, 1)
    points[rng.random(points.shape) < 0.15] = np.nan
    course = find(points, kind, weights, np.full(3, 0.1**2 / 12), None)
    start = Course(course.model)
    climb(start, ArrayPoints(points), tolerance=-np.inf, max_sweeps=25)
    energies = [event.free_energy for event in start.history]
    assert np.all(np.diff(energies) < 1e-8 * abs(energies[-1]))


def test_blocks_and_chunks_change_nothing():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(3000, 2))
    points[::7, 0] = np.nan
    model = a_model(rng, Full())
    whole = model.assigner.statistics(points)
    parts = list(
        ArrayPoints(points, rows=37).map(lambda i, chunk: model.assigner.statistics(chunk))
    )
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    np.testing.assert_allclose(total.moments.weight, whole.moments.weight, rtol=1e-10)
    np.testing.assert_allclose(total.moments.scatter, whole.moments.scatter, rtol=1e-9, atol=1e-9)
    assert total.log_q == pytest.approx(whole.log_q, rel=1e-10)


def test_tight_components_far_from_the_centre_keep_their_digits():
    rng = np.random.default_rng(7)
    points = np.concatenate([1e-5 * rng.normal(size=(50, 2)), 1 + 1e-5 * rng.normal(size=(50, 2))])
    course = find(points - 0.5, Full(), DirichletProcess(), np.zeros(2), None)
    assert course.model.n_components == 2
    assert isinstance(course.model.assigner, Assigner)
    assert course.model.assigner._parameters() is None
    deviation = np.sqrt(course.model.moments.scatter[:, 0, 0] / course.model.moments.weight)
    np.testing.assert_allclose(deviation, 1e-5, rtol=0.3)


@pytest.mark.parametrize("prior", [DirichletProcess(1.7), FiniteDirichlet(0.6)])
def test_the_evidence_of_many_counts_at_once(prior):
    counts = np.random.default_rng(0).gamma(2.0, 5.0, size=(4, 3, 5))
    each = [[float(prior.log_evidence(row)) for row in table] for table in counts]
    np.testing.assert_allclose(prior.log_evidence(counts), each, rtol=1e-12)


@pytest.mark.parametrize("weights", [DirichletProcess(1.0), FiniteDirichlet(1.0)])
def test_two_halves_of_a_cluster_are_joined_by_as_much_as_the_free_energy_falls(weights):
    """The falls of all pairs, against the free energy of each model with the pair made one."""
    rng = np.random.default_rng(1)
    points = np.repeat([[0.0, 0.0], [0.3, 0.0], [6.0, 0.0]], 60, axis=0) + rng.normal(size=(180, 2))
    model = a_model(rng, Full(), n_features=2).with_data(
        moments_of_labels(points, np.repeat([0, 1, 2], 60), np.zeros(2))
    )
    model = replace(model, weight_prior=weights, blur=np.zeros(2))
    resp = model.assigner.responsibilities(points)
    model = model.with_data(Moments.of_points(points, resp))
    before = model.free_energy(float(xlogy(resp, resp).sum()))
    falls, one, other = _falls(model, resp, is_forced=False)
    assert (one[falls > 0].tolist(), other[falls > 0].tolist()) == ([0], [1])
    forced = _falls(model, resp, is_forced=True)
    for fall, i, j in zip(*forced, strict=True):
        merged = np.delete(resp, j, axis=1)
        merged[:, i] = resp[:, i] + resp[:, j]
        after = model.with_data(Moments.of_points(points, merged))
        expected = before - after.free_energy(float(xlogy(merged, merged).sum()))
        assert fall == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(falls[falls > 0], forced[0][forced[0] > 0], rtol=1e-12)
