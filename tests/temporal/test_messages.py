"""Forward-backward and Viterbi against the sum over all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tgm.temporal import episodes as episodes_module
from tgm.temporal.episodes import Episodes
from tgm.temporal.messages import log_likelihoods, most_likely_paths, smooth


def enumerated(episodes, start, transition, log_density):
    """ln likelihood, marginals, transitions and best path of each episode, path by path."""
    total, marginals, best = [], np.zeros_like(log_density), []
    counts = np.zeros_like(transition)
    for first, length in zip(episodes.starts, episodes.lengths, strict=True):
        weights = {}
        for path in itertools.product(range(len(start)), repeat=int(length)):
            weight = np.log(start[path[0]])
            for place, state in enumerate(path):
                weight += log_density[first + place, state]
                if place:
                    action = episodes.actions[first + place - 1]
                    weight += np.log(transition[action, path[place - 1], state])
            weights[path] = weight
        log_sum = np.logaddexp.reduce(list(weights.values()))
        total.append(log_sum)
        best += max(weights, key=weights.__getitem__)
        for path, weight in weights.items():
            share = np.exp(weight - log_sum)
            for place, state in enumerate(path):
                marginals[first + place, state] += share
                if place:
                    action = episodes.actions[first + place - 1]
                    counts[action, path[place - 1], state] += share
    return np.array(total), marginals, counts, best


def a_problem(rng, lengths, n_states, n_actions):
    n_rows = sum(lengths)
    episodes = Episodes(
        np.zeros((n_rows, 1)), rng.integers(0, n_actions, n_rows), np.array(lengths), n_actions
    )
    start = rng.dirichlet(np.ones(n_states)) * rng.uniform(0.5, 1.0)  # need not sum to one
    transition = rng.dirichlet(np.full(n_states, 0.5), size=(n_actions, n_states)) + 1e-9
    return episodes, start, transition, 3.0 * rng.normal(size=(n_rows, n_states))


@pytest.mark.parametrize("block", [1, 2, 3, 64])
@pytest.mark.parametrize("n_actions", [1, 2])
def test_the_posterior_is_that_of_all_paths(block, n_actions, monkeypatch):
    monkeypatch.setattr(episodes_module, "BLOCK", block)
    problem = a_problem(np.random.default_rng(block), [5, 1, 6, 4], 3, n_actions)
    total, marginals, counts, best = enumerated(*problem)
    smoothed = smooth(*problem)
    np.testing.assert_allclose(smoothed.log_likelihood, total.sum(), rtol=1e-12)
    np.testing.assert_allclose(smoothed.marginals, marginals, atol=1e-11)
    np.testing.assert_allclose(smoothed.transitions, counts, atol=1e-10)
    np.testing.assert_allclose(log_likelihoods(*problem), total, rtol=1e-12)
    assert most_likely_paths(*problem).tolist() == best


@pytest.mark.parametrize("stay", [0.5, 0.999, 1.0 - 1e-9])
def test_blocks_do_not_change_the_answer_however_slowly_the_chain_forgets(stay, monkeypatch):
    rng = np.random.default_rng(0)
    episodes, start, _, _ = a_problem(rng, [700], 2, 1)
    transition = np.array([[[stay, 1 - stay], [1 - stay, stay]]])
    log_density = 0.01 * rng.normal(size=(700, 2))
    smoothed = smooth(episodes, start, transition, log_density)
    monkeypatch.setattr(episodes_module, "BLOCK", 1000)
    whole = Episodes(episodes.points, episodes.actions, episodes.lengths)
    alone = smooth(whole, start, transition, log_density)
    np.testing.assert_allclose(smoothed.log_likelihood, alone.log_likelihood, rtol=1e-9)
    np.testing.assert_allclose(smoothed.marginals, alone.marginals, atol=1e-8)


def test_densities_that_differ_by_thousands_of_nats_do_no_harm():
    episodes, start, transition, log_density = a_problem(np.random.default_rng(2), [50], 4, 1)
    smoothed = smooth(episodes, start, transition, 1000.0 * log_density)
    assert np.isfinite(smoothed.log_likelihood)
    np.testing.assert_allclose(smoothed.marginals.sum(axis=1), 1.0)
