"""TGMAgent: lives in an environment, learns its states, and acts."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import gymnasium as gym
import numpy as np

from tgm.agent.config import TGMConfig
from tgm.agent.explanation import Explanation
from tgm.agent.info import EpisodeInfo, LearningInfo
from tgm.agent.learner import Learner
from tgm.agent.model_file import read_model, write_model
from tgm.agent.progress import progress
from tgm.agent.spaces import Interface
from tgm.distributions import FloatArray, IntArray
from tgm.errors import ConfigError, DataError, RunError, TGMError
from tgm.planning import epsilon_greedy, greedy, published_epsilon, softmax

Callback = Callable[[LearningInfo], object]

# Streams of the root seed: each purpose has its own, so that none disturbs another.
EPISODE_STREAM, EXPLORATION_STREAM, PREDICT_STREAM = range(3)


class TGMAgent:
    """An agent that discovers the states of its world from continuous observations.

    Works in any Gymnasium environment with a flat Box of observations and Discrete actions.
    The attribute names follow the paper; docs/equations.md leads from one to the other.
    """

    def __init__(
        self, env: gym.Env[Any, Any], config: TGMConfig | None = None, *, seed: int | None = None
    ) -> None:
        """Know nothing yet about `env`.

        Args:
            env: the environment to live in.
            config: the settings; TGMConfig() if not given.
            seed: everything random follows from it; drawn from the system if not given.
        """
        self._set_up(env, Interface.of(env), TGMConfig() if config is None else config, seed)

    def _set_up(
        self,
        env: gym.Env[Any, Any] | None,
        interface: Interface,
        config: TGMConfig,
        seed: int | None,
    ) -> None:
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise ConfigError(f"seed is {seed!r}; it must be a whole number from 0")
        self.env = env
        self.config = config
        self.seed = secrets.randbits(64) if seed is None else seed
        self.interface = interface
        self.n_steps = 0
        self.n_episodes = 0
        self._learner = Learner(self.interface.n_features, self.interface.n_actions, self.config)
        self._rng = self._stream(EXPLORATION_STREAM)
        self._predict_rng = self._stream(PREDICT_STREAM)
        self._observation: FloatArray | None = None  # None between episodes
        self._belief: FloatArray | None = None  # of the current observation; None when it is stale
        self._episode_return = 0.0
        self._episode_length = 0
        self._finished: list[EpisodeInfo] = []

    # --- learning ---------------------------------------------------------------------------

    def learn(
        self, n_steps: int, callback: Callback | None = None, progress_bar: bool = False
    ) -> Self:
        """Live for `n_steps` more steps; goes on where the last call stopped, mid-episode too.

        Args:
            n_steps: environment steps.
            callback: called with the LearningInfo of every learning step; returning False stops.
            progress_bar: show how far it is.
        """
        if isinstance(n_steps, bool) or not isinstance(n_steps, int | np.integer) or n_steps < 1:
            raise ConfigError(f"n_steps is {n_steps!r}; it must be a whole number above 0")
        if self.env is None:
            raise ConfigError("the agent was loaded without an environment; load(..., env=env)")
        with progress(int(n_steps), progress_bar) as advance:
            for _ in range(n_steps):
                self._step()
                advance(self._learner.n_states)
                if self.n_steps % self.config.learn_every == 0:
                    info = self._learn()
                    if callback is not None and callback(info) is False:
                        break
        return self

    def _step(self) -> None:
        """One step of the environment; bad data raises before anything is learned from it."""
        if self._observation is None:
            self._begin_episode()
        assert self.env is not None
        where = f"step {self.n_steps + 1}"
        belief = self._current_belief()
        action = self._explore(belief)
        try:
            raw, raw_reward, terminated, truncated, _ = self.env.step(
                action + self.interface.first_action
            )
            observation = self.interface.observation(raw, where)
            reward = self.interface.reward(raw_reward, where)
        except DataError:
            self._abandon_episode()
            raise
        self._learner.observe(belief, action, reward, terminated=bool(terminated))
        self._learner.memory.add_step(action, observation)
        self.n_steps += 1
        self._episode_return += reward
        self._episode_length += 1
        self._observation, self._belief = observation, None
        if terminated or truncated:
            self._end_episode(terminated=bool(terminated))

    def _begin_episode(self) -> None:
        assert self.env is not None
        seeds = np.random.SeedSequence(self.seed, spawn_key=(EPISODE_STREAM, self.n_episodes))
        raw, _ = self.env.reset(seed=int(seeds.generate_state(1)[0]))
        where = f"reset of episode {self.n_episodes + 1}"
        observation = self.interface.observation(raw, where)
        self._learner.memory.begin_trial(observation)
        self._observation, self._belief = observation, None
        self._episode_return, self._episode_length = 0.0, 0
        self.n_episodes += 1

    def _end_episode(self, *, terminated: bool) -> None:
        self._finished.append(
            EpisodeInfo(
                self.n_episodes,
                self.n_steps,
                self._episode_return,
                self._episode_length,
                terminated,
            )
        )
        self._abandon_episode()

    def _abandon_episode(self) -> None:
        """The next step begins a new episode."""
        self._learner.memory.end_trial()
        self._observation = self._belief = None

    def _learn(self) -> LearningInfo:
        lesson = self._learner.learn()
        self._belief = None  # the components have changed
        episodes, self._finished = tuple(self._finished), []
        components = self._learner.components
        return LearningInfo(
            step=self.n_steps,
            episode=self.n_episodes,
            n_states=self._learner.n_states,
            n_fixed=0 if components is None else int(components.is_fixed.sum()),
            n_kept=len(self._learner.memory),
            n_forgotten=lesson.n_forgotten,
            free_energy=lesson.free_energy,
            free_energy_terms=lesson.free_energy_terms,
            n_iterations=lesson.n_iterations,
            moves=lesson.moves,
            episodes=episodes,
        )

    def _current_belief(self) -> FloatArray:
        if self._belief is None:
            assert self._observation is not None
            self._belief = np.asarray(self._learner.belief(self._observation[None])[0])
        return self._belief

    def _explore(self, belief: FloatArray) -> int:
        """The index of the action to try."""
        values = self._learner.action_values(belief)
        if self.config.exploration == "epsilon_greedy":
            epsilon = published_epsilon(self.n_steps, self.config.epsilon_decay)
            probabilities = epsilon_greedy(values, epsilon)
        elif self.config.exploration == "softmax":
            probabilities = softmax(values, self.config.temperature)
        else:
            probabilities = greedy(values)
        return self._draw(probabilities, self._rng)

    @staticmethod
    def _draw(probabilities: FloatArray, rng: np.random.Generator) -> int:
        chosen = np.searchsorted(np.cumsum(probabilities), rng.random(), side="right")
        return min(int(chosen), len(probabilities) - 1)

    # --- acting and asking: nothing below changes what the agent knows -----------------------

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The action for an observation, or one for each row of a batch.

        The protocol is that of Stable-Baselines3, so that its `evaluate_policy` works.

        Args:
            observation: (n_features,) or (n_observations, n_features).
            state: passed through; the agent carries none between steps.
            episode_start: ignored.
            deterministic: the greedy action (the first of several equals); otherwise a best
                action at random.

        Returns:
            the action or (n_observations,) actions, and `state`.
        """
        values, is_batch = self._values(observation)
        if deterministic:
            actions = values.argmax(axis=1)
        else:
            actions = np.array([self._draw(greedy(row), self._predict_rng) for row in values])
        actions = actions + self.interface.first_action
        return (actions if is_batch else actions[0]), state

    def belief(self, observation: Any) -> FloatArray:
        """(n_states,) probability of each state given one observation."""
        checked = self.interface.observation(observation, "belief")
        return np.asarray(self._learner.belief(checked[None])[0])

    def q_values(self, observation: Any) -> FloatArray:
        """(n_actions,) value of each action given one observation: the belief-weighted q."""
        return self._learner.action_values(self.belief(observation))

    def explain(self, observation: Any) -> Explanation:
        """Why the agent would act as it would; print it to read it in words."""
        belief = self.belief(observation)
        values = self._learner.action_values(belief)
        return Explanation(
            action=int(values.argmax()),
            action_names=self.interface.action_names,
            state_ids=self.state_ids,
            belief=belief,
            q_values=values,
            expected_next=np.einsum("k,akj->aj", belief, self.transition_matrix),
            evidence=self._learner.transitions.evidence.sum(axis=-1) @ belief,
        )

    @property
    def n_states(self) -> int:
        """Number of active components."""
        return self._learner.n_states

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) a name for life for each state, never reused."""
        return self._learner.state_ids.copy()

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features) expected mean of each state's observations."""
        return np.array(self._learner.means)

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features) inverse of each state's expected precision."""
        return np.array(self._learner.covariances)

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) transition[action, state, next_state]; rows sum to 1."""
        return self._learner.transition_matrix.copy()

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected number of times each transition was seen."""
        return self._learner.transitions.evidence

    # --- files --------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write what the agent knows to a model file; no code is in it, only arrays and JSON.

        An episode under way is not part of it: a loaded agent begins a new one.
        """
        facts = {
            "config": asdict(self.config),
            "seed": self.seed,
            "n_steps": self.n_steps,
            "n_episodes": self.n_episodes,
            "interface": asdict(self.interface),
            "exploration_rng": self._rng.bit_generator.state,
        }
        write_model(Path(path), self._learner.to_arrays(), facts)

    @classmethod
    def load(cls, path: str | Path, env: gym.Env[Any, Any] | None = None) -> Self:
        """An agent from a model file; without `env` it can act and explain, but not learn.

        Everything is checked before it is used; a RunError names what does not fit.
        """
        arrays, facts = read_model(Path(path))
        try:
            interface = Interface.from_dict(facts["interface"])
            if env is not None and not Interface.of(env).fits(interface):
                raise RunError(f"the model is of another environment: {interface}")
            agent = cls.__new__(cls)
            agent._set_up(env, interface, TGMConfig.from_dict(facts["config"]), facts["seed"])
            agent._learner.restore(arrays)
            agent.n_steps, agent.n_episodes = int(facts["n_steps"]), int(facts["n_episodes"])
            agent._rng.bit_generator.state = facts["exploration_rng"]
        except KeyError as error:
            raise RunError(f"{path}: {error} is missing") from None
        except (TGMError, TypeError, ValueError) as error:
            raise RunError(f"{path}: {error}") from None
        return agent

    def _values(self, observation: Any) -> tuple[FloatArray, bool]:
        """(n_observations, n_actions) action values, and whether a batch was asked for."""
        is_batch = np.ndim(observation) == 2
        rows = observation if is_batch else [observation]
        points = [
            self.interface.observation(row, f"predict, row {index}" if is_batch else "predict")
            for index, row in enumerate(rows)
        ]
        return self._learner.action_values(self._learner.belief(np.array(points))), is_batch

    def _stream(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(purpose,)))
