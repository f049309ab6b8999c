"""A comparison: it goes on where it stopped, and keeps what was finished."""

from dataclasses import replace

import pytest

from tgm.envs import load_maze
from tgm.envs.registry import registered_env
from tgm.errors import ConfigError
from tgm.experiments.comparison import compare, make_trials
from tgm.experiments.comparison.trial_store import TrialStore
from tgm.experiments.harness.trial import run_trial

MAZES = [load_maze("8"), load_maze("25")]


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


def test_opponents_train_for_the_steps_that_their_settings_were_published_for():
    """The others, and worlds without published settings, get the steps that were asked for."""
    specs = [registered_env("CartPole-v1"), registered_env("FrozenLake-v1"), MAZES[0]]
    agents = ["tgm", "dqn", "ppo"]
    trials = make_trials(specs, agents, [3], 3000, as_published=True)
    steps = {(trial.world, trial.agent): trial.steps for trial in trials}
    assert [steps["CartPole-v1", agent] for agent in agents] == [3000, 50_000, 100_000]
    assert {steps[world, agent] for world in ("FrozenLake-v1", "8") for agent in agents} == {3000}
    assert {trial.steps for trial in make_trials(specs, agents, [3], 3000)} == {3000}
