"""Promise 25, and runs whose episodes do not end: nothing that was recorded is lost in silence.

Run from the root of the repository: python -m campaigns.resuming [--count 60] [--only NAME]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from campaigns.common.endless import RING
from campaigns.common.lives import SETTINGS, quick
from campaigns.common.tally import Tally, complaint, report

import tgm
from tgm.cli.main import main as tgm_command
from tgm.runs import Run, RunRecorder, open_run, resume

NAMED = f"campaigns.common.endless:{RING}"
ROOT = Path(__file__).parent.parent
SHORT = 0.02  # seconds between checkpoints, for runs of a second
LEAVES_WITHIN = 2.0  # seconds after SIGTERM
SLACK = 1e-6  # between a model and what follows of it from the history


# --- kill -9 within an episode --------------------------------------------------------------------


def killed_within(n_kills: int, seed: int, folder: Path, n_more: int = 200) -> Tally:
    """Kill endless episodes at random moments and go on: no step before a checkpoint is lost."""
    rng = np.random.default_rng(seed)
    tally = Tally("6: kill -9 within an endless episode, resumed with all that was learned")
    for number in range(n_kills):
        path, settings = folder / str(number // 2), list(SETTINGS)[number // 2 % len(SETTINGS)]
        with tally.trial(f"{settings}, kill {number}"), quick():
            newest = max([step for step, _ in _checkpoints(path)], default=0)
            _kill(path, settings, newest, rng)
            steps = [step for step, _ in _checkpoints(path)]
            agent, told = resume(path, gym.make(RING))
            assert agent.n_steps == steps[-1] > newest, "what had a checkpoint is lost"
            assert [f"step {steps[-1]} lies within" in line for line in told] == [True], told
            if number % 2:  # twice is enough: let it end
                n_steps = Run.open(path).recorded_steps() + n_more
                _live(path, settings, n_steps)
                check_history(Run.open(path), n_steps)
    return tally


def _checkpoints(path: Path) -> list[tuple[int, Path]]:
    return Run.open(path).checkpoints() if path.exists() else []


def _kill(path: Path, settings: str, newest: int, rng: np.random.Generator) -> None:
    """Let a process live in the ring until it has written another checkpoint, and kill it."""
    pid = os.fork()
    if pid == 0:
        try:
            _live(path, settings, 10**9)
        finally:
            os._exit(1)
    try:
        deadline = time.monotonic() + 60.0
        while max([step for step, _ in _checkpoints(path)], default=0) <= newest:
            assert time.monotonic() < deadline, "no checkpoint came"
            time.sleep(0.01)
        time.sleep(0.2 * float(rng.random()))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _live(path: Path, settings: str, n_steps: int) -> None:
    """Begin or go on with a run in the endless ring, up to its end."""
    env = gym.make(RING)
    if path.exists():
        agent, _ = resume(path, env)
        recorder = open_run(agent, path, n_steps, SHORT)
    else:
        agent = tgm.TGMAgent(env, SETTINGS[settings], seed=1)
        recorder = RunRecorder.begin(agent, path, n_steps, checkpoint_seconds=SHORT)
    if agent.n_steps < n_steps:
        agent.learn(n_steps - agent.n_steps, run_dir=recorder)
    else:
        recorder.close("finished")


def check_history(run: Run, n_steps: int) -> None:
    """A finished run tells every step once, where episodes were broken off, and what is known."""
    status, agent = run.status(), run.agent()
    assert status.state == "finished", f"it is {status.state}: {status.reason}"
    assert agent.n_steps == n_steps == status.result["steps"]
    columns = [run.chunk_file(first).arrays for first in run.chunk_steps()]
    action, step = (
        np.concatenate([arrays[f"obs.{name}"] for arrays in columns]) for name in ("action", "step")
    )
    assert step[action >= 0].tolist() == list(range(1, n_steps + 1)), "a step is missing or double"
    lines = list(run.metrics())
    broken = [told["step"] for line in lines for told in line.get("broken_off", [])]
    assert broken == step[action < 0][1:].tolist(), "the metrics do not tell what was broken off"
    frame = run.frame_at(n_steps)
    assert frame.n_states == agent.n_states
    order = np.argsort(agent.state_ids)
    np.testing.assert_allclose(
        frame.means[np.argsort(frame.ids)], agent.means[order], rtol=SLACK, atol=SLACK
    )


# --- SIGTERM --------------------------------------------------------------------------------------


def terminated(n_trials: int, seed: int, folder: Path, seconds: float = LEAVES_WITHIN) -> Tally:
    """SIGTERM or Ctrl-C to a real `tgm train` in an endless world; then `--resume`."""
    rng = np.random.default_rng(seed)
    tally = Tally(f"6: SIGTERM in an endless episode: 130 within {seconds:g} s, nothing lost")
    for number in range(n_trials):
        path = folder / f"run-{number}"
        sign = signal.SIGINT if number % 3 == 2 else signal.SIGTERM
        slow = ["--env-args", "seconds=0.05"] if number % 2 else []
        with tally.trial(f"command {number}, {sign.name}"):
            words = ["train", "--env", NAMED, *slow, "--json"]
            process = _tgm(*words, "--steps", "1000000000", "--out", str(path))
            _wait_for_steps(path, process)
            time.sleep(float(rng.random()) * 0.3)
            asked = time.monotonic()
            process.send_signal(sign)
            _, told = process.communicate()
            took = time.monotonic() - asked
            assert process.returncode == 130, f"exit code {process.returncode}: {told}"
            # The first Ctrl-C waits up to a second for the episode to end.
            assert took <= seconds + (sign == signal.SIGINT), f"it took {took:.1f} s"
            _check_goes_on(path, told, by_command=not slow)
        shutil.rmtree(path, ignore_errors=True)
    return tally


def _check_goes_on(path: Path, told: str, *, by_command: bool) -> None:
    """The last line says how to go on; that goes on from the last step."""
    status = Run.open(path).status()
    steps = status.result["steps"]
    assert status.reason == "stopped within an episode", status
    assert Run.open(path).checkpoints()[-1][0] == steps > 0
    line = told.splitlines()[-1]
    again = line.removeprefix("tgm: interrupted; tgm ").split()
    assert again[1:3] == ["--resume", str(path)], line
    if by_command:
        process = _tgm(*again, "--steps", str(steps + 20), "--json", "--no-report")
        _, told = process.communicate()
        assert process.returncode == 0, told
    else:  # to evaluate it would take a quarter of an hour
        agent, lines = resume(path, gym.make(RING, seconds=0.05))
        agent.learn(20, run_dir=path)
        told = " ".join(lines)
    assert f"checkpoint of step {steps} lies within episode 1" in told, told
    assert Run.open(path).agent().n_steps == steps + 20


def _tgm(*arguments: str) -> subprocess.Popen[str]:
    paths = [str(ROOT), str(Path(tgm.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-m", "tgm.cli.main", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
    )


def _wait_for_steps(path: Path, process: subprocess.Popen[str], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists() or not Run.open(path).status().last:
        assert process.poll() is None, f"it ended with {process.returncode}"
        assert time.monotonic() < deadline, f"{path} does not grow"
        time.sleep(0.01)


# --- promise 25: refused by name ------------------------------------------------------------------

RESUMED = {
    "fewer steps": (["--steps", "150"], "at least 305, not 150"),
    "one step fewer": (["--steps", "304"], "at least 305, not 304"),
    "another discount": (["--gamma", "0.1"], "gamma is 0.1, not 0.99"),
    "another seed": (["--seed", "5"], "seed is 5, not 0"),
    "another preset": (["--preset", "paper"], "structure is"),
    "another maze": (["--maze", "10"], "rows of maze '10'"),
    "another environment": (["--env", "CartPole-v1"], "is 'CartPole-v1', not"),
    "another directory": (["--out", "elsewhere"], "do not give --out"),
}
NAMED_AGAIN = {
    "nothing named": ([], f"--env {NAMED} --env-args n_places=6"),
    "no options": (["--env", NAMED], "n_places is null, not 6"),
    "other options": (["--env", NAMED, "--env-args", "n_places=7"], "n_places is 7, not 6"),
    "another limit": (
        ["--env", NAMED, "--env-args", "n_places=6", "max_episode_steps=9"],
        "max_episode_steps is 9, not null",
    ),
    "another module": (
        ["--env", f"campaigns.resuming:{RING}", "--env-args", "n_places=6"],
        "the module is 'campaigns.resuming', not 'campaigns.common.endless'",
    ),
}


def refusals(folder: Path) -> Tally:
    """Ask for a shorter run, other settings or another world: a line says what, nothing changes."""
    tally = Tally("25: fewer steps, other settings, another world: refused by name, files the same")
    maze, ring = folder / "maze", folder / "ring"
    begin = ["--steps", "305", "--checkpoint-seconds", "0", "--no-report", "--json"]
    assert _command(["train", "--maze", "8", *begin, "--out", str(maze)])[0] == 0
    named = ["--env", NAMED, "--env-args", "n_places=6"]
    assert _command(["train", *named, *begin, "--out", str(ring)])[0] == 0
    for run, cases in ((maze, RESUMED), (ring, NAMED_AGAIN)):
        for name, (words, why) in cases.items():
            with tally.trial(name), _nothing_changes(run):
                code, told = _command(["train", "--resume", str(run), *words])
                assert code == 2, f"exit code {code}: {told}"
                assert why in told, told
                assert len(told.splitlines()) == 1, told
    for name, (act, why) in _calls(maze).items():
        with tally.trial(name), _nothing_changes(maze):
            told = complaint(act)
            assert why in told, f"it says {told!r}"
    return tally


def _calls(run: Path) -> dict[str, tuple[Callable[[], object], str]]:
    """The same from Python."""

    def other_world(**options: Any) -> Callable[[], object]:
        return lambda: resume(run, gym.make("tgm/Maze-v0", **options))

    def other_agent() -> object:
        env, config = gym.make("tgm/Maze-v0", maze="8"), tgm.TGMConfig(gamma=0.5)
        return tgm.TGMAgent(env, config, seed=0).learn(400, run_dir=run)

    return {
        "too few steps": (lambda: resume(run)[0].learn(1, run_dir=run), "at least 305"),
        "an agent of other settings": (other_agent, "gamma is 0.5, not 0.99"),
        "other rows": (other_world(maze="10"), "rows of maze '10'"),
        "other noise": (other_world(maze="8", noise=0.5), "noise is 0.5, not 0.15"),
        "another limit": (other_world(maze="8", max_episode_steps=9), "max_episode_steps is 9"),
    }


def _command(words: list[str]) -> tuple[int, str]:
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(io.StringIO()):
        code = tgm_command(words)
    return code, told.getvalue()


@contextlib.contextmanager
def _nothing_changes(folder: Path) -> Iterator[None]:
    before = _contents(folder)
    yield
    assert _contents(folder) == before, "files were changed"


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- the command ----------------------------------------------------------------------------------


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=60, help="kills, and half as many SIGTERMs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="kills, signals or refusals")
    asked = parser.parse_args()
    parts: dict[str, Callable[[Path], Tally]] = {
        "kills": lambda folder: killed_within(asked.count, asked.seed, folder),
        "signals": lambda folder: terminated(asked.count // 2, asked.seed, folder),
        "refusals": refusals,
    }
    tallies = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, part in parts.items():
            if asked.only in (None, name):
                (Path(temporary) / name).mkdir()
                tallies.append(part(Path(temporary) / name))
    return report(tallies)


if __name__ == "__main__":
    sys.exit(main())
