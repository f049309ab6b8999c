"""TemporalMixture: states and transitions of logged trajectories; how many states is found out."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Self

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.data import Log, from_arrays
from tgm.distributions import FloatArray, IntArray
from tgm.errors import ConfigError, NotFittedError
from tgm.estimators.agents import agent_of
from tgm.estimators.temporal_file import load_world, save_world
from tgm.temporal.policy import Plan, plan
from tgm.temporal.world import World


class TemporalMixture:
    """A hidden Markov model of Gaussian states that finds its number of states by evidence.

    With actions it is a world model: one matrix of transitions for each action. With rewards too it
    can plan. Missing values (NaN) are integrated out. Nothing in a fit is random.

    Args:
        max_states: how many states there may be.
        random_state: seed of `sample`: a whole number, a NumPy generator, or None.

    Attributes:
        n_states_: number of states that was found.
        means_: (n_states, n_features)
        covariances_: (n_states, n_features, n_features)
        transitions_: (n_states, n_states) without actions, (n_actions, n_states, n_states) with
            them; rows sum to one.
        start_: (n_states,) probability of each state at the start of an episode.
        weights_: (n_states,) share of the rows of each state.
        actions_: (n_actions,) what the log calls the actions, in the order of transitions_.
        tries_: (n_actions, n_states) how often each action was tried in each state.
        rewards_: (n_actions, n_states) mean reward; 0 where none is known.
        end_probabilities_: (n_actions, n_states) probability that a step ends the episode.
        free_energy_: of the newest data: an upper bound on -ln evidence.
        n_features_in_, feature_names_in_: of the observations.
        n_rows_: rows that were learned from.
    """

    def __init__(self, max_states: int = 100, *, random_state: Any = None) -> None:
        """Know nothing."""
        self.max_states = max_states
        self.random_state = random_state

    # --- learning ---------------------------------------------------------------------------------

    def fit(
        self,
        observations: Any,
        actions: Any = None,
        episode_ids: Any = None,
        rewards: Any = None,
        terminated: Any = None,
    ) -> Self:
        """Learn from a log, and forget what was known.

        Row t holds an observation, the action that was taken there, and the reward of that step.

        Args:
            observations: (n_rows, n_features), a frame, a list of episodes, or a `tgm.data.Log`,
                which holds the rest too. NaN is a missing value.
            actions: (n_rows,) whole numbers or text; may be missing in the last row of an episode.
            episode_ids: (n_rows,) what belongs together; one episode if not given.
            rewards: (n_rows,) may be missing anywhere.
            terminated: (n_rows,) whether the step from each row ended its episode.
        """
        self._check_settings()
        log = from_arrays(observations, actions, episode_ids, rewards, terminated)
        self._take(World.learned(log, self.max_states))
        return self

    def partial_fit(
        self,
        observations: Any,
        actions: Any = None,
        episode_ids: Any = None,
        rewards: Any = None,
        terminated: Any = None,
    ) -> Self:
        """Learn from further episodes; what was learned before stays, as sums.

        The arguments are those of `fit`. States keep their order; new ones come last. Two that
        turn out to be one become one.
        """
        self._check_settings()
        log = from_arrays(observations, actions, episode_ids, rewards, terminated)
        self._take(World.learned(log, self.max_states, getattr(self, "world_", None)))
        return self

    def _check_settings(self) -> None:
        most = self.max_states
        is_whole = isinstance(most, int | np.integer) and not isinstance(most, bool)
        if not is_whole or most < 1:
            raise ConfigError(f"max_states is {most!r}; it must be a whole number above 0")

    def _take(self, world: World) -> None:
        self.world_ = world
        self.n_states_ = world.n_states
        self.n_features_in_ = len(world.feature_names)
        self.feature_names_in_ = np.array(world.feature_names, dtype=object)
        self.means_, self.covariances_ = world.means, world.covariances
        self.transitions_ = world.transitions if world.action_values else world.transitions[0]
        self.start_ = world.start
        weight = world.sums.moments.weight
        self.weights_ = weight / weight.sum()
        self.actions_ = np.array(world.action_values)
        self.tries_, self.rewards_ = world.tries, world.rewards
        self.end_probabilities_ = world.ends
        self.free_energy_ = -world.bound
        self.n_rows_ = world.n_rows

    # --- questions --------------------------------------------------------------------------------

    def decode(self, observations: Any, actions: Any = None, episode_ids: Any = None) -> Any:
        """(n_rows,) the most likely path of each episode; a list of them if episodes were given."""
        log = self._log(observations, actions, episode_ids)
        return log.as_given(self._world.path(log))

    def smooth(self, observations: Any, actions: Any = None, episode_ids: Any = None) -> Any:
        """(n_rows, n_states) probability of each state at each row, given its whole episode."""
        log = self._log(observations, actions, episode_ids)
        return log.as_given(self._world.smoothed(log))

    predict = decode
    predict_proba = smooth

    def score(self, observations: Any, actions: Any = None, episode_ids: Any = None) -> float:
        """ln likelihood per row, with the expected parameters; higher is better."""
        log = self._log(observations, actions, episode_ids)
        return self._world.log_likelihood(log) / log.n_rows

    def sample(
        self, n_steps: int = 1, actions: Any = None, random_state: Any = None
    ) -> tuple[FloatArray, IntArray]:
        """One episode of `n_steps` observations, drawn from the model.

        Args:
            n_steps: number of observations.
            actions: (n_steps - 1,) or more, as the log calls them; drawn evenly if not given.
            random_state: in place of the one of the model.

        Returns:
            (n_steps, n_features) observations and (n_steps,) states.
        """
        world = self._world
        if isinstance(n_steps, bool) or not isinstance(n_steps, int | np.integer) or n_steps < 1:
            raise ConfigError(f"n_steps is {n_steps!r}; it must be a whole number above 0")
        seed = self.random_state if random_state is None else random_state
        try:
            rng = np.random.default_rng(seed)
        except (TypeError, ValueError):
            raise ConfigError(
                f"random_state is {seed!r:.60}; it must be a whole number, a generator or None"
            ) from None
        if actions is None:
            taken = rng.integers(world.n_actions, size=n_steps)
        else:
            taken = self._indices(list(actions), n_steps - 1)
        draws, rows = rng.random(n_steps), world.transitions.cumsum(axis=2)
        states = np.empty(n_steps, dtype=np.intp)
        row = world.start.cumsum()
        for step in range(n_steps):
            states[step] = min(int(np.searchsorted(row, draws[step])), world.n_states - 1)
            row = rows[taken[step], states[step]] if step < len(taken) else row
        lower = np.linalg.cholesky(world.covariances)
        noise = rng.standard_normal((n_steps, self.n_features_in_))
        return world.means[states] + np.einsum("tij,tj->ti", lower[states], noise), states

    def _indices(self, actions: list[Any], least: int) -> IntArray:
        known = self._world.action_values
        for action in actions:
            if action not in known:
                raise ConfigError(f"the action {action!r:.60} is unknown; known are {known!r:.200}")
        if len(actions) < least:
            raise ConfigError(f"{len(actions)} actions are given; {least} are needed")
        return np.array([known.index(action) for action in actions], dtype=np.intp)

    def policy(self, gamma: float = 0.99) -> Plan:
        """The plan of what to do in each state; actions that were never tried are left out.

        Args:
            gamma: discount of a step, from 0 to below 1.
        """
        world = self._world
        if not (isinstance(gamma, int | float | np.number) and 0.0 <= gamma < 1.0):
            raise ConfigError(f"gamma is {gamma!r}; it must be from 0 to below 1")
        if not world.action_values or not world.has_rewards:
            raise ConfigError("a policy needs a log with actions and rewards: fit with both")
        return plan(
            world.transitions, world.rewards, world.ends, world.tries, world.action_values, gamma
        )

    def to_agent(
        self,
        env: gym.Env[Any, Any] | None = None,
        config: TGMConfig | None = None,
        *,
        seed: int | None = None,
    ) -> TGMAgent:
        """An agent that starts with these states and transitions, and goes on learning.

        Args:
            env: its environment: a Box of as many features, and the actions of the log by
                number or name. Without it the agent learns by `start_episode` and `observe`.
            config: its settings; the default ones if not given.
            seed: everything random follows from it.
        """
        return agent_of(self._world, env, config, seed)

    def _log(self, observations: Any, actions: Any, episode_ids: Any) -> Log:
        self._world  # noqa: B018  (says so if it was not fitted)
        return from_arrays(observations, actions, episode_ids)

    @property
    def _world(self) -> World:
        if not hasattr(self, "world_"):
            raise NotFittedError("this TemporalMixture is not fitted yet; call fit first")
        return self.world_

    # --- files ------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file; no code is in it, only arrays and JSON."""
        seed = self.random_state if isinstance(self.random_state, int) else None
        settings = {"max_states": int(self.max_states), "random_state": seed}
        save_world(Path(path), self._world, settings)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """A fitted model from a file; a RunError names what does not fit."""
        world, settings = load_world(Path(path))
        most, seed = settings.get("max_states", 100), settings.get("random_state")
        model = cls(most, random_state=seed)
        model._check_settings()
        model._take(world)
        return model

    # --- as scikit-learn has it -------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        names = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in names}

    def set_params(self, **settings: Any) -> Self:
        """Change settings by name."""
        known = self.get_params()
        for name, value in settings.items():
            if name not in known:
                raise ConfigError(f"no setting {name!r}; there are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks before it searches or validates; called by scikit-learn alone."""
        from sklearn.base import BaseEstimator

        return BaseEstimator().__sklearn_tags__()

    def __repr__(self) -> str:
        """How it was made."""
        settings = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({settings})"
