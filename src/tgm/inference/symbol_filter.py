"""The posterior of a step where states are exact: a symbol is its state, or a new one."""

from __future__ import annotations

import math

from tgm.distributions import FloatArray
from tgm.inference.step_filter import (
    ELSEWHERE,
    NEW,
    STAY,
    ZERO_DENSITY,
    StepFilter,
)
from tgm.inference.step_posterior import StepPosterior
from tgm.memory.step import Belief
from tgm.perception.symbol_states import SymbolStates
from tgm.transition.sparse import START
from tgm.world_model import WorldModel


class SymbolFilter(StepFilter):
    """Finds the same posterior as `StepFilter`, at the price of a look into a table.

    The density of a symbol is 1 in its state and 0 in all others, so nothing is left to weigh:
    one term of the sum over states is not zero.
    """

    may_misread = False  # no symbol is ever misread

    def __init__(
        self,
        world: WorldModel,
        states: SymbolStates,
        row_prior: float,
        *,
        max_states: int | None,
        most_states: int,
    ) -> None:
        """Read from `world`, whose states are `states`."""
        super().__init__(
            world, row_prior, filtering=True, max_states=max_states, most_states=most_states
        )
        self._states = states

    def posterior(
        self, point: FloatArray, before: Belief, action: int | None, departure: FloatArray | None
    ) -> StepPosterior:
        """The posterior of the step to `point` by `action` in the belief `before`."""
        states = self._states
        if not len(states.alive):
            return StepPosterior([], [], 1.0, [], 0.0)
        slot = states.slot_of(point)
        if slot is None:
            if self.share_of_new <= 0.0:
                return StepPosterior([], [], 0.0, [], -ZERO_DENSITY)  # no state explains it
            log_density = math.log(self._chance(before, action, None))
            return StepPosterior([], [], 1.0, list(before), log_density)
        entries = [(state, slot, probability) for state, probability in before]
        log_density = math.log(self._chance(before, action, slot))
        return StepPosterior(entries, [(slot, 1.0)], 0.0, [], log_density)

    def _chance(self, before: Belief, action: int | None, after: int | None) -> float:
        """P(after), or of a symbol never seen (None): P(new) for each of n + 1 that there may be.

        As in `StepFilter._rows`, with the same weight for all states elsewhere.
        """
        prior, n_states, chance = self._row_prior, self._states.n_alive, 0.0
        for state, probability, row, tries in self._sources(before, action):
            if after is None:
                count = prior * NEW / (n_states + 1)
            else:
                elsewhere = ELSEWHERE + STAY if state == START else ELSEWHERE
                count = row.get(after, 0.0) + prior * elsewhere / n_states
                if after == state:
                    count += prior * STAY
            chance += probability * count / (tries + prior)
        return chance
