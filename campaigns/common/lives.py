"""Short runs that can be lived again and again, in this process or in one that may be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import gymnasium as gym

import tgm
from tgm.runs import Run, RunRecorder, open_run, resume

SETTINGS: dict[str, tgm.TGMConfig] = {
    "default": tgm.TGMConfig(),
    "paper": tgm.TGMConfig.paper(learn_every=40),
    "auto": tgm.TGMConfig(bandwidth="auto"),
    "posterior sampling": tgm.TGMConfig(exploration="posterior_sampling"),
    "information gain": tgm.TGMConfig(exploration="information_gain"),
    "softmax, seldom": tgm.TGMConfig(exploration="softmax", learn_every=7),
    "epsilon greedy": tgm.TGMConfig(exploration="epsilon_greedy", epsilon_decay=100.0),
    "greedy": tgm.TGMConfig(exploration="greedy"),
    "half life": tgm.TGMConfig(half_life=150.0),
    "paper, softmax": tgm.TGMConfig.paper(learn_every=50, exploration="softmax", forget=False),
}


@dataclass(frozen=True)
class Life:
    """A run that was never stopped follows from these alone."""

    settings: str = "default"
    maze: str = "8"
    seed: int = 7
    n_steps: int = 400

    @property
    def name(self) -> str:
        """For a table."""
        return f"{self.settings}, maze {self.maze}, seed {self.seed}"

    def agent(self) -> tgm.TGMAgent:
        """Who will live it."""
        env = gym.make("tgm/Maze-v0", maze=self.maze)
        return tgm.TGMAgent(env, SETTINGS[self.settings], seed=self.seed)

    def begin(self, folder: Path) -> tuple[tgm.TGMAgent, RunRecorder]:
        """A new run with a checkpoint after every episode."""
        agent = self.agent()
        return agent, RunRecorder.begin(agent, folder, self.n_steps, checkpoint_seconds=0)

    def live(self, folder: Path) -> None:
        """Begin the run in `folder`, or go on with it, up to its end."""
        if not folder.exists():
            agent, recorder = self.begin(folder)
        elif Run.open(folder).status().state == "finished":
            return
        else:
            agent, _ = resume(folder)
            recorder = open_run(agent, folder, self.n_steps, checkpoint_seconds=0)
        if agent.n_steps < self.n_steps:
            agent.learn(self.n_steps - agent.n_steps, run_dir=recorder)
        else:
            recorder.close("finished")


@contextlib.contextmanager
def quick() -> Iterator[None]:
    """Several chunks in a short run, and no waiting: not for other lines, nor for the disk."""
    with (
        mock.patch("tgm.runs.history.CHUNK_STEPS", 150),
        mock.patch("tgm.runs.folder.FLUSH_SECONDS", 0.0),
        mock.patch("os.fsync"),
    ):
        yield


def files_of(folder: Path) -> dict[str, bytes]:
    """All that a finished run leaves: its model, metrics, history and the last two checkpoints."""
    paths = [folder / "metrics.jsonl", folder / "model.safetensors"]
    paths += sorted((folder / "history").iterdir())
    paths += sorted((folder / "checkpoints").iterdir())[-2:]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def check_same(folder: Path, whole: dict[str, bytes]) -> None:
    """The run in `folder` is finished, and its files are those of `whole`."""
    status = Run.open(folder).status()
    assert status.state == "finished", f"it is {status.state} ({status.reason})"
    found = files_of(folder)
    assert found.keys() == whole.keys(), f"it has {sorted(found.keys() ^ whole.keys())} or not"
    differing = [name for name in whole if found[name] != whole[name]]
    assert not differing, f"{', '.join(differing)} differ from those of a run that never stopped"


def in_child(work: Callable[[], object], kill_after: float | None = None) -> int:
    """Do `work` in a process of its own: 0, 1 if it raised, 130 for Ctrl-C, -9 if it was killed."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except KeyboardInterrupt:
            code = 130
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
