"""The folder of a comparison: nothing is overwritten, nothing is half there, order is fixed."""

import json
from dataclasses import replace

import pytest

from tgm.envs import Maze, load_maze, random_maze
from tgm.errors import ConfigError, RunError
from tgm.experiments.comparison.trial_store import TrialStore, read_csv
from tgm.experiments.harness.trial import Check, Trial, TrialResult

CORRIDOR = Maze("corridor", ("#####", "#S.G#", "#####"))
TRIAL = Trial(CORRIDOR, "random", 0, 20)
RESULT = TrialResult(
    solved_at=None,
    final_return=-12.25,
    regret=3.0,
    recent_reward=None,
    n_episodes=0,
    n_states=4,
    is_exact=True,
    seconds=0.5,
    checks=(Check(10, -50.0, None), Check(20, -12.25, -3.5)),
)


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_what_is_added_is_found_again(tmp_path):
    store = TrialStore(tmp_path / "new" / "folder")
    assert store.find(TRIAL) is None
    store.add(TRIAL, RESULT)
    assert store.find(TRIAL) == RESULT
    assert list(store.trials()) == [(TRIAL, RESULT)]
    for other in (replace(TRIAL, seed=1), replace(TRIAL, steps=21), replace(TRIAL, agent="tgm")):
        assert store.find(other) is None
    assert len(files_of(tmp_path)) == 1  # no temporary file is left


def test_a_finished_trial_is_never_overwritten(tmp_path):
    store = TrialStore(tmp_path)
    store.add(TRIAL, RESULT)
    before = store.path(TRIAL).read_bytes()
    store.add(TRIAL, replace(RESULT, final_return=0.0))
    assert store.path(TRIAL).read_bytes() == before
    assert len(files_of(tmp_path)) == 1


def test_another_trial_under_the_same_name_is_refused(tmp_path):
    store = TrialStore(tmp_path)
    store.add(TRIAL, RESULT)
    longer = Maze("corridor", ("######", "#S..G#", "######"))
    for other in (
        replace(TRIAL, maze=longer),
        replace(TRIAL, check_every=5),
        replace(TRIAL, noise=0.2),
        replace(TRIAL, max_episode_steps=20),
    ):
        with pytest.raises(ConfigError, match="another trial"):
            store.find(other)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 1}', '{"schema": 2}'])
def test_a_broken_file_is_named(tmp_path, text):
    store = TrialStore(tmp_path)
    store.add(TRIAL, RESULT)
    store.path(TRIAL).write_text(text)
    with pytest.raises(RunError, match=r"seed-0-steps-20\.json: not the file of a trial"):
        store.find(TRIAL)


def test_a_file_with_a_measure_missing_is_named(tmp_path):
    store = TrialStore(tmp_path)
    store.add(TRIAL, RESULT)
    facts = json.loads(store.path(TRIAL).read_text())
    del facts["result"]["n_states"]
    store.path(TRIAL).write_text(json.dumps(facts))
    with pytest.raises(RunError, match="n_states"):
        list(store.trials())


def test_the_tables_do_not_depend_on_the_order_of_arrival(tmp_path):
    trials = [
        Trial(load_maze(maze), agent, seed, steps)
        for maze in ("8", "10")
        for agent in ("oracle", "random")
        for steps in (20, 100)
        for seed in (2, 10)
    ]
    for folder, order in (("one", trials), ("two", trials[::-1])):
        store = TrialStore(tmp_path / folder)
        for trial in order:
            store.add(trial, replace(RESULT, regret=float(trial.seed)))
        store.write_tables()
    for name in ("results.csv", "curves.csv"):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in ("one", "two"))
        assert one == two
    rows = read_csv(tmp_path / "one" / "results.csv")
    assert [(row["maze"], row["agent"], row["steps"], row["seed"]) for row in rows] == [
        (trial.maze.name, trial.agent, trial.steps, trial.seed) for trial in trials
    ]
    assert len(read_csv(tmp_path / "one" / "curves.csv")) == 2 * len(trials)


def test_a_table_keeps_its_values(tmp_path):
    store = TrialStore(tmp_path)
    store.add(TRIAL, RESULT)
    store.write_tables()
    assert read_csv(tmp_path / "results.csv") == [
        {
            "maze": "corridor",
            "agent": "random",
            "seed": 0,
            "steps": 20,
            "noise": 0.15,
            "max_episode_steps": 50,
            "solved_at": None,
            "final_return": -12.25,
            "optimal_return": -1.0,
            "solved_return": -1.5,
            "regret": 3.0,
            "recent_reward": None,
            "n_episodes": 0,
            "n_states": 4,
            "true_states": 3,
            "is_exact": True,
            "seconds": 0.5,
        }
    ]
    curves = read_csv(tmp_path / "curves.csv")
    assert [row["greedy_return"] for row in curves] == [-50.0, -12.25]
    assert [row["recent_reward"] for row in curves] == [None, -3.5]


def test_a_trial_of_an_older_version_had_fifty_steps_and_is_not_solved_beyond_them(tmp_path):
    store = TrialStore(tmp_path)
    far = Trial(random_maze("perfect", 20, 20, 3), "random", 0, 20)
    for trial in (TRIAL, far):
        store.add(trial, replace(RESULT, solved_at=10))
        facts = json.loads(store.path(trial).read_text())
        del facts["trial"]["noise"], facts["trial"]["max_episode_steps"]
        store.path(trial).write_text(json.dumps(facts))
    assert store.find(TRIAL).solved_at == 10
    assert store.find(far).solved_at is None
    with pytest.raises(ConfigError, match="episode limit"):
        store.find(replace(far, max_episode_steps=1128))


def test_a_maze_with_an_odd_name_stays_in_the_folder(tmp_path):
    store = TrialStore(tmp_path / "out")
    odd = replace(TRIAL, maze=replace(CORRIDOR, name="../../up and away"))
    store.add(odd, RESULT)
    assert store.find(odd) == RESULT
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(ConfigError, match="is a file"):
        TrialStore(tmp_path / "out")
