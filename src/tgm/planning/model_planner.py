"""Planning with a learned model: greedy values, and values that make the agent explore."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays, number, prefixed
from tgm.perception.component_map import ComponentMap
from tgm.planning.sweeping import Sweeper, solve
from tgm.transition.information import expected_information_gain, sampled_rows
from tgm.transition.sparse import SparseTransitions

Exploration = Literal[
    "optimism", "information_gain", "posterior_sampling", "epsilon_greedy", "softmax", "greedy"
]

FIRST_TRY = 0.5  # certainty that makes an action tried: one try, most of it beyond doubt
DOUBT_GROWTH = 1.2  # what is least certain is tried again whenever the run has grown by a fifth
DOUBT_SHARE = 10  # one in so many rows
PATIENCE = 10  # steps between two looks at what is left to try
OPTIMISM = 1e8  # how far the unknown outshines the best known reward, in ranges of reward: it is
# worth a way of ln(OPTIMISM) / (1 - gamma) steps
TRIED = 0.3  # expected tries that make an action known to the greedy policy
TOLERANCE = 0.02  # of the values, in steps
NO_HOPE = 1e-6  # above the lowest value, in ranges of reward


class ModelPlanner:
    """Owner of the values of a learned model, kept up to date as the model changes."""

    def __init__(
        self,
        model: SparseTransitions,
        gamma: float,
        exploration: Exploration,
        row_prior: float,
        trust: Callable[[int], FloatArray] | None = None,
    ) -> None:
        """Value nothing yet.

        `trust` tells, for so many states, how far each action is trusted (n_slots, n_actions), when
        something must be doubted; the certainty of the model if it is not given.
        """
        self._model = model
        self._trust = trust
        self._gamma = gamma
        self._exploration = exploration
        self._row_prior = row_prior
        self._sweeper = Sweeper(model)
        self._greedy: FloatArray | None = None
        self._greedy_version = 0  # of the model that it was found for
        self.best_reward = -math.inf
        self.worst_reward = math.inf
        self._doubt_at = 0.0  # step at which known rows are doubted again
        self._is_due = True
        self._look_at = 0.0  # step of the next look
        self._is_stuck = False
        self._sampled: FloatArray | None = None

    # --- what the planner is told ---------------------------------------------------------------

    def see_reward(self, reward: float) -> None:
        """A reward was received; the range of rewards decides what can be hoped for."""
        if reward > self.best_reward or reward < self.worst_reward:
            self.best_reward = max(self.best_reward, reward)
            self.worst_reward = min(self.worst_reward, reward)
            self._is_due, self._greedy = True, None

    def to_arrays(self) -> Arrays:
        """Everything but what is found again from the model."""
        return {
            "best_reward": number(self.best_reward),
            "worst_reward": number(self.worst_reward),
            "doubt_at": number(self._doubt_at),
            "look_at": number(self._look_at),
            "is_due": np.array([self._is_due]),
            "is_stuck": np.array([self._is_stuck]),
            **prefixed("sweep", self._sweeper.to_arrays()),
        }

    def restore(self, saved: ArrayReader, n_slots: int) -> None:
        """Take over what `to_arrays` gave, for at least so many states."""
        self.best_reward = saved.number("best_reward", infinite=-math.inf)
        self.worst_reward = saved.number("worst_reward", infinite=math.inf)
        if (self.best_reward < self.worst_reward) != (self.best_reward == -math.inf):
            raise DataError(f"best_reward is {self.best_reward}, below {self.worst_reward}")
        self._doubt_at, self._look_at = saved.number("doubt_at"), saved.number("look_at")
        self._is_due = bool(saved.flags("is_due", 1)[0])
        self._is_stuck = bool(saved.flags("is_stuck", 1)[0])
        self._sweeper.restore(saved.part("sweep"))
        if len(self._sweeper.value) < n_slots:
            raise DataError(f"{len(self._sweeper.value)} values for {n_slots} states")
        self._greedy = self._sampled = None

    def birth(self, state: int) -> None:
        """A state was born: nothing was tried in it, so it is worth the best."""
        self._sweeper.make_room(state + 1, self.highest)
        self._sweeper.start_state(state, self.highest)
        self._greedy = self._sampled = None

    def apply(self, change: ComponentMap) -> None:
        """Follow a change of components; the values are found again from the model."""
        self._sweeper.make_room(change.n_new, self.highest)
        for links in change.changed.values():
            self._sweeper.active.update(new for new, _ in links)
        self._is_due, self._greedy, self._sampled = True, None, None

    def begin_episode(self) -> None:
        """A new episode: posterior sampling draws a new world."""
        self._sampled = None

    def forget_certainty(self) -> None:
        """Certainties have faded; look at them again."""
        self._is_due, self._greedy = True, None

    # --- what can be hoped for ------------------------------------------------------------------

    @property
    def highest(self) -> float:
        """The value of what is unknown: far more than the best reward for ever."""
        if self.best_reward == -math.inf:
            return 0.0
        return (self.best_reward + OPTIMISM * self._spread) / (1.0 - self._gamma)

    @property
    def _spread(self) -> float:
        """The best reward less the worst; one while all are the same."""
        spread = self.best_reward - self.worst_reward
        return spread if 0.0 < spread < math.inf else 1.0

    @property
    def lowest(self) -> float:
        """The worst that can go on for ever."""
        # Where every step is rewarded, an end is the worst: it is worth nothing.
        worst = 0.0 if self.worst_reward == math.inf else min(self.worst_reward, 0.0)
        return worst / (1.0 - self._gamma)

    # --- values ---------------------------------------------------------------------------------

    def exploring_values(
        self, states: list[int], n_steps: int, alive: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """(len(states), n_actions) values by which to act while learning."""
        if self._exploration == "posterior_sampling":
            return self._sampled_values(alive, rng)[states]
        if self._exploration in ("epsilon_greedy", "softmax", "greedy"):
            return self.greedy_values(alive)[states]
        self._update(n_steps, alive)
        first = states[0]
        return self._sweeper.q[first : first + 1] if len(states) == 1 else self._sweeper.q[states]

    def note_best(self, value: float, n_steps: int) -> None:
        """The best value within reach, after so many steps: is there anything left to try?

        If it is the worst there is, something must be doubted at once. If it holds no unknown,
        then when it is time for it, even if there are unknowns that cannot be reached.
        """
        if self._sweeper.active:
            return
        is_worst = value <= self.lowest + NO_HOPE * self._spread
        most = (self.best_reward + self._spread) / (1.0 - self._gamma)
        if is_worst or (value <= most and n_steps >= self._doubt_at):
            self._is_stuck = self._is_due = True

    def greedy_values(self, alive: IntArray) -> FloatArray:
        """(n_slots, n_actions) values of the model as it is known; what is untried is worst."""
        model = self._model
        if self._greedy is None or self._greedy_version != model.version:
            self._greedy_version = model.version
            n_slots = int(alive.max(initial=-1)) + 1
            untried = model.visits[:n_slots] <= TRIED
            self._greedy = solve(
                model.discounted[:n_slots],
                model.successor[:n_slots],
                model.reward[:n_slots],
                untried,
                np.full(untried.shape, self.lowest - 1.0),
                self.lowest,
            )
        return self._greedy

    def _update(self, n_steps: int, alive: IntArray) -> None:
        """Bring the exploring values up to date, at a cost that depends on what changed."""
        model, sweeper = self._model, self._sweeper
        if model.changed:
            sweeper.active.update(model.changed)
            model.changed.clear()
        if model.touched:
            # While all rewards are the same, the last thing tried is a reason to doubt at once.
            if self._note_known() and self._nothing_stands_out:
                self._is_due = self._is_due or not sweeper.is_set[alive].any()
            model.touched.clear()
        if self._is_due or n_steps >= self._look_at:
            self._look_again(n_steps, alive)
        if sweeper.active:
            # One step more or less makes (1 - gamma) of what a state is worth.
            tolerance = TOLERANCE * (1.0 - self._gamma)
            sweeper.sweep(alive, tolerance, self.lowest, NO_HOPE * self._spread)

    def _note_known(self) -> bool:
        """Whether rows have become known, or doubtful, by what was counted."""
        is_news = False
        certainty, is_set = self._model.certainty, self._sweeper.is_set
        for row in self._model.touched:
            unknown = bool(certainty[row] < FIRST_TRY)
            if unknown != is_set[row]:
                is_news = True
                is_set[row] = unknown
                self._sweeper.set_to[row] = self.highest
                self._sweeper.active.add(row[0])
        return is_news

    @property
    def _nothing_stands_out(self) -> bool:
        return self.best_reward == self.worst_reward

    def _look_again(self, n_steps: int, alive: IntArray) -> None:
        """Which rows are not trusted yet: those with fewer sure tries than are asked for."""
        self._is_due = False
        self._look_at = max(self._doubt_at, n_steps + PATIENCE)
        n_slots = int(alive.max(initial=-1)) + 1
        certainty = self._model.certainty[:n_slots]
        is_alive = np.zeros((n_slots, 1), dtype=bool)
        is_alive[alive] = True
        unknown = (certainty < FIRST_TRY) & is_alive
        is_over = self._is_stuck or not unknown.any()
        may_doubt = self._is_stuck or self._nothing_stands_out or n_steps >= self._doubt_at
        if is_over and may_doubt and n_steps > 0:
            # Nothing is left to try: doubt the least trusted again. At once, if nothing was gained.
            is_known = (certainty >= FIRST_TRY) & is_alive
            trust = certainty if self._trust is None else self._trust(n_slots)
            known = np.sort(trust[is_known])
            if len(known):
                doubtful = is_known & (trust <= known[len(known) // DOUBT_SHARE])
                self._model.retry(
                    zip(*(index.tolist() for index in doubtful.nonzero()), strict=True)
                )
            self._doubt_at = n_steps * DOUBT_GROWTH
            self._is_stuck = False
            unknown = (certainty < FIRST_TRY) & is_alive
        self._sweeper.set_rows(unknown, np.full(unknown.shape, self.highest))
        if self._exploration == "information_gain":
            gain = expected_information_gain(self._model, n_slots, self._row_prior)
            self._sweeper.bonus[:n_slots] = gain * self._spread
            self._sweeper.active.update(alive.tolist())

    def _sampled_values(self, alive: IntArray, rng: np.random.Generator) -> FloatArray:
        """Values of one world drawn from what is believed about it; kept for an episode."""
        if self._sampled is None:
            n_slots = int(alive.max(initial=-1)) + 1
            weights, unknown = sampled_rows(self._model, n_slots, self._row_prior, rng)
            goes_on = self._gamma * (1.0 - self._model.end[:n_slots])
            # What none of the known successors accounts for is hoped to be the best.
            reward = self._model.reward[:n_slots] + goes_on * unknown * self.highest
            self._sampled = solve(
                weights * goes_on[..., None],
                self._model.successor[:n_slots],
                reward,
                self._model.visits[:n_slots] <= TRIED,
                np.full(reward.shape, self.highest),
                self.lowest,
            )
        return self._sampled
