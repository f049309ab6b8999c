"""A run directory holds what was learned, and says what is wrong with it when it does not."""

import json

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.envs import load_maze
from tgm.errors import ConfigError, RunError
from tgm.runs import Run, RunWriter
from tgm.runs.world import World


@pytest.fixture
def run(tmp_path):
    """A short run on maze 8 and its agent."""
    world = World.of_maze(load_maze("8"))
    agent = tgm.TGMAgent(world.make(), tgm.TGMConfig.paper(), seed=0)
    writer = RunWriter(tmp_path / "run", agent, world)
    agent.learn(300, callback=writer.record)
    writer.finish()
    return Run.open(tmp_path / "run"), agent


def test_the_final_agent_is_the_trained_one(run):
    stored, agent = run
    np.testing.assert_array_equal(stored.agent().means, agent.means)
    np.testing.assert_array_equal(stored.agent().transition_matrix, agent.transition_matrix)


def test_every_learning_step_left_a_record_and_a_snapshot(run):
    stored, agent = run
    records = list(stored.metrics())
    assert [record["step"] for record in records] == [100, 200, 300]
    snapshots = list(stored.snapshots())
    assert [step for step, _ in snapshots] == [100, 200, 300]
    assert [then.n_states for _, then in snapshots] == [record["n_states"] for record in records]
    assert records[-1]["n_states"] == agent.n_states


def test_the_world_is_kept_whole(run):
    stored, _ = run
    assert stored.world.maze.grid == load_maze("8").grid
    assert stored.world.make().unwrapped.maze.optimal_return == -5


def test_a_run_that_did_not_finish_gives_its_newest_snapshot(run):
    stored, _ = run
    (stored.folder / "model.safetensors").unlink()
    assert stored.agent().n_steps == 300


def test_a_half_written_last_line_is_not_read(run):
    stored, _ = run
    with (stored.folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 400')
    assert [record["step"] for record in stored.metrics()] == [100, 200, 300]


def test_a_broken_line_is_named(run):
    stored, _ = run
    with (stored.folder / "metrics.jsonl").open("a") as file:
        file.write("{step}\n")
    with pytest.raises(RunError, match=r"metrics.jsonl:4:2: "):
        list(stored.metrics())


def test_a_run_is_never_overwritten(run):
    stored, agent = run
    with pytest.raises(RunError, match="exists already"):
        RunWriter(stored.folder, agent, World.of_maze(load_maze("8")))


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="not a run"):
        Run.open(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(RunError, match="cannot be read"):
        Run.open(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"schema": 99}))
    with pytest.raises(RunError, match="schema 99; this version reads 1"):
        Run.open(tmp_path)


def test_a_files_word_imports_no_module():
    with pytest.raises(RunError, match="names a module to import"):
        World.from_dict({"id": "antigravity:Maze-v0"})


@pytest.mark.parametrize("values", [None, {}, {"id": 3}, {"id": "tgm/Maze-v0", "maze": "8"}])
def test_a_broken_world_is_refused(values):
    with pytest.raises(RunError):
        World.from_dict(values)


def test_an_unknown_environment_is_refused_by_name():
    with pytest.raises(ConfigError, match="Nowhere-v0"):
        World.of_environment("Nowhere-v0")
    assert isinstance(World.of_environment("CartPole-v1").make(), gym.Env)
