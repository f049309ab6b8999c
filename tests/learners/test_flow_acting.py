"""What is done in a world that flows: hope where something is left to gain, else greedy actions."""

import math
from dataclasses import dataclass, field

import numpy as np

from tgm.learners.flow_acting import FlowActing
from tgm.planning.imagination import IMAGINED

POINT = np.zeros((1, 2))
GREEDY, HOPEFUL = 0, 1


@dataclass(eq=False)
class ShamPlan:
    """A plan that always promises more, and whose greedy episodes are worth something."""

    worth: float
    outlook: None = None
    asked: list = field(default_factory=list)

    def action_values(self, points):
        self.asked.append("values")
        return np.eye(2)[[GREEDY]], np.eye(2)[[HOPEFUL]]

    def promises_more(self, greedy, hopeful):
        return True

    def imagined_return(self, outlook, starts, enough):
        self.asked.append("imagined")
        return self.worth


def chosen(acting, plan, n_steps, lived_well, enough=10.0):
    return acting.choose(plan, plan, POINT, n_steps, enough=enough, lived_well=lived_well)


def test_hope_is_followed_where_greedy_episodes_are_worth_less():
    assert chosen(FlowActing(), ShamPlan(9.9), 0, 0) == HOPEFUL
    assert chosen(FlowActing(), ShamPlan(10.0), 0, 0) == GREEDY


def test_while_imagination_is_not_trusted_hope_is_followed_and_nothing_is_imagined():
    plan = ShamPlan(10.0)
    assert chosen(FlowActing(), plan, 0, 5, enough=math.inf) == HOPEFUL
    assert "imagined" not in plan.asked


def test_it_is_imagined_again_after_half_an_episode_and_later_the_longer_life_is_good():
    for lived_well, pause in ((1, IMAGINED // 2), (150, 150)):
        acting, plan = FlowActing(), ShamPlan(10.0)
        for n_steps in range(pause):
            chosen(acting, plan, n_steps, lived_well)
        assert plan.asked.count("imagined") == 1
        chosen(acting, plan, pause, lived_well)
        assert plan.asked.count("imagined") == 2


def test_after_a_step_that_was_worse_it_is_imagined_at_once():
    acting, plan = FlowActing(), ShamPlan(10.0)
    chosen(acting, plan, 0, 100)
    chosen(acting, plan, 1, 0)
    assert plan.asked.count("imagined") == 2


def test_a_greedy_action_is_held_for_two_steps_once_life_is_as_imagined():
    for lived_well, n_asked in ((IMAGINED, 2), (IMAGINED - 1, 4)):
        acting, plan = FlowActing(), ShamPlan(10.0)
        acting.best_until = 100
        assert [chosen(acting, plan, step, lived_well) for step in range(4)] == 4 * [GREEDY]
        assert plan.asked.count("values") == n_asked
    acting.begin()  # not from one episode to the next
    chosen(acting, plan, 4, IMAGINED)
    acting.begin()
    chosen(acting, plan, 5, IMAGINED)
    assert plan.asked.count("values") == 6


def test_a_hopeful_action_is_not_held():
    acting, plan = FlowActing(), ShamPlan(9.9)
    for step in range(4):
        assert chosen(acting, plan, step, IMAGINED) == HOPEFUL
    assert plan.asked.count("values") == 4
