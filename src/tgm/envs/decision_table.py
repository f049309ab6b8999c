"""The rules of a finite world as arrays: its best return, and the return of a policy in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray

Outcome = tuple[float, int, float, bool]
"""Probability, next state, reward, whether the episode ends: as Gymnasium's toy texts say it."""

Choose = Callable[[IntArray], IntArray]
"""(n,) true states to (n,) actions; it does not depend on anything else."""

ChooseAgain = Callable[[IntArray, IntArray], IntArray]
"""The same for a policy with a memory: the second argument holds the numbers of the episodes."""

LONGEST = 1000  # steps of a greedy episode in an environment without a time limit of its own
MOST_RULES = 5_000_000  # values of the table of an environment that carries its rules
ENDED = 1e-9  # probability of an episode that goes on, below which it is taken for ended


@dataclass(frozen=True)
class Judged:
    """A greedy policy: its expected return, and whether every episode ends by itself."""

    mean_return: float
    always_ends: bool


@dataclass(frozen=True)
class DecisionTable:
    """The rules of a finite world; outcomes that some state-action pair lacks have probability 0.

    Attributes:
        starts: (n_states,) probability that an episode begins in each state.
        probability, reward: (n_states, n_actions, n_outcomes)
        after: (n_states, n_actions, n_outcomes) the next state.
        ends: (n_states, n_actions, n_outcomes) whether the episode ends there.
        limit: steps after which an episode is cut off.
    """

    starts: FloatArray
    probability: FloatArray
    reward: FloatArray
    after: IntArray
    ends: BoolArray
    limit: int

    @classmethod
    def of(
        cls,
        rules: Mapping[int, Mapping[int, Sequence[Outcome]]],
        starts: FloatArray,
        limit: int,
    ) -> DecisionTable:
        """The table of rules[state][action], a list of outcomes."""
        n_outcomes = max(len(found) for row in rules.values() for found in row.values())
        shape = (len(starts), max(len(row) for row in rules.values()), n_outcomes)
        probability, reward = np.zeros(shape), np.zeros(shape)
        after, ends = np.zeros(shape, dtype=np.intp), np.ones(shape, dtype=bool)
        for state, row in rules.items():
            for action, found in row.items():
                for number, outcome in enumerate(found):
                    place = (state, action, number)
                    probability[place], after[place], reward[place], ends[place] = outcome
        return cls(np.asarray(starts, dtype=np.float64), probability, reward, after, ends, limit)

    @cached_property
    def values(self) -> FloatArray:
        """(limit + 1, n_states) best expected return with so many steps left."""
        values = np.zeros((self.limit + 1, len(self.starts)))
        for left in range(1, self.limit + 1):
            values[left] = self.action_values(left, values[left - 1]).max(axis=1)
        return values

    def action_values(self, left: int, later: FloatArray | None = None) -> FloatArray:
        """(n_states, n_actions) expected return of an action with `left` steps left.

        Args:
            left: steps, at least 1.
            later: (n_states,) value of the next state; the best one by default.
        """
        later = self.values[left - 1] if later is None else later
        outcome = self.reward + np.where(self.ends, 0.0, later[self.after])
        return np.asarray((self.probability * outcome).sum(axis=-1))

    @property
    def best_return(self) -> float:
        """The best expected return of an episode, by dynamic programming over its steps."""
        return float(self.starts @ self.values[self.limit])

    @cached_property
    def lived_in(self) -> IntArray:
        """The states in which some policy has to choose an action.

        Those that are only seen at the end of an episode are not among them.
        """
        found = new = self.starts > 0.0
        while new.any():
            goes_on = (self.probability[new] > 0.0) & ~self.ends[new]
            reached = np.zeros_like(found)
            reached[self.after[new][goes_on]] = True
            new = reached & ~found
            found = found | new
        return np.flatnonzero(found)

    def judge(self, choose: Choose) -> Judged:
        """The exact return of a policy that depends on the true state alone.

        Only the states that the policy comes to are asked for.
        """
        n_states = len(self.starts)
        action = np.full(n_states, -1)
        mass, total = self.starts.copy(), 0.0
        for _ in range(self.limit):
            here = np.flatnonzero(mass > 0.0)
            unknown = here[action[here] < 0]
            if len(unknown):
                action[unknown] = choose(unknown)
            chances = mass[here, None] * self.probability[here, action[here]]
            total += float((chances * self.reward[here, action[here]]).sum())
            goes_on = ~self.ends[here, action[here]]
            there = self.after[here, action[here]][goes_on]
            mass = np.bincount(there, chances[goes_on], n_states).astype(np.float64)
            if mass.sum() < ENDED:
                return Judged(total, True)
        return Judged(total, False)

    def sample(self, choose: ChooseAgain, n_episodes: int, rng: np.random.Generator) -> Judged:
        """The return of any policy, estimated from episodes played side by side.

        A policy's return is the best one less what each of its actions loses against the best
        action there; the mean of these losses varies much less than the mean of the returns,
        and has the same expectation.
        """
        here = rng.choice(len(self.starts), size=n_episodes, p=self.starts)
        playing = np.arange(n_episodes)
        lost = 0.0
        for left in range(self.limit, 0, -1):
            action = choose(here, playing)
            values = self.action_values(left)[here, action]
            lost += float((self.values[left][here] - values).sum())
            cumulated = self.probability[here, action].cumsum(axis=1)
            drawn = rng.random(len(here))[:, None] * cumulated[:, -1:]
            outcome = (drawn >= cumulated).sum(axis=1)
            goes_on = ~self.ends[here, action, outcome]
            here, playing = self.after[here, action, outcome][goes_on], playing[goes_on]
            if not len(playing):
                break
        return Judged(self.best_return - lost / n_episodes, not len(playing))


def open_model(env: gym.Env[Any, Any]) -> DecisionTable | None:
    """The rules of an environment that carries them, as Gymnasium's toy texts do; None if not.

    They are `P[state][action]`, a list of outcomes, and `initial_state_distrib`; observations must
    be the numbers of the states, so that a policy can be judged by them.
    """
    inner: Any = env.unwrapped
    rules, starts = getattr(inner, "P", None), getattr(inner, "initial_state_distrib", None)
    space, actions = env.observation_space, env.action_space
    if not isinstance(rules, Mapping) or starts is None or not rules:
        return None
    if not isinstance(space, gym.spaces.Discrete) or not isinstance(actions, gym.spaces.Discrete):
        return None
    limit = (env.spec.max_episode_steps if env.spec is not None else None) or LONGEST
    n_states, n_actions = int(space.n), int(actions.n)
    if limit < 1 or n_states * max(n_actions, limit) > MOST_RULES or space.start != 0:
        return None
    if sorted(rules) != list(range(n_states)) or np.shape(starts) != (n_states,):
        return None
    if any(sorted(row) != list(range(n_actions)) for row in rules.values()):
        return None
    return DecisionTable.of(rules, np.asarray(starts), limit)
