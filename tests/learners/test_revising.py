"""What is done of what the search for structure proposes."""

from dataclasses import replace

import numpy as np
import pytest
from tests.structure.test_search import FAR, one_state_for_two_places

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.memory.step import Step
from tgm.perception.state_slots import LEAST_WEIGHT


@pytest.mark.parametrize(("most", "n_states"), [(2, 2), (3, 3)])
def test_no_state_is_split_beyond_the_bound(most, n_states):
    learner, state, _, _ = one_state_for_two_places(9, 9)
    learner._reviser._most_states = most
    learner._search.touched.add(state)
    learner._reviser.revise(36)
    assert learner.world.states.n_alive == n_states


def test_a_state_is_looked_at_once():
    learner, state, _, _ = one_state_for_two_places(9, 0)
    learner._search.touched.add(state)
    learner._reviser.revise(36)
    assert learner._search.touched == set()
    assert learner._search.due() == []
    assert learner.world.states.n_alive == 2


@pytest.mark.parametrize(
    ("n_points", "growth", "deviations", "is_again"),
    [
        (10, 1.35, 9.0, False),  # times the points that the state had when the step was assigned
        (10, 1.45, 9.0, True),
        (10, 1.45, 2.3, False),
        (10, 1.45, 2.4, True),
        (2, 1.45, 9.0, False),
        (3, 1.45, 9.0, True),
    ],
)
def test_far_steps_of_a_state_that_has_grown_are_assigned_again(
    n_points, growth, deviations, is_again, monkeypatch
):
    learner, state, _, _ = one_state_for_two_places(n_points, 0)
    steps, again = learner.world.memory.into(state), []
    for step in steps:
        step.weight_then = n_points / growth
    squares = learner.world.states, "squared_distances"
    monkeypatch.setattr(*squares, lambda points, _: [deviations**2] * len(points))
    monkeypatch.setattr(learner._reviser, "_reassign", again.append)
    learner._search.touched.add(state)
    learner._reviser.revise(36)
    assert again == (steps if is_again else [])


def doubted(n_points: int, elsewhere: float, monkeypatch):
    """A state that was entered from one other state, by an action that at times leads elsewhere.

    Returns whether it is weighed against outliers, and a function that says whether it is after
    more tries that led elsewhere.
    """
    learner, state, far, _ = one_state_for_two_places(n_points, 0)
    asked = []
    monkeypatch.setattr(learner._outliers, "log_odds", lambda slot, _: asked.append(slot) or -1.0)

    def is_weighed(more: float) -> bool:
        asked.clear()
        learner.world.transitions.add(far, 0, far, more, -1.0, 0.0)
        learner._reviser.revise(36)
        return state in asked

    return is_weighed(elsewhere), is_weighed


@pytest.mark.parametrize(
    ("n_points", "elsewhere", "is_weighed"),
    [(6, 3.0, True), (7, 3.0, False), (6, 0.4, False), (6, 0.6, True)],
)
def test_a_state_of_few_points_may_be_outliers_if_its_rows_lead_elsewhere(
    n_points, elsewhere, is_weighed, monkeypatch
):
    assert doubted(n_points, elsewhere, monkeypatch)[0] == is_weighed


def test_a_state_of_which_nothing_is_left_is_removed():
    learner, state, far, _ = one_state_for_two_places(9, 0)
    empty = learner.edit.add_state(0.0)
    learner.world.states.add(empty, np.array([9.0, 9.0]), LEAST_WEIGHT)
    learner._reviser.revise(36)
    assert learner.world.states.alive.tolist() == sorted([state, far])


def test_it_is_weighed_again_when_these_rows_were_tried_a_fifth_more_often(monkeypatch):
    first, is_weighed = doubted(5, 5.0, monkeypatch)
    assert first
    assert not is_weighed(1.9)
    assert is_weighed(0.2)
    assert not is_weighed(2.3)  # of 12.1 tries
    assert is_weighed(0.2)


