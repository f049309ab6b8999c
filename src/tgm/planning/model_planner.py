"""The planner of a learned model: the range of rewards, the greedy values, and a sweeper."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import LARGEST, LARGEST_SUM, ArrayReader, Arrays, number, prefixed
from tgm.perception.component_map import ComponentMap
from tgm.planning.sweeping import Sweeper, solve
from tgm.transition.sparse import SparseTransitions

OPTIMISM = 1e8  # ranges of reward: how far an unknown row is above the best known reward. It
# attracts the agent from a distance of ln(OPTIMISM) / (1 - gamma) steps.
RANGE_MOVED = 0.1  # ranges of reward by which the range of random rewards must move to be followed
TRIED = 0.3  # expected tries: with more of them an action is known to the greedy policy


class ModelPlanner:
    """What all exploration strategies and the greedy policy share about one learned model.

    Attributes:
        model: the transitions that are planned with.
        gamma: the discount.
        trust: a function that gives for n_slots how far each row is trusted, (n_slots, n_actions)
            in tries.
        sweeper: action values in which some rows are set by a strategy; they follow the states.
        best_reward, worst_reward: of all rewards received; -inf and inf before the first.
        reward_range: the best reward less the worst; while all are equal their size, or 1.
        most_known: what holds no unknown row is not worth more.
        highest: the value of an unknown row: far more than the best reward at every step; in a
            world of chance one range of reward above the best known value.
        best_known: that value; None in a world without chance.
        lowest: no policy is worth less.
        n_state_changes: how often states were born, merged, split or removed. A value that was
            kept for a slot before may belong to another state now.
        n_revisions: how often the range of rewards, the states or all certainties changed. Which
            rows are unknown must be found again then.
    """

    def __init__(
        self,
        model: SparseTransitions,
        gamma: float,
        trust: Callable[[int], FloatArray] | None = None,
    ) -> None:
        """Start without rewards; rows are trusted by their certainty if `trust` is not given."""
        self.model = model
        self.gamma = gamma
        self.trust = trust or (lambda n_slots: model.certainty[:n_slots])
        self.sweeper = Sweeper(model)
        self.n_state_changes = 0
        self.n_revisions = 0
        self._greedy: FloatArray | None = None
        self._greedy_for = (0, 0, 0, 0)  # versions of states, rewards, model; unknown rows
        self.best_known: float | None = None
        self._set_range(-math.inf, math.inf)

    def _set_range(self, best: float, worst: float) -> None:
        self.best_reward, self.worst_reward = best, worst
        is_range = 0.0 < best - worst < math.inf
        # While all rewards are equal their size is all that is known of their unit.
        size = abs(best) if math.isfinite(best) and best else 1.0
        self.reward_range = best - worst if is_range else size
        self.most_known = (best + self.reward_range) / (1.0 - self.gamma)
        self.highest = 0.0
        if self.best_known is not None:
            self.highest = self.best_known + self.reward_range
        elif best != -math.inf:
            self.highest = (best + OPTIMISM * self.reward_range) / (1.0 - self.gamma)
        # Where every step is rewarded, the end of the episode is the worst: it is worth 0.
        self.lowest = (0.0 if worst == math.inf else min(worst, 0.0)) / (1.0 - self.gamma)

    # --- what happens to the model ----------------------------------------------------------------

    def see_reward(self, reward: float) -> None:
        """Extend the range of rewards by a reward that was received, unless rewards are random."""
        if self.model.noise is not None:
            return
        if reward > self.best_reward or reward < self.worst_reward:
            self._set_range(max(self.best_reward, reward), min(self.worst_reward, reward))
            self.n_revisions += 1

    def limit_range(self) -> None:
        """Where rewards are random, their range is that of what may be expected, not of noise."""
        expected = self.model.range_of_rewards()
        if expected is None:
            return
        # No reward is larger; an expected one plus its error may be.
        worst, best = (min(max(one, -LARGEST), LARGEST) for one in expected)
        moved = max(abs(best - self.best_reward), abs(worst - self.worst_reward))
        if moved > RANGE_MOVED * self.reward_range:
            self._set_range(best, worst)
            self.n_revisions += 1

    def limit_optimism(self, best_known: float | None) -> None:
        """The best known value, from which the unknown is measured in a world of chance.

        There every state leads to every other with some probability: if the unknown were worth far
        more than any reward, nothing else would count while one row is unknown. None: no chance.
        """
        if best_known != self.best_known:
            self.best_known = best_known
            self._set_range(self.best_reward, self.worst_reward)

    def birth(self, state: int) -> None:
        """A state was born: nothing was tried in it, so it has the highest value."""
        self.sweeper.make_room(state + 1, self.highest)
        self.sweeper.start_state(state, self.highest)
        self.n_state_changes += 1

    def apply(self, change: ComponentMap) -> None:
        """Follow a change of components; the values are computed again from the model."""
        self.sweeper.make_room(change.n_new, self.highest)
        for links in change.changed.values():
            self.sweeper.active.update(new for new, _ in links)
        self.n_state_changes += 1
        self.n_revisions += 1

    def forget_certainty(self) -> None:
        """The certainties of all rows have changed."""
        self.n_revisions += 1

    # --- values -----------------------------------------------------------------------------------

    def greedy_values(self, alive: IntArray) -> FloatArray:
        """(n_slots, n_actions) values of the model as it is known; an unknown action is worst."""
        model = self.model
        n_slots = int(alive.max(initial=-1)) + 1
        unknown = model.visits[:n_slots] <= TRIED
        # A row may become known by a try that changes nothing that the model counts as a change.
        n_unknown = int(unknown.sum())
        versions = self.n_state_changes, self.n_revisions, model.version, n_unknown
        if self._greedy is None or self._greedy_for != versions:
            self._greedy_for = versions
            self._greedy = solve(
                model.discounted[:n_slots],
                model.successor[:n_slots],
                model.reward[:n_slots],
                unknown,
                np.full(unknown.shape, self.lowest - 1.0),
                self.lowest,
            )
        return self._greedy

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything but what is computed again from the model."""
        return {
            "best_reward": number(self.best_reward),
            "worst_reward": number(self.worst_reward),
            "best_known": number(math.inf if self.best_known is None else self.best_known),
            "n_revisions": np.array([self.n_revisions]),
            **prefixed("sweep", self.sweeper.to_arrays()),
        }

    def restore(self, saved: ArrayReader, n_slots: int) -> None:
        """Take over what `to_arrays` gave, for at least `n_slots` slots."""
        best = saved.number("best_reward", infinite=-math.inf)
        worst = saved.number("worst_reward", infinite=math.inf)
        if (best < worst) != (best == -math.inf):
            raise DataError(f"best_reward is {best}, below {worst}")
        known = saved.number("best_known", low=-LARGEST_SUM, high=LARGEST_SUM, infinite=math.inf)
        self.best_known = None if known == math.inf else known
        self._set_range(best, worst)
        self.n_revisions = saved.count("n_revisions")
        self.sweeper.restore(saved.part("sweep"))
        if len(self.sweeper.value) < n_slots:
            raise DataError(f"{len(self.sweeper.value)} values for {n_slots} states")
        self._greedy = None
