"""From runs to docs/sensitivity.md: what each constant is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tgm.experiments.harness.tables import grouped, markdown
from tgm.experiments.sensitivity.constants import Constant, find_constants
from tgm.experiments.sensitivity.kept import Key, section
from tgm.experiments.sensitivity.reading import worlds_that_read
from tgm.experiments.sensitivity.sweep import BASELINE, ConstantResult, ConstantTrial
from tgm.experiments.sensitivity.worlds import SLOW, Measured

Results = Sequence[tuple[ConstantTrial, ConstantResult]]

LOST_RUNS = 2  # runs that are no longer good: a constant that costs as many matters
STEPS_RATIO = 1.1  # so does one that changes the median of steps to solve by this factor,
STATES_SHARE = 0.02  # the number of states by this part of the cells,
TIME_RATIO = 1.25  # or, where nothing else changes, the time: it is named then

NOT_READ = "no world of this study reads it"
NO_EFFECT = "no effect seen"

PAGE = """\
# What each constant is worth

Written by `python -m tgm.experiments.sensitivity`: do not edit. Each numeric constant of the core
is halved and doubled, one at a time, in a process of its own, and the default agent is trained in
those of {n_worlds} worlds that read the constant. Runs in each: {seeds}. The worlds: {worlds}.
A slow world counts for a constant that no other world of its kind reads ({slow}).

{summary}

A cell shows the value, then of all runs in these worlds those that are good (solved for good within
the goal of the world, with exact structure where there are cells; unchanged: {baseline} of
{n_runs} in all worlds), the steps to solve relative to the
unchanged agent in the same world with the same seed (median, worst), states per cell in worlds of
cells (unchanged: {states:.3f}), and processor time relative to the unchanged agent, which is rough.
"same" means that every run is bitwise the same as without the change.

A constant **matters** if a change loses at least {lost} good runs, or changes the median steps to
solve by {steps:.0%}, or the states per cell by {share}. It **matters little** if runs differ, but
by less. **No effect seen**: every run with either value is bitwise the same; the time may differ.
Whole numbers stay at least 1. A number between 0.5 and 1 is taken for a probability: instead of
being doubled, its distance to 1 is halved. A number between 1 and 1.5 is taken for a factor of
growth: the part above 1 is halved and doubled.

