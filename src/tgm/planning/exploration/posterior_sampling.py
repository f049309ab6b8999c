"""Posterior sampling: act for one episode as if one world, drawn from the belief, were true."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.memory.step import Belief
from tgm.planning.exploration.optimism import level_ties, one_of_the_best
from tgm.planning.exploration.strategy import ExplorationStrategy, Settings, expected_values
from tgm.planning.model_planner import TRIED, ModelPlanner
from tgm.planning.sweeping import solve
from tgm.transition.information import sampled_rows


class PosteriorSampling(ExplorationStrategy):
    """Draws every row from its Dirichlet, and solves the world that this makes."""

    needs_model = True

    def __init__(self, settings: Settings) -> None:
        """Start without a sample."""
        super().__init__(settings)
        self._sampled: FloatArray | None = None  # (n_slots, n_actions) values of the drawn world
        self._sampled_for = 0  # planner.n_state_changes at the draw

    def begin_episode(self) -> None:
        """Draw a new world when values are asked for."""
        self._sampled = None

    def values(
        self,
        planner: ModelPlanner,
        belief: Belief,
        alive: IntArray,
        n_steps: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """(n_actions,) values in the drawn world; a new one is drawn if the states changed."""
        if self._sampled is None or self._sampled_for != planner.n_state_changes:
            self._sampled = self._draw_world(planner, alive, rng)
            self._sampled_for = planner.n_state_changes
        values = expected_values(self._sampled, belief).tolist()
        return np.array(level_ties(values, planner.lowest))

    def choose(self, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
        """One of the best actions."""
        return one_of_the_best(values.tolist(), rng)

    def _draw_world(
        self, planner: ModelPlanner, alive: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """(n_slots, n_actions) values of one world drawn from the posterior of all rows."""
        model, n_slots = planner.model, int(alive.max(initial=-1)) + 1
        weights, unknown = sampled_rows(model, n_slots, self.settings.row_prior, rng)
        goes_on = planner.gamma * (1.0 - model.end[:n_slots])
        # The probability that no known successor accounts for leads to a state as good as the
        # best known one: with more, no known reward would ever count.
        best = max(0.0, float(planner.greedy_values(alive)[alive].max(initial=0.0)))
        reward = model.reward[:n_slots] + goes_on * unknown * best
        return solve(
            weights * goes_on[..., None],
            model.successor[:n_slots],
            reward,
            model.visits[:n_slots] <= TRIED,
            np.full(reward.shape, planner.highest),
            planner.lowest,
        )
