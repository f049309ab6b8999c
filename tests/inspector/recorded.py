"""Runs for the tests of the inspector, recorded by the real recorder."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import gymnasium as gym
import numpy as np

import tgm
from tgm.agent import EpisodeInfo
from tgm.agent.model_file import MODEL_FORMAT
from tgm.envs import EnvSpec, load_maze, random_maze
from tgm.experiments.hidden_worlds.environments import CueMaze
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


class Ring(gym.Env):
    """Six places in a ring; sixteen named sensors."""

    feature_names = tuple(f"sensor {letter}" for letter in "ABCDEFGHIJKLMNOP")
    action_names = ("clockwise", "back")
    observation_space = gym.spaces.Box(-20.0, 20.0, (16,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        """Begin at the first place."""
        super().reset(seed=seed)
        self.at = 0
        return self._look(), {}

    def step(self, action):
        """To the next place or the one before; the fourth ends the episode."""
        self.at = (self.at + (1, -1)[action]) % 6
        return self._look(), -1.0, self.at == 3, False, {}

    def _look(self):
        place = np.random.default_rng(self.at).normal(0.0, 2.0, 16)
        return (place + self.np_random.normal(0.0, 0.1, 16)).astype(np.float32)


def record_other_worlds(root: Path) -> Path:
    """Runs in FrozenLake, 16 features, places that look alike, and a maze of 1,024 cells."""
    for name, env, n_steps in (
        ("lake", gym.make("FrozenLake-v1"), 120),
        ("ring", Ring(), 120),
        ("hidden", CueMaze(2), 401),
    ):
        tgm.TGMAgent(env, tgm.TGMConfig(), seed=0).learn(n_steps, run_dir=root / name)
    record_large_maze(root / "large")
    return root


def record_large_maze(path: Path) -> Path:
    """A run in an open maze of 32 x 32 cells, with a state in each; its first step is late."""
    maze = random_maze("open", 32, 32, seed=0)
    names = ["right", "left", "up", "down", "eat"]
    return record_many_states(path, 1024, EnvSpec.of_maze(maze), names, first_step=12_000)


def record_many_states(
    path: Path,
    n_states: int,
    world: EnvSpec | None = None,
    action_names: Sequence[str] = tuple(f"action {index}" for index in range(5)),
    first_step: int = 0,
) -> Path:
    """A run of so many states, each of which leads to the next; only its end is recorded."""
    n_actions = len(action_names)
    interface = {"n_features": 2, "n_actions": n_actions, "first_action": 0}
    interface |= {"action_names": list(action_names)}
    folder = RunFolder.create(
        path,
        agent="tgm",
        world=world or EnvSpec("", is_whole=False),
        seed=0,
        steps=first_step + n_states,
        config={"gamma": 0.99, "structure": "evidence"},
        interface=interface,
    )
    last_step = first_step + n_states
    folder.append({"step": last_step, "episode": 1, "n_states": n_states}, [])
    folder.finish("finished", {"steps": last_step, "states": n_states})
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
    places = np.stack([states % side, states // side], axis=1) + 1.0
    arrays["obs.step"][:], arrays["obs.episode"][:] = first_step + np.arange(n_obs), 1
    arrays["obs.state"][:] = np.linspace(0, n_states - 1, n_obs).astype(int)
    arrays["obs.point"][:] = places[arrays["obs.state"]]
    arrays["frame.is_full"][0], arrays["frame.step"][0] = True, first_step + 1
    arrays["frame.n_obs"][0] = 1
    arrays["frame.n_components"][0], arrays["frame.n_rows"][0] = n_states, n_rows
    arrays["component.id"][:], arrays["component.mean"][:] = states, places
    arrays["component.weight"][:], arrays["component.covariance"][:] = 5.0, 0.02 * np.eye(2)
    arrays["row.state"][:] = np.repeat(states, n_actions)
    arrays["row.action"][:] = np.tile(np.arange(n_actions), n_states)
    arrays["row.visits"][:], arrays["row.reward"][:], arrays["row.n_next"][:] = 1.0, -1.0, 1
    reach = np.array([1, n_states - 1, side, n_states - side, 0])[arrays["row.action"] % 5]
    arrays["next.state"][:] = (arrays["row.state"] + reach) % n_states
    arrays["next.count"][:], arrays["prior.dof"] = 1.0, np.ones(1)
    write_arrays(path / "history" / f"{first_step:010d}.safetensors", arrays, history.FORMAT, {})
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
