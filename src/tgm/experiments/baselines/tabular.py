"""Learners of a table that are told the true state: R-max, and posterior sampling (PSRL).

Where observations are the numbers of states, or in a maze, there is a true state to tell. They are
told more than that: the range of rewards, and R-max whether there is chance in the world (then a
pair of state and action counts as known after fifteen tries, else after one).
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import gymnasium as gym
import numpy as np
from scipy import sparse

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.envs import Cell, Maze, MazeEnv
from tgm.envs.decision_table import open_model
from tgm.envs.maze import GOAL_REWARD, LAVA_REWARD, STEP_REWARD

DISCOUNT = 0.99
# Of a pair, after which R-max takes it for known where there is chance: the best of 5, 10, 15, 20
# and 30 in slippery FrozenLake (3,000 steps, seeds 0 to 5).
TRIES = 15
MOST_STATES = 2000  # of a table
CONVERGED, MOST_SWEEPS = 1e-4, 500  # of value iteration
UNLIKELY = 1e-5  # of drawn chances, below which they are left out


class TrueStates(Protocol):
    """The numbers of the true states of a world, and what the learners know of it."""

    n_states: int
    rewards: tuple[float, float]
    has_chance: bool

    def of_step(self, observation: Any, info: dict[str, Any]) -> int:
        """The number of the state after a reset or a step."""

    def of_batch(self, observations: Any) -> IntArray:
        """(n,) the numbers of the states that n observations show."""


class Numbered:
    """Observations are the numbers of the states."""

    def __init__(self, env: gym.Env[Any, Any], space: gym.spaces.Discrete[Any]) -> None:
        """Tell the range of rewards and whether there is chance, if the rules are open."""
        self._start = int(space.start)
        self.n_states = int(space.n)
        self.rewards, self.has_chance = (0.0, 1.0), True
        if (table := open_model(env)) is not None:
            seen = table.reward[table.probability > 0.0]
            self.rewards = (float(seen.min()), float(seen.max()))
            # The same outcome may be listed twice, as in FrozenLake without slipping.
            certain = np.where(table.probability > 0.0, table.after, -1)
            first = certain.max(axis=-1, keepdims=True)
            self.has_chance = bool(((certain >= 0) & (certain != first)).any())

    def of_step(self, observation: Any, info: dict[str, Any]) -> int:
        """See TrueStates."""
        return int(observation) - self._start

    def of_batch(self, observations: Any) -> IntArray:
        """See TrueStates."""
        return np.asarray(observations, dtype=np.intp) - self._start


class Cells:
    """The cells of a maze; a greedy episode shows them as the nearest to each observation."""

    def __init__(self, maze: Maze, slip: float) -> None:
        """Number the cells."""
        self._index: dict[Cell, int] = {cell: number for number, cell in enumerate(maze.moves)}
        self._places = np.array(list(maze.moves), dtype=np.float64)
        self.n_states = len(self._index)
        self.rewards = (LAVA_REWARD if maze.lava else STEP_REWARD, GOAL_REWARD)
        self.has_chance = slip > 0.0

    def of_step(self, observation: Any, info: dict[str, Any]) -> int:
        """See TrueStates."""
        return self._index[info["cell"]]

    def of_batch(self, observations: Any) -> IntArray:
        """See TrueStates."""
        gaps = np.asarray(observations)[:, None] - self._places
        return np.asarray((gaps**2).sum(axis=-1).argmin(axis=-1))


def true_states(env: gym.Env[Any, Any]) -> TrueStates | None:
    """The true states of an environment that can be told; None if there are none, or too many."""
    inner, space = env.unwrapped, env.observation_space
    if isinstance(inner, MazeEnv):
        return Cells(inner.maze, inner.slip)
    if isinstance(space, gym.spaces.Discrete) and space.n <= MOST_STATES:
        return Numbered(env, space)
    return None


class TabularAgent:
    """Counts what each action did in each state, and plans in a model made of the counts.

    The last state of the model is the end of an episode.
    """

    def __init__(self, env: gym.Env[Any, Any], *, seed: int = 0) -> None:
        """Know nothing but what `true_states` tells."""
        states = true_states(env)
        assert states is not None
        assert isinstance(env.action_space, gym.spaces.Discrete)
        self.env, self.states = env, states
        self._first, n_actions = int(env.action_space.start), int(env.action_space.n)
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        self.counts: dict[tuple[int, int], dict[int, float]] = {}  # of next states, by pair
        self.tries = np.zeros((states.n_states, n_actions))
        self.gains = np.zeros((states.n_states, n_actions))  # sums of rewards
        self._here: int | None = None
        self._plan: FloatArray | None = None  # values of actions to learn by, None: to be made
        self._greedy: FloatArray | None = None  # the same for greedy episodes
        self.values = np.zeros(states.n_states + 1)  # of states, by the last plan

    @property
    def n_states(self) -> int:
        """States that it has acted in."""
        return int(self.tries.any(axis=1).sum())

    @property
    def mean_gains(self) -> FloatArray:
        """(n_states, n_actions) mean reward of each pair; 0 of one that was never tried."""
        return np.asarray(self.gains / np.maximum(self.tries, 1.0))

    def mean_chances(self) -> Any:
        """(n_states * n_actions, n_states + 1) shares of next states, as a sparse array."""
        n_states, n_actions = self.tries.shape
        found = [
            (state * n_actions + action, there, count / self.tries[state, action])
            for (state, action), row in self.counts.items()
            for there, count in row.items()
        ]
        rows, columns, shares = zip(*found, strict=True) if found else ((), (), ())
        shape = (n_states * n_actions, n_states + 1)
        return sparse.csr_array((shares, (rows, columns)), shape=shape)

    def learn(self, n_steps: int) -> Self:
        """Live for `n_steps` more steps."""
        for _ in range(n_steps):
            if self._here is None:
                observation, info = self.env.reset()
                self._here = self.states.of_step(observation, info)
                self.begin_episode()
            if self._plan is None:
                self._plan = self.make_plan()
            values = self._plan[self._here]
            action = int(self._rng.choice(np.flatnonzero(values >= values.max() - CONVERGED)))
            observation, reward, over, cut, info = self.env.step(self._first + action)
            there = self.states.of_step(observation, info)
            self.gains[self._here, action] += float(reward)
            self.tries[self._here, action] += 1.0
            row = self.counts.setdefault((self._here, action), {})
            after = self.states.n_states if over else there
            row[after] = row.get(after, 0.0) + 1.0
            self._greedy = None
            self.has_tried(self._here, action)
            self._here = None if over or cut else there
        return self

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The best action by the mean of what was seen; pairs that were never tried are avoided."""
        if self._greedy is None:
            start = np.zeros(self.states.n_states + 1)
            worst, untried = self.states.rewards[0], self.tries == 0.0
            self._greedy = solve(self.mean_chances(), self.mean_gains, untried, worst, start)
        single = isinstance(self.env.observation_space, gym.spaces.Discrete)
        is_batch = np.ndim(observation) == (1 if single else 2)
        seen = self.states.of_batch(observation if is_batch else np.asarray(observation)[None])
        actions = self._first + self._greedy[seen].argmax(axis=1)
        return (actions if is_batch else actions[0]), state

    def begin_episode(self) -> None:
        """An episode begins."""

    def has_tried(self, state: int, action: int) -> None:
        """A pair was tried once more."""

    def make_plan(self) -> FloatArray:
        """(n_states, n_actions) values to act by."""
        raise NotImplementedError


