"""Prediction, conditioning and smoothing, against conditioning one large Gaussian."""

import numpy as np
from tests import oracles

from tgm.distributions.kalman import (
    Gaussians,
    condition,
    looking_back,
    predict,
    smooth,
)


def chain(seed, n_steps=4, n_features=3):
    rng = np.random.default_rng(seed)
    start = rng.normal(size=n_features), oracles.random_covariance(rng, n_features)
    slopes = rng.normal(size=(n_steps, n_features, n_features))
    shifts, observed = rng.normal(size=(2, n_steps, n_features))
    noises = tuple(oracles.random_covariance(rng, n_features) for _ in range(2))
    return start, slopes, shifts, noises, observed


def test_the_filter_and_the_smoother_are_the_conditional_of_the_whole_chain():
    chains = [chain(seed) for seed in range(3)]
    slopes, shifts, observed = (np.array([one[k] for one in chains]) for k in (1, 2, 4))
    motion, seen = chains[0][3]  # the same for all
    now = Gaussians(
        np.array([one[0][0] for one in chains]), np.array([one[0][1] for one in chains])
    )
    passed, total = [], 0.0
    for t in range(slopes.shape[1]):
        arrival = (slopes[:, t] @ now.mean[..., None])[..., 0] + shifts[:, t]
        expected = predict(now, arrival, slopes[:, t], motion)
        passed.append((now, expected))
        now, log_density = condition(expected, observed[:, t], seen)
        total += log_density
    found, across = [now], []
    for t, (before, expected) in reversed(list(enumerate(passed))):
        back = looking_back(before.covariance, expected.covariance, slopes[:, t])
        across = [back @ found[0].covariance, *across]
        found = [smooth(before, expected, found[0], back), *found]
    for k, (start, slope, shift, _, points) in enumerate(chains):
        mean, covariance, density = oracles.linear_chain_posterior(
            start, slope, shift, (motion, seen), points
        )
        np.testing.assert_allclose([one.mean[k] for one in found], mean, rtol=1e-7, atol=1e-9)
        d = mean.shape[1]
        for t, one in enumerate(found):
            block = covariance[t * d : (t + 1) * d, t * d : (t + 1) * d]
            np.testing.assert_allclose(one.covariance[k], block, rtol=1e-6, atol=1e-8)
        for t, both in enumerate(across):
            block = covariance[t * d : (t + 1) * d, (t + 1) * d : (t + 2) * d]
            np.testing.assert_allclose(both[k], block, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(total[k], density, rtol=1e-9)


def test_an_observation_without_noise_is_believed():
    rng = np.random.default_rng(0)
    expected = Gaussians(rng.normal(size=(1, 2)), oracles.random_covariance(rng, 2)[None])
    seen = rng.normal(size=(1, 2))
    after, _ = condition(expected, seen, np.zeros((2, 2)))
    np.testing.assert_allclose(after.mean, seen)
    np.testing.assert_allclose(after.covariance, 0.0, atol=1e-12)
