"""bsuite: the adapter, trials that repeat, and scores by its own analysis."""

import json
import sys

import numpy as np
import pytest

from tgm.cli.main import main
from tgm.errors import ConfigError
from tgm.experiments.behaviour_suite import suite
from tgm.experiments.behaviour_suite.adapter import EnoughEpisodesError, FromDMEnv
from tgm.experiments.behaviour_suite.scoring import (
    Score,
    facts_of,
    mean_score,
    per_capability,
    published,
    scores_of,
    write_logs,
)
from tgm.experiments.behaviour_suite.trial import SuiteResult, SuiteTrial, run_suite_trial

pytest.importorskip("bsuite")


def test_twenty_experiments_are_known_and_three_left_out():
    known = suite.experiments()
    assert len(known) == 20
    assert sum(map(len, known.values())) == len(suite.ids_of(None)) == 408
    assert suite.ids_of(["deep_sea/3", "deep_sea/3"]) == ["deep_sea/3"]
    assert suite.ids_of(["memory"]) == [*known["memory_len"], *known["memory_size"]]
    assert not any(one.startswith("mnist") for one in suite.ids_of(["basic"]))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("cach", "did you mean 'catch'"),
        ("catch/20", "'catch' has the settings 0 to 19"),
        ("mnist", "downloads its data"),
        ("", "there are bandit"),
    ],
)
def test_unknown_experiments_are_answered(name, why):
    with pytest.raises(ConfigError, match=why):
        suite.ids_of([name])


def test_the_adapter_tells_ends_from_cuts_and_stops_after_its_episodes():
    env = FromDMEnv(suite.make("catch/0", 3), n_episodes=1)
    assert env.observation_space.shape == (10, 5)
    observation, _ = env.reset()
    assert observation in env.observation_space
    steps = [env.step(1)[1:4] for _ in range(9)]
    assert [end for _, end, _ in steps] == [False] * 8 + [True]
    assert not any(cut for _, _, cut in steps)
    assert abs(steps[-1][0]) == 1.0
    with pytest.raises(EnoughEpisodesError):
        env.reset()


class Cut:
    """A last step that says that more would have come."""

    observation, reward, discount = np.zeros((1, 2), np.float32), None, 0.9

    def last(self):
        return True


def test_a_last_step_with_a_discount_is_a_cut():
    env = FromDMEnv(suite.make("discounting_chain/0", 0))
    env.reset()
    env._env = type("Fake", (), {"step": lambda self, action: Cut()})()
    assert env.step(0)[1:4] == (0.0, False, True)


@pytest.mark.parametrize("one", ["catch/0", "catch_noise/19", "bandit_noise/7"])
def test_a_trial_repeats(one):
    trials = [SuiteTrial(one, agent, 12) for agent in ("random", "tgm")]
    for trial in trials:
        first, again = run_suite_trial(trial), run_suite_trial(trial)
        assert first.rows == again.rows
        assert first.rows[-1]["episode"] == 12
    assert run_suite_trial(SuiteTrial(one, "random", 12, seed=1)).rows != first.rows


def test_deep_sea_is_solved_and_scored_although_pandas_lost_a_call():
    trials = [SuiteTrial("deep_sea/0", agent, 120) for agent in ("tgm", "random")]
    solved, unsolved = (scores_of([(trial, run_suite_trial(trial))])[0] for trial in trials)
    assert (solved.score, unsolved.score) == (1.0, 0.0)
    assert (solved.settings, solved.n_settings, solved.is_whole) == (1, 21, False)
    assert solved.capabilities == ("exploration",)


