"""Whether all observations of a state were outliers: faulty readings that happen to be alike.

In a long run with many outliers some are alike. The first made a state, and the next ones are
assigned to it. Their rows show it: nearly all other tries of these rows lead elsewhere. So does
what came after: it is what follows where these rows lead, and not what a new place would show.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from tgm.inference.filtering import NOTHING
from tgm.inference.step_filter import ELSEWHERE, NEW, STAY, StepFilter, StepPosterior
from tgm.memory.step import Step
from tgm.transition.planned_rows import Key
from tgm.transition.sparse import START, START_ACTION
from tgm.world_model import WorldModel


class OutlierEvidence:
    """Weighs "a state" against "outliers"."""

    def __init__(self, world: WorldModel, step_filter: StepFilter, row_prior: float) -> None:
        """Read from `world`; `row_prior` is the number of tries that the base of a row is worth."""
        self._world = world
        self._filter = step_filter
        self._row_prior = row_prior

    @property
    def are_possible(self) -> bool:
        """Whether an observation may be misread."""
        return self._filter.may_misread

    def was_real(self, doubted: StepPosterior, step: Step, posterior: StepPosterior) -> bool:
        """Whether a step that was taken for an outlier was none, now that the next one was seen.

        ln P(outlier) + ln p(x | what was expected) against ln P(no outlier) + ln p(x | what was
        seen).

        Args:
            doubted: the posterior of the first step.
            step: the next one.
            posterior: of that, after what was expected.
        """
        total = sum(p for _, p in doubted.after)
        if total <= 0.0:  # it would be a place that was never seen
            return posterior.newness + posterior.outlier > sum(p for _, p in posterior.after)
        seen = [(state, p / total) for state, p in doubted.after]
        other = self._filter.posterior(step.arrival, seen, step.action, step.departure)
        log_real = math.log(max(1.0 - doubted.outlier, NOTHING)) + other.log_density
        return log_real > math.log(doubted.outlier) + posterior.log_density

    def log_odds(self, state: int, steps: Sequence[Step]) -> float:
        """ln odds that all steps into a state were outliers, against all of them being real.

        Outliers: each has the share of outliers and their broad density. Real: the first was the
        birth of a state, as in `log_odds_of_birth`; the k-th after it in the same row of n other
        tries has (k + r ELSEWHERE w) / (n + k + r) times the density of the state. What came after
        each began where the row leads otherwise, or in the state.

        Args:
            state: its slot.
            steps: all steps into it, oldest first; where an episode went on, their `before` is
                known.
        """
        world, prior = self._world, self._row_prior
        rows = [row_of(step) for step in steps]
        visits = Counter(rows)
        others = {row: max(0.0, self._tries(row) - n) for row, n in visits.items()}
        total = self.log_odds_of_birth(steps[0], others[rows[0]])
        log_share = math.log(world.background.share) - math.log1p(-world.background.share)
        seen = Counter(rows[:1])
        for step, row in zip(steps[1:], rows[1:], strict=True):
            chance = (seen[row] + prior * self._elsewhere(state, row)) / (
                others[row] + seen[row] + prior
            )
            seen[row] += 1
            # The point is part of the state that it is measured by: that speaks for the state.
            log_density = float(world.states.log_densities(step.arrival)[state])
            total += log_share + self._log_broad(step, row) - math.log(chance) - log_density
        return total + self._log_odds_of_followers(state, steps)

    def _log_odds_of_followers(self, state: int, steps: Sequence[Step]) -> float:
        """ln odds of what came after steps into a state, if they were outliers against real.

        Real: the first follower of an action is the first try of a row, and so on. A step whose row
        leads nowhere else says nothing.
        """
        pairs = [(step, step.kept_next) for step in steps]
        followers = [follower for _, follower in pairs if follower is not None]
        total = 0.0
        for step, follower in pairs:
            expected = self._filter.expected(step.before, step.action)
            others = [(other, p) for other, p in expected if other != state]
            if follower is None:
                continue
            if others:
                sure = sum(p for _, p in others)
                before = [(other, p / sure) for other, p in others]
                total += self._filter.log_density(follower, before, followers)
                total -= self._filter.log_density(follower, [(state, 1.0)], followers)
            followers = followers[1:]
        return total

    def log_odds_of_birth(self, step: Step, others: float) -> float:
        """ln odds that a step was an outlier, and not the birth of a state.

        As in the posterior of that step, had it come last: after `others` other tries of its row.
        The room that other states leave is the same for both.
        """
        world, prior, share = self._world, self._row_prior, self._world.background.share
        odds = share * (others + prior) / ((1.0 - share) * prior * NEW)
        state, action = row_of(step)
        if state == START:  # both may be anywhere
            return math.log(odds)
        offset = step.arrival - world.states.mean[state]
        log_new = world.displacements.log_density(offset, action)
        return math.log(odds) + world.displacements.log_broad_density(offset) - log_new

    def leave_out(self, step: Step) -> None:
        """Make an outlier of a step that was taken back: the belief is what was expected."""
        step.before = [(s, p) for s, p in step.before if self._world.states.is_alive[s]]
        step.is_outlier = True
        step.entries, step.after = [], self._filter.expected(step.before, step.action)
        self._world.background.n_outliers += 1.0

    def _log_broad(self, step: Step, row: Key) -> float:
        """ln density of an outlier."""
        world = self._world
        if row[0] == START:
            return world.states.log_anywhere(step.arrival)
        return world.displacements.log_broad_density(step.arrival - world.states.mean[row[0]])

    def _elsewhere(self, state: int, row: Key) -> float:
        """The part of a state in the base of a row."""
        if row[0] == START:
            return (ELSEWHERE + STAY) / self._world.states.n_alive
        origin = np.asarray(self._world.states.mean[row[0]])
        stay = STAY if row[0] == state else 0.0
        return stay + ELSEWHERE * self._filter.elsewhere([state], origin, row[1])[0]

    def _tries(self, row: Key) -> float:
        return sum(self._world.transitions.row(*row).values())


def row_of(step: Step) -> Key:
    """The most likely row of a step; that of START at the start of an episode."""
    return (START, START_ACTION) if step.action is None else (step.before[0][0], step.action)
