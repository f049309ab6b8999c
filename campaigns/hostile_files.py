"""Promise 15: loading runs no code. Mutated files and hand-made attacks, under an audit hook.

Run from the root of the repository: python -m campaigns.hostile_files [--files 10000]
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import json
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from campaigns.common.attacks import ATTACKS
from campaigns.common.lives import SETTINGS, Life, quick
from campaigns.common.mutations import (
    encode,
    mutate_bytes,
    mutate_content,
    mutate_json,
    mutate_text,
)
from campaigns.common.tally import Tally, complaint, report
from campaigns.common.watch import Watch, bounded_memory

import tgm
from tgm.agent.model_file import MODEL_FORMAT
from tgm.cli.main import main as tgm_command
from tgm.envs import maze_names
from tgm.errors import TGMError
from tgm.files import read_arrays
from tgm.files.arrays import Arrays
from tgm.runs import Run, open_run, resume
from tgm.runs.history import FORMAT
from tgm.runs.resume import NO_CHECKPOINT
from tgm.runs.summary import summaries

SOUND = (  # settings, steps: auto twice, while it searches its scale and after
    ("default", 300),
    ("paper", 200),
    ("auto", 60),
    ("auto", 250),
    ("posterior sampling", 200),
    ("information gain", 150),
    ("half life", 200),
    ("softmax, seldom", 150),
)
N_LEARNED = 50  # steps that an accepted agent must be able to learn
COMMANDS = (
    ("runs", "{root}"),
    ("runs", "{root}", "--json"),
    ("evaluate", "{run}", "--episodes", "1"),
    ("structure", "{run}", "--json"),
    ("train", "--resume", "{run}", "--steps", "160", "--json"),
)


@dataclass(frozen=True, eq=False)
class SoundFile:
    """A file of arrays as it should be."""

    name: str
    format_name: str
    data: bytes
    arrays: Arrays
    facts: dict[str, Any]

    @classmethod
    def read(cls, name: str, path: Path, format_name: str) -> SoundFile:
        """From a file."""
        return cls(name, format_name, path.read_bytes(), *read_arrays(path, format_name))

    def mutated(self, rng: np.random.Generator) -> bytes:
        """Half of them damaged, half of them well-formed lies."""
        if rng.random() < 0.5:
            return mutate_bytes(self.data, rng)
        return encode_lie(self, rng)


def encode_lie(sound: SoundFile, rng: np.random.Generator) -> bytes:
    """A file with a checksum that fits, and content that does not."""
    arrays, facts = mutate_content(sound.arrays, sound.facts, rng)
    return encode(arrays, sound.format_name, facts)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Numbers may overflow in a model of absurd numbers; that is no news here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


# --- model files ----------------------------------------------------------------------------------


def sound_models(folder: Path) -> list[SoundFile]:
    """One model file of each kind."""
    models = []
    for settings, n_steps in SOUND:
        path = folder / "sound.tgm"
        Life(settings).agent().learn(n_steps).save(path)
        models.append(SoundFile.read(f"{settings}, {n_steps} steps", path, MODEL_FORMAT))
    return models


def mutated_models(n_files: int, seed: int, folder: Path) -> Tally:
    """Load mutated model files; those that are accepted must be fit to live with."""
    tally = Tally("15: mutated model files: refused by name, or fit to live with")
    models, env = sound_models(folder), gym.make("tgm/Maze-v0", maze="8")
    try_model(folder / "sound.tgm", models[-1].data, env)  # what is imported late is imported now
    n_accepted = 0
    for number in range(n_files):
        rng = np.random.default_rng([seed, number])
        model = models[number % len(models)]
        data = model.mutated(rng)
        with tally.trial(f"{model.name}, seed {seed}, file {number}"):
            n_accepted += try_model(folder / "mutated.tgm", data, env)
    print(f"{n_files} mutated model files: {n_accepted} accepted")
    return tally


def try_model(path: Path, data: bytes, env: gym.Env[Any, Any]) -> bool:
    """Load a file and, if it is accepted, use what it holds; whether it was."""
    path.write_bytes(data)
    with Watch.get().over(path.parent), silence():
        agents = []
        with bounded_memory(len(data)):
            complaint(lambda: agents.append(tgm.TGMAgent.load(path, env=env)))
        if not agents:
            return False
        try:
            use(agents[0])
        except TGMError:
            return False
    return True


def use(agent: tgm.TGMAgent) -> None:
    """Predict, explain, learn, save."""
    points = np.array([[0.0, 0.0], [1.0, 2.0]])
    agent.predict(points, deterministic=True)
    agent.predict(points[0])
    str(agent.explain(points[1]))
    for name in ("means", "covariances", "transition_matrix", "transition_counts"):
        getattr(agent, name)
    agent.learn(N_LEARNED)
    agent.predict(points[0])
    agent.learner.snapshot()
    agent.learner.to_arrays()


def sound_files(n_files: int, seed: int, folder: Path) -> Tally:
    """What an agent saves it can load, whatever it lived through; strictness must not bite it."""
    tally = Tally("15: sound model files, of noisy worlds too: accepted")
    rng = np.random.default_rng(seed)
    while tally.tried < n_files:
        name, maze = str(rng.choice(list(SETTINGS))), str(rng.choice(maze_names()))
        noise = float(rng.choice([0.0, 0.0, 0.1, 0.3, 0.6, 1.0]))
        env = gym.make("tgm/Maze-v0", maze=maze, noise=noise)
        agent = tgm.TGMAgent(env, SETTINGS[name], seed=int(rng.integers(1000)))
        for _ in range(min(6, n_files - tally.tried)):
            agent.learn(int(rng.integers(20, 250))).save(folder / "sound.tgm")
            what = f"{name}, maze {maze}, noise {noise}, seed {agent.seed}, step {agent.n_steps}"
            with tally.trial(what):
                again = tgm.TGMAgent.load(folder / "sound.tgm", env=env)
                np.testing.assert_array_equal(again.covariances, agent.covariances)
    return tally


# --- runs -----------------------------------------------------------------------------------------


def sound_runs(folder: Path) -> list[Path]:
    """Runs as they should be, one stopped and one finished."""
    paths = []
    for settings in ("default", "paper", "auto"):
        life = Life(settings, n_steps=150)
        with quick():
            life.live(folder / "sound" / settings)
        paths.append(folder / "sound" / settings)
    return paths


def mutated_runs(n_files: int, seed: int, folder: Path) -> Tally:
    """Change one file of a run; read, resume and command what is left."""
    tally = Tally("15: runs with a mutated file: read, resumed and commanded")
    runs = sound_runs(folder)
    warm_up(runs[0], folder / "copy" / "run")
    for number in range(n_files):
        rng = np.random.default_rng([seed, number, 1])
        path = folder / "mutated" / "run"
        shutil.copytree(runs[number % len(runs)], path)
        files = sorted(file for file in path.rglob("*") if file.is_file())
        file = files[rng.integers(len(files))]
        what = f"{runs[number % len(runs)].name}, {file.name}, seed {seed}, run {number}"
        with tally.trial(what):
            mutate_file(file, rng)
            if number % 4 == 3:
                _watched_command(path, number // 4 % len(COMMANDS))
            else:
                try_run(path)
        shutil.rmtree(path.parent)
    return tally


def warm_up(sound: Path, copy: Path) -> None:
    """Call the commands on a sound run, once: what is imported late is imported now."""
    if Watch.get().has_learned:
        return
    for index in range(len(COMMANDS)):
        shutil.copytree(sound, copy)
        with Watch.get().learning():
            call_command(copy, index)
        shutil.rmtree(copy)


def mutate_file(file: Path, rng: np.random.Generator) -> None:
    """Change a file of a run as its kind allows."""
    data = file.read_bytes()
    if file.suffix == ".safetensors":
        format_name = FORMAT if file.parent.name == "history" else MODEL_FORMAT
        mutated = SoundFile.read(file.name, file, format_name).mutated(rng)
    elif file.suffix == ".json" and rng.random() < 0.6:
        mutated = json.dumps(mutate_json(json.loads(data), rng)).encode()
    elif file.suffix == ".jsonl" and rng.random() < 0.6:
        lines = data.splitlines()
        place = int(rng.integers(len(lines)))
        lines[place] = json.dumps(mutate_json(json.loads(lines[place]), rng)).encode()
        mutated = b"\n".join(lines) + b"\n"
    else:
        mutated = mutate_text(data, rng)
    file.unlink()  # the final model and the newest checkpoint may be one file
    file.write_bytes(mutated)


def try_run(path: Path) -> None:
    """Everything that can be asked of a run; only errors of our own may come."""
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    with Watch.get().over(path.parent), silence(), bounded_memory(size):
        for ask in (_status, _metrics, _agent, _history, _go_on):
            with contextlib.suppress(TGMError):
                ask(path)


def _status(path: Path) -> None:
    for summary in summaries(path.parent):
        json.dumps(summary.to_dict(), allow_nan=False)


def _metrics(path: Path) -> None:
    for record in Run.open(path).metrics():
        assert isinstance(record, dict)


def _agent(path: Path) -> None:
    Run.open(path).agent().predict(np.zeros(2))


def _history(path: Path) -> None:
    run = Run.open(path)
    for first in run.chunk_steps():
        with contextlib.suppress(TGMError):
            chunk = run.chunk(first)
            for step in (first, chunk.last_step // 2, chunk.last_step):
                frame = run.frame_at(step)
                assert frame.transition_matrix.shape[1:] == (frame.n_states, frame.n_states)
    for _ in run.frames(50):
        pass


def _go_on(path: Path) -> None:
    agent, _ = resume(path)
    recorder = open_run(agent, path, agent.n_steps + 30, checkpoint_seconds=0)
    agent.learn(30, run_dir=recorder)


def call_command(path: Path, index: int) -> None:
    """`tgm ...`: an exit code, and one line if it is not 0."""
    words = [word.format(root=path.parent, run=path) for word in COMMANDS[index]]
    told = io.StringIO()
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(told),
        silence(),
    ):
        code = tgm_command(words)
    lines = [line for line in told.getvalue().splitlines() if not line.startswith("learning: ")]
    told_too = ("going on from an earlier checkpoint", NO_CHECKPOINT)
    passed_over = [line for line in lines if any(words in line for words in told_too)]
    assert code in (0, 1, 2), f"exit code {code}"
    assert "--debug shows where" not in told.getvalue(), told.getvalue()
    assert len(lines) - len(passed_over) <= 1, lines


# --- attacks --------------------------------------------------------------------------------------


def attacks(folder: Path, names: list[str] | None = None) -> Tally:
    """Files and runs that somebody made with ill will."""
    tally = Tally("15: hand-made attacks: nothing executed, nothing opened elsewhere")
    sound = sound_runs(folder)[0]
    warm_up(sound, folder / "copy" / "run")
    for name, attack in ATTACKS.items():
        if names is None or name in names:
            attempt(tally, name, attack, sound, folder)
    return tally


def attempt(
    tally: Tally,
    name: str,
    attack: Callable[[Path], None],
    sound: Path,
    folder: Path,
    commands: Iterable[int] = range(len(COMMANDS)),
) -> None:
    """One attack on a copy of a sound run, which is then read in every way."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "private.txt").write_text("private")
    path = folder / "attacked" / "run"

    def asked(ask: Callable[[Path], None]) -> None:
        shutil.copytree(sound, path)
        attack(path)
        try:
            ask(path)
            assert (outside / "private.txt").read_text() == "private", "it was overwritten"
            assert [file.name for file in outside.iterdir()] == ["private.txt"]
        finally:
            shutil.rmtree(path.parent)

    with tally.trial(name):
        asked(try_run)
        for index in commands:
            asked(functools.partial(_watched_command, index=index))
    shutil.rmtree(outside)


def _watched_command(path: Path, index: int) -> None:
    with Watch.get().over(path.parent):
        call_command(path, index)


def main() -> int:
    """Run the campaign, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000, help="mutated model files")
    parser.add_argument("--sound", type=int, default=1_000, help="files as they should be")
    parser.add_argument("--runs", type=int, default=2_000, help="runs with a mutated file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="models, sound, runs or attacks")
    asked = parser.parse_args()
    parts: dict[str, Callable[[Path], Tally]] = {
        "models": lambda folder: mutated_models(asked.files, asked.seed, folder),
        "sound": lambda folder: sound_files(asked.sound, asked.seed, folder),
        "runs": lambda folder: mutated_runs(asked.runs, asked.seed, folder),
        "attacks": attacks,
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
