"""Which plan a learner of laws follows: the hopeful values of the newest, or the greedy plan."""

from dataclasses import dataclass

import numpy as np
import pytest

from tgm.learners.flow import FlowLearner

RNG = np.random.default_rng(0)


@dataclass(eq=False)
class ShamPlan:
    """Best actions by its greedy and by its hopeful values; any plan has these answers."""

    greedy: int
    hopeful: int
    promises: bool
    least_reward: float = 0.999

    def action_values(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.eye(4)[[self.greedy] * len(points)], np.eye(4)[[self.hopeful] * len(points)]

    def promises_more(self, greedy: np.ndarray, hopeful: np.ndarray) -> bool:
        assert greedy.argmax() == self.greedy
        assert hopeful.argmax() == self.hopeful
        return self.promises


def chosen(best: ShamPlan, newest: ShamPlan) -> int:
    learner = FlowLearner(2, 4, 0.99)
    learner.begin(np.zeros(2))
    learner.best, learner.newest = best, newest
    return learner.choose(0, RNG)


@pytest.mark.parametrize("promises", [False, True])
def test_the_newest_plan_is_followed_where_it_promises_more(promises):
    best, newest = ShamPlan(0, 1, promises), ShamPlan(2, 3, promises)
    assert chosen(best, newest) == (3 if promises else 0)
    assert chosen(best, best) == (1 if promises else 0)


def test_before_there_is_a_plan_actions_are_drawn():
    learner = FlowLearner(2, 4, 0.99)
    learner.begin(np.zeros(2))
    assert {learner.choose(0, RNG) for _ in range(100)} == {0, 1, 2, 3}


def test_steps_with_the_greedy_plan_are_counted_while_none_could_be_better():
    learner = FlowLearner(2, 4, 0.99)
    learner._live(1.0, terminated=False)
    assert learner._lived_well == 0  # there is no plan
    learner.best = ShamPlan(0, 1, False)
    counted = []
    for reward, terminated in ((1.0, False), (1.0, False), (2.0, False), (0.5, False), (1.0, False),
                               (1.0, True), (1.0, False)):  # fmt: skip
        learner._live(reward, terminated=terminated)
        counted.append(learner._lived_well)
    assert counted == [1, 2, 3, 0, 1, 0, 1]
