"""Sparse rows: counts, rewards and ends, what the planner sees of them, and how they change."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracles import polya_urn_log_probability

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.component_map import ComponentMap
from tgm.transition import sparse_file
from tgm.transition.chance import RANDOM_ROWS, gain_of_change
from tgm.transition.rows import CHANGED, row_log_evidence
from tgm.transition.sparse import ENDED, START, START_ACTION, SparseTransitions
from tgm.transition.views import dense

GAMMA = 0.9


def make(n_states: int = 4, n_actions: int = 2) -> SparseTransitions:
    model = SparseTransitions(n_actions, GAMMA)
    model.make_room(n_states)
    return model


def random_model(rng: np.random.Generator, n_states: int, n_actions: int = 2) -> SparseTransitions:
    model = make(n_states, n_actions)
    for _ in range(6 * n_states):
        state, after = rng.integers(n_states, size=2)
        action, weight = rng.integers(n_actions), rng.uniform(0.1, 1)
        model.add(
            int(state), int(action), int(after), weight, rng.normal(), float(rng.random() < 0.1)
        )
    for state in rng.integers(n_states, size=3):
        model.add(START, START_ACTION, int(state), 1.0, 0.0, 0.0)
    return model


def assert_arrays_agree_with_rows(model: SparseTransitions) -> None:
    """The planner's arrays, looked up outcome by outcome."""
    for state in range(len(model.visits)):
        for action in range(model.n_actions):
            row, visits = model.row(state, action), model.visits[state, action]
            seen = dict.fromkeys(row, 0.0)
            for index, probability in enumerate(model.probability[state, action]):
                if probability > 0:
                    seen[int(model.successor[state, action, index])] += probability
                    goes_on = GAMMA * (1 - model.end[state, action])
                    discounted = model.discounted[state, action, index]
                    assert discounted == pytest.approx(probability * goes_on)
            if not row:
                assert sum(seen.values()) == 0
                continue
            ended = model.ended.get((state, action), {})
            onward = {after: count - ended.get(after, 0.0) for after, count in row.items()}
            onward = {after: count for after, count in onward.items() if count > 1e-9} or row
            is_random = model.is_random[state, action]
            least = min(max(onward.values()), 0.5 if is_random else max(0.5, 0.02 * visits))
            total = sum(count for count in onward.values() if count >= least)
            for after, count in onward.items():
                expected = count / total if count >= least else 0.0
                assert seen[after] == pytest.approx(expected, abs=2 * CHANGED)
            reward = model.reward_sum[state, action] / visits
            assert model.reward[state, action] == pytest.approx(reward, rel=1.01 * CHANGED)
            end = model.end_sum[state, action] / visits
            assert model.end[state, action] == pytest.approx(end, abs=CHANGED)


def assert_into_agrees_with_rows(model: SparseTransitions) -> None:
    expected = [set() for _ in model.predecessors]
    for key, row in model.rows.items():
        for after in row:
            expected[after].add(key)
    assert model.predecessors == expected


def test_counts_rewards_and_ends_by_hand():
    model = make()
    model.add(0, 1, 2, 1.0, 3.0, 0.0)
    model.add(0, 1, 2, 0.5, 6.0, 0.0)
    model.add(0, 1, 3, 0.5, 0.0, 1.0)
    model.add(0, 1, 3, 0.5, 0.0, 0.0)
    assert model.row(0, 1) == {2: 1.5, 3: 1.0}
    assert model.ended == {(0, 1): {3: 0.5}}
    assert model.row(0, 0) == {}
    assert model.visits[0, 1] == 2.5
    assert model.reward[0, 1] == pytest.approx((3 + 3) / 2.5)
    assert model.end[0, 1] == pytest.approx(0.2)
    assert model.successor[0, 1].tolist() == [2, 3]
    # Where the episode ended is no way to go on.
    np.testing.assert_allclose(model.probability[0, 1], [0.75, 0.25])
    np.testing.assert_allclose(model.discounted[0, 1], GAMMA * np.array([1.5, 0.5]) / 2.5)
    assert model.predecessors == [set(), set(), {(0, 1)}, {(0, 1)}]
    assert model.changed == {0}
    assert model.touched == {(0, 1)}


def test_a_start_is_counted_but_not_planned_with():
    model = make()
    model.add(START, START_ACTION, 2, 1.0, 0.0, 0.0)
    assert model.row(START, START_ACTION) == {2: 1.0}
    assert model.predecessors[2] == {(START, START_ACTION)}
    assert not model.visits.any()
    assert not model.touched


