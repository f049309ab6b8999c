"""What is repeated where places look alike, and when the agent walks at random."""

import numpy as np
import pytest

from tgm.files.arrays import ArrayReader
from tgm.learners.clone_habits import Habits
from tgm.structure.folding import Folding
from tgm.transition.automaton import END, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase

PATH = [0, 1, 2, 0, 1, 2]


class Dice:
    """A random generator whose draws are known."""

    def __init__(self, *draws: float) -> None:
        self.draws, self.asked = list(draws), []

    def random(self) -> float:
        return self.draws.pop(0)

    def exponential(self, scale: float) -> float:
        self.asked.append(scale)
        return self.draws.pop(0)

    def integers(self, *bounds: int) -> int:
        self.asked.append(bounds)
        return int(self.draws.pop(0))

    def choice(self, n: int, size: int, replace: bool) -> np.ndarray:
        self.asked.append((n, size, replace))
        return np.arange(size)


def live(habits: Habits, actions: list[int], last: float = 1.0, usual: float = -1.0) -> None:
    """An episode of usual rewards, the last one apart."""
    habits.begin()
    for i, action in enumerate(actions):
        is_last = i == len(actions) - 1
        habits.see(action, Outcome(END if is_last else 0, last if is_last else usual, is_last))


def gained(path: list[int] = PATH) -> Habits:
    """Habits with a best path, in a world that looks random."""
    habits = Habits()
    habits.sees_chance = True
    live(habits, [0, 0, 0], last=-1.0)
    live(habits, path)
    habits.begin()
    return habits


def script(habits: Habits, *draws: float) -> list[int]:
    """All actions that are repeated in an episode that begins now."""
    habits.begin()
    dice, found = Dice(*draws), []
    while (action := habits.repeated(dice)) is not None:
        found.append(action)
    return found


# --- repetition -----------------------------------------------------------------------------------


def test_the_best_path_is_repeated_in_four_episodes_of_five():
    assert script(gained(), 0.79) == PATH
    assert script(gained(), 0.81) == []


def test_a_script_is_chosen_once_for_each_episode():
    habits = gained()
    assert habits.repeated(Dice(0.9)) is None
    assert habits.repeated(Dice()) is None  # no other draw
    habits.begin()
    assert habits.repeated(Dice(0.1)) == PATH[0]


def test_nothing_is_repeated_where_nothing_looks_random():
    habits = gained()
    habits.sees_chance = False
    assert script(habits, 0.0) == []


def test_nothing_is_repeated_before_an_end_was_better_than_usual():
    habits = Habits()
    habits.sees_chance = True
    live(habits, [0, 1, 2], last=-1.0)
    assert script(habits, 0.0) == []
    live(habits, [0, 1, 2], last=-5.0)
    assert script(habits, 0.0) == []
    live(habits, [2, 1], last=0.5)
    assert script(habits, 0.0) == [2, 1]


def test_a_path_with_a_higher_return_takes_its_place_and_one_with_a_lower_one_does_not():
    habits = gained()
    live(habits, [*PATH, 0])
    assert script(habits, 0.0) == PATH
    live(habits, PATH[1:])
    assert script(habits, 0.0) == PATH[1:]


def test_after_two_repetitions_with_another_return_a_path_is_given_up():
    habits = gained()
    live(habits, PATH, last=-3.0)
    assert script(habits, 0.0) == PATH
    live(habits, PATH, last=-3.0)
    assert script(habits, 0.0) == []


@pytest.mark.parametrize(
    ("draw", "first", "left_out"),
    [(0.4, 2, {2}), (1.9, 0, {0, 1}), (9.9, 0, {0, 1, 2, 3, 4})],
)
def test_of_a_confirmed_path_a_stretch_is_left_out_then_it_is_repeated_whole(draw, first, left_out):
    habits = gained()
    live(habits, PATH)
    habits.begin()
    dice = Dice(0.0, 0.49, draw, first)
    found = []
    while (action := habits.repeated(dice)) is not None:
        found.append(action)
    shorter = [action for i, action in enumerate(PATH) if i not in left_out]
    assert found == shorter + PATH
    assert dice.asked == [1.5, (len(PATH) - len(left_out),)]  # a quarter of the path on average


