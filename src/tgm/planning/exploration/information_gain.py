"""Information gain: optimism, and a bonus for what one more try is expected to teach."""

from __future__ import annotations

from tgm.distributions import IntArray
from tgm.planning.exploration.optimism import Optimism
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.information import expected_information_gain


class InformationGain(Optimism):
    """Adds to every reward the expected information gain of the row, times the reward range."""

    def _look_again(self, planner: ModelPlanner, n_steps: int, alive: IntArray) -> None:
        """Mark the unknown rows, and compute all bonuses."""
        super()._look_again(planner, n_steps, alive)
        n_slots = int(alive.max(initial=-1)) + 1
        gain = expected_information_gain(planner.model, n_slots, self.settings.row_prior)
        planner.sweeper.bonus[:n_slots] = gain * planner.reward_range
        planner.sweeper.active.update(alive.tolist())