@pytest.mark.parametrize("seed", range(5))
def test_a_negative_weight_takes_back_exactly(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, 5)
    rows = {key: dict(row) for key, row in model.rows.items() if row}
    arrays = [getattr(model, k).copy() for k in ("visits", "reward_sum", "end_sum")]
    steps = [
        (int(rng.integers(5)), int(rng.integers(2)), int(rng.integers(5)), rng.random(), 2.0, 1.0)
        for _ in range(20)
    ]
    for state, action, after, weight, reward, end in steps:
        model.add(state, action, after, weight, reward, end)
    for state, action, after, weight, reward, end in reversed(steps):
        model.add(state, action, after, -weight, reward, end)
    now = {key: row for key, row in model.rows.items() if row}
    assert now.keys() == rows.keys()
    for key, row in rows.items():
        assert now[key] == pytest.approx(row, abs=1e-9)
    for name, values in zip(("visits", "reward_sum", "end_sum"), arrays, strict=True):
        np.testing.assert_allclose(getattr(model, name), values, atol=1e-9)
    assert_into_agrees_with_rows(model)
    assert_arrays_agree_with_rows(model)


def test_what_is_taken_back_whole_is_as_if_it_was_never_tried():
    model = make()
    model.add(1, 0, 2, 1.0, 5.0, 0.0)
    model.add(1, 0, 2, -1.0, 5.0, 0.0)
    assert model.row(1, 0) == {}
    assert model.certainty[1, 0] == 0
    assert not model.probability[1, 0].any()
    assert not model.discounted[1, 0].any()
    assert model.predecessors[2] == set()


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({1: 2.0}, 2.0),
        ({1: 0.6, 2: 0.4}, 0.2),  # one try that may have led to either
        ({1: 5.0, 2: 1.0}, 4.0),
        ({1: 2.0, 2: 2.0, 3: 2.0}, 6.0),  # random: its tries
        ({1: 3.5, 2: 0.5, 3: 0.5}, 3.0),  # read with doubt: not random
        ({1: 1.4, 2: 1.4}, 0.0),  # less than three tries say nothing yet
    ],
)
def test_certainty_by_hand(counts, expected):
    model = make()
    for after, count in counts.items():
        model.add(0, 0, after, count, 0.0, 0.0)
    assert model.certainty[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("tries", "expected"), [(1.4, 0.0), (1.5, 1.0)])
def test_from_three_tries_on_a_third_of_them_counts_in_any_case(tries, expected):
    model = make()
    model.add(0, 0, 1, tries, 0.0, 0.0)
    model.add(0, 0, 2, tries, 0.0, 0.0)
    assert model.certainty[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("share", "is_doubted"), [(0.09, True), (0.11, False)])
def test_a_surprise_is_no_doubt_where_one_row_in_ten_is_random(share, is_doubted):
    model = make()
    model.share_random = share
    model.add(0, 0, 1, 60.0, 0.0, 0.0)
    model.observe(0, 0, 2, 1.0, 0.0, 0.0)
    assert not model.is_random[0, 0]
    assert (model.certainty[0, 0] == 0.0) == is_doubted


def test_certainty_of_all_can_be_doubted():
    model = make()
    model.add(0, 0, 1, 3.0, 0.0, 0.0)
    model.add(1, 0, 2, 4.0, 0.0, 0.0)
    model.doubt_all(but=(1, 0))
    assert model.certainty[1, 0] == 4.0
    assert model.certainty.sum() == 4.0
    assert model.row(0, 0) == {1: 3.0}
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert model.certainty[0, 0] == 4.0


def test_a_random_row_is_not_doubted_for_one_try_would_not_tell():
    model = make()
    model.add(0, 0, 1, 3.0, 0.0, 0.0)
    for after in (1, 2, 3) * 4:
        model.add(1, 1, after, 1.0, 0.0, 0.0)
    assert model.is_random[1, 1]
    model.doubt_all()
    assert model.certainty[0, 0] == 0.0
    assert model.certainty[1, 1] == 12.0


