"""Transition counts from beliefs, with numbers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import transition_counts_by_loops

from tgm.errors import DataError
from tgm.perception.component_map import ComponentMap
from tgm.transition import TransitionModel, transition_counts


def test_half_certain_beliefs_add_quarters():
    before = np.array([[0.5, 0.5, 0.0]])
    after = np.array([[0.0, 0.5, 0.5]])
    counts = transition_counts(before, np.array([1]), after, n_actions=2)
    assert counts[0].sum() == 0
    # Rows are the state before, columns the state after (erratum 3).
    assert counts[1].tolist() == [[0, 0.25, 0.25], [0, 0.25, 0.25], [0, 0, 0]]


@given(st.integers(0, 2**32 - 1))
def test_counts_equal_the_sum_written_out(seed):
    rng = np.random.default_rng(seed)
    n, n_states, n_actions = rng.integers(1, 20), rng.integers(1, 6), rng.integers(1, 4)
    before = rng.dirichlet(np.ones(n_states), n)
    after = rng.dirichlet(np.ones(n_states), n)
    actions = rng.integers(0, n_actions, n)
    expected = transition_counts_by_loops(before, actions, after, n_actions)
    np.testing.assert_allclose(
        transition_counts(before, actions, after, n_actions), expected, atol=1e-12
    )


def model_with(folded: np.ndarray, kept: np.ndarray, **settings: float) -> TransitionModel:
    model = TransitionModel(len(folded), **settings)
    model.restore(folded, kept)
    return model


def test_folded_and_posterior_by_hand():
    folded = np.array([[[3.0, 0.0], [0.0, 1.0]]])
    kept = np.array([[[0.0, 1.0], [0.0, 0.0]]])
    model = model_with(folded, kept)
    assert model.prior_concentration == 0.5  # erratum 9: 1 / n_states
    assert model_with(np.ones((1, 1, 1)), np.ones((1, 1, 1))).prior_concentration == 1.0
    assert model.folded.tolist() == [[[3.5, 0.5], [0.5, 1.5]]]
    assert model.posterior.tolist() == [[[3.5, 1.5], [0.5, 1.5]]]
    np.testing.assert_allclose(model.probabilities(), [[[0.7, 0.3], [0.25, 0.75]]])


def test_the_published_prior_flattens_and_ours_does_not():
    evidence = np.zeros((1, 25, 25))
    evidence[0, 0, 1] = 10
    none = np.zeros_like(evidence)
    published = model_with(evidence, none, prior_concentration=1.0).probabilities()
    ours = model_with(evidence, none).probabilities()
    assert published[0, 0, 1] == pytest.approx(11 / 35)
    assert ours[0, 0, 1] == pytest.approx(10.04 / 11)


def test_folding_moves_counts_from_kept_to_prior_and_keeps_the_posterior():
    rng = np.random.default_rng(0)
    before, after = rng.dirichlet(np.ones(3), 10), rng.dirichlet(np.ones(3), 10)
    actions = rng.integers(0, 2, 10)
    split = model_with(np.zeros((2, 3, 3)), np.zeros((2, 3, 3)))
    split.fold(transition_counts(before[:4], actions[:4], after[:4], 2))
    split.keep(transition_counts(before[4:], actions[4:], after[4:], 2))
    whole = model_with(np.zeros((2, 3, 3)), np.zeros((2, 3, 3)))
    whole.keep(transition_counts(before, actions, after, 2))
    np.testing.assert_allclose(split.posterior, whole.posterior, atol=1e-12)
    assert split.folded.sum() == pytest.approx(4 + 2 * 3 * 3 / 3)


def test_counts_follow_their_components():
    evidence = np.arange(9.0).reshape(1, 3, 3)
    model = model_with(evidence, np.zeros((1, 3, 3)))
    # Components 2 and 0 survive in this order, 1 is gone, and one is born between them.
    model.apply(ComponentMap.of_survivors(3, np.array([2, -1, 0])))
    expected = [[[8, 0, 6], [0, 0, 0], [2, 0, 0]]]
    assert model.evidence.tolist() == expected


def test_before_there_are_states_there_are_no_counts():
    model = TransitionModel(2)
    assert model.folded_evidence.shape == model.kept_evidence.shape == (2, 0, 0)
    assert model.evidence.shape == (2, 0, 0)


def test_negative_counts_are_refused():
    with pytest.raises(DataError, match="below 0"):
        model_with(-np.ones((1, 1, 1)), np.zeros((1, 1, 1)))
    one_of_many = np.ones((1, 2, 2))
    one_of_many[0, 1, 0] = -0.1
    with pytest.raises(DataError, match=r"'kept' hold -0\.1, below 0"):
        model_with(np.ones((1, 2, 2)), one_of_many)


def test_kept_and_forgotten_counts_go_with_their_states():
    rng, model = np.random.default_rng(0), TransitionModel(2)
    folded, kept = rng.random((2, 2, 3, 3))
    model.restore(folded.copy(), kept.copy())
    model.apply(ComponentMap.of_survivors(3, np.array([2, -1, 0])))
    order, others = np.ix_([0, 2], [0, 2]), np.ix_([2, 0], [2, 0])  # the middle one is new
    for action in range(2):
        for now, before in ((model.folded_evidence, folded), (model.kept_evidence, kept)):
            np.testing.assert_array_equal(now[action][order], before[action][others])
            assert not now[action][1].any()
            assert not now[action][:, 1].any()
