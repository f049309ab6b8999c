"""Promise of the tests: of 500 slips in the core, at least 90 % make a test fail.

Run from the root of the repository: python -m campaigns.mutants [--n 500] [--seed 0] [--jobs 2]
`--keep FILE` keeps what became of each mutant, one JSON object in a line; after new tests,
`--only-from FILE` tries those again that survived there, and `--table FILE OTHER` prints what
became of all of them. A run that was stopped goes on with the same `--keep FILE`; `--maps FOLDER`
keeps which tests run which line. Mutants that are known to behave as the code does stand in
campaigns/mutants_excused.toml, each with its reason; they count as neither killed nor survived.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.common.code_mutants import Mutant, mutants_of, sample
from campaigns.common.mutant_trials import (
    LONGEST,
    Verdict,
    copy_tree,
    map_tests,
    test_files,
    try_mutants,
    warm_up,
)

ROOT = Path(__file__).parents[1]
EXCUSED = ROOT / "campaigns" / "mutants_excused.toml"
PACKAGES = "perception", "transition", "inference", "structure", "planning", "memory", "learners"
ALSO_RUN = "distributions", "agent"  # folders of tests that run those packages
PROGRESS = 25  # mutants between two lines that say how far the run is
LEAST = 0.9  # share of mutants that must be killed

Key = tuple[str, str, str, str]


@dataclass
class Outcome:
    """What became of a sample of mutants."""

    killed: list[tuple[Mutant, Verdict]] = field(default_factory=list)
    survived: list[tuple[Mutant, Verdict]] = field(default_factory=list)
    excused: list[tuple[Mutant, str]] = field(default_factory=list)
    stale: list[Key] = field(default_factory=list)
    cpu_seconds: float = 0.0  # of the trials

    def add(self, mutant: Mutant, verdict: Verdict) -> None:
        """One more mutant was tried."""
        (self.killed if verdict.killed else self.survived).append((mutant, verdict))

    @property
    def share(self) -> float:
        """Of the mutants that were tried, those that were killed."""
        return share_of(len(self.killed), len(self.survived))


def share_of(n_killed: int, n_survived: int) -> float:
    """Of the mutants that were tried, those that were killed; all, where none was."""
    n_tried = n_killed + n_survived
    return n_killed / n_tried if n_tried else 1.0


def read_excuses(path: Path) -> dict[Key, str]:
    """The reason of each mutant that is excused."""
    entries = tomllib.loads(path.read_text()).get("excused", [])
    return {
        (entry["file"], entry["function"], entry["line"], entry["becomes"]): entry["reason"]
        for entry in entries
    }


def keep(path: Path, mutant: Mutant, verdict: Verdict) -> None:
    """Add what became of a mutant to a file."""
    names = "file", "function", "line", "becomes"
    entry = {**dict(zip(names, mutant.key, strict=True)), "killed": verdict.killed}
    with path.open("a") as file:
        print(json.dumps({**entry, "by": verdict.by, "seconds": verdict.seconds}), file=file)


def verdicts_in(paths: Sequence[Path]) -> dict[Key, Verdict]:
    """What became of each mutant, from the files of some runs; of two, the later one counts."""
    entries = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    return {
        (entry["file"], entry["function"], entry["line"], entry["becomes"]): Verdict(
            entry["killed"], entry["by"], entry["seconds"]
        )
        for entry in entries
    }


def survivors_in(*paths: Path) -> set[Key]:
    """The mutants that survived the runs that some files keep."""
    return {key for key, verdict in verdicts_in(paths).items() if not verdict.killed}


def modules_of(root: Path, packages: Sequence[str]) -> dict[str, str]:
    """Path below the root -> text, of the modules in packages of tgm."""
    return {
        str(file.relative_to(root)): file.read_text()
        for package in packages
        for file in sorted((root / "src" / "tgm" / package).rglob("*.py"))
    }


def run(
    root: Path,
    packages: Sequence[str],
    folders: Sequence[str],
    n: int,
    *,
    seed: int = 0,
    n_jobs: int = 1,
    excuses: dict[Key, str] | None = None,
    only: str = "",
    again: set[Key] | None = None,
    kept: Path | None = None,
    maps: Path | None = None,
    longest: float = LONGEST,
) -> Outcome:
    """Draw mutants and try them.

    Args:
        root: of the repository; nothing in it changes, and it may change during the run.
        packages: of tgm that are mutated.
        folders: of tests, or files, below the root.
        n: number of mutants.
        seed: of the sample.
        n_jobs: trials at the same time.
        excuses: the reason of each mutant that need not be killed.
        only: mutants whose path holds this.
        again: only these mutants, all of them.
        kept: file to which what became of each is added; those in it are not tried again.
        maps: folder that keeps which tests run which statements.
        longest: seconds of tests for one mutant.
    """
    excuses = excuses or {}
    sources = modules_of(root, packages)
    mutants = [mutant for path, text in sources.items() for mutant in mutants_of(text, path)]
    known_keys = {mutant.key for mutant in mutants}
    stale = [key for key in excuses if key[0] in sources and key not in known_keys]
    outcome = Outcome(stale=stale)
    if again is None:
        drawn = sample([mutant for mutant in mutants if only in mutant.path], n, seed)
    else:
        drawn = [mutant for mutant in mutants if mutant.key in again and only in mutant.path]
    outcome.excused = [(m, excuses[m.key]) for m in drawn if m.key in excuses]
    print(f"{len(drawn)} of {len(mutants):,} mutants in {len(sources)} modules", flush=True)
    warm_up(test_files(root, folders))
    with tempfile.TemporaryDirectory() as folder:
        root, *trees = (copy_tree(root, Path(folder) / str(number)) for number in range(n_jobs + 1))
        began = time.monotonic()
        known = map_tests(root, trees, folders, list(sources), maps)
        n_tests, seconds = len(known.seconds), time.monotonic() - began
        needed = sum(known.seconds.values())
        print(f"{n_tests} tests pass; they took {needed:.0f} s in {seconds:.0f} s", flush=True)
        done = verdicts_in([kept]) if kept is not None and kept.exists() else {}
        for mutant in drawn:
            if mutant.key in done and mutant.key not in excuses:
                outcome.add(mutant, done[mutant.key])
        tried = [mutant for mutant in drawn if mutant.key not in {**excuses, **done}]
        before = cpu_seconds()
        trials = try_mutants(tried, known, root, trees, sources, longest)
        for number, (mutant, verdict) in enumerate(trials, start=1):
            outcome.add(mutant, verdict)
            if kept is not None:
                keep(kept, mutant, verdict)
            if number % PROGRESS == 0:
                print(f"{number} tried, {len(outcome.survived)} survived", flush=True)
            if not verdict.killed:
                print(describe(mutant, verdict.by), flush=True)
        outcome.cpu_seconds = cpu_seconds() - before
    return outcome


def cpu_seconds() -> float:
    """Seconds of the processor that all children have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def describe(mutant: Mutant, why: str) -> str:
    """Where a mutant is and what it changes."""
    place = f"{mutant.path}:{mutant.line} {mutant.function}"
    return f"{place}  ({why})\n  - {mutant.before}\n  + {mutant.after}"


