"""The studies: their tables, their command lines, and going on where they stopped."""

import importlib
import json
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.envs import load_maze, random_maze
from tgm.experiments.baselines import OracleAgent
from tgm.experiments.changing_world.sweep import CHANGES
from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side
from tgm.experiments.harness import runner, study
from tgm.experiments.harness.trial import TrialResult, run_trial
from tgm.experiments.larger_worlds.sweep import oracle_steps
from tgm.experiments.noise.analysis import best_possible_error
from tgm.experiments.solving.analysis import summarise
from tgm.experiments.solving.sweep import SolvingSweep, tgm_trial

SMALL = {
    "solving": "--mazes 8 25 --seeds 2 --steps 100",
    "ablation": "--mazes 8 --seeds 1 --steps 60 --variants greedy softmax",
    "noise": "--maze 8 --seeds 1 --steps 30",
    "units": "--mazes 8 --seeds 1 --steps 30",
    "larger_worlds": "--kinds open --sides 3 4 --seeds 1 --first-seed 5",
    "changing_world": "--seeds 1",
    "long_run": "--maze 8 --seeds 1 --steps 1000",
    "dimension_erratum": "--maze 8 --points 60 --seeds 2",
    "finite_worlds": "--worlds cliff --seeds 2",
    "hidden_worlds": "--worlds cue-1 --seeds 1",
}
N_ROWS = {
    "solving": 2,
    "ablation": 2,
    "noise": 14,
    "units": 4,
    "larger_worlds": 2,
    "changing_world": 3,
    "long_run": 1,
    "dimension_erratum": 2,
    "finite_worlds": 1,
    "hidden_worlds": 1,
}


def run_command(name, flags, out, capsys):
    """The standard output of `python -m tgm.experiments.NAME`."""
    module = importlib.import_module(f"tgm.experiments.{name}")
    study.main(module.STUDY, [*flags.split(), "--jobs", "1", "--out", str(out)])
    return capsys.readouterr().out


@pytest.mark.parametrize("name", SMALL)
def test_a_study_prints_its_table_and_a_second_call_runs_nothing(
    name, tmp_path, capsys, monkeypatch
):
    # The table is the same however long the trials are; `test_a_moved_wall_is_noticed` runs one.
    monkeypatch.setattr("tgm.experiments.changing_world.sweep.CHANGE_AT", 300)
    monkeypatch.setattr("tgm.experiments.changing_world.sweep.WATCHED", 50)
    first = run_command(name, SMALL[name], tmp_path, capsys)
    table = [line for line in first.splitlines() if line.startswith("|")]
    assert len(table) == 2 + N_ROWS[name]
    files = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}

    def refuse(trials, *_, **__):
        assert not trials
        return iter(())

    monkeypatch.setattr(runner, "run_trials", refuse)
    assert run_command(name, SMALL[name], tmp_path, capsys) == first
    lines = run_command(name, SMALL[name] + " --json", tmp_path, capsys).splitlines()
    assert len(lines) == len(files)
    assert {json.dumps(json.loads(line)["trial"]) for line in lines} == {
        json.dumps(json.loads(data)["trial"]) for data in files.values()
    }
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json")} == files


def test_results_of_other_code_are_not_reused(tmp_path, capsys, monkeypatch):
    flags = "--mazes 8 25 --seeds 2 --steps 20"
    run_command("solving", flags, tmp_path, capsys)
    monkeypatch.setattr(study, "code_fingerprint", lambda: "changed")
    run_command("solving", flags, tmp_path, capsys)
    assert len(list((tmp_path / "solving" / "changed").iterdir())) == 4
    assert len(list(tmp_path.rglob("*.json"))) == 8


