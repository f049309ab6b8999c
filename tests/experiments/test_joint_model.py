"""The joint model of figure 5 (a), against enumeration, urns and loops."""

import itertools

import mpmath as mp
import numpy as np
import pytest
from campaigns.formulas import as_mixture
from tests import oracles

from tgm.errors import DataError
from tgm.experiments.joint_model import (
    JointPrior,
    Pairs,
    absorb,
    fit_jointly,
    update_after,
    update_before,
)

N_ACTIONS = 2


def random_problem(seed, n_pairs=4, n_components=2):
    """A belief, a prior with uneven transition counts, and pairs around its means."""
    rng = np.random.default_rng(seed)
    belief = oracles.random_belief(rng, n_components, 2)
    rows = rng.gamma(2.0, 1.0, size=(N_ACTIONS, n_components, n_components)) + 0.1
    pairs = Pairs(
        rng.normal(scale=2.0, size=(n_pairs, 2)),
        rng.integers(N_ACTIONS, size=n_pairs),
        rng.normal(scale=2.0, size=(n_pairs, 2)),
    )
    return belief, JointPrior(as_mixture(belief), rows), pairs


def random_resp(rng, n_pairs, n_components):
    return rng.dirichlet(np.ones(n_components), size=n_pairs)


def log_joint_by_urns(belief, rows, pairs, states):
    """ln P(X, Z): urns for the states, predict-then-learn for the observations of each."""
    total = mp.mpf(oracles.polya_urn_log_probability([first for first, _ in states], belief.d))
    for action, k in itertools.product(range(N_ACTIONS), range(len(belief.d))):
        draws = [
            second
            for (first, second), done in zip(states, pairs.actions, strict=True)
            if first == k and done == action
        ]
        total += oracles.polya_urn_log_probability(draws, rows[action, k])
    for k in range(len(belief.d)):
        before = [x for x, (first, _) in zip(pairs.before, states, strict=True) if first == k]
        after = [x for x, (_, second) in zip(pairs.after, states, strict=True) if second == k]
        total += oracles.log_evidence(belief, k, np.array(before + after).reshape(-1, 2))
    return total


