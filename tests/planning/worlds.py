"""Small worlds with known states, for the tests of planners and exploration strategies."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tgm import TGMConfig
from tgm.files.arrays import ArrayReader
from tgm.planning.exploration import STRATEGIES, ExplorationStrategy
from tgm.planning.model_planner import ModelPlanner
from tgm.transition import sparse_file
from tgm.transition.sparse import SparseTransitions

GAMMA = 0.9


def make(n_states: int, n_actions: int = 2) -> tuple[SparseTransitions, ModelPlanner]:
    """States in which nothing was tried."""
    model = SparseTransitions(n_actions, GAMMA)
    planner = ModelPlanner(model, GAMMA)
    model.make_room(n_states)
    for state in range(n_states):
        planner.birth(state)
    return model, planner


def corridor(n_states: int = 4, tries: float = 1.0) -> tuple[SparseTransitions, ModelPlanner]:
    """Action 0 goes left, action 1 right; each step costs 1. Untried: right in the last state."""
    model, planner = make(n_states)
    for state in range(n_states):
        model.add(state, 0, max(state - 1, 0), tries, -1.0, 0.0)
        if state < n_states - 1:
            model.add(state, 1, state + 1, tries, -1.0, 0.0)
    planner.see_reward(-1.0)
    return model, planner


def new_strategy(name: str, **settings: object) -> ExplorationStrategy:
    return STRATEGIES[name](TGMConfig(gamma=GAMMA, **settings))


def swept(
    strategy: ExplorationStrategy,
    planner: ModelPlanner,
    n_states: int,
    n_steps: int = 0,
    state: int = 0,
) -> np.ndarray:
    """(n_states, n_actions) values when an agent in `state` has asked until the sweeps are done."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        strategy.values(planner, [(state, 1.0)], np.arange(n_states), n_steps, rng)
    return planner.sweeper.q[:n_states].copy()


@dataclass
class Walker:
    """An agent that sees the true state of a corridor of five states.

    Action 0 goes left and action 1 right; each costs 1. Action 2 stays; in the last state it ends
    the episode with the reward 10, elsewhere it costs 1. An episode has at most 20 steps.
    """

    strategy: ExplorationStrategy
    seed: int = 0
    n_states: int = 5
    actions: list[int] = field(default_factory=list)
    n_goals: int = 0

    def __post_init__(self) -> None:
        self.model = SparseTransitions(3, GAMMA)
        self.planner = ModelPlanner(self.model, GAMMA)
        self.rng = np.random.default_rng(self.seed)
        self.n_known = 0

    def outcome(self, state: int, action: int) -> tuple[int, float, bool]:
        """(next state, reward, whether the episode ends)"""
        last = self.n_states - 1
        if action == 2:
            return state, 10.0 if state == last else -1.0, state == last
        return min(max(state + (1 if action else -1), 0), last), -1.0, False

    def teach(self, tries: float) -> None:
        """Tell the model all that can be known."""
        for state in range(self.n_states):
            for action in range(3):
                after, reward, end = self.outcome(state, action)
                self._learn(state, action, after, reward, end, tries)

    def _learn(
        self, state: int, action: int, after: int, reward: float, end: bool, tries: float = 1.0
    ) -> None:
        self.planner.see_reward(reward)
        self._visit(max(state, after))
        self.model.retries.discard((state, action))
        self.model.add(state, action, after, tries, reward, float(end))

    def _visit(self, state: int) -> None:
        while self.n_known <= state:
            self.model.make_room(self.n_known + 1)
            self.planner.birth(self.n_known)
            self.n_known += 1

    def walk(self, n_episodes: int) -> list[int]:
        """Live for so many episodes; returns the actions."""
        first = len(self.actions)
        for _ in range(n_episodes):
            self.strategy.begin_episode()
            state, end, left = 0, False, 20
            self._visit(state)
            while left > 0 and not end:
                action = self.act(state)
                self.actions.append(action)
                after, reward, end = self.outcome(state, action)
                self._learn(state, action, after, reward, end)
                state, left = after, left - 1
                self.n_goals += end
        return self.actions[first:]

    def act(self, state: int) -> int:
        n_steps = len(self.actions)
        alive = np.arange(self.n_known)
        values = self.strategy.values(self.planner, [(state, 1.0)], alive, n_steps, self.rng)
        assert values.shape == (3,)
        assert np.isfinite(values).all()
        return self.strategy.choose(values, n_steps, self.rng)

    def copy(self, strategy: ExplorationStrategy) -> Walker:
        """The same agent, from its arrays, with a strategy that knows nothing yet."""
        other = Walker(strategy, self.seed, self.n_states, list(self.actions), self.n_goals)
        other.n_known = self.n_known
        sparse_file.restore(
            other.model, ArrayReader(sparse_file.to_arrays(self.model)), self.n_known
        )
        other.planner.restore(ArrayReader(self.planner.to_arrays()), self.n_known)
        other.strategy.restore(ArrayReader(self.strategy.to_arrays()))
        other.rng.bit_generator.state = self.rng.bit_generator.state
        return other