def test_mistakes_are_not_planned_with():
    model = make()
    model.add(0, 0, 1, 9.0, 0.0, 0.0)
    model.add(0, 0, 2, 0.4, 0.0, 0.0)  # less than half a try
    assert model.successor[0, 0, 0] == 1
    np.testing.assert_allclose(model.probability[0, 0], [1, 0])
    model.add(0, 0, 3, 0.6, 0.0, 0.0)
    assert model.successor[0, 0].tolist() == [1, 3]
    np.testing.assert_allclose(model.probability[0, 0], [9 / 9.6, 0.6 / 9.6])
    # Where nothing has half a try the best is planned with.
    model.add(1, 0, 2, 0.3, 0.0, 0.0)
    model.add(1, 0, 3, 0.2, 0.0, 0.0)
    np.testing.assert_allclose(model.probability[1, 0], [1, 0])
    assert model.successor[1, 0, 0] == 2


def test_rows_get_as_wide_as_they_must():
    model = make(6)
    for after in range(5):
        model.add(0, 0, after, 5.0 - after / 2, 0.0, 0.0)
    model.add(1, 1, 3, 1.0, 0.0, 0.0)
    assert model.successor.shape[2] >= 5
    assert model.successor.shape == model.probability.shape == model.discounted.shape
    assert model.successor[0, 0, :5].tolist() == [0, 1, 2, 3, 4]
    assert model.probability[0, 0].sum() == pytest.approx(1)
    assert_arrays_agree_with_rows(model)
    model.make_room(30)
    assert_arrays_agree_with_rows(model)


@given(st.integers(0, 2**32 - 1))
def test_the_planners_arrays_agree_with_the_rows(seed):
    model = random_model(np.random.default_rng(seed), 4)
    assert_arrays_agree_with_rows(model)
    assert_into_agrees_with_rows(model)


@given(st.integers(0, 2**32 - 1))
def test_rows_that_do_the_same_are_known_and_weighed_as_if_looked_at_each_time(seed):
    rng = np.random.default_rng(seed)
    quick, slow = make(), make()
    for model in (quick, slow):
        for state in range(3):
            model.add(state, 0, state + 1, 1.0, -1.0, float(state == 2))
    for _ in range(12):
        state, weight = int(rng.integers(3)), float(rng.choice([1.0, 0.7, -0.3]))
        after, reward = state + int(rng.random() < 0.9), -1.0 - 0.5 * (rng.random() < 0.1)
        end = 0.0
        if state == 2 and rng.random() < 0.9:  # most tries of that row end the episode
            weight, end = abs(weight), 1.0
        for model in (quick, slow):
            model.add(state, 0, after, weight, reward, end)
        slow.retry([(state, 0)])  # a look at the whole row
        slow.retries.clear()
        slow._refresh((state, 0))
    for model in (quick, slow):
        model.weigh_all()
    arrays = ("certainty", "log_chance", "is_random", "probability", "reward", "successor")
    for name in (*arrays, "end", "discounted"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name))
    assert quick.touched == slow.touched


def test_in_a_world_of_chance_every_try_says_whether_a_row_is_random():
    """There a row that was tried once is taken for random, until it has done the same often."""
    model = make()
    model.share_random = 0.6
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert model.is_random[0, 0]
    for _ in range(20):
        model.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert not model.is_random[0, 0]


def merge_map(n: int, one: int, other: int) -> ComponentMap:
    old = np.arange(n)
    return ComponentMap(n, n, np.where(old == other, one, old), old, np.ones(n))


def removal_map(n: int, gone: int) -> ComponentMap:
    kept = np.array([state for state in range(n) if state != gone])
    return ComponentMap(n, n, kept, kept, np.ones(n - 1))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("change", [merge_map(6, 1, 4), removal_map(6, 3)], ids=["merge", "gone"])
def test_counts_follow_a_change_as_the_dense_ones_do(seed, change):
    rng = np.random.default_rng(seed)
    model = random_model(rng, 6)
    before = dense(model, np.arange(6))
    sums = [getattr(model, k).copy() for k in ("visits", "reward_sum", "end_sum")]
    starts = np.array([model.row(START, START_ACTION).get(s, 0.0) for s in range(6)])
    model.apply(change)
    np.testing.assert_allclose(
        dense(model, np.arange(6)), change.carry_pair_counts(before), atol=1e-12
    )
    for name, values in zip(("visits", "reward_sum", "end_sum"), sums, strict=True):
        carried = change.carry_counts(values.T).T
        np.testing.assert_allclose(getattr(model, name), carried, atol=1e-12)
    now = np.array([model.row(START, START_ACTION).get(s, 0.0) for s in range(6)])
    np.testing.assert_allclose(now, change.carry_counts(starts), atol=1e-12)
    assert_into_agrees_with_rows(model)
    assert model.changed >= set(range(6))