@pytest.mark.parametrize("n", [1, 2, 3])
def test_or_single_actions_are_left_out(n):
    habits = gained()
    live(habits, PATH)
    habits.begin()
    dice = Dice(0.0, 0.51, n)
    found = []
    while (action := habits.repeated(dice)) is not None:
        found.append(action)
    assert found == PATH[n:] + PATH
    assert dice.asked == [(1, 4), (5, n, False)]  # the last action is never left out


def test_a_repetition_that_fails_must_be_confirmed_again():
    habits = gained()
    live(habits, PATH, last=-3.0)
    assert script(habits, 0.0) == PATH  # a confirmed one would need more draws
    live(habits, PATH)
    assert script(habits, 0.0) == PATH


def test_a_path_of_two_actions_is_not_made_shorter():
    habits = gained([1, 0])
    live(habits, [1, 0])
    assert script(habits, 0.0) == [1, 0]


# --- walks ----------------------------------------------------------------------------------------


def test_a_walk_has_5_to_24_steps_and_keeps_its_action_in_three_of_five():
    habits, dice = Habits(), Dice(5, 2, 0.59, 0.61, 1, 0.5, 0.5, 0.5)
    assert not habits.is_walking
    habits.start_walk(dice, 3)
    walked = []
    while habits.is_walking:
        walked.append(habits.walk(dice, 3))
    assert walked == [2, 1, 1, 1, 1]
    assert dice.asked == [(5, 25), (3,), (3,)]
    assert dice.draws == []


def test_without_a_gain_every_step_may_begin_a_walk():
    habits = Habits()
    assert habits.restlessness(5000) == 1.0
    live(habits, [0, 0, 0], last=-1.0)
    assert not habits.has_gained
    assert habits.restlessness(5000) == 1.0


@pytest.mark.parametrize(
    ("since", "probability"), [(0, 0.1), (1000, 0.05), (3000, 0.025), (10**6, 0.01)]
)
def test_walks_become_rare_after_the_last_surprise(since, probability):
    habits = gained()
    habits.surprised_at = 200
    assert habits.has_gained
    assert habits.restlessness(200 + since) == pytest.approx(probability)
    assert habits.restlessness_below == 0.1


# --- doubt ----------------------------------------------------------------------------------------


def test_a_folding_that_denies_chance_is_believed_a_quarter_of_the_steps_later():
    habits, folded = Habits(), Folding(Automaton(), OutcomeBase(0.5))
    labelled = Folding(Automaton(), OutcomeBase(0.5))
    labelled.is_cued = True
    assert not habits.doubts(folded, 1)
    habits.sees_chance = True
    habits.see(0, Outcome(0, 0.0, False), 100)
    assert habits.doubts(folded, 100)
    assert habits.doubts(labelled, 100)
    habits.sees_chance = False
    habits.see(0, Outcome(0, 0.0, False), 101)
    assert [habits.doubts(folded, n) for n in (101, 124, 125)] == [True, True, False]
    assert not habits.doubts(labelled, 101)
    copy = Habits()
    copy.restore(ArrayReader(habits.to_arrays()), 3)
    assert [copy.doubts(folded, n) for n in (124, 125)] == [True, False]


# --- files ----------------------------------------------------------------------------------------


def test_habits_survive_a_file():
    habits = gained()
    live(habits, PATH)
    habits.surprised_at = 7
    habits.start_walk(Dice(9, 1), 3)
    copy = Habits()
    copy.restore(ArrayReader(habits.to_arrays()), 3)
    assert {name: array.tolist() for name, array in copy.to_arrays().items()} == {
        name: array.tolist() for name, array in habits.to_arrays().items()
    }
    assert copy.surprised_at == 7
    assert copy.is_walking
    assert copy.restlessness(1007) == habits.restlessness(1007) == pytest.approx(0.05)
    dice = Dice(0.0, 0.51, 1)
    assert copy.repeated(dice) == PATH[1]  # confirmed: the first action is left out
    nothing = Habits()
    nothing.restore(ArrayReader(Habits().to_arrays()), 3)
    assert nothing._best_return == -np.inf


@pytest.mark.parametrize(("action", "walked"), [(0, 0), (2, 2), (3, 2), (99, 2)])
def test_no_walk_of_a_file_takes_an_action_that_is_not_there(action, walked):
    habits, arrays = Habits(), Habits().to_arrays()
    habits.restore(ArrayReader(arrays | {"counts": np.array([0, 0, 0, 0, 5, action])}), 3)
    assert habits.is_walking
    assert habits._walk_action == walked