class RMaxAgent(TabularAgent):
    """What is not known yet is worth the best reward for ever."""

    def has_tried(self, state: int, action: int) -> None:
        """Plan again when a pair becomes known; what comes later does not change it."""
        if self.tries[state, action] == self._wanted:
            self._plan = None

    def make_plan(self) -> FloatArray:
        """Values in the model of what is known."""
        best = max(self.states.rewards[1], 0.0)
        # From the values of the plan before: they only fall, so that they stay above the true ones.
        start = self.values if self.tries.any() else np.full_like(self.values, _for_ever(best))
        start[-1] = 0.0
        self.values = start
        unknown = self.tries < self._wanted
        return solve(self.mean_chances(), self.mean_gains, unknown, best, start)

    @property
    def _wanted(self) -> int:
        return TRIES if self.states.has_chance else 1


class PSRLAgent(TabularAgent):
    """Acts as would be best in a world drawn from what it believes.

    Another world is drawn when an episode begins, and within a long one after one step more than
    the time before. Rows are drawn from a Dirichlet distribution whose prior weighs one step in
    all; the reward of a pair that was tried is its mean, of another the best that there is.
    """

    _age = _period = 0  # steps in the drawn world, and after how many another is drawn

    def begin_episode(self) -> None:
        """Draw another world."""
        self._plan = None

    def has_tried(self, state: int, action: int) -> None:
        """Draw another world when this one is old: episodes may have no end."""
        self._age += 1
        if self._age > self._period:
            self._age, self._period = 0, self._period + 1
            self._plan = None

    def make_plan(self) -> FloatArray:
        """Values in the drawn world."""
        n_states, n_actions = self.tries.shape
        weights = np.full((n_states, n_actions, n_states + 1), 1.0 / (n_states + 1))
        for pair, row in self.counts.items():
            for there, count in row.items():
                weights[(*pair, there)] += count
        chances = self._rng.standard_gamma(weights).reshape(n_states * n_actions, -1)
        totals = chances.sum(axis=-1, keepdims=True)
        chances /= np.where(totals > 0.0, totals, 1.0)
        chances[chances < UNLIKELY] = 0.0
        gains = np.where(self.tries > 0.0, self.mean_gains, self.states.rewards[1])
        never = np.zeros(self.tries.shape, dtype=bool)
        return solve(sparse.csr_array(chances), gains, never, 0.0, self.values)


def solve(
    chances: Any, gains: FloatArray, is_fixed: BoolArray, reward: float, values: FloatArray
) -> FloatArray:
    """(n_states, n_actions) values of actions, by value iteration.

    Args:
        chances: (n_states * n_actions, n_states + 1) of each next state, a sparse array.
        gains: (n_states, n_actions) mean reward.
        is_fixed: (n_states, n_actions) pairs that are worth `reward` for ever.
        reward: of them at each step.
        values: (n_states + 1,) of states, to begin with; they become those of the solution.
    """
    for _ in range(MOST_SWEEPS):
        found = gains + DISCOUNT * (chances @ values).reshape(gains.shape)
        found[is_fixed] = _for_ever(reward)
        best = found.max(axis=1)
        change = np.abs(best - values[:-1]).max()
        values[:-1] = best
        if change < CONVERGED:
            break
    return np.asarray(found)


def _for_ever(reward: float) -> float:
    return reward / (1.0 - DISCOUNT)
