"""What the page is told is what the files say."""

import json

import gymnasium as gym
import numpy as np
import pytest
from safetensors.numpy import load_file

import tgm
from tgm.envs import EnvSpec, load_maze, random_maze
from tgm.errors import RunError
from tgm.files import write_arrays
from tgm.inspector import payload
from tgm.inspector.entries import world_name
from tgm.inspector.plain import to_bytes
from tgm.runs import Run, RunFolder
from tgm.runs.history import FORMAT
from tgm.runs.summary import summaries


def test_a_chunk_holds_the_arrays_of_its_file(run):
    for path in sorted((run.folder / "history").glob("*.safetensors")):
        sent = payload.chunk(run, int(path.stem))
        stored = load_file(path)
        assert set(sent) == set(stored) | {"first_step"}
        for name, array in stored.items():
            if name.startswith(("obs.", "full.", "kept.point", "kept.state")):
                np.testing.assert_allclose(
                    np.array(sent[name], dtype=float), array.ravel().astype(float), rtol=1e-6
                )
        # A frame for every change; the file leaves out those that follow from an observation.
        assert set(stored["frame.step"].tolist()) <= set(sent["frame.step"])
        whole = run.chunk(int(path.stem)).arrays
        for name, array in whole.items():
            assert len(sent[name]) == array.size


def test_a_chunk_that_would_grow_beyond_measure_is_refused(run, tmp_path):
    """Few bytes can stand for many: each observation adds a frame with a covariance."""
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(run.folder, folder)
    facts = json.loads((folder / "run.json").read_text())
    d, n, n_actions = 60, 6000, 5
    facts["interface"] |= {"n_features": d, "parts": [], "given_names": []}
    (folder / "run.json").write_text(json.dumps(facts))
    shapes = {"obs.point": (n, d), "component.mean": (1, d), "component.covariance": (1, d, d)}
    shapes |= {"full.q": (1, n_actions), "full.prior_mean": (1, d)}
    shapes |= {"full.prior_covariance": (1, d, d), "kept.point": (0, d), "prior.dof": (1,)}
    lengths = {"obs": n, "frame": 1, "component": 1, "full": 1}
    path = sorted((folder / "history").iterdir())[0]
    arrays = {}
    for name, old in load_file(path).items():
        shape = shapes.get(name, (lengths.get(name.split(".")[0], 0),))
        arrays[name] = np.zeros(shape, old.dtype)
    arrays["frame.is_full"][0], arrays["frame.n_components"][0] = True, 1
    arrays["component.weight"][0], arrays["prior.dof"][0] = 1.0, 1.0
    arrays["component.covariance"][0] = np.eye(d)
    arrays["obs.share"][:] = arrays["obs.weight"][:] = 1.0
    write_arrays(path, arrays, FORMAT, {"first_step": 0})
    assert path.stat().st_size < 10_000_000
    with pytest.raises(RunError, match="too large to be drawn"):
        payload.chunk(Run.open(folder), 0)


def test_a_chunk_of_many_states_is_sent(tmp_path):
    """What is counted are the numbers that are there, not those that there might be."""
    folder = tmp_path / "large"
    env = gym.make("tgm/Maze-v0", maze=random_maze("open", 16, 16, 0), max_episode_steps=300)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(), seed=0).learn(2500, run_dir=folder)
    assert agent.n_states > 200
    run = Run.open(folder)
    for step in run.chunk_steps():
        sent = json.loads(payload.chunk_bytes(run, step))
        assert sent == payload.chunk(run, step)
        assert sum(map(len, list(sent.values())[1:])) < payload.MOST_NUMBERS / 5


def test_a_chunk_that_is_not_there_is_refused(run):
    with pytest.raises(RunError, match="no history begins at step 7"):
        payload.chunk(run, 7)


def test_the_summary_tells_what_the_files_tell(run):
    summary = payload.summary(run)
    facts = json.loads((run.folder / "run.json").read_text())
    assert summary["config"]["gamma"] == facts["config"]["gamma"]
    assert summary["interface"]["action_names"] == facts["interface"]["action_names"]
    assert summary["interface"]["n_features"] == 2
    assert (summary["agent"], summary["world"], summary["seed"]) == ("tgm", "maze 8", 0)
    assert summary["state"] == "finished"
    assert summary["last_step"] == 1100
    assert summary["maze"]["grid"] == facts["world"]["maze"]["grid"]
    assert summary["maze"]["optimal_return"] == -5
    assert summary["chunks"] == run.chunk_steps()
    to_bytes(summary)


def test_the_plane_of_a_maze_shows_its_floor(run):
    plane = payload.summary(run)["plane"]
    cells = np.array(run.world.maze.cells)
    assert (np.array(plane["low"]) < cells.min(axis=0)).all()
    assert (np.array(plane["high"]) > cells.max(axis=0)).all()


