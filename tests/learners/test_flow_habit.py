"""What is done by habit, and when it is given up."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.learners.flow_forecast import Place
from tgm.learners.flow_habit import DISTRUST, WIDTHS, Habit
from tgm.planning.flow_planner import IMAGINED
from tgm.planning.policy_table import PolicyTable

HERE = Place(np.zeros(1), np.zeros((1, 1)), np.zeros((1, 1)), 0)
TABLE = PolicyTable(np.zeros((1, 1)), np.array([[0.0, 1.0]]), np.zeros((1, 2, 1)))


def made(monkeypatch, *, is_good=True):
    """Every table is `TABLE`, and as good in imagination or not."""
    monkeypatch.setattr("tgm.learners.flow_habit.PolicyTable.of", lambda *_: TABLE)
    monkeypatch.setattr(PolicyTable, "loses_nothing", lambda *_: is_good)


def formed(monkeypatch):
    made(monkeypatch)
    habit = Habit()
    habit.form(None, None, 0.0, IMAGINED)
    return habit


def test_the_first_width_that_loses_nothing_is_taken_and_restored(monkeypatch):
    monkeypatch.setattr("tgm.learners.flow_habit.PolicyTable.of", lambda plan, width: Sham(width))
    habit, again = Habit(), Habit()
    habit.form(None, None, 0.0, IMAGINED)
    assert habit.table.width == WIDTHS[1]
    again.restore(habit.to_numbers(), None)
    assert again.table.width == WIDTHS[1]


def test_a_width_that_is_none_is_refused():
    with pytest.raises(DataError, match="width 3"):
        Habit().restore(np.array([1, 3, IMAGINED]), None)


class Sham:
    """A table that only one width makes good."""

    def __init__(self, width):
        self.width = width

    def loses_nothing(self, *_):
        return self.width == WIDTHS[1]


def test_a_table_that_loses_in_imagination_is_tried_again_later(monkeypatch):
    habit = Habit()
    made(monkeypatch, is_good=False)
    habit.form(None, None, 0.0, IMAGINED)
    made(monkeypatch)
    habit.form(None, None, 0.0, DISTRUST * IMAGINED - 1)
    assert habit.table is None
    habit.form(None, None, 0.0, DISTRUST * IMAGINED)
    assert habit.table is TABLE


def test_without_a_table_the_plan_is_asked():
    assert Habit().choose(HERE, 10 * IMAGINED) is None


def test_it_acts_only_while_life_is_as_good_as_can_be_for_long(monkeypatch):
    habit = formed(monkeypatch)
    assert habit.choose(HERE, IMAGINED - 1) is None
    assert habit.choose(HERE, IMAGINED) == 1


def test_where_it_did_worse_life_must_be_good_for_longer(monkeypatch):
    habit, wanted = formed(monkeypatch), IMAGINED
    for _ in range(2):
        assert habit.choose(HERE, wanted) == 1
        assert habit.choose(HERE, 0) is None
        assert habit.choose(HERE, wanted) is None
        wanted *= DISTRUST
    assert habit.choose(HERE, wanted) == 1


def test_a_worse_step_of_the_plan_is_not_its_fault(monkeypatch):
    habit = formed(monkeypatch)
    assert habit.choose(HERE, 5) is None
    assert habit.choose(HERE, 0) is None
    assert habit.choose(HERE, IMAGINED) == 1


def test_restored_it_goes_on(monkeypatch):
    habit = formed(monkeypatch)
    habit.choose(HERE, IMAGINED)
    habit.choose(HERE, 0)
    again = Habit()
    again.restore(habit.to_numbers(), None)
    assert again.choose(HERE, IMAGINED) is None
    assert again.choose(HERE, DISTRUST * IMAGINED) == 1
    again.restore(Habit().to_numbers(), None)
    assert again.wanted == IMAGINED