def test_a_state_that_is_none_is_looked_at_again_when_a_row_into_it_was_tried(monkeypatch):
    learner, state, far, _ = one_state_for_two_places(5, 0)
    reviser, transitions, looked = learner._reviser, learner.world.transitions, []
    is_worth_a_look = reviser._is_worth_a_look
    monkeypatch.setattr(learner._outliers, "log_odds", lambda *_: -1.0)

    def looks() -> bool:
        looked.clear()
        reviser.revise(36)
        return state in looked

    def is_noted(slot, steps):
        looked.append(slot)
        return is_worth_a_look(slot, steps)

    monkeypatch.setattr(reviser, "_is_worth_a_look", is_noted)
    assert looks()
    assert not looks()
    transitions.add(far, 1, far, 1.0, -1.0, 0.0)  # leads elsewhere, as always
    assert not looks()
    transitions.add(far, 0, far, 0.2, -1.0, 0.0)
    assert looks()
    assert not looks()
    transitions.add(far, 0, far, 2.0, -1.0, 0.0)
    assert looks()  # now it was weighed: the tries at which it will be again are others
    assert looks()
    assert not looks()


def test_a_state_is_looked_at_again_if_rows_into_it_change_within_one_round(monkeypatch):
    learner, *both, _ = one_state_for_two_places(5, 0)
    reviser, states, transitions, looked = (
        learner._reviser, learner.world.states, learner.world.transitions, []
    )  # fmt: skip
    (first, second), last = sorted(both), learner.edit.add_state(0.0)
    states.add(last, np.array([9.0, 9.0]), 1.0)
    states.weight[[first, second]] = 5.0
    monkeypatch.setattr(learner.world.memory, "into", lambda _: ["a step"])
    monkeypatch.setattr(learner._outliers, "log_odds", lambda *_: 1.0)

    def is_worth_a_look(slot, _):
        looked.append(slot)
        if slot == first:
            reviser._are_none.add(slot)
        return slot == second and transitions.visits[second, 1] == 0.0

    def dissolve(*_):
        transitions.add(second, 1, first, 1.0, -1.0, 0.0)

    monkeypatch.setattr(reviser, "_is_worth_a_look", is_worth_a_look)
    monkeypatch.setattr(reviser, "_dissolve", dissolve)
    reviser._dissolve_outliers()
    assert looked == [first, second, last]
    reviser._dissolve_outliers()
    assert looked[3:] == [first, second, last]
    reviser._dissolve_outliers()
    assert looked[6:] == [second, last]


def test_a_state_that_was_seen_often_and_is_not_any_more_is_looked_at(monkeypatch):
    learner, state, _, _ = one_state_for_two_places(5, 0)
    reviser, states, looked = learner._reviser, learner.world.states, []
    monkeypatch.setattr(reviser, "_is_worth_a_look", lambda slot, _: looked.append(slot))
    learner.world.transitions.counted.clear()
    reviser._are_none = {state}
    reviser.revise(31)
    assert state not in looked
    states.weight[state] = 8.0
    reviser.revise(36)
    assert state not in looked
    learner.world.transitions.counted.clear()
    states.weight[state] = 5.0
    reviser.revise(41)
    assert state in looked


@pytest.mark.parametrize(("change", "n_assigned"), [(0.09, 1), (0.11, 2)])
def test_what_followed_is_assigned_again_as_long_as_a_tenth_of_the_belief_has_changed(
    change, n_assigned, monkeypatch
):
    learner, state, far, _ = one_state_for_two_places(3, 0)
    first, second, third = learner.world.memory.into(state)
    first.next, second.next, third.next = second, third, None
    third.before, assigned = [(state, 1.0)], []

    def assign_again(step, _):
        assigned.append(step)
        step.after = [(state, 1.0 - change), (far, change)]

    monkeypatch.setattr(learner._reviser, "_assign_again", assign_again)
    monkeypatch.setattr(learner.edit, "withdraw", lambda _: 0.0)
    learner._reviser._reassign_followers(first, second, 0.0)
    assert assigned == [second, third][:n_assigned]


