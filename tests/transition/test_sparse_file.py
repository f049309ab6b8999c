"""Sparse transitions in a file: the same model again, and what is refused."""

import numpy as np
import pytest
from tests.transition.made import (
    GAMMA,
    assert_arrays_agree_with_rows,
    assert_into_agrees_with_rows,
    make,
    merge_map,
    random_model,
)

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.transition import sparse_file
from tgm.transition.sparse import START, START_ACTION, SparseTransitions


def test_restored_counts_are_the_same_model():
    model = random_model(np.random.default_rng(4), 5)
    model.add(2, 1, 3, 9.0, 0.0, 0.0)
    model.observe(2, 1, 4, 1.0, 0.0, 1.0)
    model.learn_chance()
    copy = SparseTransitions(model.n_actions, GAMMA)
    sparse_file.restore(copy, ArrayReader(sparse_file.to_arrays(model)), 5)
    assert copy.rows == model.rows
    assert [list(row) for row in copy.rows.values()] == [list(row) for row in model.rows.values()]
    np.testing.assert_array_equal(copy.certainty, model.certainty)
    assert copy.ended == model.ended
    assert copy.runs == model.runs != {}
    assert copy.share_random == model.share_random
    for name in ("log_chance", "is_random"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
    assert_arrays_agree_with_rows(copy)
    assert_into_agrees_with_rows(copy)
    for both in (model, copy):  # and it goes on in the same way
        both.add(1, 1, 0, 0.25, 1.0, 0.0)
        both.apply(merge_map(5, 0, 4))
    assert copy.rows == model.rows
    np.testing.assert_array_equal(copy.discounted, model.discounted)
    assert copy.changed == model.changed


def test_a_state_that_is_not_there_is_refused_in_a_file():
    model = make(3)
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    arrays, last = sparse_file.to_arrays(model), len(model.visits) - 1
    sparse_file.restore(make(3), ArrayReader(arrays | {"changed": np.array([last])}), 3)
    with pytest.raises(DataError, match="changed"):
        sparse_file.restore(make(3), ArrayReader(arrays | {"changed": np.array([last + 1])}), 3)


def test_a_usual_outcome_is_learned_and_saved():
    """Twelve rows that slip one time in four; another one is expected to."""
    model = make(12)
    model.share_random = 0.5
    for state in range(12):
        for after in (state, state, state, (state + 1) % 12) * 5:
            model.add(state, 0, after, 1.0, 0.0, 0.0)
    for after in (3, 3, 3, 4):
        model.add(2, 1, after, 1.0, 0.0, 0.0)
    model.learn_evenness()
    assert model.favour > model.evenness > 0.0
    for after in (3, 3, 3, 3, 3, 4, 4, 4):
        model.add(2, 1, after, 1.0, 0.0, 0.0)
    assert model.successor[2, 1, 0] == 3
    assert 0.70 < model.probability[2, 1, 0] < 0.76  # it slipped four times of twelve
    copy = make(12)
    sparse_file.restore(copy, ArrayReader(sparse_file.to_arrays(model)), 12)
    assert (copy.evenness, copy.favour) == (model.evenness, model.favour)


def with_all() -> SparseTransitions:
    """Rows, ends, runs, retries and the last rewards of four states."""
    model = make(4)
    for after in (1, 1, 1, 1, 1):
        model.observe(0, 0, after, 1.0, -1.0, 0.0)
    model.observe(0, 0, 2, 1.0, -1.0, 0.0)
    model.observe(1, 1, 3, 1.0, 5.0, 1.0)
    model.observe(1, 0, 0, 1.0, 0.0, 0.0)
    model.add(START, START_ACTION, 0, 2.0, 0.0, 0.0)
    model.retry([(1, 0)])
    return model


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("visits", lambda array: array[:3], "visits' has 3 of 4"),
        ("visits", lambda array: 0.5 * array, "next.count"),
        ("visits", lambda array: array - 1e-3, "visits"),
        ("end_sum", lambda array: array - 1e-3, "end_sum"),
        ("reward_moves", lambda array: array - 1e-3, "reward_moves"),
        ("share_random", lambda array: 0.0 * array, "share_random"),
        ("share_random", lambda array: 0.0 * array + 1.0, "share_random"),
        ("evenness", lambda array: array - 1.0, "evenness"),
        ("favour", lambda array: array - 1.0, "favour"),
        ("probability", lambda array: np.minimum(array + 0.5, 1.0), "sums to more than one"),
        ("probability", lambda array: 2.0 * array, "probability"),
        ("discounted", lambda array: 0.99 * array, "does not fit"),
        ("end", lambda array: array + 0.5, "end"),
        ("successor", lambda array: array + 4, "successor"),
        ("row.key", lambda array: array + np.array([4, 0]), "row.key"),
        ("row.key", lambda array: array + np.array([0, 2]), "row.key"),
        ("row.key", lambda array: array - np.array([0, 1]), "row.key"),
        ("row.key", lambda array: array[1:], "row.key"),
        ("next.state", lambda array: array + 4, "next.state"),
        ("next.count", lambda array: -array, "next.count"),
        ("next.count", lambda array: array + 1e-3, "next.count"),
        ("ended.count", lambda array: array + 1e-3, "ended.count"),
        ("ended.key", lambda array: 0 * array - np.array([1, 0]), "ended.count"),
        ("ended.state", lambda array: array + 4, "ended.state"),
        ("run.outcome", lambda array: array + 4, "run.outcome"),
        ("run.outcome", lambda array: 0 * array - 3, "run.outcome"),
        ("run.key", lambda array: array + np.array([4, 0]), "run.key"),
        ("last_reward.state", lambda array: 0 * array - 3, "last_reward.state"),
        ("last_reward.key", lambda array: array[1:], "last_reward.key"),
        ("noise_chance", lambda array: array - 0.5, "noise_chance"),
        ("noise_shares", lambda array: 0.0 * array, "noise_shares"),
        ("noise_shares", lambda array: 0.0 * array + 1.0, "noise_shares"),
        ("noise", lambda array: np.ones(2), "noise' has 2 numbers"),
        ("noise", lambda array: -np.ones(5), "not positive"),
        ("retries", lambda array: array + np.array([4, 0]), "retries"),
        ("touched", lambda array: array + np.array([0, 2]), "touched"),
        ("changed", lambda array: np.array([4]), "changed"),
    ],
)
def test_what_does_not_fit_in_a_file_is_refused(name, change, reason):
    arrays = sparse_file.to_arrays(with_all())
    sparse_file.restore(make(4), ArrayReader(arrays), 4)
    arrays[name] = change(arrays[name].copy())
    with pytest.raises(DataError, match=reason):
        sparse_file.restore(make(4), ArrayReader(arrays), 4)


