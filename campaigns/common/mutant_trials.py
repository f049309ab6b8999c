"""Trials of mutants: each in a copy of the tree, in a child of a process that has NumPy loaded."""

from __future__ import annotations

import ast
import compileall
import contextlib
import hashlib
import importlib
import math
import os
import pickle
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from campaigns.common.code_mutants import Mutant
from campaigns.common.statement_map import (
    Place,
    Recorder,
    StatementMap,
    constants_at,
    mark_modules,
    users_of,
)

NEEDED = "src", "tests", "campaigns", "docs", "examples", "benchmarks", "*.toml", "*.md", "Makefile"
OURS = "tgm", "tests", "campaigns"
QUICK = 0.01, 0.1, 1.0  # seconds: tests below the first bound run before all others, and so on
FIRST = 25  # tests that are tried before any file is read that the others need
LONGEST = 60.0  # seconds of tests for one mutant, by what they take without it, if not told
PATIENCE = 10.0  # a test has so many seconds, and so many times what it takes without the mutant
IDLE = 60.0  # the same by the clock: for a mutant that waits without doing anything
MEMORY = 8 << 30  # bytes that a mutant may ask for
POLL = 0.01  # seconds
PYTEST = "-q", "-p", "no:cacheprovider", "--assert=plain"  # nobody reads why a test fails
PASSED, FAILED, NO_TESTS = 0, 1, 5  # exit codes of pytest
USAGE = 4  # pytest was called in a wrong way: a defect of this module


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Attributes:
        killed: whether a test failed, or never came to an end.
        by: the test, or what else ended it; why it survived, otherwise.
        seconds: that the trial took.
    """

    killed: bool
    by: str
    seconds: float


def copy_tree(root: Path, to: Path) -> Path:
    """Copy what the tests need; times of files are kept, or compiled modules would be stale."""
    to.mkdir()
    for path in (path for pattern in NEEDED for path in root.glob(pattern)):
        if path.is_dir():
            shutil.copytree(path, to / path.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(path, to)
    return to


def warm_up(files: Iterable[Path]) -> None:
    """Import what the tests import and what is not ours, so that no child has to."""
    names = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module)
    for name in sorted(names):
        if name.partition(".")[0] not in OURS:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def child_in(tree: Path, work: Callable[[], int], printed: Path) -> int:
    """Fork a child that does `work` in a tree, alone with its modules; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        with printed.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        os.chdir(tree)
        os.environ["PYTHONPATH"] = str(tree / "src")
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # to load them takes a second
        os.environ["TGM_SAME_EXAMPLES"] = "1"  # of Hypothesis: a verdict follows from the mutant
        sys.path[:0] = [str(tree / "src"), str(tree)]
        for name in list(sys.modules):
            if name.partition(".")[0] in OURS:
                del sys.modules[name]
        importlib.invalidate_caches()
        code = work()
    finally:
        sys.stdout.flush()
        os._exit(code)


def test_files(root: Path, folders: Iterable[str]) -> list[Path]:
    """The files of tests in some folders of `root`; a file stands for itself."""
    return [
        file
        for name in folders
        for file in (
            [root / name] if name.endswith(".py") else sorted((root / name).rglob("test_*.py"))
        )
    ]


def map_tests(
    root: Path,
    trees: Sequence[Path],
    folders: Sequence[str],
    modules: Sequence[str],
    kept: Path | None = None,
) -> StatementMap:
    """Run all tests once, with marks in the modules, a child for each file; then take them out.

    `kept` is a folder for what each file of tests has shown. It is not run again while itself and
    the modules stay as they are.
    """
    for tree in trees:
        places = mark_modules(tree, modules)
    files = [str(file.relative_to(root)) for file in test_files(root, folders)]
    maps = {file: _kept_map(kept, root, file, modules) for file in files}
    whole = StatementMap()
    for kept_map in maps.values():
        if kept_map is not None and kept_map.exists():
            whole.update(StatementMap(*pickle.loads(kept_map.read_bytes())))
    left = [file for file, path in maps.items() if path is None or not path.exists()]
    jobs = [(file, partial(_map_file, file, places), math.inf) for file in left]
    for file, tree, code, _ in in_parallel(jobs, trees):
        if code not in (PASSED, NO_TESTS):
            printed = (tree / ".printed").read_text()
            raise RuntimeError(f"{file} fails without any mutant, exit code {code}:\n{printed}")
        whole.update(StatementMap(*pickle.loads((tree / ".map").read_bytes())))
        kept_map = maps[file]
        if kept_map is not None:
            shutil.copy(tree / ".map", kept_map)
    for tree in trees:
        for module in modules:
            shutil.copy2(root / module, tree / module)
        for folder in ("src", "tests"):
            compileall.compile_dir(tree / folder, quiet=2, force=True)
    return whole


def _kept_map(kept: Path | None, root: Path, file: str, modules: Sequence[str]) -> Path | None:
    """Where the map of a file of tests is kept, as long as it and the modules are the same."""
    if kept is None:
        return None
    kept.mkdir(parents=True, exist_ok=True)
    digest = hashlib.blake2b(digest_size=16)
    for name in (file, *modules):
        digest.update((root / name).read_bytes())
    return kept / f"{file.replace('/', '.')}.{digest.hexdigest()}"


def _map_file(file: str, places: list[Place], tree: Path) -> int:
    recorder = Recorder(places)
    code = int(pytest.main([*PYTEST, file], [recorder]))
    (tree / ".map").write_bytes(pickle.dumps((recorder.map.seconds, recorder.map.tests)))
    return code


