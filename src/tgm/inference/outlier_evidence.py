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
from tgm.inference.step_filter import ELSEWHERE, NEW, STAY, StepFilter
from tgm.inference.step_posterior import StepPosterior
from tgm.memory.step import Belief, Step
from tgm.perception.state_slots import SURELY_SEEN
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
        leads nowhere else says nothing. Outliers may follow each other, and each makes a state: so
        what came after is followed on, until it is in a state that was reached in another way too.
        """
        chains = [(step, self.chain(step, steps)) for step in steps]
        followers = [follower for _, chain in chains for follower in chain]
        passed = {state, *(one.after[0][0] for _, chain in chains for one in chain[:-1])}
        total = 0.0
        for step, chain in chains:
            expected = without(self._filter.expected(step.before, step.action), passed)
            seen = [(state, 1.0)]
            for follower in chain:
                if expected:
                    total += self._filter.log_density(follower, expected, followers)
                    total -= self._filter.log_density(follower, seen, followers)
                    expected = without(self._filter.expected(expected, follower.action), passed)
                seen = follower.after
                followers = followers[1:]
        return total

    def chain(self, step: Step, steps: Sequence[Step]) -> list[Step]:
        """What came after a step, as long as each step made a state that nothing else has seen."""
        chain: list[Step] = []
        follower = step.kept_next
        while follower is not None and not any(follower is one for one in steps):
            chain.append(follower)
            if not self._was_one(follower):
                break
            follower = follower.kept_next
        return chain

    def goes_on(self, steps: Sequence[Step]) -> bool:
        """Whether the newest step made a state, and came after nothing but states that were made.

        What comes next will say more of all of them.
        """
        last = [one for step in steps for one in self.chain(step, steps)[-1:]]
        return any(one is self._world.newest and self._was_one(one) for one in last)

    def _was_one(self, step: Step) -> bool:
        """Whether a kept step alone made its state."""
        assert step.kept_in is not None
        return bool(self._world.states.weight[step.kept_in] < SURELY_SEEN)

    def log_odds_of_birth(self, step: Step, others: float) -> float:
        """ln odds that a step was an outlier, and not the birth of a state.

        As in the posterior of that step, had it come last: after `others` other tries of its row.
        The prior of a state beside others is the same for both.
        """
        world, prior, share = self._world, self._row_prior, self._world.background.share
        odds = share * (others + prior) / ((1.0 - share) * prior * NEW)
        state, action = row_of(step)
        if state == START:  # both may be anywhere
            return math.log(odds)
        if world.displacements.weight[action] < self._in_doubt(action) + SURELY_SEEN:
            return math.log(odds)  # the law of the action is made of what may be outliers
        offset = step.arrival - world.states.mean[state]
        log_new = world.displacements.log_density(offset, action)
        return math.log(odds) + world.displacements.log_broad_density(offset) - log_new

    def _in_doubt(self, action: int) -> int:
        """How many displacements the law of an action has learned from states of one point."""
        states, memory = self._world.states, self._world.memory
        n = 0
        for state in states.alive[states.weight[states.alive] < SURELY_SEEN].tolist():
            for step in memory.into(state):
                n += is_way(step) and step.action == action
                follower = step.kept_next
                n += follower is not None and is_way(follower) and follower.action == action
        return n

    def unlearn_ways(self, steps: Sequence[Step]) -> None:
        """Take back what steps that were outliers taught of where their actions lead."""
        world = self._world
        for step in steps:
            if is_way(step):
                assert step.action is not None
                way = step.arrival - world.states.mean[step.before[0][0]]
                world.displacements.take_back(step.action, way, step.entries[0][2])

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


def is_way(step: Step) -> bool:
    """Whether a step surely led from one state to another, and so showed a displacement."""
    is_sure = step.action is not None and len(step.entries) == 1 and bool(step.before)
    return is_sure and not step.end and step.entries[0][0] != step.entries[0][1]


def without(belief: Belief, states: set[int]) -> Belief:
    """A belief that some states are known not to be."""
    others = [(state, p) for state, p in belief if state not in states]
    total = sum(p for _, p in others)
    return [(state, p / total) for state, p in others]