def test_everything_is_the_same_after_a_file():
    model, copy = with_all(), make(4)
    sparse_file.restore(copy, ArrayReader(sparse_file.to_arrays(model)), 4)
    ours, theirs = sparse_file.to_arrays(model), sparse_file.to_arrays(copy)
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(theirs[name], array, err_msg=name)
    assert copy.retries == {(1, 0)}
    assert copy.runs == {(0, 0): [2]}
    assert copy.ended == {(1, 1): {3: 1.0}}
    assert copy.last_reward == model.last_reward != {}
    assert copy.planned == model.planned
    assert copy.predecessors == model.predecessors


@pytest.mark.parametrize(("more", "is_good"), [(5e-7, True), (2e-6, False)])
def test_sums_in_a_file_may_miss_by_a_millionth(more, is_good):
    arrays = sparse_file.to_arrays(with_all())
    for name, change in (("next.count", more), ("ended.count", more), ("visits", -more)):
        shifted = ArrayReader(arrays | {name: arrays[name] + change})
        if name == "visits" and is_good:
            shifted = ArrayReader(arrays | {name: np.where(arrays[name] > 0, arrays[name], change)})
        if is_good:
            sparse_file.restore(make(4), shifted, 4)
        else:
            with pytest.raises(DataError, match=r"count|visits"):
                sparse_file.restore(make(4), shifted, 4)


@pytest.mark.parametrize("tries", [0.2, 1.0])
@pytest.mark.parametrize("name", ["next.count", "ended.count"])
@pytest.mark.parametrize(("more", "is_refused"), [(0.7e-6, False), (1.5e-6, True)])
def test_counts_in_a_file_may_miss_their_sum_by_a_millionth_of_a_try(name, more, is_refused, tries):
    model = SparseTransitions(1, 0.9)
    model.make_room(2)
    model.add(0, 0, 1, tries, -1.0, 1.0)
    arrays = sparse_file.to_arrays(model)
    arrays[name] = arrays[name] + more
    other = SparseTransitions(1, 0.9)
    if is_refused:
        with pytest.raises(DataError, match=name):
            sparse_file.restore(other, ArrayReader(arrays), 2)
    else:
        sparse_file.restore(other, ArrayReader(arrays), 2)
        assert other.row(0, 0)[1] == pytest.approx(tries, abs=1e-6)
