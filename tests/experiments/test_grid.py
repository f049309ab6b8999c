"""Many trials: the same results wherever they run, whatever fails on the way."""

import os
import signal
from dataclasses import replace

import pytest

from tgm.envs import load_maze
from tgm.errors import ConfigError
from tgm.experiments.comparison import compare, make_trials
from tgm.experiments.grid import run_trials, usable_cores
from tgm.experiments.trial import Trial, run_trial
from tgm.experiments.trial_store import TrialStore

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
    return make_trials(MAZES, ["dqn", "tgm", "oracle"], range(2), 200, check_every=50)


@pytest.fixture(scope="module")
def expected(trials):
    return without_seconds(run_trials(trials))


def test_several_processes_give_the_same_results(trials, expected):
    outcomes = list(run_trials(trials, jobs=2))
    assert len(outcomes) == len(trials)
    assert without_seconds(outcomes) == expected


def test_a_failure_and_a_killed_process_stop_nobody_else():
    trials = make_trials(MAZES[:1], ["random"], range(5), 400)
    outcomes = {o.trial.seed: o for o in run_trials(trials, jobs=2, work=fails_now_and_then)}
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
        for outcome in run_trials(trials, dask=cluster.scheduler_address):
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
        next(run_trials([Trial(MAZES[0], "random", 0, 10)], dask="nonsense://x"))


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
        next(run_trials([Trial(MAZES[0], "random", 0, 10)], dask=dask, **options))


def test_a_second_comparison_runs_what_is_left(tmp_path):
    store = TrialStore(tmp_path)
    ran = []

    def work(trial):
        ran.append(trial)
        if trial.seed == 1 and len(ran) < 3:
            raise ValueError("bad luck")
        return run_trial(trial)

    trials = make_trials(MAZES, ["random"], range(2), 50)
    first = compare(trials[:2], store, work=work)
    assert [outcome.trial.seed for outcome in first.failures] == [1]
    assert [row["seed"] for row in first.rows] == [0]
    kept = store.path(trials[0]).read_bytes()
    told = []
    second = compare(trials, store, work=work, on_outcome=told.append)
    assert [outcome.trial for outcome in told] == trials  # those from before too
    assert (second.n_before, second.failures) == (1, [])
    assert ran == [*trials[:2], *trials[1:]]
    assert store.path(trials[0]).read_bytes() == kept
    assert [(row["maze"], row["seed"]) for row in second.rows] == [
        ("8", 0),
        ("8", 1),
        ("25", 0),
        ("25", 1),
    ]


def test_an_interrupted_comparison_keeps_what_was_finished(tmp_path):
    store = TrialStore(tmp_path)

    def work(trial):
        if trial.seed == 2:
            raise KeyboardInterrupt
        return run_trial(trial)

    trials = make_trials(MAZES[:1], ["random"], range(4), 50)
    with pytest.raises(KeyboardInterrupt):
        compare(trials, store, work=work)
    assert [trial.seed for trial, _ in store.trials()] == [0, 1]
    assert (tmp_path / "results.csv").read_text().count("\n") == 3
    assert compare(trials, store).n_before == 2


def test_the_slow_agents_begin(tmp_path):
    order = []
    trials = make_trials(MAZES[:1], ["random", "a2c", "oracle"], range(1), 20)
    compare(trials, TrialStore(tmp_path), on_outcome=lambda o: order.append(o.trial.agent))
    assert order == ["a2c", "random", "oracle"]


def test_two_mazes_of_one_name_are_refused():
    namesake = replace(MAZES[1], name="8")
    with pytest.raises(ConfigError, match="two mazes are called '8'"):
        make_trials([MAZES[0], namesake], ["random"], range(1), 10)
    assert len(make_trials([MAZES[0]] * 2, ["random"] * 2, range(3), 10)) == 3
