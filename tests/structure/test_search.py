"""A split: kept steps go to the right half, what is only in the counts is shared out."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.distributions.moments import Moments
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.learners.online import OnlineLearner
from tgm.memory.step import Step
from tgm.perception.component_map import ComponentMap
from tgm.structure.evidence import split_gain, transition_gain
from tgm.structure.revision import Refusal, Relabelling, Revision
from tgm.structure.search import _parts
from tgm.transition.sparse import SparseTransitions

LEFT, RIGHT, FAR = np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([5.0, 0.0])


def one_state_for_two_places(n_left: int, n_right: int, limit: int = 20, *, ends: bool = False):
    """A model in which state 0 stands for LEFT and RIGHT; state 1 is FAR, where both were entered.

    Action 0 leads from FAR to LEFT, action 1 to RIGHT; each is a step of weight one. Action 2 leads
    back. The left ones come first, so that they are let go of first. LEFT may be an end.
    """
    rng = np.random.default_rng(0)
    learner = OnlineLearner(2, 3, TGMConfig(bandwidth=0.5, kept_per_state=limit))
    online = learner.world
    state, far = (learner.edit.add_state(0) for _ in range(2))
    online.states.add(far, FAR, 1.0)
    points = {0: [], 1: []}
    for action, place in [(0, LEFT)] * n_left + [(1, RIGHT)] * n_right:
        point = place + 0.1 * rng.normal(size=2)
        points[action].append(point)
        end = float(ends and action == 0)
        into = Step(FAR, [(far, 1.0)], action, -1.0, end, point)
        into.entries, into.after = [(far, state, 1.0)], [(state, 1.0)]
        back = Step(point, [(state, 1.0)], 2, -2.0 if action else -1.0, 0.0, FAR)
        back.entries, back.after = [(state, far, 1.0)], [(far, 1.0)]
        for step in (into,) if end else (into, back):
            online.states.add(step.after[0][0], step.arrival, 1.0)
            online.count(step, +1.0)
            online.memory.keep(step, step.after[0][0])
    return learner, state, far, points


def assert_same(one: Moments, other: Moments) -> None:
    for name in ("weight", "mean", "scatter"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


def split(learner: OnlineLearner, state: int) -> int:
    """Split at 0.5, whatever the evidence says; returns the child."""
    steps = learner.world.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    revision = learner._search._halves(state, steps, side)
    learner.edit.split(revision)
    return revision.states[1]


def test_with_all_steps_kept_a_split_is_as_if_there_had_always_been_two():
    learner, state, far, points = one_state_for_two_places(7, 4)
    online = learner.world
    child = split(learner, state)
    model, components = online.transitions, online.states
    # The larger part keeps the name.
    for half, action in ((state, 0), (child, 1)):
        assert_same(components.moments(half), Moments.of_points(np.array(points[action])))
        assert model.row(far, action) == {half: pytest.approx(len(points[action]))}
        assert model.row(half, 2) == {far: pytest.approx(len(points[action]))}
        assert model.reward_sum[half, 2] == pytest.approx(-(1 + action) * len(points[action]))
        assert model.visits[half, 2] == pytest.approx(len(points[action]))
        assert all(step.after == [(half, 1.0)] for step in online.memory.into(half))


def test_what_is_only_in_the_counts_is_shared_in_proportion():
    learner, state, far, points = one_state_for_two_places(30, 20, limit=20)
    online = learner.world
    # Of the left ones only the last is kept, so that the two sides are seen; it lies in the middle.
    first = Step(FAR, [(far, 1.0)], 0, -1.0, 0.0, LEFT)
    first.entries, first.after = [(far, state, 1.0)], [(state, 1.0)]
    online.states.add(state, LEFT, 1.0)
    online.count(first, +1.0)
    online.memory.keep(first, state)
    whole = online.states.moments(state)
    child = split(learner, state)
    model, components = online.transitions, online.states
    # 30 left ones and the oldest right one are folded: nearly all of it belongs to the left.
    kept_left, kept_right = 1, 19
    share = np.mean([point[0] for point in [*points[0], points[1][0]]])
    assert components.weight[state] == pytest.approx(kept_left + 31 * (1 - share), abs=0.3)
    assert components.weight[child] == pytest.approx(kept_right + 31 * share, abs=0.3)
    total = components.moments(state) + components.moments(child)
    assert total.weight == pytest.approx(whole.weight)
    np.testing.assert_allclose(total.mean, whole.mean, atol=1e-9)
    # Rows that do the same are as well known by their kept steps.
    assert model.row(far, 0) == {state: pytest.approx(kept_left)}
    assert model.row(far, 1) == {child: pytest.approx(kept_right)}


def test_the_parts_of_a_split_are_those_of_rows_from_other_states_and_to_them():
    def relabelling(entries, action, before, after):
        step = Step(LEFT, [], action, 0.0, 0.0, LEFT, entries=entries)
        return Relabelling(step, {0: before}, {0: after})

    first, second, both = [(0, 1.0)], [(1, 1.0)], [(0, 0.25), (1, 0.75)]
    into, leaving = _parts(
        [
            relabelling([(2, 0, 1.0)], 1, first, first),
            relabelling([(2, 0, 1.0)], 1, first, both),
            relabelling([(0, 3, 0.5)], 0, both, first),
            relabelling([(0, 0, 1.0)], 0, first, second),  # within the state: of neither
            relabelling([(2, 3, 1.0)], 1, first, first),  # names it as a mere possibility
            relabelling([(2, 0, 1.0)], None, second, second),  # the start of an episode
        ],
        0,
        1,
    )
    assert into == {(2, 1): pytest.approx(0.375)}
    assert leaving == {(0, 3): pytest.approx(0.75)}


def test_a_split_that_is_taken_back_leaves_the_points_and_the_kept_tries():
    learner, state, far, _ = one_state_for_two_places(25, 12, limit=20)
    online = learner.world
    moments = online.states.moments(state)
    rows = {key: dict(row) for key, row in online.transitions.rows.items()}
    child = split(learner, state)
    both = online.states.moments(state) + online.states.moments(child)
    change = ComponentMap.of_merge(online.states.n_slots, state, child)
    learner.edit.merge(Revision(change, 0.0, (state, child), {state: both}))
    again = online.states.moments(state)
    assert again.weight == pytest.approx(moments.weight)
    np.testing.assert_allclose(again.mean, moments.mean, atol=1e-9)
    left = {key: row for key, row in online.transitions.rows.items() if row}
    assert left.keys() == rows.keys()
    n_kept = {(far, 0): 8, (far, 1): 12, (state, 2): 20}  # others say nothing more of such rows
    for key, row in rows.items():
        assert left[key] == {after: pytest.approx(n_kept[key]) for after in row}


def test_every_kept_step_can_be_taken_back_after_a_split():
    learner, state, _, _ = one_state_for_two_places(9, 9)
    online = learner.world
    child = split(learner, state)
    for half in (state, child):
        for step in online.memory.into(half)[:-1]:
            learner.edit.withdraw(step)
        assert online.states.weight[half] == pytest.approx(1.0)
        assert np.abs(online.states.scatter[half]).max() < 1e-9


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_the_map_of_a_split(share):
    change = ComponentMap.of_split(4, 1, 3, share)
    carried = change.carry_counts(np.array([1.0, 8.0, 2.0, 0.0]))
    np.testing.assert_allclose(carried, [1.0, 8.0 * (1 - share), 2.0, 8.0 * share])
    assert change.changed == ({1: [(1, 0.75), (3, 0.25)]} if share else {})


def test_the_halves_of_one_place_do_the_same_and_stay_one(monkeypatch):
    rng = np.random.default_rng(0)
    learner, state, far, _ = one_state_for_two_places(0, 0)
    world = learner.world
    for action in rng.integers(2, size=18).tolist():
        point = LEFT + 0.16 * rng.normal(size=2)
        into = Step(FAR, [(far, 1.0)], action, -1.0, 0.0, point)
        into.entries, into.after = [(far, state, 1.0)], [(state, 1.0)]
        world.states.add(state, point, 1.0)
        world.count(into, +1.0)
        world.memory.keep(into, state)
    monkeypatch.setattr(world.states, "is_wide", lambda _: True)
    points = np.array([step.arrival for step in world.memory.into(state)])
    side = world.states.cut(points)
    halves = (Moments.of_points(points[side]), Moments.of_points(points[~side]))
    assert split_gain(world.states, *halves, world.states.n_alive) < 5
    monkeypatch.setattr("tgm.structure.search.split_gain", lambda *_: 1.0)
    refusal = learner._search.split(state, 36)
    assert isinstance(refusal, Refusal)
    assert refusal.gain < -3


def test_kept_steps_count_for_all_steps_when_a_split_is_weighed():
    learner, state, far, _ = one_state_for_two_places(30, 30, limit=20)
    search, world = learner._search, learner.world
    steps = world.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    revision = search._halves(state, steps, side)
    (one, child), moments = revision.states, revision.moments
    n_second = sum(side.tolist())
    n_first = len(steps) - n_second
    if moments[one].mean[0] > 0.5:
        n_first, n_second = n_second, n_first
    times = (moments[one].weight + moments[child].weight) / len(steps)
    assert times == pytest.approx(3.0)
    counts = SparseTransitions(3, 0.9)
    counts.make_room(3)
    for half, n in ((one, n_first), (child, n_second)):
        action = int(moments[half].mean[0] > 0.5)
        counts.add(far, action, half, times * n, -1.0, 0.0)
    left = [step for step in world.memory.steps_naming(state) if step.action == 2]
    for step in left:
        half = child if (step.departure[0] > 0.5) == (moments[child].mean[0] > 0.5) else one
        counts.add(half, 2, far, times, step.reward, 0.0)
    rows = transition_gain(counts, one, child, world.states.n_alive + 1, 0.5)
    observations = world.states.split_gain(moments[one], moments[child])
    assert search._loss(revision, 120) == pytest.approx(rows - observations)


def test_a_split_is_undone_by_new_evidence_alone():
    learner, state, _, _ = one_state_for_two_places(60, 60, limit=20)
    search = learner._search
    revision = search.split(state, 240)
    assert isinstance(revision, Revision)
    learner.edit.split(revision)
    one, other = sorted(revision.states)
    undiscounted = search.merge(one, other, 240)
    search.discount(revision, 240)
    refusal = search.merge(one, other, 240)
    assert isinstance(refusal, Refusal)
    assert refusal.gain == pytest.approx(-revision.gain)
    assert undiscounted.gain != pytest.approx(-revision.gain, abs=1.0)
    # A slot that is used again is another state.
    search.birth(other)
    assert search.merge(one, other, 240).gain == pytest.approx(undiscounted.gain)


def test_a_split_that_leaves_one_half_without_a_point_is_refused(monkeypatch):
    # In 32 features a half of one point is so much wider that the other explains its point too.
    rng = np.random.default_rng(0)
    learner = OnlineLearner(32, 2, TGMConfig(bandwidth=0.5))
    learner.begin(rng.normal(scale=1e-3, size=32))
    for _ in range(8):
        learner.observe(0, -1.0, rng.normal(scale=1e-3, size=32), terminated=False)
    states, search = learner.world.states, learner._search
    (state,) = states.alive.tolist()
    monkeypatch.setattr(states, "is_wide", lambda _: True)
    monkeypatch.setattr(states, "cut", lambda points: np.arange(len(points)) == 0)
    monkeypatch.setattr("tgm.structure.search.split_gain", lambda *_: 1.0)
    refusal = search.split(state, 8)
    assert isinstance(refusal, Refusal)
    assert refusal.cause == "one half explains all"


def knowledge(learner: OnlineLearner) -> dict[str, np.ndarray]:
    return learner.world.to_arrays() | learner._search.to_arrays()


def test_the_search_changes_nothing():
    learner, state, far, _ = one_state_for_two_places(9, 9)
    before = {name: array.copy() for name, array in knowledge(learner).items()}
    found = [learner._search.split(state, 36), learner._search.merge(state, far, 36)]
    assert isinstance(found[0], Revision)
    assert isinstance(found[1], Refusal)
    after = knowledge(learner)
    assert before.keys() == after.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name], err_msg=name)


def test_the_transitions_of_a_split_are_weighed_before_it_is_made():
    """The loss that the search computes on a copy is that of the split when it is made."""
    learner, state, _, _ = one_state_for_two_places(12, 9, limit=100)
    search, steps = learner._search, learner.world.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    revision = search._halves(state, steps, side)
    loss = search._loss(revision, 42)
    learner.edit.split(revision)
    merged = search.merge(*revision.states, 42)
    assert merged.gain == pytest.approx(loss, abs=1e-9)


def test_kept_steps_show_to_which_half_a_row_leads():
    """At least one step of each row into a state is kept."""
    learner, state, far, _ = one_state_for_two_places(30, 30, limit=6)
    online = learner.world
    child = split(learner, state)
    model = online.transitions
    left, right = (state, child) if online.states.mean[state][0] < 0.5 else (child, state)
    assert model.row(far, 0) == {left: pytest.approx(1)}
    assert model.row(far, 1) == {right: pytest.approx(5)}
    for key, row in model.rows.items():
        assert sum(row.values()) == pytest.approx(model.visits[key], abs=1e-6)
        assert min(row.values(), default=0.0) >= 0.0


def test_the_tries_of_a_random_row_are_all_shared_out(monkeypatch):
    learner, state, far, _ = one_state_for_two_places(30, 30, limit=6)
    online = learner.world
    visits = online.transitions.visits.sum(axis=0)
    rewards = online.transitions.reward_sum.sum(axis=0)
    online.transitions.make_room(3)
    everything = np.ones_like(online.transitions.is_random)
    monkeypatch.setattr(online.transitions, "is_random", everything)
    monkeypatch.setattr(online.transitions, "_refresh", lambda _: None)
    child = split(learner, state)
    model = online.transitions
    left, right = (state, child) if online.states.mean[state][0] < 0.5 else (child, state)
    for action, half in ((0, left), (1, right)):
        assert model.row(far, action) == {half: pytest.approx(30, abs=1e-6)}
    # Nothing is lost or made up, in rows, visits and rewards.
    np.testing.assert_allclose(model.visits.sum(axis=0), visits, atol=1e-9)
    np.testing.assert_allclose(model.reward_sum.sum(axis=0), rewards, atol=1e-9)


def test_ends_go_with_the_steps_that_are_shared_out():
    """Every step to the left ended its episode, none to the right; one of them is kept."""
    learner, state, far, _ = one_state_for_two_places(30, 30, limit=6, ends=True)
    model = learner.world.transitions
    child = split(learner, state)
    left = state if learner.world.states.mean[state][0] < 0.5 else child
    assert model.ended == {(far, 0): {left: pytest.approx(1, abs=1e-6)}}
    assert model.end_sum[far].tolist() == pytest.approx([1.0, 0.0, 0.0], abs=1e-6)


def test_a_split_is_weighed_by_what_kept_steps_show():
    """Shared out in one proportion, counts would say that both halves do the same."""
    for n in (10, 200):
        learner, state, _, _ = one_state_for_two_places(n, n, limit=10)
        steps = learner.world.memory.into(state)
        side = np.array([step.arrival[0] > 0.5 for step in steps])
        assert side.any()
        assert not side.all()
        assert learner._search._loss(learner._search._halves(state, steps, side), 4 * n) < -5


def test_a_merge_needs_three_nats():
    gains = []
    for distance in np.linspace(0.0, 1.6, 60):
        learner = OnlineLearner(2, 1, TGMConfig(bandwidth=0.5))
        for place in (0.0, distance):
            state = learner.edit.add_state(0)
            for offset in ([0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1]):
                learner.world.states.add(state, np.array([place, 0.0]) + offset, 1.0)
        found = learner._search.merge(0, 1, 8)
        assert isinstance(found, Revision) == (found.gain > 3.0)
        gains.append(found.gain)
    assert gains == sorted(gains, reverse=True)
    assert any(1.5 < gain < 3.0 for gain in gains)
    assert any(3.0 < gain < 4.5 for gain in gains)


@pytest.mark.parametrize(
    ("points", "more", "is_due"), [(3, 0, True), (5, 0, False), (20, 2, False), (20, 4, True)]
)
def test_a_state_is_looked_at_again_when_it_is_young_or_has_grown_by_a_seventh(
    points, more, is_due
):
    learner = OnlineLearner(2, 1, TGMConfig(bandwidth=0.5))
    state, search = learner.edit.add_state(0), learner._search
    learner.world.states.add(state, LEFT, float(points))
    search.touched.add(state)
    assert search.due() == [state]
    learner.world.states.add(state, LEFT, float(more)) if more else None
    assert search.due() == []  # nobody has touched it
    search.touched.add(state)
    assert (search.due() == [state]) == is_due


def test_it_does_not_matter_which_half_is_named_first():
    learner, state, far, _ = one_state_for_two_places(30, 20, limit=20)
    first = Step(FAR, [(far, 1.0)], 0, -1.0, 0.0, LEFT)  # one of the left ones is kept
    first.entries, first.after = [(far, state, 1.0)], [(state, 1.0)]
    learner.world.states.add(state, LEFT, 1.0)
    learner.world.count(first, +1.0)
    learner.world.memory.keep(first, state)
    steps = learner.world.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    one, other = (learner._search._halves(state, steps, halves) for halves in (side, ~side))
    for half in one.states:  # the child gets the smaller part of what is only in the counts
        assert_same(one.moments[half], other.moments[half])
    assert one.moments[state].weight > 25
    assert one.moments[state].mean[0] < 0.2 < 0.8 < one.moments[one.states[1]].mean[0]


@pytest.mark.parametrize(("n_left", "is_weighed"), [(1, False), (2, True)])
def test_a_split_needs_three_points(n_left, is_weighed, monkeypatch):
    learner, state, _, _ = one_state_for_two_places(n_left, 1)
    monkeypatch.setattr(learner.world.states, "is_wide", lambda _: True)
    assert (learner._search.split(state, 8) is not None) == is_weighed


def test_a_point_between_two_halves_is_of_both_but_one_in_a_hundred_is_nothing():
    learner, state, _, _ = one_state_for_two_places(9, 9)
    steps = learner.world.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    halves = learner._search._halves(state, steps, side).halves
    found = [halves(np.array([place, 0.0])) for place in np.linspace(0.0, 1.0, 2001)]
    assert all(sum(share for _, share in belief) == pytest.approx(1.0) for belief in found)
    smaller = [min(share for _, share in belief) for belief in found if len(belief) == 2]
    assert 0.01 <= min(smaller) < 0.015
    assert len(found[0]) == len(found[-1]) == 1
    assert found[0] != found[-1]


def test_the_list_of_states_to_look_at_goes_through_a_file():
    learner, state, far, _ = one_state_for_two_places(9, 9)
    search = learner._search
    search.touched = {state, far}
    search.due()
    search.touched = {far}
    search._shared = {(state, far): 2.5}
    arrays = search.to_arrays()
    other, _, _, _ = one_state_for_two_places(9, 9)
    other._search.restore(ArrayReader(arrays), 2)
    assert other._search.touched == {far}
    np.testing.assert_array_equal(other._search.to_arrays()["checked"], arrays["checked"])
    assert other._search._shared == {(state, far): 2.5}
    for name, value in (
        ("touched", np.array([2])),
        ("checked", np.zeros(1)),
        ("shared.pair", np.array([[0, 2]])),
        ("shared.nats", np.array([np.nan])),
    ):
        with pytest.raises(DataError, match=name):
            other._search.restore(ArrayReader(arrays | {name: value}), 2)
