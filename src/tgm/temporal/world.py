"""A learned world: states and transitions in the units of the log, and how logs are read by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tgm.data.log import NO_ACTION, Log
from tgm.data.tables import default_names
from tgm.distributions import FloatArray, IntArray, dirichlet
from tgm.errors import DataError
from tgm.temporal.chain import (
    ENDS,
    N_TALLIES,
    REWARD,
    REWARDED,
    TRIES,
    ChainBelief,
    ChainData,
    ChainPrior,
    ChainSums,
)
from tgm.temporal.episodes import Episodes
from tgm.temporal.messages import log_likelihoods, most_likely_paths, smooth
from tgm.temporal.rows import ObservedRows
from tgm.temporal.search import Search

ROW_PRIOR = 0.5  # concentration of a row for each next state
NO_DIFFERENCE = 1e-12  # share of a value below which differences are none
STATE_PRIOR_DOF = 2.0  # points, above the number of features, that a state's covariance is worth


@dataclass(frozen=True, eq=False)
class Units:
    """Where the origin of each feature is, and how large one: (n_features,) each."""

    origin: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, log: Log) -> Units:
        """Mean and deviation of each feature, of the values that are there."""
        missing = np.isnan(log.observations)
        for column in np.flatnonzero(missing.all(axis=0))[:1].tolist():
            raise DataError(
                f"{log.source}, column {log.feature_names[column]!r}: all {log.n_rows} values are "
                "missing; leave it out"
            )
        origin = np.nanmean(log.observations, axis=0)
        scale = np.sqrt(np.nanmean((log.observations - origin) ** 2, axis=0))
        # A feature that does not vary, but for rounding, keeps its own unit.
        rounding = NO_DIFFERENCE * np.abs(origin)
        return cls(origin, np.where(scale <= rounding, np.maximum(1.0, rounding), scale))

    def inner(self, points: FloatArray) -> FloatArray:
        """(n, n_features) in units of the model."""
        return np.asarray((points - self.origin) / self.scale)

    def outer(self, points: FloatArray) -> FloatArray:
        """(n, n_features) in units of the log."""
        return np.asarray(points * self.scale + self.origin)


@dataclass(frozen=True, eq=False)
class World:
    """What was learned from one log or several.

    Attributes:
        units: of the features.
        feature_names: (n_features,)
        action_values: what the log calls the actions, sorted; () if there are none.
        prior: before all data, in units of the model.
        sums: of all data, in units of the model.
        bound: lower bound on ln evidence of the newest data, given the earlier, in units of the
            log.
        n_rows: how many rows were learned from.
    """

    units: Units
    feature_names: tuple[str, ...]
    action_values: tuple[Any, ...]
    prior: ChainPrior
    sums: ChainSums
    bound: float
    n_rows: int

    @classmethod
    def learned(cls, log: Log, max_states: int, earlier: World | None = None) -> World:
        """A world that explains a log, and the logs of an earlier world."""
        if earlier is None:
            n_features = log.n_features
            prior = ChainPrior(
                np.zeros(n_features),
                0.1,
                np.eye(n_features),
                n_features + STATE_PRIOR_DOF,
                ROW_PRIOR,
                ROW_PRIOR,
            )
            units, values, sums = Units.of(log), log.action_values, None
        else:
            earlier.check_features(log)
            earlier = earlier.with_actions(log.action_values)
            prior, units, values = earlier.prior, earlier.units, earlier.action_values
            sums = earlier.sums
        episodes = episodes_of(log, units, values)
        search = Search(ChainData.of(episodes), max(max_states, 1))
        fit = search.run(prior, sums)
        new = search.sums(fit)
        tallies = _tallies(log, episodes, fit.smoothed.marginals)
        new = ChainSums(new.moments, new.transitions, new.starts, tallies)
        log_unit = float((~np.isnan(log.observations) @ np.log(units.scale)).sum())
        world = cls(
            units,
            log.feature_names if earlier is None else earlier.feature_names,
            values,
            fit.belief.prior,
            fit.earlier + new,
            fit.bound - log_unit,
            log.n_rows + (0 if earlier is None else earlier.n_rows),
        )
        return world if earlier is not None else world._in_order(fit.smoothed.marginals)

    def _in_order(self, marginals: FloatArray) -> World:
        """The states in the order in which they come first in the log."""
        path = marginals.argmax(axis=1)
        seen, first = np.unique(path, return_index=True)
        rank = np.full(self.n_states, len(path))
        rank[seen] = first
        order = np.argsort(rank, kind="stable")
        return replace(self, sums=self.sums.take(order))

    # --- what is known ----------------------------------------------------------------------------

    @property
    def n_states(self) -> int:
        """Number of states."""
        return self.sums.n_states

    @property
    def n_actions(self) -> int:
        """Number of actions; 1 if there are none."""
        return max(1, len(self.action_values))

    @cached_property
    def belief(self) -> ChainBelief:
        """About all parameters, in units of the model."""
        return ChainBelief(self.prior, self.sums)

    @cached_property
    def means(self) -> FloatArray:
        """(n_states, n_features) in units of the log."""
        return self.units.outer(self.belief.states.mean)

    @cached_property
    def covariances(self) -> FloatArray:
        """(n_states, n_features, n_features) in units of the log."""
        scale = self.units.scale
        return np.asarray(self.belief.covariances * scale[:, None] * scale)

    @cached_property
    def transitions(self) -> FloatArray:
        """(n_actions, n_states, n_states) expected; rows sum to one."""
        return dirichlet.mean(self.belief.rows)

    @cached_property
    def start(self) -> FloatArray:
        """(n_states,) expected probability of each state at the start of an episode."""
        return dirichlet.mean(self.belief.start)

    @property
    def tries(self) -> FloatArray:
        """(n_actions, n_states) how often each action was tried in each state."""
        return np.asarray(self.sums.tallies[TRIES])

    @cached_property
    def rewards(self) -> FloatArray:
        """(n_actions, n_states) mean reward; 0 where none is known."""
        known = self.sums.tallies[REWARDED]
        return np.asarray(self.sums.tallies[REWARD] / np.maximum(known, 1e-9))

    @cached_property
    def ends(self) -> FloatArray:
        """(n_actions, n_states) probability that a step ends the episode."""
        return np.asarray(self.sums.tallies[ENDS] / np.maximum(self.tries, 1e-9))

    @property
    def has_rewards(self) -> bool:
        """Whether any reward is known."""
        return bool(self.sums.tallies[REWARDED].any())

    # --- logs -------------------------------------------------------------------------------------

    def check_features(self, log: Log) -> None:
        """DataError unless a log has the features that the world was learned from."""
        if log.n_features != len(self.feature_names):
            raise DataError(
                f"{log.source} has {log.n_features} features; the model was learned from "
                f"{len(self.feature_names)}: {', '.join(self.feature_names)}"
            )
        wanted, given = self.feature_names, log.feature_names
        if wanted != given and not {wanted, given} & {default_names(len(wanted))}:
            raise DataError(
                f"the features of {log.source} are {', '.join(given):.200}; the model was learned "
                f"from {', '.join(wanted):.200}, in this order"
            )
        if bool(log.action_values) and not self.action_values:
            raise DataError(
                f"{log.source} has actions; the model was learned without them: leave them out"
            )
        if log.actions is None and self.action_values:
            raise DataError(
                f"{log.source} has no actions; the model was learned with them: pass actions too"
            )

    def with_actions(self, values: tuple[Any, ...]) -> World:
        """The same with room for further actions."""
        if set(values) <= set(self.action_values):
            return self
        if len({type(one) for one in (*values, *self.action_values)}) > 1:
            raise DataError(
                f"the actions are {values!r:.80}; those of the earlier log are of another kind: "
                f"{self.action_values!r:.80}"
            )
        wider = tuple(sorted({*values, *self.action_values}))
        place = [wider.index(value) for value in self.action_values]
        sums = self.sums
        transitions = np.zeros((len(wider), sums.n_states, sums.n_states))
        tallies = np.zeros((N_TALLIES, len(wider), sums.n_states))
        transitions[place], tallies[:, place] = sums.transitions, sums.tallies
        sums = ChainSums(sums.moments, transitions, sums.starts, tallies)
        return replace(self, sums=sums, action_values=wider)

    def read(self, log: Log) -> tuple[Episodes, FloatArray]:
        """A log as episodes, and (n_rows, n_states) ln densities in units of the log."""
        self.check_features(log)
        unknown = [value for value in log.action_values if value not in self.action_values]
        if unknown:
            raise DataError(
                f"{log.source}: the action {unknown[0]!r:.60} is unknown; the model was learned "
                f"with {', '.join(map(repr, self.action_values[:20]))}"
            )
        episodes = episodes_of(log, self.units, self.action_values)
        rows = ObservedRows(episodes.points)
        density = rows.log_densities(self.belief.states.mean, self.belief.covariances)
        log_unit = ~np.isnan(log.observations) @ np.log(self.units.scale)
        return episodes, density - log_unit[:, None]

    def path(self, log: Log) -> IntArray:
        """(n_rows,) the most likely path of each episode."""
        episodes, density = self.read(log)
        return most_likely_paths(episodes, self.start, self.transitions, density)

    def smoothed(self, log: Log) -> FloatArray:
        """(n_rows, n_states) probability of each state given all of its episode."""
        episodes, density = self.read(log)
        return smooth(episodes, self.start, self.transitions, density).marginals

    def filled(self, log: Log, marginals: FloatArray) -> FloatArray:
        """(n_rows, n_features) observations with expected values in place of missing ones."""
        rows, belief = ObservedRows(self.units.inner(log.observations)), self.belief
        filled = self.units.outer(rows.filled(marginals, belief.states.mean, belief.covariances))
        return np.where(np.isnan(log.observations), filled, log.observations)

    def log_likelihood(self, log: Log) -> float:
        """ln likelihood of a log."""
        episodes, density = self.read(log)
        return float(log_likelihoods(episodes, self.start, self.transitions, density).sum())


def episodes_of(log: Log, units: Units, action_values: tuple[Any, ...]) -> Episodes:
    """A log in units of a model, with actions numbered as in `action_values`."""
    actions = np.zeros(log.n_rows, dtype=np.intp)
    if log.actions is not None:
        place = np.array([action_values.index(value) for value in log.action_values], np.intp)
        is_known = log.actions != NO_ACTION
        actions[is_known] = place[log.actions[is_known]]
    return Episodes(units.inner(log.observations), actions, log.lengths, max(1, len(action_values)))


def _tallies(log: Log, episodes: Episodes, marginals: FloatArray) -> FloatArray:
    """(N_TALLIES, n_actions, n_states) tries, rewards and ends of a log."""
    tallies = np.zeros((N_TALLIES, episodes.n_actions, marginals.shape[1]))
    if log.actions is None:
        return tallies
    is_try = log.actions != NO_ACTION
    rewards = np.full(log.n_rows, np.nan) if log.rewards is None else log.rewards
    ends = np.zeros(log.n_rows, dtype=bool)
    last = log.starts + log.lengths - 1
    if log.terminated is not None:
        # The step that ended the episode: from the last row, or to it if nothing was done there.
        step = np.where(is_try[last], last, np.maximum(last - 1, log.starts))
        ends[step[log.terminated]] = True
    for action in range(episodes.n_actions):
        rows = is_try & (episodes.actions == action)
        known = rows & ~np.isnan(rewards)
        tallies[TRIES, action] = marginals[rows].sum(axis=0)
        tallies[REWARDED, action] = marginals[known].sum(axis=0)
        tallies[REWARD, action] = rewards[known] @ marginals[known]
        tallies[ENDS, action] = marginals[rows & ends].sum(axis=0)
    return tallies
