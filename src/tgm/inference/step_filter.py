"""One step explained: which state was left, which was reached, or whether it is a new one.

The posterior of (state before, state after) given an observation, under Dirichlet rows whose base
says what an action does that was not tried: stay, lead to another known state, or to a new one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray
from tgm.memory.step import Belief
from tgm.perception.gaussian_states import GaussianStates
from tgm.transition.displacements import Displacements
from tgm.transition.sparse import NO_ACTION, START, Row, SparseTransitions

STAY = NEW = ELSEWHERE = 1.0 / 3.0  # what an untried action does, before anything is known
DROPPED = 0.01  # smaller probabilities are not carried along
NEGLIGIBLE = 30.0  # nats behind the nearest state, 1e-13 as likely: it is not looked at
ABOVE_PEAK = 1.0  # nats; a log density further above its peak is what rounding made of it
DEEPEST = -700.0  # logarithms below this are all zero

# The ordinary step: a row tried at least this often that leads where it always leads, seen within
# three standard deviations, with all else e^-7 as likely. It is explained without more ado. So is
# one tried once, if it is seen so near to where it led that a new state is hardly possible there.
ORDINARY_CERTAINTY = 2.0
ORDINARY_SHARE = 0.9
ORDINARY_DEPTH = 4.5
TRIED_ONCE = 0.9
ONCE_DEPTH = 0.75
ORDINARY_MARGIN = 7.0


@dataclass(slots=True)
class StepPosterior:
    """What one observation says.

    Attributes:
        entries: (state before, state after, probability).
        after: belief in the known states.
        newness: probability of none of them, where there is room for more.
        new_from: (state before, probability) that it was left for a new state.
        log_density: ln predictive density of the observation.
    """

    entries: list[tuple[int, int, float]]
    after: Belief
    newness: float
    new_from: list[tuple[int, float]]
    log_density: float


class StepFilter:
    """Explains steps with what is known of states, transitions and displacements."""

    def __init__(
        self,
        components: GaussianStates,
        model: SparseTransitions,
        displacements: Displacements,
        row_prior: float,
        *,
        filtering: bool,
        max_states: int | None,
        most_states: int,
    ) -> None:
        """Hold on to the parts.

        Args:
            components, model, displacements: what is known.
            row_prior: tries that the base of a row is worth.
            filtering: whether the transitions have a say in which state was reached.
            max_states: as many states as are possible, if they are counted.
            most_states: no state is born when there are so many.
        """
        self._max_states = max_states
        self._most_states = most_states
        self._components = components
        self._model = model
        self._displacements = displacements
        self._row_prior = row_prior
        self._filtering = filtering

    def infer(
        self, point: FloatArray, before: Belief, action: int | None, departure: FloatArray | None
    ) -> StepPosterior:
        """Explain the observation `point` after `action` in the belief `before`.

        Args:
            point: (n_features,) the observation.
            before: the belief in which the action was taken; empty at the start of an episode.
            action: None at the start of an episode.
            departure: (n_features,) the observation before, where there is one.
        """
        log_likelihood = self._components.log_densities(point)
        if self._filtering:
            ordinary = None
            if action is None:
                ordinary = self._ordinary_start(log_likelihood)
            elif len(before) == 1:
                ordinary = self._ordinary(log_likelihood, before[0], action)
            if ordinary is not None:
                return ordinary
        return self._joint(point, log_likelihood, before, action, departure)

    def _ordinary(
        self, log_likelihood: FloatArray, before: tuple[int, float], action: int
    ) -> StepPosterior | None:
        state, probability = before
        model = self._model
        certainty = float(model.certainty[state, action])
        if certainty < TRIED_ONCE or probability < 0.9:
            return None
        after = int(model.successor[state, action, 0])
        share = float(model.probability[state, action, 0])
        depth = ORDINARY_DEPTH if certainty >= ORDINARY_CERTAINTY else ONCE_DEPTH
        if share < ORDINARY_SHARE or not self._is_beyond_doubt(log_likelihood, after, depth):
            return None
        density = float(log_likelihood[after]) + math.log(share)
        return StepPosterior([(state, after, probability)], [(after, 1.0)], 0.0, [], density)

    def _ordinary_start(self, log_likelihood: FloatArray) -> StepPosterior | None:
        """An episode begins where episodes begin."""
        row = self._model.row(START, NO_ACTION)
        if not row:
            return None
        first = max(row, key=row.__getitem__)
        starts = sum(row.values())
        if starts < ORDINARY_CERTAINTY or row[first] < ORDINARY_SHARE * starts:
            return None
        if not self._is_beyond_doubt(log_likelihood, first, ORDINARY_DEPTH):
            return None
        density = float(log_likelihood[first]) + math.log(row[first] / starts)
        return StepPosterior([], [(first, 1.0)], 0.0, [], density)

    def _is_beyond_doubt(self, log_likelihood: FloatArray, state: int, depth: float) -> bool:
        """Whether an observation lies well within a state and all others are far behind."""
        here, peak = float(log_likelihood[state]), float(self._components.peak[state])
        if not peak - depth <= here <= peak + ABOVE_PEAK:
            return False
        log_likelihood[state] = -math.inf
        other = float(log_likelihood[log_likelihood.argmax()])
        log_likelihood[state] = here
        return here - other >= ORDINARY_MARGIN

    def _joint(
        self,
        point: FloatArray,
        log_likelihood: FloatArray,
        before: Belief,
        action: int | None,
        departure: FloatArray | None,
    ) -> StepPosterior:
        components = self._components
        peaks = components.peak[: len(log_likelihood)] + ABOVE_PEAK
        log_likelihood = np.minimum(log_likelihood, peaks)
        nearest = int(log_likelihood.argmax())
        top = max(float(log_likelihood[nearest]), DEEPEST)
        near = (log_likelihood > top - NEGLIGIBLE).nonzero()[0].tolist()
        likelihood = {j: math.exp(float(log_likelihood[j]) - top) for j in near}
        origin = components.mean[before[0][0]] if before else departure
        log_new = self._log_new(point, origin, action) - top
        log_new += components.prior.log_repulsion(point - components.mean[nearest])
        new = math.exp(min(log_new, -DEEPEST)) * self._room_for_more
        elsewhere = self._elsewhere(likelihood, origin, action)

        sources = self._sources(before, action, likelihood)
        mass = dict.fromkeys(near, 0.0)
        new_from = []
        for state, probability, base, extra in sources:
            for after, weight in elsewhere.items():
                mass[after] += probability * base * weight
            for after, weight in extra.items():
                mass[after] += probability * weight
            # An unknown whereabouts has no "stay": its share goes to the other known states.
            fresh = base / 2 if state == START else base
            new_from.append((state, probability * fresh * NEW * new))
        all_new = sum(weight for _, weight in new_from)
        total = sum(mass.values()) + all_new
        if total <= 0.0:  # so far away that every density is zero: certainly new, if there is room
            is_new = float(self._room_for_more > 0.0)
            return StepPosterior([], [], is_new, list(before), DEEPEST)
        after_belief = [(j, m / total) for j, m in mass.items() if m > DROPPED * total]
        after_belief.sort(key=lambda item: -item[1])
        entries = [
            (state, after, weight)
            for state, probability, base, extra in sources
            if state != START
            for after, _ in after_belief
            if (weight := probability * (base * elsewhere[after] + extra.get(after, 0.0)) / total)
            > DROPPED
        ]
        # What was lost before stays lost: only what was believed can be counted.
        believed, found = sum(p for _, p in before), sum(weight for _, _, weight in entries)
        if found > believed:
            entries = [(s, t, weight * believed / found) for s, t, weight in entries]
        known_from = [(state, weight / total) for state, weight in new_from if state != START]
        return StepPosterior(
            entries, after_belief, all_new / total, known_from, math.log(total) + top
        )

    def _sources(
        self, before: Belief, action: int | None, likelihood: dict[int, float]
    ) -> list[tuple[int, float, float, dict[int, float]]]:
        """(state before, its probability, weight of the base, weight of each near successor)."""
        sources = []
        for state, probability in before:
            assert action is not None
            row = self._model.row(state, action) if self._filtering else {}
            tries = sum(row.values())
            base = self._row_prior / (tries + self._row_prior)
            extra = _weigh(row, tries + self._row_prior, likelihood)
            if state in likelihood:
                extra[state] = extra.get(state, 0.0) + base * STAY * likelihood[state]
            sources.append((state, probability, base, extra))
        unknown = 1.0 - sum(probability for _, probability in before)
        if unknown > 1e-6:
            row = self._model.row(START, NO_ACTION) if action is None and self._filtering else {}
            tries = sum(row.values())
            base = 2 * self._row_prior / (tries + self._row_prior)
            extra = _weigh(row, tries + self._row_prior, likelihood)
            sources.append((START, unknown, base, extra))
        return sources

    @property
    def _room_for_more(self) -> float:
        """Share of the possible states not seen yet; in a Dirichlet process 1, up to the bound."""
        if self._max_states is None:
            return float(self._components.n_alive < self._most_states)
        return max(0.0, 1.0 - self._components.n_alive / self._max_states)

    def _log_new(self, point: FloatArray, origin: FloatArray | None, action: int | None) -> float:
        """ln density of a state never seen, at `point`."""
        if origin is None or action is None:
            return self._log_anywhere(point)
        return self._displacements.log_density(point - origin, action)

    def _elsewhere(
        self, likelihood: dict[int, float], origin: FloatArray | None, action: int | None
    ) -> dict[int, float]:
        """Where an untried action leads among the known states, times the likelihood there.

        The weights of all known states sum to one; only those of the near ones are asked for.
        """
        components = self._components
        if origin is None or action is None or not self._displacements.knows(action):
            share = ELSEWHERE / components.n_alive
            return {state: share * here for state, here in likelihood.items()}
        features = components.mean_features
        weights = self._displacements.densities_from(origin, action, features, components.alive)
        is_full = components.n_alive == components.n_slots
        share = ELSEWHERE / float((weights if is_full else weights[components.alive]).sum())
        return {state: share * float(weights[state]) * p for state, p in likelihood.items()}

    def _log_anywhere(self, point: FloatArray) -> float:
        """ln density of a state of which nothing is known but that there are others."""
        components = self._components
        slots = components.alive
        means = components.mean[slots]
        low, high = np.minimum(means.min(axis=0), point), np.maximum(means.max(axis=0), point)
        spread = np.maximum((high - low) ** 2, 9.0 * np.diag(components.prior.covariance))
        square = (point - (low + high) / 2) ** 2 / spread
        return -0.5 * float(np.sum(square + np.log(2 * math.pi * spread)))


def _weigh(row: Row, total: float, likelihood: dict[int, float]) -> dict[int, float]:
    """What the counts of a row say of the near states."""
    return {
        after: count / total * likelihood[after]
        for after, count in row.items()
        if after in likelihood
    }