def test_a_state_of_outliers_whose_episode_ended_is_still_an_end(monkeypatch):
    learner, state, far, _ = one_state_for_two_places(2, 0, ends=True)
    steps = learner.world.memory.into(state)
    assert [step.end for step in steps] == [1.0, 1.0]
    assigned = []
    monkeypatch.setattr(
        learner._reviser, "_assign_again", lambda step, born: assigned.append((step, born))
    )
    before = learner.world.background.n_outliers
    learner._reviser._dissolve(state, steps)
    assert assigned == [(step, 0.0) for step in steps]
    assert learner.world.background.n_outliers == before
    assert not learner.world.states.is_alive[state]
    assert learner.world.states.is_alive[far]


def test_those_that_did_not_end_are_outliers(monkeypatch):
    learner, state, far, _ = one_state_for_two_places(2, 0)
    steps = learner.world.memory.into(state)
    assigned = []
    monkeypatch.setattr(learner._reviser, "_assign_again", lambda step, born: assigned.append(step))
    learner._reviser._dissolve(state, steps)
    assert assigned == []
    assert learner.world.background.n_outliers == 2.0
    assert [(step.is_outlier, step.entries) for step in steps] == [(True, [])] * 2
    assert learner.world.transitions.row(far, 0) == {}


@pytest.mark.parametrize(
    ("slots", "tries", "reason"),
    [
        ([1, 0], [2.0, 3.0], "out of order"),
        ([0, 0], [2.0, 3.0], "twice"),
        ([0, 2], [2.0, 3.0], "doubted.state"),
        ([0, 1], [2.0, -3.0], "doubted.tries"),
        ([0, 1], [2.0], "doubted.tries"),
        ([1], [2.0], "not there"),
    ],
)
def test_a_list_of_doubts_that_does_not_fit_is_refused(slots, tries, reason):
    learner, _, far, _ = one_state_for_two_places(4, 0)
    if reason == "not there":
        learner.world.states.remove(far)
    saved = {"doubted.state": np.array(slots), "doubted.tries": np.array(tries)}
    with pytest.raises(DataError, match=reason):
        learner._reviser.restore(ArrayReader(saved))


def test_states_that_have_gone_or_grown_are_not_doubted_any_more():
    learner, state, far, _ = one_state_for_two_places(4, 0)
    assert far == 1
    learner._reviser._doubted = {state: 2.0, far: 3.0}
    learner.world.states.add(far, learner.world.states.mean[far], 10.0)
    learner._reviser.revise(36)
    assert learner._reviser._doubted == {state: 2.0}
    assert learner._reviser.to_arrays()["doubted.tries"].tolist() == [2.0]


def test_kept_steps_of_a_state_that_was_split_go_where_their_rows_say():
    """One was seen a little beyond the middle; its action leads to the other half."""
    learner, state, far, _ = one_state_for_two_places(9, 9)
    world, point = learner.world, np.array([0.52, 0.0])
    misread = Step(FAR, [(far, 1.0)], 0, -1.0, 0.0, point)
    misread.entries, misread.after = [(far, state, 1.0)], [(state, 1.0)]
    world.states.add(state, point, 1.0)
    world.count(misread, +1.0)
    world.memory.keep(misread, state)
    learner._search.touched.add(state)
    learner._reviser.revise(37)
    left, right = sorted(
        (half for half in world.states.alive.tolist() if half != far),
        key=lambda half: world.states.mean[half][0],
    )
    assert misread.after[0][0] == left
    assert world.transitions.row(far, 0)[left] > 9.5
    assert world.transitions.row(far, 1) == {right: pytest.approx(9.0)}


@pytest.mark.parametrize(
    "settings",
    [{}, {"filtering": False}, {"reassign_steps": False}],
    ids=["default", "raw", "kept"],
)
def test_kept_steps_of_a_split_are_assigned_again_if_settings_let_rows_say_more(
    settings, monkeypatch
):
    learner, state, _, _ = one_state_for_two_places(9, 9)
    reviser, again = learner._reviser, []
    reviser._config = replace(reviser._config, **settings)
    monkeypatch.setattr(reviser, "_reassign", again.append)
    monkeypatch.setattr(reviser, "_reassign_far_steps", lambda _: None)
    learner._search.touched.add(state)
    reviser.revise(36)
    assert learner.world.states.n_alive == 3
    assert bool(again) == (not settings)
