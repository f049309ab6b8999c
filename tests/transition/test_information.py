"""What one more try teaches, against Dirichlet divergences, and worlds drawn from beliefs."""

import numpy as np
import pytest

from tgm.distributions import dirichlet
from tgm.transition.information import expected_information_gain, sampled_rows
from tgm.transition.sparse import SparseTransitions

PRIOR = 0.5


def model_of(counts: list[list[float]]) -> SparseTransitions:
    """One action; row k has these counts of the states 0, 1, ... (each at least a half)."""
    model = SparseTransitions(1, 0.9)
    model.make_room(max(len(counts), max(len(row) for row in counts)))
    for state, row in enumerate(counts):
        for after, count in enumerate(row):
            if count:
                model.add(state, 0, after, count, 0.0, 0.0)
    return model


def random_counts(rng: np.random.Generator) -> list[float]:
    return (rng.gamma(2.0, 2.0, size=rng.integers(1, 5)) + 0.6).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_the_gain_is_the_expected_divergence(seed):
    rng = np.random.default_rng(seed)
    counts = random_counts(rng)
    gain = expected_information_gain(model_of([counts]), 1, PRIOR)
    assert gain.shape == (1, 1)
    concentration = np.array([*counts, PRIOR])
    expected = sum(
        share * dirichlet.kl(concentration + one, concentration)
        for share, one in zip(
            concentration / concentration.sum(), np.eye(len(concentration)), strict=True
        )
    )
    assert gain[0, 0] == pytest.approx(float(expected), rel=1e-9)


def test_the_gain_is_what_a_draw_teaches_on_average():
    """Mutual information of the row and its next outcome: E_D[KL(D || E D)], by drawing D."""
    counts = [3.0, 1.0]
    gain = expected_information_gain(model_of([counts]), 1, PRIOR)[0, 0]
    rng = np.random.default_rng(0)
    concentration = np.array([*counts, PRIOR])
    draws = rng.dirichlet(concentration, size=200_000)
    mean = concentration / concentration.sum()
    divergence = np.sum(draws * np.log(np.maximum(draws, 1e-300) / mean), axis=1)
    assert gain == pytest.approx(divergence.mean(), rel=0.02)


def test_much_is_learned_from_the_unknown_and_little_from_the_known():
    gain = expected_information_gain(model_of([[1.0], [10.0], [100.0], [50.0, 50.0]]), 4, PRIOR)
    assert gain[0, 0] > gain[1, 0] > gain[2, 0] > 0
    assert gain[3, 0] > gain[2, 0]  # a random row is never quite known
    untried = expected_information_gain(model_of([[1.0]]), 1, PRIOR)
    assert np.isfinite(untried).all()


def test_draws_are_probabilities_and_average_to_the_mean():
    counts = [[3.0, 1.0], [2.0, 2.0, 5.0]]
    model = model_of(counts)
    rng = np.random.default_rng(1)
    draws, others = zip(*(sampled_rows(model, 2, PRIOR, rng) for _ in range(4000)), strict=True)
    draws, others = np.array(draws), np.array(others)
    np.testing.assert_allclose(draws.sum(axis=-1) + others, 1)
    assert (draws >= 0).all()
    for state, row in enumerate(counts):
        mean = {
            int(after): draws[:, state, 0, index].mean()
            for index, after in enumerate(model.successor[state, 0])
            if model.probability[state, 0, index] > 0
        }
        total = sum(row) + PRIOR
        assert mean == pytest.approx(
            {after: count / total for after, count in enumerate(row)}, abs=0.015
        )
        assert others[:, state, 0].mean() == pytest.approx(PRIOR / total, abs=0.01)
        # The spread is that of a Dirichlet too.
        share = row[0] / total
        first = model.successor[state, 0].tolist().index(0)
        variance = draws[:, state, 0, first].var()
        assert variance == pytest.approx(share * (1 - share) / (total + 1), rel=0.1)


def test_an_untried_row_leads_to_something_else():
    model = model_of([[1.0]])
    model.forget_row(0, 0)
    draws, other = sampled_rows(model, 1, PRIOR, np.random.default_rng(0))
    assert not draws.any()
    assert other[0, 0] == pytest.approx(1)
