"""Runs for the tests of the inspector, recorded by the real recorder."""

import contextlib
from pathlib import Path
from unittest import mock

import gymnasium as gym
import numpy as np

import tgm
from tgm.agent import EpisodeInfo
from tgm.agent.model_file import MODEL_FORMAT
from tgm.envs import EnvSpec, load_maze
from tgm.files import write_arrays
from tgm.runs import RunFolder, history
from tgm.runs.chunk import COLUMNS


def in_short_chunks() -> contextlib.AbstractContextManager[object]:
    """Within it, the history of a run is written in pieces of 500 steps, not of 5,000."""
    return mock.patch.object(history, "CHUNK_STEPS", 500)


def record_maze(
    path: Path, maze: str, n_steps: int, preset: str = "default", seed: int = 0
) -> Path:
    """A run of ours in a maze."""
    env = gym.make("tgm/Maze-v0", maze=maze)
    agent = tgm.TGMAgent(env, tgm.TGMConfig.preset(preset), seed=seed)
    agent.learn(n_steps, run_dir=path)
    return path


def record_cart_pole(path: Path, n_steps: int) -> Path:
    """A run with four features and no map."""
    tgm.TGMAgent(gym.make("CartPole-v1"), tgm.TGMConfig(), seed=0).learn(n_steps, run_dir=path)
    return path


def record_many_states(path: Path, n_states: int, n_actions: int = 5) -> Path:
    """A run of so many states, each of which leads to the next; only its end is recorded."""
    interface = {"n_features": 2, "n_actions": n_actions, "first_action": 0}
    interface |= {"action_names": [f"action {index}" for index in range(n_actions)]}
    folder = RunFolder.create(
        path,
        agent="tgm",
        world=EnvSpec("", is_whole=False),
        seed=0,
        steps=n_states,
        config={"gamma": 0.99, "structure": "evidence"},
        interface=interface,
    )
    folder.append({"step": n_states, "episode": 1, "n_states": n_states}, [])
    folder.finish("finished", {"steps": n_states, "states": n_states})
    n_rows, n_obs, states = n_states * n_actions, 100, np.arange(n_states)
    lengths = {"obs": n_obs, "frame": 1, "component": n_states, "row": n_rows, "next": n_rows}
    widths = {"": (), "d": (2,), "dd": (2, 2), "A": (n_actions,)}
    arrays = {
        name: np.zeros(
            ((lengths | {"full": n_states}).get(name.split(".")[0], 0), *widths[shape]), dtype
        )
        for name, (dtype, shape) in COLUMNS.items()
    }
    side = int(np.ceil(np.sqrt(n_states)))
    places = np.stack([states % side, states // side], axis=1).astype(float)
    arrays["obs.step"][:], arrays["obs.episode"][:] = np.arange(n_obs), 1
    arrays["obs.point"][:] = places[np.linspace(0, n_states - 1, n_obs).astype(int)]
    arrays["frame.is_full"][0], arrays["frame.step"][0], arrays["frame.n_obs"][0] = True, 1, 1
    arrays["frame.n_components"][0], arrays["frame.n_rows"][0] = n_states, n_rows
    arrays["component.id"][:], arrays["component.mean"][:] = states, places
    arrays["component.weight"][:], arrays["component.covariance"][:] = 5.0, 0.02 * np.eye(2)
    arrays["row.state"][:] = np.repeat(states, n_actions)
    arrays["row.action"][:] = np.tile(np.arange(n_actions), n_states)
    arrays["row.visits"][:], arrays["row.reward"][:], arrays["row.n_next"][:] = 1.0, -1.0, 1
    reach = np.array([1, n_states - 1, side, n_states - side, 0])[arrays["row.action"] % 5]
    arrays["next.state"][:] = (arrays["row.state"] + reach) % n_states
    arrays["next.count"][:], arrays["prior.dof"] = 1.0, np.ones(1)
    write_arrays(path / "history" / "0000000000.safetensors", arrays, history.FORMAT, {})
    write_arrays(path / "model.safetensors", {}, MODEL_FORMAT, {})
    return path


def record_returns(path: Path, agent: str = "dqn", maze: str = "8", seed: int = 0) -> Path:
    """A run of another agent, of which only the returns are known."""
    world = EnvSpec.of_maze(load_maze(maze))
    folder = RunFolder.create(path, agent=agent, world=world, seed=seed, steps=1000, config={})
    for episode in range(1, 21):
        ended = EpisodeInfo(episode, 50 * episode, -50.0 + 2 * episode, 50, episode > 10)
        folder.append({"step": 50 * episode, "episode": episode}, [ended])
    folder.finish("finished", {"steps": 1000, "mean_return": -12.0, "solved": False})
    return path
