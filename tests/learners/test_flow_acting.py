"""Acting by two plans: which one decides, and for how long an action is held."""

from types import SimpleNamespace

import numpy as np
import pytest

from tgm.learners.flow_acting import LOOK_FOR_HOPE, FlowActor


class Told:
    """A plan that is told what to say, and counts how often it is asked."""

    def __init__(self, greedy, hopeful=(0.0, 0.0), spacing=0.1):
        self.greedy, self.hopeful, self.n_asked = greedy, hopeful, 0
        self.units = SimpleNamespace(local=lambda point: 2.0 * point)
        self.support = SimpleNamespace(spacing=spacing)

    def action_values(self, points):
        self.n_asked += len(points)
        return np.array([self.greedy]), np.array([self.hopeful])

    def promises_more(self, greedy, hopeful):
        return float(hopeful.max()) > float(greedy.max())


def walked(actor, plan, points, holds=True):
    """The actions at points, with one plan."""
    told = enumerate(np.asarray(points, dtype=float)[:, None])
    return [actor.choose(plan, plan, point, step, holds=holds) for step, point in told]


@pytest.mark.parametrize(
    ("points", "holds", "n_asked"),
    [
        ([0.0, 0.0, 0.0, 0.0], True, 2),  # held for two steps
        ([0.0, 0.04, 0.08, 0.12], True, 2),  # 0.08 from where it was chosen, in its units
        ([0.0, 0.06, 0.12, 0.18], True, 4),  # 0.12: beyond the neighbourhood
        ([0.0, 0.0, 0.0, 0.0], False, 4),
    ],
)
def test_an_action_is_held_in_its_neighbourhood(points, holds, n_asked):
    plan = Told(greedy=(0.0, 1.0))
    assert walked(FlowActor(), plan, points, holds) == [1] * len(points)
    assert plan.n_asked == n_asked


def test_what_is_held_is_the_action_that_was_chosen_first():
    actor, plan = FlowActor(), Told(greedy=(0.0, 1.0))
    first = walked(actor, plan, [0.0])
    plan.greedy = (1.0, 0.0)
    assert first + walked(actor, plan, [0.0, 0.0]) == [1, 1, 0]


def test_another_episode_begins_with_a_decision():
    actor, plan = FlowActor(), Told(greedy=(0.0, 1.0))
    walked(actor, plan, [0.0])
    actor.begin()
    plan.greedy = (1.0, 0.0)
    assert walked(actor, plan, [0.0]) == [0]


def test_hope_decides_where_it_promises_more():
    best, newest = Told(greedy=(1.0, 0.0)), Told(greedy=(1.0, 0.0), hopeful=(0.0, 2.0))
    actor, point = FlowActor(), np.zeros(1)
    assert actor.choose(best, newest, point, 0, holds=False) == 1
    newest.hopeful = (0.0, 0.5)  # from the next look on greed decides
    chosen = [actor.choose(best, newest, point, n, holds=False) for n in range(1, 12)]
    assert chosen == [1] * (LOOK_FOR_HOPE - 1) + [0] * (12 - LOOK_FOR_HOPE)
    assert best.n_asked == 12 - LOOK_FOR_HOPE
    assert newest.n_asked == LOOK_FOR_HOPE + 2  # then at each look alone: steps 5 and 10
