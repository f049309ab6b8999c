"""TGMAgent: learns the states of an environment, and acts in it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import gymnasium as gym
import numpy as np

from tgm.agent.advice import Adviser
from tgm.agent.answers import first_of, unlike_an_outcome
from tgm.agent.arguments import (
    environment,
    missing_attribute,
    number_of_steps,
    seed_number,
    settings,
    unknown_argument,
)
from tgm.agent.callbacks import Callback, as_callbacks, wants_to_stop
from tgm.agent.guided import Guided, GuidedLife
from tgm.agent.info import EpisodeInfo
from tgm.agent.progress import Advance, progress
from tgm.agent.recording import (
    GOES_ON,
    NO_ACTION,
    TERMINATED,
    TRUNCATED,
    Recorder,
    open_recorder,
)
from tgm.agent.spaces import Interface
from tgm.agent.streams import EXPLORATION_STREAM, PREDICT_STREAM, episode_seed, generator
from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.distributions.threads import one_thread
from tgm.errors import ConfigError, NumericsError
from tgm.learners.learner import LearnInfo
from tgm.learners.make import make_learner
from tgm.perception.component_map import Move

NUMERICAL = (ArithmeticError, np.linalg.LinAlgError)


class TGMAgent(GuidedLife):
    """An agent that discovers the states of its world from its observations.

    Works in any Gymnasium environment of Box, Discrete, MultiDiscrete or MultiBinary observations,
    or a Dict or Tuple of them, and Discrete or MultiDiscrete actions.
    """

    def __init__(
        self,
        env: gym.Env[Any, Any] | str,
        config: TGMConfig | None = None,
        *,
        seed: int | None = None,
        env_kwargs: dict[str, Any] | None = None,
        **changes: Any,
    ) -> None:
        """Know nothing yet about `env`.

        Args:
            env: the environment, or the id of a registered one.
            config: the settings; TGMConfig() if not given.
            seed: everything random follows from it; drawn from the system if not given.
            env_kwargs: arguments of an environment that is given by its id.
            changes: settings of TGMConfig to change, by their names: `gamma=0.95`.
        """
        config = settings(config, changes)
        env = environment(env, env_kwargs)
        self._set_up(env, Interface.of(env), config, seed_number(seed))
        self._adviser.warn_of_features(env.observation_space, stacklevel=3)

    def _set_up(
        self,
        env: gym.Env[Any, Any] | None,
        interface: Interface,
        config: TGMConfig,
        seed: int | None,
    ) -> None:
        self.env = env
        self.config = config
        self.seed = secrets.randbits(64) if seed is None else seed
        self.interface = interface
        self.n_steps = 0
        self.n_episodes = 0
        is_categorical, n_actions = interface.is_categorical, interface.n_actions
        self._learner = make_learner(len(is_categorical), n_actions, config, is_categorical)
        self._active = self._learner  # the learner of this episode
        self._rng = generator(self.seed, EXPLORATION_STREAM)
        self._predict_rng = generator(self.seed, PREDICT_STREAM)
        self.is_between_episodes, self.is_guided = True, False
        self._episode_return = 0.0
        self._episode_length = 0
        self._finished: list[EpisodeInfo] = []
        self._moves: list[Move] = []  # since the last learning step
        self._n_evicted = 0  # the same
        self._recorder: Recorder | None = None
        self._adviser = Adviser()
        self.learn_info: LearnInfo | None = None  # the newest since the agent was made or loaded
        self.n_forgotten = 0  # points let go of since then

    if not TYPE_CHECKING:  # a type checker shall still find names that do not exist

        def __getattr__(self, name: str) -> Any:
            """What other libraries call differently is said in the error."""
            raise missing_attribute(name)

    # --- learning ---------------------------------------------------------------------------

    def learn(
        self,
        n_steps: int | None = None,
        callback: Callback | Iterable[Callback] | None = None,
        progress_bar: bool = False,
        run_dir: str | Path | Recorder | None = None,
        *,
        total_timesteps: int | None = None,
        feature_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
        **others: object,
    ) -> Self:
        """Live for `n_steps` more steps; goes on where the last call stopped, mid-episode too.

        Meanwhile NumPy's linear algebra uses one thread: that is faster here, and what is learned
        does not depend on the number of cores.

        Args:
            n_steps: environment steps.
            callback: called with the LearningInfo of every learning step, or several that are;
                returning False stops.
            progress_bar: show how far it is.
            run_dir: a directory to record the run in. It must not exist yet, unless the agent
                comes from its newest checkpoint (`tgm.runs.resume`). Or a recorder of your own.
            total_timesteps: another name of `n_steps`, as in Stable-Baselines3.
            feature_names: (n_features,) what a person calls the features; those of the environment
                (its attribute `feature_names`) if not given.
            action_names: (n_actions,) the same of the actions.
            others: arguments of other libraries; a ConfigError says what to write instead.
        """
        for name in others:
            raise unknown_argument(name, [*signature(self.learn).parameters][:-1])
        n_steps = number_of_steps(n_steps, total_timesteps)
        if self.env is None:
            raise ConfigError(
                "the agent has no environment: set_env(env), load(..., env=env), or choose the "
                "actions yourself (start_episode, observe)"
            )
        if self.is_guided and not self.is_between_episodes:
            self._abandon_episode()  # the environment is elsewhere
        callbacks = as_callbacks(callback)
        if feature_names is not None or action_names is not None:
            self.interface = self.interface.named(feature_names, action_names)
        if isinstance(run_dir, str | Path):
            run_dir = open_recorder(self, Path(run_dir), self.n_steps + n_steps)
        elif run_dir is not None and not hasattr(run_dir, "observed"):
            raise ConfigError(f"run_dir is {run_dir!r:.100}; it must be the path of a directory")
        self._recorder = run_dir
        try:
            with progress(n_steps, progress_bar) as advance, one_thread():
                self._live(n_steps, callbacks, advance)
        except BaseException as error:
            self._close_recorder(error)
            raise
        self._close_recorder()
        return self

    def set_env(
        self, env: gym.Env[Any, Any] | str, *, env_kwargs: dict[str, Any] | None = None
    ) -> Self:
        """Live in another environment of the same spaces from now on, in a new episode."""
        env = environment(env, env_kwargs)
        self.interface.check_fits(Interface.of(env))
        if not self.is_between_episodes:
            self._abandon_episode()
        self.env = env
        return self

    def _live(
        self,
        n_steps: int,
        callbacks: tuple[Callback, ...] = (),
        advance: Advance | None = None,
        guided: Guided | None = None,
    ) -> None:
        learn_every = self.config.learn_every
        for _ in range(n_steps):
            self._step(guided)
            if advance is not None:
                advance(self)
            goes_on = True
            if self.n_steps % learn_every == 0:
                goes_on = self._learn(callbacks)
            recorder = self._recorder
            if recorder is not None:
                if self.is_between_episodes:
                    goes_on = recorder.episode_ended(self) and goes_on
                elif self.n_steps >= recorder.look_at and not recorder.within_episode(self):
                    self._abandon_episode()
                    goes_on = False
            if not goes_on:
                return
            # Between two steps, so that a warning that is made an error costs nothing.
            has_moved = self.learn_info is not None and self.learn_info.moves
            if has_moved or self.n_steps >= self._adviser.look_at:
                self._adviser.look(self, stacklevel=4)

    def _learn(self, callbacks: tuple[Callback, ...]) -> bool:
        """A learning step; returns whether everybody wants to go on."""
        moves: tuple[Move, ...] = ()
        if self._moves:
            moves, self._moves = tuple(self._moves), []
        learn_info = self.learn_info = self._active.learn(moves, self._n_evicted)
        self._n_evicted = 0
        self.n_forgotten += learn_info.n_forgotten
        episodes: tuple[EpisodeInfo, ...] = ()
        if self._finished:
            episodes, self._finished = tuple(self._finished), []
        recorder = self._recorder
        if recorder is not None:
            if episodes:
                recorder.episodes += episodes
            if self.n_steps >= recorder.due_at or learn_info.moves:
                recorder.learned(learn_info, self)
        if not callbacks:
            return True
        info = self.info(learn_info, episodes)
        answers = [callback(info) for callback in callbacks]  # all of them, whichever says stop
        return not any(wants_to_stop(answer) for answer in answers)

    def _close_recorder(self, error: BaseException | None = None) -> None:
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        if error is None:
            recorder.close("finished")
        elif isinstance(error, KeyboardInterrupt):
            recorder.close("interrupted", "Ctrl-C")
        else:
            recorder.close("failed", str(error))

    def _step(self, guided: Guided | None) -> None:
        """One step of the environment; bad data raises before anything is learned from it.

        With `guided`, somebody else chose the action: the choice of the agent is not used. It is
        made all the same, because the agent plans when it chooses.
        """
        if self.is_between_episodes:
            self._begin_episode()
        learner, interface = self._active, self.interface
        try:
            try:
                action = learner.choose(self.n_steps, self._rng)
            except NUMERICAL as error:
                raise _our_fault(self._where, error) from error
            if action not in interface.indices:
                raise self._no_such_action(action)
            if guided is None:
                answer = self.env.step(interface.actions.action(action))  # type: ignore[union-attr]
                try:
                    raw, raw_reward, terminated, truncated, _ = answer
                except (TypeError, ValueError):
                    raise unlike_an_outcome(answer, self._where) from None
            else:
                action, raw, raw_reward, terminated, truncated = guided
            plain = interface.plain_outcome(raw, raw_reward)
            observation, reward = plain or interface.outcome(raw, raw_reward, self._where)
            try:
                info = learner.observe(action, reward, observation, terminated=bool(terminated))
            except NUMERICAL as error:
                raise _our_fault(self._where, error) from error
        except BaseException:
            # Bad data, an error of the environment, Ctrl-C: the next step begins a new episode.
            self._abandon_episode()
            raise
        self.n_steps += 1
        self._episode_return += reward
        self._episode_length += 1
        self._n_evicted += info.n_evicted
        if info.moves:
            self._moves += info.moves
        if terminated or truncated:  # before the recorder, which may raise
            self._finished.append(self.episode(terminated=bool(terminated)))
            self._abandon_episode()
        if self._recorder is not None:
            end = TERMINATED if terminated else TRUNCATED if truncated else GOES_ON
            self._recorder.observed(observation, action, reward, end, info)

    @property
    def _where(self) -> str:
        """The step that is taken, for errors."""
        return f"step {self.n_steps + 1}"

    def _no_such_action(self, action: int) -> ConfigError:
        """What is wrong with the action that a strategy chose."""
        return ConfigError(
            f"{self._where}: exploration '{self.config.exploration}' chose {action!r}; it must be "
            f"from 0 to {self.interface.n_actions - 1}"
        )

    def _begin_episode(self, guided: FloatArray | None = None) -> None:
        """Begin an episode: with a reset, or from an observation that was checked."""
        where = f"reset of episode {self.n_episodes + 1}"
        if guided is None:
            assert self.env is not None
            answer = self.env.reset(seed=episode_seed(self.seed, self.n_episodes))
            observation = self.interface.observation(first_of(answer, where), where)
        else:
            observation = guided
        self._active = self._learner.active
        try:
            info = self._active.begin(observation)
        except NUMERICAL as error:
            raise _our_fault(where, error) from error
        self._moves += info.moves
        self._n_evicted += info.n_evicted
        self.is_between_episodes, self.is_guided = False, guided is not None
        self._episode_return, self._episode_length = 0.0, 0
        self.n_episodes += 1
        if self._recorder is not None:
            self._recorder.observed(observation, NO_ACTION, 0.0, GOES_ON, info)

    def _abandon_episode(self) -> None:
        """The next step begins a new episode."""
        self._active.end_episode()
        self.is_between_episodes = True


def _our_fault(where: str, error: Exception) -> NumericsError:
    """The arithmetic of the learner failed: the error says where, and that it is ours."""
    return NumericsError(
        f"{where}: the arithmetic of the model failed ({type(error).__name__}: {error}); this "
        "is a fault of tgm, not of the data: please report it with the seed and the settings, "
        "and go on from the last checkpoint or save"
    )