def test_the_plane_of_many_features_is_that_of_their_principal_components(runs_folder):
    run = Run.open(runs_folder / "b-cart-pole")
    plane = payload.summary(run)["plane"]
    points = np.concatenate([run.chunk(first).arrays["obs.point"] for first in run.chunk_steps()])
    directions = np.array(plane["directions"])
    _, _, expected = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(np.sum(directions * expected[:2], axis=1)), 1.0, atol=1e-4)
    along = points @ directions.T
    np.testing.assert_allclose(plane["principal_low"], along.min(axis=0), rtol=1e-4)


def test_a_run_without_history_has_an_outline(runs_folder):
    run = Run.open(runs_folder / "a-dqn")
    summary, outline = payload.summary(run), payload.outline(run)
    assert summary["chunks"] == []
    assert summary["plane"] is None
    assert outline["agent"] == "dqn"
    assert outline["episodes"]["total_reward"][-1] == -10.0
    assert outline["optimal_return"] == -5


def test_the_outline_has_the_returns_of_the_log(run):
    outline = payload.outline(run)
    returns = [ended["total_reward"] for one in run.metrics() for ended in one["episodes"]]
    assert outline["episodes"]["total_reward"] == returns
    assert outline["states"]["n_states"][-1] == 8


def test_the_pulse_changes_when_the_run_grows(run, tmp_path):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(run.folder, folder)
    copy = Run.open(folder)
    before = payload.pulse(copy)
    assert payload.pulse(copy) == before
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 1101}\n')
    assert payload.pulse(copy) != before


def test_a_report_does_not_tell_where_the_run_is(run, tmp_path):
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(run.folder, folder)
    (folder / "result.json").write_text("{")
    for path in (folder / "history").iterdir():
        path.write_bytes(b"x")
    summary = payload.summary(Run.open(folder))
    titles = {finding["title"] for finding in summary["health"]}
    assert {"The run is broken", "The history cannot be read"} <= titles
    assert str(tmp_path) not in json.dumps(summary)


@pytest.mark.parametrize(
    ("world", "name"),
    [
        (None, "unknown"),
        ({"id": "CartPole-v1"}, "CartPole-v1"),
        ({"id": "tgm/Maze-v0", "maze": {"name": "27"}}, "maze 27"),
        ({"id": 3, "maze": {"name": []}}, "unknown"),
    ],
)
def test_the_name_of_a_world(world, name):
    assert world_name(world) == name


def test_page_and_command_line_agree_on_what_is_solved(tmp_path):
    maze = random_maze("perfect", 20, 20, 3)
    for name, world, mean_return, solved in (
        ("near", EnvSpec.of_maze(load_maze("8")), -5.0, True),
        ("far", EnvSpec.of_maze(maze, max_episode_steps=50), -50.0, False),
        ("old", EnvSpec("tgm/Maze-v0", maze, {}), -50.0, True),  # as an older version judged it
    ):
        folder = RunFolder.create(
            tmp_path / name, agent="dqn", world=world, seed=0, steps=10, config={}
        )
        folder.finish("finished", {"steps": 10, "mean_return": mean_return, "solved": solved})
    told = {one.name: one.solved for one in summaries(tmp_path)}
    assert told == {"near": True, "far": False, "old": False}
    for name, solved in told.items():
        run = Run.open(tmp_path / name)
        assert payload.summary(run)["solved"] is payload.outline(run)["solved"] is solved
    for name in ("far", "old"):
        summary = payload.summary(Run.open(tmp_path / name))
        assert summary["maze"]["optimal_return"] == -50
        assert "282 steps away and an episode has only 50" in summary["maze"]["unsolvable"]
        assert "The goal is out of reach" in [found["title"] for found in summary["health"]]
        assert payload.outline(Run.open(tmp_path / name))["optimal_return"] == -50
    assert payload.summary(Run.open(tmp_path / "near"))["maze"]["unsolvable"] == ""


class Robot(gym.Env):
    """An observation of named parts."""

    observation_space = gym.spaces.Dict(
        {"carrying": gym.spaces.Discrete(2), "position": gym.spaces.Box(0.0, 1.0, (2,))}
    )
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, False, {}


def test_parts_of_an_observation_keep_their_names(tmp_path):
    tgm.TGMAgent(Robot(), seed=0).learn(20, run_dir=tmp_path / "robot")
    named = payload.summary(Run.open(tmp_path / "robot"))
    assert named["interface"]["feature_names"] == ["carrying", "position[0]", "position[1]"]
    assert named["world"] == "Robot"
    assert named["flows"] is False