@pytest.mark.parametrize("seed", range(5))
def test_with_certain_states_the_free_energy_is_the_log_joint_of_the_urns(seed):
    belief, prior, pairs = random_problem(seed, n_pairs=6, n_components=3)
    rng = np.random.default_rng(100 + seed)
    states = [tuple(row) for row in rng.integers(3, size=(6, 2))]
    before, after = (np.eye(3)[[pair[side] for pair in states]] for side in (0, 1))
    _, energy = absorb(prior, pairs, before, after)
    wanted = -log_joint_by_urns(belief, prior.transition_concentration, pairs, states)
    assert energy == pytest.approx(float(wanted), rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_free_energy_bounds_the_evidence_by_enumeration(seed):
    belief, prior, pairs = random_problem(seed, n_pairs=3)
    every = itertools.product(itertools.product(range(2), repeat=2), repeat=3)
    evidence = mp.fsum(
        mp.exp(log_joint_by_urns(belief, prior.transition_concentration, pairs, states))
        for states in every
    )
    fitted = fit_jointly(prior, pairs)
    assert fitted.free_energies[-1] >= float(-mp.log(evidence)) - 1e-9
    # Nor is the bound idle, though a mean field over so few pairs is rough.
    assert fitted.free_energies[-1] - float(-mp.log(evidence)) < 5.0


def test_with_one_component_the_free_energy_is_minus_the_log_evidence():
    belief, prior, pairs = random_problem(7, n_pairs=5, n_components=1)
    fitted = fit_jointly(prior, pairs)
    points = np.concatenate([pairs.before, pairs.after])
    wanted = -oracles.log_evidence(belief, 0, points)
    assert fitted.free_energies[-1] == pytest.approx(float(wanted), rel=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_updates_agree_with_loops_at_fifty_digits(seed):
    belief, prior, pairs = random_problem(seed, n_pairs=4, n_components=3)
    rng = np.random.default_rng(seed)
    known = random_resp(rng, 4, 3)
    log_weights = oracles.dirichlet_expected_log(belief.d)
    log_rows = [
        [oracles.dirichlet_expected_log(row) for row in matrix]
        for matrix in prior.transition_concentration
    ]
    for n, action in enumerate(pairs.actions):
        rho0 = [
            log_weights[k]
            + mp.fsum(known[n, j] * log_rows[action][k][j] for j in range(3))
            + oracles.expected_log_density(belief, k, pairs.before[n])
            for k in range(3)
        ]
        rho1 = [
            mp.fsum(known[n, k] * log_rows[action][k][j] for k in range(3))
            + oracles.expected_log_density(belief, j, pairs.after[n])
            for j in range(3)
        ]
        for rho, seen in (
            (rho0, update_before(prior, pairs, known)[n]),
            (rho1, update_after(prior, pairs, known)[n]),
        ):
            total = mp.fsum(mp.exp(value) for value in rho)
            wanted = [float(mp.exp(value) / total) for value in rho]
            np.testing.assert_allclose(seen, wanted, rtol=1e-9, atol=1e-14)


def test_absorbing_adds_expected_statistics():
    belief, prior, pairs = random_problem(3, n_pairs=6, n_components=3)
    rng = np.random.default_rng(3)
    before, after = random_resp(rng, 6, 3), random_resp(rng, 6, 3)
    posterior, _ = absorb(prior, pairs, before, after)
    counts = oracles.transition_counts_by_loops(before, pairs.actions, after, N_ACTIONS)
    np.testing.assert_allclose(
        posterior.transition_concentration, prior.transition_concentration + counts
    )
    np.testing.assert_allclose(
        posterior.mixture.weight_concentration, belief.d + before.sum(axis=0)
    )
    both = oracles.updated(
        belief, np.concatenate([pairs.before, pairs.after]), np.concatenate([before, after])
    )
    np.testing.assert_allclose(posterior.mixture.components.mean, both.m, rtol=1e-10)
    np.testing.assert_allclose(
        posterior.mixture.components.inverse_scale, both.inverse_w, rtol=1e-9
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_sweep_never_raises_the_free_energy(seed):
    _, prior, pairs = random_problem(seed, n_pairs=30, n_components=4)
    energies = fit_jointly(prior, pairs).free_energies
    assert len(energies) > 1
    assert np.all(np.diff(energies) <= 1e-9 * np.maximum(1, np.abs(energies[:-1])))


def test_transitions_tell_apart_what_looks_alike():
    """One place seen as two components: only the action says which comes next."""
    rng = np.random.default_rng(0)
    n = 200
    actions = rng.integers(2, size=n)
    middle = np.zeros((n, 2)) + 0.3 * rng.normal(size=(n, 2))
    sides = np.where(actions == 0, -0.25, 0.25)[:, None] + 0.3 * rng.normal(size=(n, 2))
    belief = oracles.Belief(
        d=np.ones(3),
        m=np.array([[0.0, 0.0], [-0.25, -0.25], [0.25, 0.25]]),
        beta=np.full(3, 50.0),
        v=np.full(3, 50.0),
        inverse_w=np.tile(50 * 0.09 * np.eye(2), (3, 1, 1)),
    )
    prior = JointPrior.of(as_mixture(belief), N_ACTIONS, 0.1)
    fitted = fit_jointly(prior, Pairs(middle, actions, sides))
    guess = fitted.after.argmax(axis=1)
    right = np.where(actions == 0, 1, 2)
    alone = as_mixture(belief).log_joint(sides).argmax(axis=1)
    assert (guess == right).mean() > (alone == right).mean() + 0.1


@pytest.mark.parametrize(
    ("before", "actions", "after", "message"),
    [
        (np.zeros((3, 2)), np.zeros(2, int), np.zeros((3, 2)), "shapes"),
        (np.zeros((3, 2)), np.zeros(3, int), np.zeros((2, 2)), "shapes"),
        (np.zeros(3), np.zeros(3, int), np.zeros(3), "shapes"),
        (np.zeros((1, 2)), np.array([-1]), np.zeros((1, 2)), "actions hold -1"),
    ],
)
def test_pairs_that_do_not_fit_are_refused(before, actions, after, message):
    with pytest.raises(DataError, match=message):
        Pairs(before, actions, after)
