"""Sparse rows: counts, rewards and ends, what the planner sees of them, and how they change."""

import math

import numpy as np
import pytest
from tests.transition.made import (
    GAMMA,
    assert_arrays_agree_with_rows,
    assert_into_agrees_with_rows,
    make,
    merge_map,
    random_model,
    removal_map,
)

from tgm.perception.component_map import ComponentMap
from tgm.transition.chance import RANDOM_ROWS, WORLD_OF_CHANCE, gain_of_change
from tgm.transition.sparse import ENDED, START, START_ACTION
from tgm.transition.views import dense


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


def test_rows_that_were_counted_are_noted_until_somebody_has_seen_them():
    model, seen = make(), []
    for step in [(0, 1, 3, 1.0, 3.0, 0.0)] * 3:  # the third only repeats
        model.observe(*step)
        seen.append(set(model.counted))
        model.counted.clear()
    model.add(START, START_ACTION, 2, 1.0, 0.0, 0.0)
    seen.append(set(model.counted))
    assert seen == [{(0, 1)}] * 3 + [{(START, START_ACTION)}]
    model.counted.clear()
    assert model.apply(merge_map(len(model.visits), 2, 3)) <= model.counted
    assert (0, 1) in model.counted  # it leads to what was merged


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


def test_in_a_world_of_chance_two_slips_do_not_replace_a_row_that_was_tried_often():
    """Rare slips look like misreadings; two that agree look like a change, and mostly are none."""
    gains = {}
    for share in (WORLD_OF_CHANCE - 0.01, WORLD_OF_CHANCE):
        model = make(20)
        model.add(0, 0, 1, 116.0, -1.0, 0.0)
        for after in (2, 3, 3):
            model.add(0, 0, after, 1.0, -1.0, 0.0)
        model.share_random = share
        assert not model.is_random[0, 0]
        assert model.observe(0, 0, 2, 1.0, -1.0, 0.0) is None
        gains[share] = model.observe(0, 0, 2, 1.0, -1.0, 0.0)
    certain, by_chance = gains.values()
    assert 0.0 < certain < np.log(120)  # enough where nothing else is random
    assert by_chance is None


@pytest.mark.parametrize("share", [0.01, WORLD_OF_CHANCE])
def test_a_row_that_changed_is_tried_again_where_one_try_may_be_a_slip(share):
    model = make()
    model.add(0, 0, 1, 5.0, -1.0, 0.0)
    model.share_random = share
    n_surprises = 1
    while model.observe(0, 0, 2, 1.0, -1.0, 0.0) is None:
        n_surprises += 1
        assert n_surprises < 10
    assert model.row(0, 0) == {2: 1.0}
    assert model.certainty[0, 0] == (0.0 if share == WORLD_OF_CHANCE else 1.0)
    model.observe(0, 0, 2, 1.0, -1.0, 0.0)
    assert model.certainty[0, 0] == 2.0


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


def test_what_was_hardly_tried_is_asked_for_again_but_no_start():
    model = make()
    model.add(START, START_ACTION, 0, 1.0, 0.0, 0.0)
    model.add(0, 0, 1, 1.4, 0.0, 0.0)
    model.add(0, 1, 1, 1.6, 0.0, 0.0)
    model.retry_if_hardly_tried([(START, START_ACTION), (0, 0), (0, 1)])
    assert model.retries == {(0, 0)}


@pytest.mark.parametrize("seed", range(10))
def test_a_step_that_does_what_its_row_has_always_done_is_counted_as_any_other(seed, monkeypatch):
    rng, models = np.random.default_rng(seed), (make(), make())
    steps = []
    for _ in range(200):
        state, action, weight = *rng.integers(2, size=2).tolist(), float(rng.choice([1.0, 0.6]))
        odd = state == 1 and rng.random() < 0.1  # the rows of the first state always do the same
        steps.append((state, action, 2 + odd, weight, 2.0 if odd else -1.0, float(odd and action)))
    quick = []
    for is_long, model in enumerate(models):
        repeats = type(model)._repeats

        def noted(self, *step, repeats=repeats, is_long=is_long):
            quick.append(not is_long and repeats(self, *step))
            return quick[-1]

        with monkeypatch.context() as patch:
            patch.setattr(type(model), "_repeats", noted)
            for step in steps:
                model.observe(*step)
    short, long = models
    assert 20 < sum(quick) < len(quick)
    for name in ("visits", "reward_sum", "reward_square", "certainty", "reward", "successor"):
        assert getattr(short, name).tolist() == getattr(long, name).tolist()
    for name in ("rows", "ended", "runs", "last_reward", "touched", "unweighed", "planned"):
        assert getattr(short, name) == getattr(long, name)
