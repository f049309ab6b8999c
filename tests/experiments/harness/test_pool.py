"""Many trials: the same results wherever they run, whatever fails on the way."""

import os
import signal
from dataclasses import replace

import pytest

from tgm.envs import load_maze
from tgm.errors import ConfigError
from tgm.experiments.comparison import make_trials
from tgm.experiments.harness import pool
from tgm.experiments.harness.pool import run_trials, usable_cores
from tgm.experiments.harness.trial import Trial, run_trial

MAZES = [load_maze("8"), load_maze("25")]


def fails_now_and_then(trial):
    """What may happen to a trial, by its seed."""
    if trial.seed == 0:  # the first: nothing is finished when its process dies
        os.kill(os.getpid(), signal.SIGKILL)
    if trial.seed == 3:
        raise ValueError("no\n  good")
    return run_trial(trial)


def without_seconds(outcomes):
    return {outcome.trial: replace(outcome.result, seconds=0.0) for outcome in outcomes}


@pytest.fixture(scope="module")
def trials():
    return make_trials(MAZES, ["dqn", "tgm", "oracle"], range(2), 100, check_every=50)


@pytest.fixture(scope="module")
def expected(trials):
    return without_seconds(run_trials(trials, run_trial))


def test_several_processes_give_the_same_results(trials, expected):
    some = [trial for trial in trials if trial.agent != "dqn"]  # the cluster has it: it loads long
    outcomes = list(run_trials(some, run_trial, jobs=2))
    assert len(outcomes) == len(some) > 2
    assert without_seconds(outcomes) == {trial: expected[trial] for trial in some}


def test_a_failure_and_a_killed_process_stop_nobody_else():
    trials = make_trials(MAZES[:1], ["random"], range(5), 400)
    outcomes = {o.trial.seed: o for o in run_trials(trials, fails_now_and_then, jobs=2)}
    assert sorted(outcomes) == [0, 1, 2, 3, 4]
    assert {seed for seed, outcome in outcomes.items() if outcome.result} == {1, 2, 4}
    assert "process died" in outcomes[0].error
    assert outcomes[3].error == "ValueError: no good"


def test_a_cluster_with_a_worker_killed_in_the_middle_gives_the_same_results(trials, expected):
    distributed = pytest.importorskip("distributed")
    # Two threads a worker: trials in one process must not disturb each other.
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        outcomes, killed = [], None
        for outcome in run_trials(trials, run_trial, dask=cluster.scheduler_address):
            outcomes.append(outcome)
            if killed is None:
                busy = {name: keys for name, keys in client.processing().items() if keys}
                pids = client.run(os.getpid)
                killed = next(iter(busy))
                os.kill(pids[killed], signal.SIGKILL)
        assert killed is not None
    assert [outcome.error for outcome in outcomes] == [None] * len(trials)
    assert len(outcomes) == len(trials)  # none twice
    assert without_seconds(outcomes) == expected


def test_no_scheduler_at_the_address():
    with pytest.raises(ConfigError, match="no Dask scheduler answers at 'nonsense://x'"):
        next(run_trials([Trial(MAZES[0], "random", 0, 10)], run_trial, dask="nonsense://x"))


def test_without_joblib_there_is_one_core_to_use(monkeypatch):
    import sys

    assert usable_cores() >= 1
    monkeypatch.setitem(sys.modules, "joblib", None)
    assert usable_cores() == 1


@pytest.mark.parametrize(("extra", "options"), [("joblib", {"jobs": 2}), ("distributed", {})])
def test_a_missing_extra_is_named(monkeypatch, extra, options):
    import sys

    monkeypatch.setitem(sys.modules, extra, None)
    dask = None if options else "tcp://127.0.0.1:1"
    with pytest.raises(ConfigError, match=rf"needs {extra}; pip install .*\[cluster\]"):
        next(run_trials([Trial(MAZES[0], "random", 0, 10)], run_trial, dask=dask, **options))


def test_a_cluster_without_workers_says_so(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(pool, "WORKER_SECONDS", 0.1)
    assert pool.SCHEDULER_SECONDS + 4.0 < 10.0  # what the user waits at most
    cluster = distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None)
    outcomes = run_trials(
        [Trial(MAZES[0], "random", 0, 10)], run_trial, dask=cluster.scheduler_address
    )
    with cluster, pytest.raises(ConfigError, match="has no workers; start some: dask worker inpro"):
        next(outcomes)
