"""A split: kept steps go to the right half, what is only in the counts is shared out."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.distributions.moments import Moments
from tgm.learners.online_model import OnlineModel
from tgm.memory.step import Step
from tgm.perception.component_map import ComponentMap
from tgm.structure.scale import Scale

LEFT, RIGHT, FAR = np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([5.0, 0.0])


def one_state_for_two_places(n_left: int, n_right: int, limit: int = 20):
    """A model in which state 0 stands for LEFT and RIGHT; state 1 is FAR, where both were entered.

    Action 0 leads from FAR to LEFT, action 1 to RIGHT; each is a step of weight one. Action 2 leads
    back. The left ones come first, so that they are let go of first.
    """
    rng = np.random.default_rng(0)
    online = OnlineModel(2, 3, TGMConfig(kept_per_state=limit), Scale.of_bandwidth(0.5, 2))
    state, far = online.new_state(), online.new_state()
    online.components.add(far, FAR, 1.0)
    points = {0: [], 1: []}
    for action, place in [(0, LEFT)] * n_left + [(1, RIGHT)] * n_right:
        point = place + 0.1 * rng.normal(size=2)
        points[action].append(point)
        into = Step(FAR, [(far, 1.0)], action, -1.0, 0.0, point)
        into.entries, into.after = [(far, state, 1.0)], [(state, 1.0)]
        back = Step(point, [(state, 1.0)], 2, -2.0 if action else -1.0, 0.0, FAR)
        back.entries, back.after = [(state, far, 1.0)], [(far, 1.0)]
        for step in (into, back):
            online.components.add(step.after[0][0], step.arrival, 1.0)
            online.count(step, +1.0)
            online.memory.keep(step, step.after[0][0])
    return online, state, far, points


def assert_same(one: Moments, other: Moments) -> None:
    for name in ("weight", "mean", "scatter"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


def split(online: OnlineModel, state: int) -> int:
    steps = online.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    return online.structure._split(state, steps, side)


def test_with_all_steps_kept_a_split_is_as_if_there_had_always_been_two():
    online, state, far, points = one_state_for_two_places(7, 4)
    child = split(online, state)
    model, components = online.model, online.components
    # The larger part keeps the name.
    for half, action in ((state, 0), (child, 1)):
        assert_same(components.moments(half), Moments.of_points(np.array(points[action])))
        assert model.row(far, action) == {half: pytest.approx(len(points[action]))}
        assert model.row(half, 2) == {far: pytest.approx(len(points[action]))}
        assert model.reward_sum[half, 2] == pytest.approx(-(1 + action) * len(points[action]))
        assert model.visits[half, 2] == pytest.approx(len(points[action]))
        assert all(step.after == [(half, 1.0)] for step in online.memory.into(half))


def test_what_is_only_in_the_counts_is_shared_in_proportion():
    online, state, far, points = one_state_for_two_places(30, 20, limit=20)
    # Of the left ones only the last is kept, so that the two sides are seen; it lies in the middle.
    first = Step(FAR, [(far, 1.0)], 0, -1.0, 0.0, LEFT)
    first.entries, first.after = [(far, state, 1.0)], [(state, 1.0)]
    online.components.add(state, LEFT, 1.0)
    online.count(first, +1.0)
    online.memory.keep(first, state)
    whole = online.components.moments(state)
    visits = online.model.visits[state].copy()
    rewards = online.model.reward_sum[state].copy()
    child = split(online, state)
    model, components = online.model, online.components
    # 30 left ones and the oldest right one are folded: nearly all of it belongs to the left.
    kept_left, kept_right = 1, 19
    share = np.mean([point[0] for point in [*points[0], points[1][0]]])
    assert components.weight[state] == pytest.approx(kept_left + 31 * (1 - share), abs=0.3)
    assert components.weight[child] == pytest.approx(kept_right + 31 * share, abs=0.3)
    total = components.moments(state) + components.moments(child)
    assert total.weight == pytest.approx(whole.weight)
    np.testing.assert_allclose(total.mean, whole.mean, atol=1e-9)
    # Nothing is lost or made up.
    np.testing.assert_allclose(model.visits[state] + model.visits[child], visits, atol=1e-9)
    np.testing.assert_allclose(
        model.reward_sum[state] + model.reward_sum[child], rewards, atol=1e-9
    )
    for action, count in ((0, 31), (1, 20)):
        assert sum(model.row(far, action).values()) == pytest.approx(count)
    assert model.row(far, 0)[state] > 25
    assert model.row(far, 1)[child] > 18


def test_a_split_that_is_taken_back_leaves_no_trace():
    online, state, _, _ = one_state_for_two_places(25, 12, limit=20)
    moments = online.components.moments(state)
    rows = {key: dict(row) for key, row in online.model.rows.items()}
    online.structure._merge(state, split(online, state))
    again = online.components.moments(state)
    assert again.weight == pytest.approx(moments.weight)
    np.testing.assert_allclose(again.mean, moments.mean, atol=1e-9)
    left = {key: row for key, row in online.model.rows.items() if row}
    assert left.keys() == rows.keys()
    for key, row in rows.items():
        assert left[key] == pytest.approx(row)


def test_every_kept_step_can_be_taken_back_after_a_split():
    online, state, _, _ = one_state_for_two_places(9, 9)
    child = split(online, state)
    for half in (state, child):
        for step in online.memory.into(half)[:-1]:
            online._withdraw(step)
        assert online.components.weight[half] == pytest.approx(1.0)
        assert np.abs(online.components.scatter[half]).max() < 1e-9


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_the_map_of_a_split(share):
    change = ComponentMap.of_split(4, 1, 3, share)
    carried = change.carry_counts(np.array([1.0, 8.0, 2.0, 0.0]))
    np.testing.assert_allclose(carried, [1.0, 8.0 * (1 - share), 2.0, 8.0 * share])
    assert change.changed == ({1: [(1, 0.75), (3, 0.25)]} if share else {})


def test_a_split_that_leaves_one_half_without_a_point_is_not_made():
    # In 32 features a half of one point is so much wider that the other explains its point too.
    rng = np.random.default_rng(0)
    online = OnlineModel(32, 2, TGMConfig(), Scale.of_bandwidth(0.5, 32))
    online.begin(rng.normal(scale=1e-3, size=32))
    for _ in range(8):
        online.observe(0, -1.0, rng.normal(scale=1e-3, size=32), terminated=False)
    (state,) = online.components.alive.tolist()
    moments = online.components.moments(state)
    rows = {key: dict(row) for key, row in online.model.rows.items() if row}
    steps = online.memory.into(state)
    side = np.arange(len(steps)) == 0
    assert online.structure._split(state, steps, side) is None
    assert online.components.alive.tolist() == [state]
    assert_same(online.components.moments(state), moments)
    left = {key: row for key, row in online.model.rows.items() if row}
    assert left.keys() == rows.keys()
    assert all(left[key] == pytest.approx(row) for key, row in rows.items())
    assert all(step.after == [(state, 1.0)] for step in online.memory.into(state))
