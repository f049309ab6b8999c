"""What is wanted of a world, and what was measured there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

GROWTH = 1.1  # number of states at the end over that at half time, which is still bounded
SLOWER = 1.5  # time of a step in the last quarter over that in the second, which is too
NEARLY = 1e-9  # a return that lacks less is reached


class Check(NamedTuple):
    """The agent at one moment of its training.

    Attributes:
        step: steps of training so far.
        greedy_return: expected return of the greedy policy, exact or from sampled episodes.
        is_solved: whether it is near enough to the best one.
        n_states: states found so far.
        seconds: processor time of learning so far.
    """

    step: int
    greedy_return: float
    is_solved: bool
    n_states: int
    seconds: float


@dataclass(frozen=True)
class WorldResult:
    """One run.

    Attributes:
        best_return: of the best policy within the time limit.
        n_true: number of true states in which an action can be chosen.
        solved_at: the step from which on every check was solved; None: never.
        is_exact: whether each true state has one state of its own, and there are no others.
        checks: all checks, in order; fewer if the run was stopped for taking too long.
        error: what went wrong, in one line; empty if nothing did.
    """

    best_return: float
    n_true: int
    solved_at: int | None = None
    is_exact: bool = False
    checks: tuple[Check, ...] = ()
    error: str = ""

    @property
    def final_return(self) -> float | None:
        """Greedy return at the last check."""
        return self.checks[-1].greedy_return if self.checks else None

    @property
    def states_per_true(self) -> float | None:
        """States found for each true state at the end."""
        return self.checks[-1].n_states / self.n_true if self.checks else None

    @property
    def microseconds(self) -> float | None:
        """Processor time of one step of learning."""
        return 1e6 * self.checks[-1].seconds / self.checks[-1].step if self.checks else None

    def at(self, step: int) -> Check | None:
        """The check at a step."""
        return next((check for check in self.checks if check.step == step), None)

    @property
    def is_bounded(self) -> bool:
        """Whether neither states nor the time of a step grow in the second half."""
        if len(self.checks) < 4:
            return False
        first, half, third, last = (
            self.checks[len(self.checks) * part // 4 - 1] for part in (1, 2, 3, 4)
        )
        few = last.n_states <= max(GROWTH * half.n_states, half.n_states + 2)
        late = (last.seconds - third.seconds) / (last.step - third.step)
        early = (half.seconds - first.seconds) / (half.step - first.step)
        return few and late <= SLOWER * early


@dataclass(frozen=True)
class Wanted:
    """The figures that are wanted of a world; a run meets all that are given.

    Attributes:
        returns: (step, return): the greedy return at that step is at least so much.
        near: (step, share): there it lacks at most that part of the best return.
        gap: at the end, it lacks at most so much.
        solved_by: the step by which the world is solved for good.
        solved_by_text: that in other units.
        is_exact: one state for each true state.
        states_per_true: at most so many states for each true state.
        times_reference: median steps to solve, over those of the reference; of a row of runs.
        microseconds: of one step, at most.
        is_bounded: states and time of a step do not grow.
    """

    returns: tuple[tuple[int, float], ...] = ()
    near: tuple[int, float] | None = None
    gap: float | None = None
    solved_by: int | None = None
    solved_by_text: str = ""
    is_exact: bool = False
    states_per_true: float | None = None
    times_reference: float | None = None
    microseconds: float | None = None
    is_bounded: bool = False

    def misses(self, result: WorldResult) -> list[str]:
        """What one run misses, in words; the steps of the reference are not its own affair."""
        if result.error:
            return [result.error]
        return list(self._misses(result))

    def _misses(self, result: WorldResult) -> Iterator[str]:
        best = result.best_return
        bounds = [*self.returns]
        if self.near is not None:
            bounds.append((self.near[0], best - self.near[1] * abs(best)))
        if self.gap is not None and result.checks:
            bounds.append((result.checks[-1].step, best - self.gap))
        for step, bound in bounds:
            check = result.at(step)
            if check is None:
                yield f"stopped before step {step:,}"
            elif check.greedy_return < bound - NEARLY:
                yield f"return {check.greedy_return:.3f} at {step:,}"
        is_late = self.solved_by is not None and (
            result.solved_at is None or result.solved_at > self.solved_by
        )
        if (is_late or self.times_reference is not None) and result.solved_at is None:
            yield "never solved"
        elif is_late:
            yield f"solved at {result.solved_at:,}"
        states, time = result.states_per_true or 0.0, result.microseconds or 0.0
        if self.is_exact and not result.is_exact:
            yield f"not exact, {states * result.n_true:.0f} states"
        if self.states_per_true is not None and states > self.states_per_true:
            yield f"{states:.2f} states per true state"
        if self.microseconds is not None and time > self.microseconds:
            yield f"{time:.0f} us a step"
        if self.is_bounded and not result.is_bounded:
            yield "grows"

    def __str__(self) -> str:
        """For a cell of the table."""
        parts = [f"{value:g} at {step:,}" for step, value in self.returns]
        if self.near is not None:
            parts.append(f"within {self.near[1]:.0%} at {self.near[0]:,}")
        if self.gap is not None:
            parts.append(f"within {self.gap:g}")
        if self.solved_by is not None:
            parts.append(f"solved by {self.solved_by_text or f'{self.solved_by:,}'}")
        if self.is_exact:
            parts.append("exact")
        if self.states_per_true is not None:
            parts.append(f"at most {self.states_per_true:g} states per true state")
        if self.times_reference is not None:
            parts.append(f"x{self.times_reference:g} steps")
        if self.microseconds is not None:
            parts.append(f"{self.microseconds:g} us")
        if self.is_bounded:
            parts.append("bounded")
        return ", ".join(parts) or "-"