def test_a_merge_loses_nothing():
    model = random_model(np.random.default_rng(9), 6)
    before = dense(model, np.arange(6)).sum()
    sums = [getattr(model, k).sum() for k in ("visits", "reward_sum", "end_sum")]
    model.apply(merge_map(6, 0, 5))
    assert dense(model, np.arange(6)).sum() == pytest.approx(before)
    for name, total in zip(("visits", "reward_sum", "end_sum"), sums, strict=True):
        assert getattr(model, name).sum() == pytest.approx(total)
    assert not any(5 in row or key[0] == 5 for key, row in model.rows.items())
    assert not model.visits[5].any()
    assert_arrays_agree_with_rows(model)


def test_a_split_shares_the_counts():
    model = make(3)
    model.add(0, 0, 1, 4.0, 8.0, 0.0)
    # State 1 becomes 1 (three quarters) and 2.
    change = ComponentMap(
        2, 3, np.array([0, 1, 2]), np.array([0, 1, 1]), np.array([1.0, 0.75, 0.25])
    )
    model.apply(change)
    assert model.row(0, 0) == {1: 3.0, 2: 1.0}
    assert model.visits[0, 0] == 4.0


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


def test_fading_weighs_less_and_means_the_same():
    model = random_model(np.random.default_rng(5), 4)
    names = ("visits", "reward_sum", "end_sum", "certainty")
    before = {name: getattr(model, name).copy() for name in names}
    counts = dense(model, np.arange(4))
    reward = model.reward.copy()
    model.fade(math.log(0.5))
    np.testing.assert_allclose(dense(model, np.arange(4)), counts / 2)
    for name in names:
        np.testing.assert_allclose(getattr(model, name), before[name] / 2)
    np.testing.assert_allclose(model.reward, reward)


def test_surprises_by_hand():
    model = make()
    assert model.surprise(0, 0, 3) is None  # nothing was expected
    model.add(0, 0, 1, 2.9, 0.0, 0.0)
    assert model.surprise(0, 0, 3) is None  # too few tries
    model.add(0, 0, 1, 7.1, 0.0, 0.0)
    assert model.surprise(0, 0, 1) is None  # as always
    assert model.surprise(0, 0, 3) == -math.inf  # one step may have been misread
    model.add(0, 0, 3, 1.0, 0.0, 0.0)
    assert model.certainty[0, 0] == 0  # it failed just now: not certain
    gain = gain_of_change({1: 10.0}, [3, 2], 4, RANDOM_ROWS)
    assert model.surprise(0, 0, 2) == pytest.approx(gain)
    model.add(0, 0, 2, 1.0, 0.0, 0.0)
    assert model.surprise(0, 0, 1) is None  # it does what it did again
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert model.certainty[0, 0] > 0
    assert model.runs == {}


def test_a_random_row_does_not_surprise():
    model = make()
    for after in (1, 2, 3, 1, 2, 3, 1, 1, 2, 3, 3, 3, 3, 2, 2, 2, 1):
        assert model.observe(0, 0, after, 1.0, 0.0, 0.0) is None
    assert model.is_random[0, 0]
    assert model.certainty[0, 0] == model.visits[0, 0] == 17.0


def test_a_row_that_always_ended_surprises_if_it_goes_on():
    model = make()
    model.add(0, 0, 1, 5.0, 0.0, 1.0)
    assert model.surprise(0, 0, ENDED) is None
    assert model.surprise(0, 0, 1) == -math.inf  # there, but it did not end
    assert model.runs == {(0, 0): [1]}


def test_an_end_is_an_outcome():
    model = make()
    model.add(0, 0, 1, 5.0, 0.0, 0.0)
    model.surprise(0, 0, ENDED)
    assert model.runs == {(0, 0): [ENDED]}
    for _ in range(3):
        model.add(0, 0, 1, 1.0, 0.0, 1.0)
    assert model.is_random[0, 0]  # it leads to 1 or ends there
    model.add(0, 0, 1, -3.0, 0.0, 1.0)
    assert model.ended == {}
    assert not model.is_random[0, 0]


def test_rows_of_which_little_is_known_are_what_the_others_are():
    model = make(30)
    for state in (*range(5), *range(6, 30)):
        for after in (1, 2, 3, 2):
            model.add(state, 0, after, 1.0, 0.0, 0.0)
    model.add(5, 0, 1, 1.0, 0.0, 0.0)
    model.add(0, 1, 1, 20.0, 0.0, 0.0)
    assert not model.is_random[5, 0]
    model.learn_chance()
    assert model.share_random > 0.6
    assert model.is_random[5, 0]
    assert not model.is_random[0, 1]
    assert not model.is_random[5, 1]  # never tried