@pytest.mark.parametrize(
    ("name", "flags", "message"),
    [
        ("solving", "--seeds 0", "--seeds is 0; it must be above 0"),
        ("solving", "--mazes 72", "unknown maze '72'"),
        ("solving", "--mazes", "nothing to run"),
        ("ablation", "--variants none", "unknown variant 'none'; there are default"),
        ("finite_worlds", "--worlds sea", "unknown world 'sea'; there are lake-4x4"),
    ],
)
def test_flags_that_make_no_sense_are_one_line(name, flags, message, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        run_command(name, flags, tmp_path / "out", capsys)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", SMALL)
def test_no_flag_has_a_value_called_none(name, capsys):
    module = importlib.import_module(f"tgm.experiments.{name}")
    with pytest.raises(SystemExit):
        study.parse(module.STUDY, ["--help"])
    told = capsys.readouterr().out
    assert "--jobs N" in told
    assert "{None}" not in told


def test_a_study_with_a_failed_trial_says_so_and_keeps_the_others(tmp_path, capsys, monkeypatch):
    def fail(trial):
        if trial.seed == 1:
            raise ValueError("bad luck")
        return run_trial(trial)

    module = importlib.import_module("tgm.experiments.solving")
    broken = replace(module.STUDY, run=fail)
    flags = ["--mazes", "8", "--seeds", "2", "--steps", "20", "--jobs", "1"]
    with pytest.raises(SystemExit) as stop:
        study.main(broken, [*flags, "--out", str(tmp_path)])
    assert stop.value.code == "1 trials failed; call again to redo them"
    assert "maze 8, tgm, seed 1 failed: ValueError: bad luck" in capsys.readouterr().err
    assert len(list(tmp_path.rglob("*.json"))) == 1


def test_the_flags_of_the_solving_study_reach_its_trials():
    sweep = SolvingSweep(
        mazes=("8",), seeds=2, first_seed=7, steps=30, preset="paper", bandwidth=0.4
    )
    trials = sweep.trials()
    assert [trial.seed for trial in trials] == [7, 8]
    assert {(trial.agent, trial.settings) for trial in trials} == {
        ("tgm-paper", (("bandwidth", 0.4),))
    }


def test_a_table_row_says_never_if_one_run_never_solved():
    def pair(seed, solved_at):
        result = TrialResult(solved_at, -5.0, 0.0, None, 1, 8, True, 1.0, ())
        return tgm_trial("8", seed, 100), result

    row = summarise([pair(seed, at) for seed, at in enumerate((40, None, 60))])
    assert (row["solved"], row["median"], row["worst"], row["exact"]) == (2, 50.0, None, 3)
    assert row["steps_per_second"] == 100


def test_the_steps_of_the_oracle_do_not_depend_on_how_they_are_counted():
    maze = random_maze("perfect", 5, 5, seed=1)
    way = len(maze.shortest_path) - 1
    env = gym.make("tgm/Maze-v0", maze=maze, max_episode_steps=4 * way)
    steps = oracle_steps(env, way, seed=3)
    again = OracleAgent(env, seed=3).learn(steps - 10)
    assert again.way_length != way
    assert again.learn(10).way_length == way


@pytest.mark.parametrize("noise", [0.15, 0.35])
def test_the_best_possible_error_is_that_of_the_nearest_cell(noise):
    maze = load_maze("26")
    cells = np.array(maze.cells, dtype=float)
    rng = np.random.default_rng(0)
    truth = rng.integers(len(cells), size=200_000)
    seen = cells[truth] + noise * rng.normal(size=(len(truth), 2))
    nearest = ((seen[:, None] - cells) ** 2).sum(axis=-1).argmin(axis=1)
    assert best_possible_error(maze, noise) == pytest.approx((nearest != truth).mean(), abs=2e-3)


def test_a_moved_gap_changes_the_way():
    for before, after in CHANGES.values():
        assert (before.width, before.height) == (after.width, after.height)
        assert before.shortest_path != after.shortest_path


@pytest.mark.parametrize("maze", ["8", "25"])
def test_the_default_agent_solves_small_mazes_in_a_hundred_steps_or_so(maze):
    results = [run_trial(tgm_trial(maze, seed, 1500)) for seed in range(3)]
    assert all(r.solved_at is not None and r.solved_at <= 300 for r in results)
    assert all(result.is_exact for result in results)


def test_a_moved_wall_is_noticed():
    before, after = CHANGES["gap moves from 1 to 5"]
    env = gym.make("tgm/Maze-v0", maze=before, changes=[(1000, after)])
    agent = tgm.TGMAgent(env, tgm.TGMConfig(), seed=0).learn(1000)
    moves = []
    agent.learn(500, callback=lambda info: moves.extend(m.kind for m in info.moves))
    assert "change" in moves
    outcome = evaluate_side_by_side(agent, MazeWorld(after), 20, np.random.default_rng(0))
    assert outcome.solves(after)