def tests_of(
    mutant: Mutant, known: StatementMap, sources: dict[str, str], longest: float
) -> list[str]:
    """The tests that run what a mutant changes, the quick ones and those of its package first.

    Args:
        mutant: the mutant.
        known: which tests run which statements.
        sources: path -> text, of each module that has marks.
        longest: seconds of tests.
    """
    places: set[Place] = {(mutant.path, *mutant.statement)}
    mirror = f"tests/{Path(mutant.path).parent.relative_to('src/tgm')}/"
    names: set[str] = set()
    if not places & known.tests.keys():
        names = constants_at(sources[mutant.path], mutant.statement)
        places = users_of(sources, names) if names else set()
    found = {test for place in places for test in known.tests.get(place, ())}
    if names:  # a test may look at a constant itself, or at what is made of it elsewhere
        own = f"{mirror}test_{Path(mutant.path).name}" if found else mirror
        found |= {test for test in known.seconds if test.startswith(own)}

    def order(test: str) -> tuple[int, bool, str]:
        seconds = known.seconds[test]
        return sum(seconds > bound for bound in QUICK), not test.startswith(mirror), test

    chosen, spent = [], 0.0
    for test in sorted(found, key=order):
        if chosen and spent + known.seconds[test] > longest:
            break
        chosen.append(test)
        spent += known.seconds[test]
    return chosen


class _Chosen:
    """A plugin of pytest that runs some tests, in an order, each with a time limit."""

    def __init__(self, tests: Sequence[str], seconds: dict[str, float], told: Path) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self._seconds = seconds
        self._told = told
        # The default action ends the process, also where no Python code runs any more. Seconds of
        # the processor are counted: the machine may be shared.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        self._told.write_text("importing")
        signal.setitimer(signal.ITIMER_PROF, 3 * PATIENCE)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self._place]
        items.sort(key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._told.write_text(nodeid)
        signal.setitimer(signal.ITIMER_PROF, PATIENCE * (1.0 + self._seconds[nodeid]))


def _try_mutant(mutant: Mutant, tests: Sequence[str], seconds: dict[str, float], tree: Path) -> int:
    sys.dont_write_bytecode = True
    file = tree / mutant.path
    compiled_for = file.stat().st_mtime
    file.write_text(mutant.source)
    # Python takes the compiled module if time (in seconds) and size of its source fit.
    os.utime(file, (compiled_for + 10, compiled_for + 10))
    for some in (tests[:FIRST], tests[FIRST:]):
        files = list(dict.fromkeys(test.partition("::")[0] for test in some))
        if files:
            chosen = _Chosen(some, seconds, tree / ".told")
            code = int(pytest.main([*PYTEST, "-x", *files], [chosen]))
            if code != PASSED:
                return code
    return PASSED


def try_mutants(
    mutants: Sequence[Mutant],
    known: StatementMap,
    root: Path,
    trees: Sequence[Path],
    sources: dict[str, str],
    longest: float = LONGEST,
) -> Iterator[tuple[Mutant, Verdict]]:
    """Run the tests of each mutant until one fails, `longest` seconds of them at most."""
    jobs = []
    for number, mutant in enumerate(mutants):
        tests = tests_of(mutant, known, sources, longest)
        if not tests:
            yield mutant, Verdict(False, "no test runs it", 0.0)
            continue
        work = partial(_try_mutant, mutant, tests, known.seconds)
        limit = IDLE * (1.0 + sum(known.seconds[test] for test in tests))
        jobs.append((str(number), work, limit))
    for name, tree, code, seconds in in_parallel(jobs, trees):
        mutant = mutants[int(name)]
        shutil.copy2(root / mutant.path, tree / mutant.path)
        told = (tree / ".told").read_text()
        if code in (USAGE, NO_TESTS):
            printed = (tree / ".printed").read_text()
            raise RuntimeError(f"exit code {code} of pytest for {mutant.key}:\n{printed}")
        if code == PASSED:
            n_tests = len(tests_of(mutant, known, sources, longest))
            yield mutant, Verdict(False, f"{n_tests} tests pass", seconds)
        else:
            how = "" if code == FAILED else f" (signal {-code})" if code < 0 else f" (code {code})"
            yield mutant, Verdict(True, told + how, seconds)


Job = tuple[str, Callable[[Path], int], float]
"""A name, what a child does in its tree, and the seconds it has."""


def in_parallel(
    jobs: Iterable[Job], trees: Sequence[Path]
) -> Iterator[tuple[str, Path, int, float]]:
    """Do jobs in children, one in each tree at a time: name, tree, exit code, seconds.

    The exit code is negative for a child that a signal ended; -9 for one that took too long. The
    tree is free for another job when the next result is asked for.
    """
    waiting, free = iter(jobs), list(trees)
    running: dict[int, tuple[str, Path, float, float]] = {}
    job = next(waiting, None)
    while job is not None or running:
        while job is not None and free:
            name, work, seconds = job
            tree = free.pop()
            pid = child_in(tree, partial(work, tree), tree / ".printed")
            running[pid] = name, tree, time.monotonic(), seconds
            job = next(waiting, None)
        for pid, (name, tree, began, seconds) in list(running.items()):
            if time.monotonic() - began > seconds:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                del running[pid]
                yield name, tree, os.waitstatus_to_exitcode(status), time.monotonic() - began
                free.append(tree)
        time.sleep(POLL)