def test_a_forgotten_row_leaves_no_trace():
    model = make()
    model.add(0, 0, 1, 5.0, 2.0, 0.0)
    model.add(0, 0, 2, 2.0, 2.0, 1.0)
    model.add(0, 1, 1, 1.0, 2.0, 0.0)
    model.surprise(0, 0, 3)
    assert model.runs
    model.forget_row(0, 0)
    assert model.row(0, 0) == {}
    assert model.runs == model.ended == {}
    assert model.predecessors[1] == {(0, 1)}
    assert model.predecessors[2] == set()
    for name in ("visits", "reward_sum", "end_sum", "certainty"):
        assert getattr(model, name)[0, 0] == 0
    assert not model.discounted[0, 0].any()
    assert model.visits[0, 1] == 1.0


@pytest.mark.parametrize("seed", range(10))
def test_the_evidence_of_a_row_is_that_of_an_urn(seed):
    rng = np.random.default_rng(seed)
    concentration = rng.gamma(1.0, size=4) + 0.05
    draws = rng.integers(3, size=rng.integers(1, 15)).tolist()  # the last is never seen
    seen = sorted(set(draws))
    evidence = row_log_evidence(
        [draws.count(outcome) for outcome in seen],
        [concentration[outcome] for outcome in seen],
        concentration.sum(),
    )
    expected = polya_urn_log_probability(draws, concentration)
    assert evidence == pytest.approx(expected, abs=1e-9)


def test_no_draws_are_no_evidence():
    assert row_log_evidence([], [], 2.0) == 0.0
    assert row_log_evidence([1.0], [0.5], 2.0) == pytest.approx(math.log(0.25))


def test_dense_counts_are_in_the_order_asked_for():
    model = make(5)
    model.add(4, 1, 2, 3.0, 0.0, 0.0)
    model.add(2, 0, 2, 1.0, 0.0, 0.0)
    counts = dense(model, np.array([2, 4]))
    assert counts.tolist() == [[[1, 0], [0, 0]], [[0, 0], [3, 0]]]


def test_small_rewards_are_seen_by_the_planner_too():
    model = make()
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    for _ in range(99):
        model.add(0, 0, 1, 1.0, 0.008, 0.0)
    assert model.reward[0, 0] == pytest.approx(0.99 * 0.008, rel=0.1)


def test_a_change_of_the_less_likely_successors_is_seen_by_the_planner():
    model = make()
    model.add(0, 0, 1, 100.0, 0.0, 0.0)
    model.add(0, 0, 2, 99.0, 0.0, 0.0)
    for _ in range(95):  # from now on 3 comes instead of 2
        model.add(0, 0, 1, 1.0, 0.0, 0.0)
        model.add(0, 0, 3, 1.0, 0.0, 0.0)
    assert_arrays_agree_with_rows(model)


def test_a_new_step_that_fits_is_counted_and_ends_a_retry():
    model = make()
    model.add(0, 0, 1, 5.0, 2.0, 0.0)
    model.retry([(0, 0)])
    assert model.observe(0, 0, 1, 0.4, 2.0, 0.0) is None  # most likely it was another row
    assert model.certainty[0, 0] == 0
    assert model.observe(0, 0, 1, 0.6, 2.0, 0.0) is None
    assert model.certainty[0, 0] == pytest.approx(6.0)


def test_a_row_that_fails_again_and_again_is_replaced():
    model = make()
    model.add(0, 0, 1, 10.0, -1.0, 0.0)
    assert model.observe(0, 0, 2, 1.0, -1.0, 0.0) is None  # once may be misread
    assert model.row(0, 0) == {1: 10.0, 2: 1.0}
    gain = gain_of_change({1: 10.0}, [2, 2], 4, RANDOM_ROWS)
    assert gain > 0
    assert model.observe(0, 0, 2, 1.0, -3.0, 0.0) == pytest.approx(gain)
    assert model.row(0, 0) == {2: 1.0}
    assert model.reward_sum[0, 0] == -3.0


