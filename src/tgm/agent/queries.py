"""What an agent answers: actions, beliefs, values and the model; no question changes it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent.diagnosis import ONE_STATE, Advice, Signs, diagnose
from tgm.agent.explanation import Explanation
from tgm.agent.info import EpisodeInfo, LearningInfo
from tgm.agent.spaces import Interface
from tgm.config import TGMConfig
from tgm.distributions import FloatArray, IntArray
from tgm.errors import DataError
from tgm.inference.step_filter import DROPPED
from tgm.learners.learner import Context, FeatureUse, Learner, LearnInfo
from tgm.perception.observation_model import StateId
from tgm.planning import draw, greedy


class AgentQueries:
    """The part of TGMAgent that only reads.

    Attributes:
        interface: the shape of observations and actions.
        config: the settings.
        n_steps, n_episodes: so far.
    """

    interface: Interface
    config: TGMConfig
    n_steps: int
    n_episodes: int
    env: gym.Env[Any, Any] | None
    _learner: Learner
    _predict_rng: np.random.Generator
    _episode_return: float
    _episode_length: int

    def __repr__(self) -> str:
        """The environment, what was found, and the settings."""
        spec = None if self.env is None else self.env.spec
        where = "no environment" if self.env is None else type(self.env.unwrapped).__name__
        where = where if spec is None else spec.id
        found = f"{self.n_states} states after {self.n_steps} steps, {self.n_episodes} episodes"
        return f"<{type(self).__name__} in {where}: {found}; {self.config!r}>"

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
            observation: one of the environment's, or a batch: one more dimension in each part.
            state: what this returned for the observation before. With it, and `filtering`, the
                belief is the one that the agent learns with: it expects what the action did.
                Without it each observation is judged by itself.
            episode_start: (n_observations,) whether an episode begins: then what is expected is
                where episodes begin.
            deterministic: the greedy action (the first of several equals); otherwise a best
                action at random.

        Returns:
            the action or (n_observations,) actions, and the state for the next call.
        """
        points, is_batch = self.interface.observations(observation, "predict")
        if len(points) == 0:
            return self.interface.actions.actions(np.empty(0, dtype=np.intp)), state
        points, belief, covariance = self._placed(points, state, episode_start, "predict")
        values = self._learner.values_of(points, belief)
        if deterministic:
            chosen = values.argmax(axis=1)
        else:
            chosen = np.array([draw(greedy(row), self._predict_rng) for row in values], np.intp)
        actions = self.interface.actions.actions(chosen)
        contexts = _contexts(state, episode_start, len(points), "predict")
        state = self._contexts_after(belief, chosen, points, covariance, contexts)
        return (actions if is_batch else actions[0]), state

    def _placed(
        self, points: FloatArray, state: Any, episode_start: Any, where: str
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """Where observations place the agent, given what `predict` returned for those before.

        Returns:
            (n, n_features) points: the observations, unless laws know better; (n, n_states) the
            belief, and the covariance (n, n_features, n_features) of the points if they do.
        """
        contexts = _contexts(state, episode_start, len(points), where)
        if contexts is None:
            return points, self._learner.belief(points), None
        if (placed := self._learner.placed(points, contexts)) is not None:
            return placed.mean, self._learner.belief(placed.mean), placed.covariance
        return points, self._learner.filtered_beliefs(points, contexts), None

    def _contexts_after(
        self,
        belief: FloatArray,
        actions: IntArray,
        points: FloatArray,
        covariance: FloatArray | None,
        before: list[Context | None] | None,
    ) -> list[Context]:
        """What the next call of `predict` must know of this one."""
        ids = self._learner.state_ids.tolist()
        contexts = []
        spreads: list[tuple[float, ...] | None] = [None] * len(points)
        if covariance is not None:
            spreads = [tuple(one.ravel().tolist()) for one in covariance]
        firsts = [None if one is None else one.first for one in before or [None] * len(points)]
        every = zip(belief, actions.tolist(), points.tolist(), spreads, firsts, strict=True)
        for row, action, point, spread, first in every:
            found = [(float(row[k]), k) for k in np.flatnonzero(row > DROPPED).tolist()]
            found.sort(reverse=True)
            shares = tuple((StateId(ids[k]), share) for share, k in found)
            seen = tuple(point)
            contexts.append(Context(shares, action, seen, spread, seen if first is None else first))
        return contexts

    def belief(self, observation: Any, state: Any = None, episode_start: Any = None) -> FloatArray:
        """(n_states,) probability of each state given one observation; `state` as in `predict`."""
        checked = self.interface.observation(observation, "belief")[None]
        return np.asarray(self._placed(checked, state, episode_start, "belief")[1][0])

    def q_values(
        self, observation: Any, state: Any = None, episode_start: Any = None
    ) -> FloatArray:
        """(n_actions,) value of each action given one observation: the belief-weighted q."""
        checked = self.interface.observation(observation, "q_values")[None]
        points, belief, _ = self._placed(checked, state, episode_start, "q_values")
        return np.asarray(self._learner.values_of(points, belief)[0])

    def explain(
        self, observation: Any, state: Any = None, episode_start: Any = None
    ) -> Explanation:
        """Why `predict` would act as it would; print it to read it in words.

        Where places look alike, give the `state` that `predict` returned for the observation
        before.
        """
        checked = self.interface.observation(observation, "explain")[None]
        points, beliefs, _ = self._placed(checked, state, episode_start, "explain")
        belief = np.asarray(beliefs[0])
        values = np.asarray(self._learner.values_of(points, beliefs)[0])
        expected_next, expected_end, tries = self._learner.outlook(belief)
        laws: dict[str, FloatArray] = {}
        if (forecast := self._learner.forecast(points)) is not None:
            # Laws say where one step leads; what is known of support points is about holding on.
            laws = {"expected_observation": forecast.expected[0], "spread": forecast.deviation[0]}
            expected_end = forecast.end[0]
            there = np.asarray(self._learner.belief(forecast.expected[0]))
            expected_next = (1.0 - expected_end)[:, None] * there
        return Explanation(
            action=int(values.argmax()),
            action_names=self.interface.action_names,
            state_ids=self.state_ids,
            belief=belief,
            q_values=values,
            expected_next=expected_next,
            expected_end=expected_end,
            evidence=tries,
            feature_names=self.interface.feature_names,
            **laws,
        )

    @property
    def n_states(self) -> int:
        """Number of active components."""
        return len(self._learner.state_ids)

    @property
    def state_ids(self) -> IntArray:
        """(n_states,) a name for life for each state, never reused."""
        return np.array(self._learner.state_ids)

    @property
    def means(self) -> FloatArray:
        """(n_states, n_features) expected mean of each state's observations."""
        return np.array(self._learner.means)

    @property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features) inverse of each state's expected precision."""
        return np.asarray(self._learner.covariances)  # perhaps of thousands of features: no copy

    @property
    def transition_matrix(self) -> FloatArray:
        """(n_actions, n_states, n_states) transition[action, state, next_state]; rows sum to 1.

        Where the action leads if the episode goes on; `end_probabilities` says whether it does.
        """
        return np.array(self._learner.transition_matrix)

    @property
    def end_probabilities(self) -> FloatArray:
        """(n_actions, n_states) probability that an action in a state ends the episode.

        All zero with the paper's preset, which has no model of ends.
        """
        return np.array(self._learner.end_probabilities)

    @property
    def transition_counts(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected number of times each transition was seen.

        The last step of an episode counts too, as a transition to where it was seen to lead.
        """
        return np.array(self._learner.transition_counts)

    @property
    def relevance(self) -> dict[str, bool]:
        """Whether each feature, by its name, tells states apart.

        A feature that does not has the same density in all states; an exact one does unless it was
        seen to be noise. All are True before the first
        observation, with a bandwidth that is a number, and with the paper's preset, unless one
        state explains everything (`advice`).
        """
        use = self._learner.feature_use
        relevant = use.relevant
        if any(advice.kind == ONE_STATE for advice in self._diagnosed(use)):
            relevant = use.relevant & use.is_exact
        return dict(zip(self.interface.feature_names, relevant.tolist(), strict=True))

    @property
    def advice(self) -> tuple[Advice, ...]:
        """Signs that learning does not work at this moment, each with what to do; () if none."""
        return self._diagnosed(self._learner.feature_use)

    def _diagnosed(self, use: FeatureUse) -> tuple[Advice, ...]:
        signs = Signs(
            n_observations=self.n_steps + self.n_episodes,
            n_states=self.n_states,
            are_places=use.are_places,
            is_full=self._learner.is_full,
            n_amounts=int((use.relevant & ~use.is_exact).sum()),
            # One state is no finding where no more are allowed.
            varies=use.varies and self.config.max_states != 1,
        )
        return diagnose(signs)

    # --- records ----------------------------------------------------------------------------------

    def episode(self, *, terminated: bool = False) -> EpisodeInfo:
        """The newest episode, as far as it is."""
        return EpisodeInfo(
            self.n_episodes, self.n_steps, self._episode_return, self._episode_length, terminated
        )

    def info(self, learn_info: LearnInfo, episodes: tuple[EpisodeInfo, ...]) -> LearningInfo:
        """The record of a learning step that was just done."""
        return LearningInfo(
            step=self.n_steps,
            episode=self.n_episodes,
            n_states=self.n_states,
            n_fixed=self._learner.n_fixed,
            n_kept=self._learner.n_kept,
            n_forgotten=learn_info.n_forgotten,
            free_energy=learn_info.free_energy,
            free_energy_terms=learn_info.free_energy_terms,
            free_energy_path=learn_info.free_energy_path,
            moves=learn_info.moves,
            episodes=episodes,
            advice=tuple(str(one) for one in self.advice),
        )

    @property
    def learner(self) -> Learner:
        """What the agent knows and how it learns; recorders read it, and change nothing."""
        return self._learner


def _contexts(state: Any, episode_start: Any, n: int, where: str) -> list[Context | None] | None:
    """What came before each of n observations; None where nothing is known of it."""
    is_start = np.zeros(n, dtype=bool)
    if episode_start is not None:
        given = np.asarray(episode_start)
        if given.dtype.kind not in "biuf" or given.size not in (1, n):
            raise DataError(
                f"{where}: episode_start is {episode_start!r:.100} for {n} observations; it must "
                "be True or False for each of them"
            )
        is_start = np.broadcast_to(given.astype(bool).ravel(), (n,))
    if state is None:
        return [Context() if start else None for start in is_start] if is_start.any() else None
    is_ours = isinstance(state, list) and all(isinstance(one, Context) for one in state)
    if not is_ours or len(state) != n:
        raise DataError(
            f"{where}: state is {state!r:.100} for {n} observations; it must be what predict "
            "returned for the observations before, or None"
        )
    return [Context() if start else one for start, one in zip(is_start, state, strict=True)]