def test_the_score_of_catch_is_that_of_its_regret(tmp_path):
    """bsuite takes 1.6 for the regret of a random policy."""
    rows = tuple({"episode": n, "total_regret": 0.4 * n, "steps": 9 * n} for n in (1, 10_000))
    trials = [
        (SuiteTrial(f"catch/{i}", "tgm", 10_000), SuiteResult(rows, 90_000, 1, 2.0, "abc"))
        for i in range(20)
    ]
    [score] = scores_of(trials)
    assert score.score == pytest.approx(1.0 - 0.4 / 1.6)
    assert (score.is_whole, score.seconds, score.steps) == (True, 40.0, 1_800_000)
    assert (score.episodes, score.n_episodes, score.codes) == (10_000, 10_000, ("abc",))
    assert score.by_setting == {str(i): pytest.approx(0.75) for i in range(20)}
    write_logs(tmp_path / "logs", trials)
    frame, _ = suite.load("bsuite.logging.csv_load").load_bsuite(str(tmp_path / "logs"))
    assert sorted(frame.bsuite_id.unique()) == sorted(f"catch/{i}" for i in range(20))


def test_means_over_experiments_and_capabilities():
    rest = (1, 1, True, 5, 5, 10, 1.0, {}, ())
    scores = [
        Score("a", ("noise", "scale"), 0.5, *rest),
        Score("b", ("noise",), 1.0, *rest),
        Score("c", ("memory",), None, *rest),
    ]
    assert per_capability(scores) == {"noise": 0.75, "scale": 0.5}
    assert (mean_score(scores), mean_score([])) == (0.75, None)
    assert published()["mean"]["DQN"] == 0.49


def test_the_mean_of_whole_experiments_leaves_first_looks_out():
    rows = ({"episode": 10_000, "total_regret": 800.0, "steps": 10_000},)
    result = SuiteResult(rows, 10_000, 1, 2.0, "abc")
    whole = [(SuiteTrial(f"bandit/{i}", "tgm", 10_000), result) for i in range(20)]
    look = [(SuiteTrial("catch/0", "tgm", 10_000), result)]
    facts = facts_of("tgm", [*whole, *look])
    assert facts["mean_of_whole"] == pytest.approx(1.0 - 0.08 / 0.5)
    assert facts["mean"] == pytest.approx((0.84 + 0.95) / 2)
    assert [row["is_whole"] for row in facts["experiments"]] == [True, False]
    assert facts_of("tgm", look)["mean_of_whole"] is None
    nearly = [(SuiteTrial("bandit/0", "tgm", 9_999), result), *whole[1:]]
    assert facts_of("tgm", nearly)["mean_of_whole"] is None


def test_the_command_continues_and_draws(capsys, tmp_path):
    names = ["bandit/0", "deep_sea/0", "umbrella_length/0", "catch/0"]
    arguments = ["bsuite", "--agent", "random", "--episodes", "5", "--jobs", "1"]
    arguments += ["--out", str(tmp_path), "--experiments", *names]
    assert main([*arguments]) == 0
    out = capsys.readouterr().out
    assert "mean of 4 experiments" in out
    assert "not the whole suite" in out
    assert "mnist" in out
    assert (tmp_path / "radar.png").read_bytes().startswith(b"\x89PNG")
    assert main([*arguments, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["finished_before"], facts["failed"]) == (4, [])
    assert [row["experiment"] for row in facts["experiments"]][:2] == ["bandit", "catch"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--experiments"], "--experiments is empty"),
        (["--experiments", "maze"], "unknown experiment 'maze'"),
        (["--episodes", "0"], "--episodes is 0"),
        (["--seed", "-1"], "--seed is -1"),
        (["--jobs", "1", "--dask", "tcp://x:1"], "give one"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, why, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["bsuite", *arguments]) == 2
    captured = capsys.readouterr()
    assert why in captured.err
    assert len(captured.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bsuite.sweep", None)
    with pytest.raises(ConfigError, match=r"pip install temporal-gaussian-mixture\[bsuite\]"):
        suite.ids_of(None)


def test_chance_follows_from_the_seed_where_bsuite_passes_none_on():
    def rewards(seed):
        env = suite.make("deep_sea_stochastic/0", seed)
        env.reset()
        return [env.step(step % 2).reward for step in range(60)]

    assert rewards(3) == rewards(3) != rewards(4)