def test_a_random_row_is_forgotten_for_more_than_a_few_unlucky_tries():
    """An action that slips three times in ten, and then does what one of the slips did."""
    model = make(5)
    for after in (2, 3, 4, 1, 1, 1, 1, 1, 1, 1) * 15:
        assert model.observe(0, 0, after, 1.0, -1.0, 0.0) is None
    model.learn_chance()
    assert model.is_random[0, 0]
    gains = []
    while (gain := model.observe(0, 0, 2, 1.0, -1.0, 0.0)) is None:
        counts = {1: 105.0, 2: 15.0, 3: 15.0, 4: 15.0}
        gains.append(gain_of_change(counts, [2] * (len(gains) + 1), 4, model.share_random))
    assert any(gain > 0.0 for gain in gains)  # more likely than not, and not yet believed
    assert max(gains) < np.log(150 + len(gains))  # it would take as many tries to know it again
    assert gain > np.log(150 + len(gains))
    assert len(gains) < 10
    assert model.row(0, 0) == {2: 1.0}


def test_an_unsure_step_never_replaces_a_row():
    model = make()
    model.add(0, 0, 1, 50.0, -1.0, 0.0)
    for _ in range(20):
        assert model.observe(0, 0, 2, 1.0, -1.0, 0.0, may_surprise=False) is None
        assert model.observe(0, 0, 3, 0.89, -1.0, 0.0) is None
    assert model.row(0, 0)[1] == 50.0


def test_the_last_fifty_unusual_outcomes_are_remembered():
    model = make(70, 40)
    model.add(0, 0, 1, 1000.0, 0.0, 0.0)
    for outcome in range(2, 65):
        assert model.surprise(0, 0, outcome) is not None
    assert model.runs[0, 0] == list(range(15, 65))
    assert model.surprise(0, 0, 1) is None  # the usual one
    assert (0, 0) not in model.runs


def test_a_state_has_rows_if_any_leads_from_it_or_to_it():
    model = make()
    model.add(1, 0, 2, 1.0, 0.0, 0.0)
    assert [model.has_rows(state) for state in range(4)] == [False, True, True, False]
    model.add(1, 0, 2, -1.0, 0.0, 0.0)
    assert not any(model.has_rows(state) for state in range(4))
    model.add(START, START_ACTION, 3, 1.0, 0.0, 0.0)
    assert model.has_rows(3)


def test_the_reward_of_a_random_row_that_ends_at_times_by_hand():
    model = make()
    model.share_random, model.evenness = 0.5, 3.0
    for after, tries, reward, end in ((1, 5, 1.0, 0.0), (2, 3, 1.0, 0.0), (3, 2, 10.0, 1.0)):
        for _ in range(tries):
            model.add(0, 0, after, 1.0, reward, end)
    assert model.is_random[0, 0]
    # Three tries more for each of three outcomes, the end among them.
    ends = (2 + 3) / (10 + 9)
    assert model.end[0, 0] == pytest.approx(ends, abs=CHANGED)
    assert model.reward[0, 0] == pytest.approx(10 * ends + 1 * (1 - ends), rel=CHANGED)
    pairs = zip(model.successor[0, 0].tolist(), model.probability[0, 0].tolist(), strict=True)
    onward = {after: share for after, share in pairs if share}
    assert onward == pytest.approx({1: 8 / 14, 2: 6 / 14}, abs=CHANGED)


def test_what_was_hardly_tried_is_asked_for_again_but_no_start():
    model = make()
    model.add(START, START_ACTION, 0, 1.0, 0.0, 0.0)
    model.add(0, 0, 1, 1.4, 0.0, 0.0)
    model.add(0, 1, 1, 1.6, 0.0, 0.0)
    model.retry_if_hardly_tried([(START, START_ACTION), (0, 0), (0, 1)])
    assert model.retries == {(0, 0)}


def test_a_state_that_is_not_there_is_refused_in_a_file():
    model = make(3)
    model.add(0, 0, 1, 1.0, 0.0, 0.0)
    arrays, last = sparse_file.to_arrays(model), len(model.visits) - 1
    sparse_file.restore(make(3), ArrayReader(arrays | {"changed": np.array([last])}), 3)
    with pytest.raises(DataError, match="changed"):
        sparse_file.restore(make(3), ArrayReader(arrays | {"changed": np.array([last + 1])}), 3)


def test_starts_say_nothing_about_how_even_chances_are():
    model = make()
    model.share_random = 0.5
    for after in (0, 1, 2, 3) * 5:
        model.add(START, START_ACTION, after, 1.0, 0.0, 0.0)
    model.learn_evenness()
    assert model.evenness == 0.0
    for after in (0, 1, 2, 3) * 5:
        model.add(3, 1, after, 1.0, 0.0, 0.0)  # the last of the states, with the last action
    model.learn_evenness()
    assert model.evenness > 5.0


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
