"""Changes of a world model by hand: all parts, the values and the log follow."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.distributions.moments import Moments
from tgm.learners.online import OnlineLearner
from tgm.learners.world_editor import _Tries
from tgm.memory.step import Step
from tgm.perception.component_map import ComponentMap
from tgm.perception.coordinates import Coordinates
from tgm.perception.state_slots import LEAST_WEIGHT, NO_WEIGHT
from tgm.structure.revision import Refusal, Revision
from tgm.transition.sparse import START, START_ACTION

HERE = np.zeros(2)


def learner_of(n_states: int, n_actions: int = 2) -> OnlineLearner:
    """States at (3 k, 0), of one point each; nothing was ever done."""
    learner = OnlineLearner(2, n_actions, TGMConfig(bandwidth=0.5))
    for place in range(n_states):
        state = learner.edit.add_state(10.0 + place)
        learner.world.states.add(state, np.array([3.0 * place, 0.0]), 1.0)
    learner._log.clear()
    return learner


def split_of(part_into=None, part_from=None, share=0.0) -> Revision:
    change = ComponentMap.of_split(3, 0, 1, share)
    return Revision(change, 0.0, (0, 1), {}, part_into=part_into or {}, part_from=part_from or {})


# --- states ---------------------------------------------------------------------------------------


def test_a_new_state_has_its_birth_and_is_logged():
    learner = learner_of(2)
    assert learner.world.born[:2].tolist() == [10.0, 11.0]
    state = learner.edit.add_state(99.0)
    assert (state, learner.world.born[2]) == (2, 99.0)
    assert learner._log.states == {2}


@pytest.mark.parametrize(
    ("weight", "is_removed"),
    [(LEAST_WEIGHT, True), (LEAST_WEIGHT + 2 * NO_WEIGHT, False), (1.0, False)],
)
def test_a_state_is_removed_when_neither_points_nor_rows_are_left(weight, is_removed):
    learner = learner_of(2)
    learner.world.states.weight[1] = weight
    learner.edit.remove_if_empty(1)
    assert learner.world.states.alive.tolist() == ([0] if is_removed else [0, 1])
    assert [(move.kind, move.ids) for move in learner._log.moves] == [
        ("removal", (1,))
    ] * is_removed


@pytest.mark.parametrize("row", [(0, 1, 1), (1, 0, 0)])
def test_a_state_without_points_stays_while_a_row_leads_to_it_or_from_it(row):
    learner = learner_of(2)
    learner.world.states.weight[1] = LEAST_WEIGHT
    learner.world.transitions.add(*row, 1.0, 0.0, 0.0)
    learner.edit.remove_if_empty(1)
    assert learner.world.states.alive.tolist() == [0, 1]
    learner.world.transitions.add(*row, -1.0, 0.0, 0.0)
    learner.edit.remove_if_empty(1)
    assert learner.world.states.alive.tolist() == [0]
    learner.edit.remove_if_empty(1)  # it has gone already
    assert len(learner._log.moves) == 1


def test_what_is_removed_leaves_rows_and_log():
    learner = learner_of(3)
    transitions = learner.world.transitions
    transitions.add(0, 1, 1, 2.0, -1.0, 0.0)
    transitions.add(0, 1, 2, 3.0, -1.0, 0.0)
    learner.edit.remove(1, "a cause")
    assert transitions.row(0, 1) == {2: 3.0}
    assert learner._log.states == {1}
    assert learner._log.rows >= {(0, 1)}
    (move,) = learner._log.moves
    assert (move.kind, move.ids, move.cause, move.accepted) == ("removal", (1,), "a cause", True)


# --- steps ----------------------------------------------------------------------------------------


def kept(learner: OnlineLearner, before: int, after: int, reward: float = -1.0) -> Step:
    """A step of action 0 that was counted, added and kept."""
    step = Step(HERE, [(before, 1.0)], 0, reward, 0.0, learner.world.states.mean[after] + 0.1)
    step.entries, step.after = [(before, after, 1.0)], [(after, 1.0)]
    learner.world.states.add(after, step.arrival, 1.0)
    learner.world.count(step, +1.0)
    learner.world.memory.keep(step, after)
    return step


def test_a_step_is_taken_back_from_states_counts_and_memory():
    learner = learner_of(2)
    world, mean = learner.world, learner.world.states.mean[1].copy()
    step = kept(learner, 0, 1)
    assert (world.states.weight[1], world.transitions.row(0, 0)) == (2.0, {1: 1.0})
    assert learner.edit.withdraw(step) == 11.0  # when its state was born
    np.testing.assert_allclose(world.states.mean[1], mean, atol=1e-12)
    assert world.states.weight[1] == pytest.approx(1.0)
    assert world.transitions.row(0, 0) == {}
    assert len(world.memory) == 0
    assert learner._log.states == {1}
    assert learner._log.rows == {(0, 0)}


def test_a_step_that_is_assigned_again_was_not_left_from_a_state_that_is_gone():
    learner = learner_of(3)
    learner.coordinates = Coordinates.about(np.zeros(2))
    learner.edit.remove(1, "a cause")
    step = Step(HERE, [(1, 0.6), (0, 0.4)], 0, -1.0, 0.0, np.array([6.0, 0.0]))
    learner._assign_again(step, 0.0)
    assert step.before == [(0, 0.4)]
    assert [(before, after) for before, after, _ in step.entries] == [(0, 2)]
    assert learner.world.transitions.rows.keys() == {(0, 0)}


def test_a_state_goes_with_its_last_step():
    learner = learner_of(1)
    state = learner.edit.add_state(5.0)
    step = kept(learner, 0, state)
    assert learner.edit.withdraw(step) == 5.0
    assert learner.world.states.alive.tolist() == [0]


def test_a_row_that_has_changed_forgets_its_steps_and_is_logged():
    learner = learner_of(3)
    first, second = kept(learner, 0, 1), kept(learner, 1, 2)
    learner._log.clear()
    learner.edit.follow_change(0, 0, 2.5)
    assert (first.retracted, second.retracted) == (True, False)
    assert learner._log.rows == {(0, 0)}
    (move,) = learner._log.moves
    assert (move.kind, move.ids, move.gain) == ("change", (0,), 2.5)


def test_all_rows_but_one_are_worth_another_try():
    learner = learner_of(2)
    kept(learner, 0, 1)
    kept(learner, 1, 0)
    certainty = learner.world.transitions.certainty
    learner.edit.doubt_rows(but=(0, 0))
    assert certainty[:2, 0].tolist() == [1.0, 0.0]


def test_what_fades_is_logged():
    learner = learner_of(2)
    kept(learner, 0, 1)
    learner._log.clear()
    learner.edit.fade(-np.log(4.0))
    assert learner.world.transitions.row(0, 0) == {1: pytest.approx(0.25)}
    assert learner._log.rows == {(0, 0)}


def test_a_refusal_is_logged_as_one():
    learner = learner_of(2)
    learner.edit.refuse("merge", Refusal((0, 1), "too far apart", -7.0))
    (move,) = learner._log.moves
    assert (move.kind, move.ids, move.cause, move.gain) == ("merge", (0, 1), "too far apart", -7.0)
    assert not move.accepted


def test_a_merge_by_hand():
    learner = learner_of(3)
    world = learner.world
    step = kept(learner, 2, 1)
    world.transitions.add(1, 1, 2, 1.0, -3.0, 0.0)
    world.transitions.add(0, 1, 2, 1.0, -1.0, 0.0)
    learner._search.touched.clear()
    learner._log.clear()
    both = world.states.moments(0) + world.states.moments(1)
    change = ComponentMap.of_merge(3, 0, 1)
    learner.edit.merge(Revision(change, 4.5, (0, 1), {0: both}, retries=[(2, 0), (0, 1)]))
    assert world.states.alive.tolist() == [0, 2]
    assert world.states.weight[0] == pytest.approx(3.0)
    assert world.transitions.row(2, 0) == {0: 1.0}
    assert world.transitions.row(0, 1) == {2: 2.0}
    assert world.transitions.reward_sum[0, 1] == -4.0
    assert (step.after, step.weight_then) == ([(0, 1.0)], pytest.approx(3.0))
    # Rows that were tried more than once need no other try.
    assert world.transitions.retries == {(2, 0)}
    assert learner._search.touched >= {0}
    assert learner._log.states == {0, 1}
    (move,) = learner._log.moves
    assert (move.kind, move.ids, move.gain) == ("merge", (0, 1), 4.5)


# --- counts that have no kept steps ---------------------------------------------------------------


def test_all_tries_from_and_into_a_state_are_taken_out_but_of_where_episodes_begin():
    learner = learner_of(3)
    transitions = learner.world.transitions
    transitions.add(0, 0, 2, 4.0, -2.0, 0.0)
    transitions.add(0, 1, 0, 3.0, -1.0, 0.0)
    transitions.add(2, 0, 0, 1.0, -8.0, 1.0)
    transitions.add(2, 0, 0, 3.0, 0.0, 0.0)
    transitions.add(2, 0, 1, 5.0, -2.0, 0.0)
    transitions.add(START, START_ACTION, 0, 6.0, 0.0, 0.0)
    learner._log.clear()
    found = learner.edit._take_out(0)
    mean_reward = pytest.approx(-18.0 / 9.0)
    assert found == [
        (0, 0, 2, 4.0, -2.0, 0.0),
        (0, 1, 0, 3.0, -1.0, 0.0),
        (2, 0, 0, 4.0, mean_reward, 0.25),
    ]
    left = {key: row for key, row in transitions.rows.items() if row}
    assert left == {(2, 0): {1: 5.0}, (START, START_ACTION): {0: 6.0}}
    assert transitions.visits[[0, 0, 2], [0, 1, 0]].tolist() == [0.0, 0.0, 5.0]
    assert learner._log.rows == {(0, 0), (0, 1), (2, 0)}


def test_a_row_that_does_the_same_does_not_get_back_what_no_kept_step_stands_for():
    learner = learner_of(3)
    transitions = learner.world.transitions
    transitions.add(2, 1, 1, 1.0, -1.0, 0.0)
    learner.edit._give_back(split_of(part_into={(2, 1): 1.0}), [_Tries(2, 1, 0, 30.0, -1.0, 0.0)])
    assert transitions.row(2, 1) == {1: 1.0}


@pytest.mark.parametrize("part", [0.0, 0.25, 1.0])
def test_a_random_row_gets_back_all_its_tries_for_the_half_that_kept_steps_show(part):
    learner = learner_of(3)
    transitions = learner.world.transitions
    into, out_of, stays = (2, 1, 0), (0, 0, 2), (0, 1, 0)
    transitions.is_random[:3] = True
    split = split_of(part_into={(2, 1): part}, part_from={(0, 2): part}, share=part)
    tries = [_Tries(*key, 8.0, -2.0, 0.5) for key in (into, out_of, stays)]
    learner._log.clear()
    learner.edit._give_back(split, tries)
    for half, share in ((0, 1.0 - part), (1, part)):
        assert transitions.row(2, 1).get(half, 0.0) == pytest.approx(8.0 * share)
        assert transitions.row(half, 0).get(2, 0.0) == pytest.approx(8.0 * share)
        assert transitions.row(half, 1).get(half, 0.0) == pytest.approx(8.0 * share)
        assert transitions.reward_sum[half, 0] == pytest.approx(-16.0 * share)
        assert transitions.end_sum[half, 0] == pytest.approx(4.0 * share)
    assert {(2, 1)} < learner._log.rows


def test_of_rows_that_no_kept_step_shows_each_half_gets_its_share():
    learner = learner_of(3)
    learner.world.transitions.is_random[:3] = True
    learner.edit._give_back(split_of(share=0.25), [_Tries(2, 1, 0, 8.0, -1.0, 0.0)])
    assert learner.world.transitions.row(2, 1) == {0: pytest.approx(6.0), 1: pytest.approx(2.0)}


def test_the_newest_step_follows_a_split_before_it_is_kept():
    learner = learner_of(1)
    world = learner.world
    newest = world.newest = Step(HERE, [(0, 1.0)], 0, -1.0, 0.0, np.array([0.2, 0.0]))
    newest.after = [(0, 1.0)]
    moments = world.states.moments(0)
    half = Moments(moments.weight / 2, moments.mean, moments.scatter / 2)
    learner.edit.split(
        Revision(
            ComponentMap.of_split(2, 0, 1, 0.5),
            1.0,
            (0, 1),
            {0: half, 1: half},
            halves=lambda point: [(1, 1.0 - point[0]), (0, point[0])],
        )
    )
    assert newest.after == [(1, pytest.approx(0.8)), (0, pytest.approx(0.2))]
    assert world.born[1] == world.born[0] == 10.0
    assert world.states.weight[:2].tolist() == pytest.approx([0.5, 0.5])
    assert learner._log.states == {0, 1}
    assert [(move.kind, move.ids) for move in learner._log.moves] == [("split", (0, 1))]