def report(outcome: Outcome) -> int:
    """Print the table; the exit code."""
    n_killed, n_survived = len(outcome.killed), len(outcome.survived)
    for mutant, reason in outcome.excused:
        print("excused: " + describe(mutant, reason))
    for key in outcome.stale:
        print(f"{EXCUSED.name}: no such mutant any more, remove its entry: {key}")
    groups = (outcome.killed, outcome.survived, outcome.excused)
    print_table(*([mutant.path for mutant, _ in group] for group in groups))
    seconds = outcome.cpu_seconds / max(1, n_killed + n_survived)
    print(f"{seconds:.2f} seconds of the processor for each mutant")
    return int(outcome.share < LEAST or bool(outcome.stale))


def print_table(killed: list[str], survived: list[str], excused: list[str]) -> None:
    """Print the shares by package, given the paths of the mutants."""
    counts = [
        Counter(Path(path).parts[2] for path in paths) for paths in (killed, survived, excused)
    ]
    rows = [(name, *(count[name] for count in counts)) for name in sorted(set().union(*counts))]
    print("| package | tried | killed | survived | share killed | excused |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, n_killed, n_survived, n_excused in (*rows, ("all", *map(Counter.total, counts))):
        n, share = n_killed + n_survived, share_of(n_killed, n_survived)
        print(f"| {name} | {n} | {n_killed} | {n_survived} | {share:.1%} | {n_excused} |")


def print_kept(paths: Sequence[Path], excuses: dict[Key, str]) -> int:
    """Print the table of runs that were kept, one after the other; the exit code."""
    verdicts = verdicts_in(paths)
    excused = [key for key in verdicts if key in excuses]
    tried = [key for key in verdicts if key not in excuses]
    killed = [key for key in tried if verdicts[key].killed]
    survived = [key for key in tried if not verdicts[key].killed]
    for key in survived:
        print("{} {}\n  - {}\n  + {}".format(*key))
    print_table(*([path for path, *_ in keys] for keys in (killed, survived, excused)))
    return int(share_of(len(killed), len(survived)) < LEAST)


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES))
    parser.add_argument("--tests", nargs="+", help="folders or files; those of the core by default")
    parser.add_argument("--only", default="", help="mutants whose path holds this")
    parser.add_argument(
        "--only-from", type=Path, nargs="+", help="files of --keep: survivors again"
    )
    parser.add_argument("--seconds", type=float, default=LONGEST, help="of tests for one mutant")
    parser.add_argument("--keep", type=Path, help="file for what becomes of each mutant")
    parser.add_argument("--maps", type=Path, help="folder that keeps which tests run which lines")
    parser.add_argument("--table", type=Path, nargs="+", help="files of --keep: only their table")
    asked = parser.parse_args()
    if asked.table:
        return print_kept(asked.table, read_excuses(EXCUSED))
    names = dict.fromkeys((*asked.packages, *PACKAGES, *ALSO_RUN))
    folders = [f"tests/{name}" for name in names if (ROOT / "tests" / name).is_dir()]
    folders = asked.tests or folders
    outcome = run(
        ROOT,
        asked.packages,
        folders,
        asked.n,
        seed=asked.seed,
        n_jobs=asked.jobs,
        excuses=read_excuses(EXCUSED),
        only=asked.only,
        again=survivors_in(*asked.only_from) if asked.only_from else None,
        kept=asked.keep,
        maps=asked.maps,
        longest=asked.seconds,
    )
    return report(outcome)


if __name__ == "__main__":
    sys.exit(main())
