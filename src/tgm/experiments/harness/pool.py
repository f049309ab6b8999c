"""Runs many trials: in this process, in several, or on a Dask cluster; the results are the same."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from tgm.errors import ConfigError

SCHEDULER_SECONDS, WORKER_SECONDS = 5.0, 3.0  # to wait for an answer, and for the first worker


class Named(Protocol):
    """The description of a trial: hashable, and with a name for people."""

    @property
    def name(self) -> str:
        """What is run, in few words."""


Trial = TypeVar("Trial", bound=Named)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[Trial, Result]):
    """A trial that is over: its result, or in one line why there is none."""

    trial: Trial
    result: Result | None = None
    error: str | None = None


def attempt(trial: Trial, work: Callable[[Trial], Result]) -> Outcome[Trial, Result]:
    """Run a trial; an exception becomes part of the outcome, and the other trials go on."""
    try:
        return Outcome(trial, work(trial))
    except Exception as error:
        return Outcome(trial, error=_one_line(error))


def usable_cores() -> int:
    """Cores that processes can be spread over; 1 without joblib, which does the spreading."""
    try:
        return int(_import("joblib", "several --jobs").cpu_count())
    except ConfigError:
        return 1


def run_trials(
    trials: Sequence[Trial],
    work: Callable[[Trial], Result],
    *,
    jobs: int = 1,
    dask: str | None = None,
) -> Iterator[Outcome[Trial, Result]]:
    """The outcomes of all trials, each as soon as it is there, in any order.

    Args:
        trials: what to run.
        work: runs one of them; a function that other processes can import.
        jobs: processes on this machine; 1 is this process.
        dask: the address of a Dask scheduler, whose workers are used instead.
    """
    if dask is not None:
        return _on_cluster(trials, dask, work)
    if jobs == 1:
        return (attempt(trial, work) for trial in trials)
    return _in_processes(trials, jobs, work)


def _in_processes(
    trials: Sequence[Trial], jobs: int, work: Callable[[Trial], Result]
) -> Iterator[Outcome[Trial, Result]]:
    """Through joblib. A process that dies takes down its pool: what is left starts in a new one.

    If nothing was finished before it died, the first trial is run alone: should its process die
    once more, the fault is its own.
    """
    joblib = _import("joblib", "several --jobs")
    waiting = dict.fromkeys(trials)
    n_at_once = len(waiting)
    while waiting:
        before = len(waiting)
        batch = list(waiting)[:n_at_once]
        # One thread each: the matrices are small, and threads of many processes only wait. Two
        # processes at least: one would be this process itself.
        with joblib.parallel_config("loky", n_jobs=max(2, jobs), inner_max_num_threads=1):
            tasks = (joblib.delayed(attempt)(trial, work) for trial in batch)
            try:
                parallel = joblib.Parallel(
                    return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs"
                )
                for outcome in parallel(tasks):
                    del waiting[outcome.trial]
                    yield outcome
                n_at_once = len(trials)
            except BrokenProcessPool:
                if len(batch) == 1:
                    del waiting[batch[0]]
                    yield Outcome(batch[0], error="its process died (killed, or out of memory?)")
                n_at_once = len(trials) if len(waiting) < before else 1


def _on_cluster(
    trials: Sequence[Trial], address: str, work: Callable[[Trial], Result]
) -> Iterator[Outcome[Trial, Result]]:
    """Through the workers of a Dask cluster; the scheduler gives a dead one's trials to others."""
    distributed = _import("distributed", "--dask")
    with connected(address) as client:
        futures = client.map(partial(attempt, work=work), trials, pure=False, retries=0)
        trial_of = {future.key: trial for future, trial in zip(futures, trials, strict=True)}
        for future in distributed.as_completed(futures):
            fault = future.exception()
            if fault is None:
                yield future.result()
            else:
                yield Outcome(trial_of[future.key], error=_one_line(fault))
            future.release()


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The client of a Dask scheduler that has workers; within it, Dask computes there."""
    distributed = _import("distributed", "--dask")
    try:
        client = distributed.Client(address, timeout=SCHEDULER_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        reason = _one_line(error)
        raise ConfigError(f"no Dask scheduler answers at '{address}' ({reason})") from None
    with client:
        _wait_for_worker(client, address)
        yield client


def _wait_for_worker(client: Any, address: str) -> None:
    """ConfigError if a cluster has no workers: it would wait without an end."""
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        raise ConfigError(
            f"the Dask scheduler at '{address}' has no workers; start some: dask worker {address}"
        ) from None


def _import(name: str, what: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigError(
            f"{what} needs {name}; pip install temporal-gaussian-mixture[cluster]"
        ) from None


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
