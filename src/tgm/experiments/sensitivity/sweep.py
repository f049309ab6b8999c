"""Every constant halved and doubled, each in a fresh process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import tgm
from tgm.errors import ConfigError, RunError
from tgm.experiments.harness.plain import from_plain
from tgm.experiments.harness.study import Sweep
from tgm.experiments.sensitivity import patched_process
from tgm.experiments.sensitivity.constants import Constant, find_constants
from tgm.experiments.sensitivity.reading import worlds_that_read
from tgm.experiments.sensitivity.worlds import WORLDS, Measured

TIME_LIMIT = 100  # seconds of the processor for all runs with one value: thrice the longest
BASELINE = "baseline"


@dataclass(frozen=True)
class ConstantTrial:
    """All runs with one value of one constant; without a module, with none changed.

    Attributes:
        module: where the constant is assigned.
        constant: its name.
        change: "halved" or "doubled".
        value: the value to try, as an expression.
        seeds: number of seeds in each world.
        worlds: names of WORLDS: those that read the constant.
    """

    module: str
    constant: str
    change: str
    value: str
    seeds: int
    worlds: tuple[str, ...]

    @property
    def name(self) -> str:
        """For people."""
        if not self.module:
            return BASELINE
        return f"{self.module.removeprefix('tgm.')}.{self.constant} {self.change} to {self.value}"


@dataclass(frozen=True)
class ConstantResult:
    """The runs with one value of one constant.

    Attributes:
        runs: those that were finished, in the order of worlds and seeds.
        seconds: processor time of each.
    """

    runs: tuple[Measured, ...]
    seconds: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class SensitivitySweep(Sweep[ConstantTrial]):
    """What each numeric constant of the core is worth: each is halved and doubled."""

    seeds: int = 3
    """Number of seeds in each world."""

    only: tuple[str, ...] = ()
    """Names of constants; all by default. With names, the page is printed and not written."""

    update: bool = False
    """Change the page that is there: rows of constants that are gone leave it, those of --only are
    tried and written, all others stay. Without names nothing is tried."""

    worlds: tuple[str, ...] = tuple(WORLDS)
    """Names of worlds."""

    page: Path = Path("docs/sensitivity.md")
    """The page to write."""

    def trials(self) -> list[ConstantTrial]:
        """The baseline, then every constant halved and doubled where it is read."""
        for world in self.worlds:
            if world not in WORLDS:
                raise ConfigError(f"unknown world '{world}'; there are {', '.join(WORLDS)}")
        return [
            ConstantTrial("", "", BASELINE, "", self.seeds, self.worlds),
            *(
                trial
                for constant in chosen(find_constants(), self.only)
                for trial in self._trials_of(constant)
            ),
        ]

    def _trials_of(self, constant: Constant) -> Iterator[ConstantTrial]:
        worlds = worlds_that_read(constant, self.worlds)
        if worlds:
            for change, value in constant.changed().items():
                where = (constant.module, constant.name, change)
                yield ConstantTrial(*where, repr(value), self.seeds, worlds)


def chosen(constants: Sequence[Constant], names: Sequence[str]) -> list[Constant]:
    """The constants to vary: all that can be, or those with one of the `names`."""
    varied = [constant for constant in constants if not constant.why_fixed]
    for name in names:
        if any(constant.name == name for constant in varied):
            continue
        fixed = [constant for constant in constants if constant.name == name]
        if fixed:
            where = f"{fixed[0].module}.{name}"
            raise ConfigError(f"--only {name}: {where} is not varied ({fixed[0].why_fixed})")
        known = ", ".join(sorted({constant.name for constant in varied}))
        raise ConfigError(f"--only {name}: there is no such constant; there are {known}")
    return [constant for constant in varied if not names or constant.name in names]


def run(trial: ConstantTrial) -> ConstantResult:
    """All runs of a trial, in a process whose constant has the trial's value from the start."""
    request = {
        "module": trial.module,
        "constant": trial.constant,
        "value": trial.value,
        "worlds": trial.worlds,
        "seeds": trial.seeds,
        "seconds": TIME_LIMIT,
    }
    # -P: the folder of the script is no place to import from.
    command = [sys.executable, "-P", str(patched_process.__file__), json.dumps(request)]
    paths = [str(Path(tgm.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    process = subprocess.run(command, capture_output=True, env=environment)
    if process.returncode == -signal.SIGXCPU:
        *lines, _ = process.stdout.split(b"\n")  # the last may be cut off
        return _result(lines)
    if process.returncode:
        raise RunError(f"{trial.name}: {process.stderr.decode(errors='replace')[-500:]}")
    result = _result(process.stdout.splitlines())
    errors = [measured.error for measured in result.runs if measured.error]
    if errors and not trial.module:
        raise RunError(f"a run without any change failed: {errors[0]}")
    return result


def _result(lines: Sequence[bytes]) -> ConstantResult:
    """Of lines with a run and its seconds each."""
    pairs = [json.loads(line) for line in lines]
    runs = tuple(from_plain(Measured, measured) for measured, _ in pairs)
    return ConstantResult(runs, tuple(seconds for _, seconds in pairs))