{table}
## Not varied
{fixed}
{kept}"""


@dataclass(frozen=True)
class Effect:
    """What one value does to the runs, against the unchanged agent.

    Attributes:
        value: the value that was tried.
        n_good, n_runs: good runs of all, in the worlds that read the constant.
        n_lost: good runs that the unchanged agent has more.
        median, worst: of the ratios of steps to solve; infinite for runs that never solve.
        states: mean number of states per cell, over the runs without an error; 0 without cells.
        states_change: that less the unchanged agent's.
        time: ratio of processor times; None if the time limit stopped the runs.
        is_same: whether every run is bitwise the same.
        error: of the first run that failed, or empty.
    """

    value: str
    n_good: int
    n_runs: int
    n_lost: int
    median: float
    worst: float
    states: float
    states_change: float
    time: float | None
    is_same: bool
    error: str

    @property
    def size(self) -> float:
        """For the order of the table: lost runs first, then steps and states."""
        if self.is_same:
            return 0.0
        steps = abs(math.log(self.median)) if math.isfinite(self.median) else 3.0
        return 10.0 * max(0, self.n_lost) / self.n_runs + steps + abs(self.states_change) + 1e-3

    @property
    def matters(self) -> bool:
        """Whether the change is more than little."""
        return (
            self.n_lost >= LOST_RUNS
            or not 1.0 / STEPS_RATIO < self.median < STEPS_RATIO
            or abs(self.states_change) >= STATES_SHARE
        )

    def __str__(self) -> str:
        """For a cell of the table."""
        time = "time limit" if self.time is None else f"time x{self.time:.2f}"
        if self.is_same:
            return f"{self.value}: same, {time}"
        states = f"states {self.states:.3f}, " if self.states > 0.0 else ""
        text = (
            f"{self.value}: {self.n_good}/{self.n_runs}, steps {_times(self.median)}, "
            f"{_times(self.worst)}, {states}{time}"
        )
        return f"{text}; {self.error}" if self.error else text


def report(results: Results) -> str:
    """The page."""
    (trial, baseline), *changed = results
    assert trial.change == BASELINE
    constants = {(constant.module, constant.name): constant for constant in find_constants()}
    rows = []
    for key, group in grouped(changed, lambda pair: (pair[0].module, pair[0].constant)).items():
        effects = {one.change: effect_of(one, result, baseline) for one, result in group}
        rows.append((max(e.size for e in effects.values()), constants[key], effects))
    rows.sort(key=lambda row: (-row[0], row[1].module, row[1].name))
    verdicts = [verdict(list(effects.values())) for _, _, effects in rows]
    table = [
        _cells(constant, effects, word)
        for (_, constant, effects), word in zip(rows, verdicts, strict=True)
    ]
    tried = {constant for _, constant, _ in rows}
    fixed = _not_varied([one for one in constants.values() if one not in tried], trial.worlds)
    return PAGE.format(
        n_worlds=len(trial.worlds),
        seeds=trial.seeds,
        worlds=", ".join(trial.worlds),
        slow=", ".join(world for world in SLOW if world in trial.worlds) or "none",
        summary=summary(verdicts, len(fixed)),
        n_runs=len(baseline.runs),
        baseline=sum(measured.is_good for measured in baseline.runs),
        states=_mean_states(baseline.runs),
        lost=LOST_RUNS,
        steps=STEPS_RATIO - 1.0,
        share=STATES_SHARE,
        table=markdown(table) if table else "",
        fixed=fixed_lines(fixed),
        kept=section(_without_effect([row[1] for row in rows], verdicts, fixed)),
    )


def _cells(constant: Constant, effects: dict[str, Effect], word: str) -> dict[str, object]:
    """A row of the table."""
    return {
        "constant": f"`{constant.name}`",
        "module": constant.module.removeprefix("tgm."),
        "what it is": cell(constant.note),
        "value": constant.value,
        "halved": cell(str(effects.get("halved", "-"))),
        "doubled": cell(str(effects.get("doubled", "-"))),
        "verdict": word,
    }


def _without_effect(
    tried: Sequence[Constant], verdicts: Sequence[str], fixed: Sequence[Constant]
) -> list[Key]:
    """Module and name of the constants that change no run, or that no run reads."""
    pairs = zip(tried, verdicts, strict=True)
    same = [constant for constant, word in pairs if is_without_effect(word)]
    same += [constant for constant in fixed if constant.why_fixed == NOT_READ]
    return [(constant.module, constant.name) for constant in same]


def _not_varied(constants: Sequence[Constant], worlds: Sequence[str]) -> list[Constant]:
    """Those that cannot be varied, or that no world reads."""
    return [
        constant if constant.why_fixed else replace(constant, why_fixed=NOT_READ)
        for constant in constants
        if constant.why_fixed or not worlds_that_read(constant, worlds)
    ]


def effect_of(trial: ConstantTrial, result: ConstantResult, baseline: ConstantResult) -> Effect:
    """Compare the runs of a trial with those of the unchanged agent in the same worlds."""
    found = {(measured.world, measured.seed): measured for measured in result.runs}
    unchanged, seconds, ratios = [], 0.0, []
    for before, its_seconds in zip(baseline.runs, baseline.seconds, strict=True):
        if before.world not in trial.worlds:
            continue
        unchanged.append(before)
        seconds += its_seconds
        if before.solved_at is not None:
            after = found.get((before.world, before.seed))
            solved_at = math.inf if after is None or after.solved_at is None else after.solved_at
            ratios.append(solved_at / before.solved_at)
    n_good = sum(measured.is_good for measured in result.runs)
    states = _mean_states(result.runs)
    is_whole = len(result.runs) == len(unchanged)
    return Effect(
        value=trial.value,
        n_good=n_good,
        n_runs=len(unchanged),
        n_lost=sum(measured.is_good for measured in unchanged) - n_good,
        median=float(np.median(ratios or [1.0])),
        worst=max(ratios, default=1.0),
        states=states,
        states_change=states - _mean_states(unchanged),
        time=sum(result.seconds) / seconds if is_whole else None,
        is_same=list(result.runs) == unchanged,
        error=next((measured.error for measured in result.runs if measured.error), ""),
    )


def verdict(effects: Sequence[Effect]) -> str:
    """One of three: matters, matters little, no effect seen."""
    if any(effect.matters for effect in effects):
        return "matters"
    if not all(effect.is_same for effect in effects):
        return "matters little"
    times = [effect.time for effect in effects if effect.time is not None]
    slowest = max([*times, *(1.0 / time for time in times)], default=1.0)
    return NO_EFFECT + (" but time" if slowest > TIME_RATIO else "")


def is_without_effect(word: str) -> bool:
    """Whether a verdict says that every run was the same; the time may differ."""
    return word.startswith(NO_EFFECT)


def _mean_states(runs: Sequence[Measured]) -> float:
    """Of the runs without an error in worlds of cells; 0 if there are none."""
    states = [
        measured.states_per_cell
        for measured in runs
        if not measured.error and measured.states_per_cell is not None
    ]
    return float(np.mean(states)) if states else 0.0


def _times(ratio: float) -> str:
    return f"x{ratio:.2f}" if math.isfinite(ratio) else "never"


def cell(text: str) -> str:
    """Text that does not end a cell of a table."""
    return text.replace("|", "\\|") or "-"


def summary(verdicts: Sequence[str], n_fixed: int) -> str:
    """The verdicts in one sentence."""
    counts = [
        sum(word.startswith(kind) for word in verdicts)
        for kind in ("matters little", "no effect seen")
    ]
    matters = len(verdicts) - sum(counts)
    return (
        f"Of {len(verdicts)} constants {matters} matter, {counts[0]} matter little, and of "
        f"{counts[1]} no effect was seen; {n_fixed} more were found and not varied."
    )


def fixed_lines(constants: Sequence[Constant]) -> str:
    """Constants by the reason why they are not varied, a line each."""
    lines = []
    for reason, group in grouped(constants, lambda constant: constant.why_fixed).items():
        names = ", ".join(f"`{one.module.removeprefix('tgm.')}.{one.name}`" for one in group)
        lines.append(f"- {reason}: {names}\n")
    return "".join(lines)
