"""The posterior of one step: which state was left, which was reached, or whether it is a new one.

The rows that `filtering.predict` works with are Dirichlet rows. Their base says what an action does
that was not tried: stay, lead to another known state, or to a new one, a third each.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.small import squared_radius
from tgm.inference.filtering import condition_step
from tgm.inference.step_posterior import StepPosterior
from tgm.memory.step import Belief, Step
from tgm.transition.rows import Row
from tgm.transition.sparse import START, START_ACTION
from tgm.world_model import WorldModel

STAY = NEW = ELSEWHERE = 1.0 / 3.0  # what an untried action does, before anything is known
ANYWHERE = 0.02  # of ELSEWHERE: to any known state, whatever the laws of displacement say
DROPPED = 0.01  # smaller probabilities are not carried along
NEGLIGIBLE_DENSITY = 30.0  # nats behind the nearest state (1e-13 as likely): left out
ABOVE_PEAK = 1.0  # nats; a log density further above its peak is rounding
ZERO_DENSITY = 700.0  # nats below its peak at which the density of a state counts as zero
NO_BELIEF = 1e-6  # probability; less of "somewhere unknown" is rounding

# The fast path skips the full posterior. It is for a row tried at least FAST_TRIES times that leads
# to one place, seen within three standard deviations of it, with every other state e^-7 as likely;
# and for a row tried once, if the observation is so near that place that a new state is hardly
# possible there.
FAST_TRIES = 2.0  # tries of a row from which it takes the fast path
FAST_SHARE = 0.9  # of the tries of the row, and of the belief before
FAST_RADIUS = 3.0  # deviations, in the plane
FAST_MARGIN = 7.0  # nats by which every other state is less likely
ONE_TRY = 0.9  # tries from which a row takes it if the observation is very near
ONE_TRY_RADIUS = math.sqrt(1.5)  # deviations, in the plane: half of the points lie outside


class _Source(NamedTuple):
    """A state that may have been left, and the row of its action."""

    state: int
    probability: float
    row: Row
    tries: float


class StepFilter:
    """Finds the posterior of steps with what a world model knows; changes nothing in it."""

    may_misread = True  # an observation may be an outlier

    def __init__(
        self,
        world: WorldModel,
        row_prior: float,
        *,
        filtering: bool,
        max_states: int | None,
        most_states: int,
    ) -> None:
        """Read from `world`.

        Args:
            world: what is known.
            row_prior: tries that the base of a row is worth.
            filtering: whether the transitions say which state is expected.
            max_states: number of possible states, if it is finite.
            most_states: no state is born when there are so many.
        """
        self._world = world
        self._row_prior = row_prior
        self._filtering = filtering
        self._max_states = max_states
        self._most_states = most_states
        self._depth, self._depth_of_one_try = (
            0.5 * squared_radius(world.states.n_features, radius)
            for radius in (FAST_RADIUS, ONE_TRY_RADIUS)
        )

    def posterior(
        self, point: FloatArray, before: Belief, action: int | None, departure: FloatArray | None
    ) -> StepPosterior:
        """The posterior of the step to `point` by `action` in the belief `before`.

        Args:
            point: (n_features,) the observation.
            before: the belief in which the action was taken; empty at the start of an episode.
            action: None at the start of an episode.
            departure: (n_features,) the observation before; None at the start of an episode.
        """
        states = self._world.states
        if not len(states.alive):
            return StepPosterior([], [], 1.0, [], 0.0)
        log_likelihood = states.log_densities(point, departure, action)
        if self._filtering:
            fast = None
            if action is None:
                fast = self._fast_start(log_likelihood)
            elif len(before) == 1:
                fast = self._fast(log_likelihood, before[0], action)
            if fast is not None:
                return fast
        return self._full(point, log_likelihood, before, action, departure)

    def log_density(self, step: Step, before: Belief, without: Sequence[Step]) -> float:
        """ln predictive density of what a kept step led to, had it begun in the belief `before`.

        What the steps `without` have added to the rows is left out; states are what they are.
        """
        point, departure, action = step.arrival, step.departure, step.action
        log_likelihood = self._world.states.log_densities(point, departure, action)
        return self._full(point, log_likelihood, before, action, departure, without).log_density

    # --- the fast path ----------------------------------------------------------------------------

    def _fast(
        self, log_likelihood: FloatArray, before: tuple[int, float], action: int
    ) -> StepPosterior | None:
        """A step that did what its row always does."""
        (state, probability), transitions = before, self._world.transitions
        planned = transitions.planned.get((state, action))
        if planned is None or probability < FAST_SHARE:
            return None
        certainty = transitions.certainty.item(state, action)
        if certainty < ONE_TRY:
            return None
        after, share = planned[0]
        depth = self._depth if certainty >= FAST_TRIES else self._depth_of_one_try
        if share < FAST_SHARE or not self._is_beyond_doubt(log_likelihood, after, depth):
            return None
        log_density = log_likelihood.item(after) + math.log(share)
        # What is planned with is that belief: no other list has to be kept with the step.
        belief = planned if share == 1.0 else [(after, 1.0)]
        return StepPosterior([(state, after, probability)], belief, 0.0, [], log_density)

    def _fast_start(self, log_likelihood: FloatArray) -> StepPosterior | None:
        """An episode that begins where episodes begin."""
        row = self._world.transitions.row(START, START_ACTION)
        if not row:
            return None
        first = max(row, key=row.__getitem__)
        starts = sum(row.values())
        if starts < FAST_TRIES or row[first] < FAST_SHARE * starts:
            return None
        if not self._is_beyond_doubt(log_likelihood, first, self._depth):
            return None
        log_density = float(log_likelihood[first]) + math.log(row[first] / starts)
        return StepPosterior([], [(first, 1.0)], 0.0, [], log_density)

    def _is_beyond_doubt(self, log_likelihood: FloatArray, state: int, depth: float) -> bool:
        """Whether an observation lies well within a state and all others are far behind.

        `depth` is how many nats below its peak the density of the state may be.
        """
        here, peak = log_likelihood.item(state), self._world.states.peak.item(state)
        if not peak - depth <= here <= peak + ABOVE_PEAK:
            return False
        log_likelihood[state] = -math.inf
        other = log_likelihood.item(log_likelihood.argmax())
        log_likelihood[state] = here
        return here - other >= FAST_MARGIN

    # --- the full posterior -----------------------------------------------------------------------

    def _full(
        self,
        point: FloatArray,
        log_likelihood: FloatArray,
        before: Belief,
        action: int | None,
        departure: FloatArray | None,
        without: Sequence[Step] = (),
    ) -> StepPosterior:
        """Predict and condition, over the states near the point, "a new state" and "an outlier"."""
        states, sources = self._world.states, self._sources(before, action, without)
        highest_possible = states.peak[: len(log_likelihood)] + ABOVE_PEAK
        log_likelihood = np.minimum(log_likelihood, highest_possible, out=highest_possible)
        nearest = int(log_likelihood.argmax())
        highest = log_likelihood.item(nearest)
        near = (log_likelihood > highest - NEGLIGIBLE_DENSITY).nonzero()[0].tolist()
        if highest < states.peak.item(nearest) - ZERO_DENSITY:
            near = []
        origin = states.mean[before[0][0]] if before else departure
        rows = self._rows(sources, near, self.elsewhere(near, origin, action))
        log_prior = states.log_repulsion(point, nearest)
        targets = [log_likelihood.item(state) for state in near]
        targets.append(self._log_new(point, log_prior, origin, action))
        targets.append(self._log_outlier(point, log_prior, origin))
        joint, (*known, outlier), log_density = condition_step(
            [source.probability for source in sources], rows, self._world.background.share, targets
        )
        posterior = self._report(sources, near, joint, known, log_density)
        if outlier > DROPPED:
            posterior.outlier = outlier
        return posterior

    def _report(
        self,
        sources: list[_Source],
        near: list[int],
        joint: list[list[float]],
        after: list[float],
        log_density: float,
    ) -> StepPosterior:
        """The posterior without what is too small to carry along.

        joint[i][j] is the probability of leaving source i for target j, after[j] its sum over i.
        """
        found = [(p, index) for index, p in enumerate(after[:-1]) if p > DROPPED]
        found.sort(reverse=True)
        belief = [(near[index], p) for p, index in found]
        known = [pair for pair in zip(sources, joint, strict=True) if pair[0].state != START]
        entries = [
            (source.state, near[index], row[index])
            for source, row in known
            for _, index in found
            if row[index] > DROPPED
        ]
        # Probability that was dropped before stays dropped: no more is counted than was believed.
        believed = sum(source.probability for source, _ in known)
        counted = sum(weight for _, _, weight in entries)
        if counted > believed:
            entries = [(s, t, weight * believed / counted) for s, t, weight in entries]
        new_from = [(source.state, row[-1]) for source, row in known]
        return StepPosterior(entries, belief, after[-1], new_from, log_density)

    def _sources(
        self, before: Belief, action: int | None, without: Sequence[Step] = ()
    ) -> list[_Source]:
        """The states that may have been left; START for "somewhere unknown"."""
        transitions, sources = self._world.transitions, []
        for state, probability in before:
            assert action is not None
            row = self._world.row_without((state, action), without) if self._filtering else {}
            sources.append(_Source(state, probability, row, sum(row.values())))
        unknown = 1.0 - sum(probability for _, probability in before)
        if unknown > NO_BELIEF:
            is_start = action is None and self._filtering
            row = transitions.row(START, START_ACTION) if is_start else {}
            sources.append(_Source(START, unknown, row, sum(row.values())))
        return sources

    def _rows(
        self, sources: list[_Source], near: list[int], elsewhere: list[float]
    ) -> list[list[float]]:
        """(n_sources, n_near + 1) P(j | i, a), with "a new state" last.

        P(j | i, a) = (c_iaj + r (STAY [j = i] + ELSEWHERE w_j)) / (n_ia + r), with the counts c of
        n tries, r tries for the base, and w = `elsewhere`; P(new | i, a) = r NEW / (n_ia + r). From
        somewhere unknown nothing stays: that third goes to the other known states.
        """
        prior, rows = self._row_prior, []
        for state, _, row, tries in sources:
            total = tries + prior
            base = prior * (ELSEWHERE if state != START else ELSEWHERE + STAY) / total
            values = [base * weight for weight in elsewhere]
            for index, after in enumerate(near):
                if after in row:
                    values[index] += row[after] / total
                if after == state:
                    values[index] += prior * STAY / total
            values.append(prior * NEW / total)
            rows.append(values)
        return rows

    def elsewhere(
        self, near: list[int], origin: FloatArray | None, action: int | None
    ) -> list[float]:
        """Where an untried action leads among the known states: the weights of the near ones.

        The weights of all known states sum to one. They are measured from the most likely state.
        """
        states, displacements = self._world.states, self._world.displacements
        if origin is None or action is None or not displacements.knows(action):
            return [1.0 / states.n_alive] * len(near)
        alive = states.alive
        weights = displacements.densities_from(origin, action, states.mean_features, alive)
        total = float(np.add.reduce(weights if len(alive) == states.n_slots else weights[alive]))
        law, anywhere = (1.0 - ANYWHERE) / total, ANYWHERE / len(alive)
        return [law * weights.item(state) + anywhere for state in near]

    def _log_new(
        self, point: FloatArray, log_prior: float, origin: FloatArray | None, action: int | None
    ) -> float:
        """ln density of the observation in a state never seen, -inf if none may be added.

        `log_prior` is that of a state there, beside the nearest one.
        """
        share = self.share_of_new
        if share <= 0.0:
            return -math.inf
        world = self._world
        if origin is None or action is None:
            log_density = world.states.log_anywhere(point)
        else:
            log_density = world.displacements.log_density(point - origin, action)
        return log_density + log_prior + math.log(share)

    def _log_outlier(self, point: FloatArray, log_prior: float, origin: FloatArray | None) -> float:
        """ln density of an observation that belongs to no state: as far off as a step leads.

        And as unlikely within a known state as a new one: otherwise a world in which every action
        does something else than before would be one of faulty readings, and never learned.
        """
        world = self._world
        if origin is None:
            return world.states.log_anywhere(point) + log_prior
        return world.displacements.log_broad_density(point - origin) + log_prior

    def expected(self, before: Belief, action: int | None) -> Belief:
        """Where a step leads that was not seen: as its rows say; without a row it stays.

        Args:
            before: the belief in which the action was taken; empty at the start of an episode.
            action: None at the start of an episode.
        """
        found: dict[int, float] = {}
        for state, probability, row, tries in self._sources(before, action):
            for after, count in row.items():
                found[after] = found.get(after, 0.0) + probability * count / tries
            if not row and state != START:
                found[state] = found.get(state, 0.0) + probability
        total = sum(found.values())
        items = [(state, p / total) for state, p in found.items() if p > DROPPED * total]
        return sorted(items, key=lambda item: (-item[1], item[0]))

    @property
    def share_of_new(self) -> float:
        """Share of the possible states not seen yet; 1 where their number is not limited."""
        n_alive = self._world.states.n_alive
        if self._max_states is None:
            return float(n_alive < self._most_states)
        return max(0.0, 1.0 - n_alive / self._max_states)
