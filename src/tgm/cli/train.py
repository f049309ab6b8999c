"""`tgm train`: train an agent in an environment and keep what it learned."""

from __future__ import annotations

import argparse
import contextlib
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import tyro

from tgm.agent import TGMAgent, TGMConfig
from tgm.cli.flags import Switch, optional
from tgm.cli.maze_flags import MazeFlags, warn_of_limit
from tgm.cli.output import say
from tgm.cli.stopping import stop_with_checkpoint
from tgm.cli.train_outcome import Outcome
from tgm.cli.waiting import busy
from tgm.config import Preset
from tgm.envs import EnvRequest, EnvSpec, make_env
from tgm.envs.registry import must_be_named
from tgm.errors import ConfigError, FailedRunError, TGMError
from tgm.files.atomic import unique_temporary_name
from tgm.runs import Run, RunRecorder, open_run, resume
from tgm.runs.admission import check_steps, environment_of, setting_differences
from tgm.runs.folder import begin_in_free
from tgm.runs.timing import CHECKPOINT_SECONDS

DEFAULT_STEPS = 5000
RUNS = Path("runs")
INTERRUPTED = 130


@dataclass(frozen=True)
class Train:
    """Train an agent, draw what it learned, and leave a run directory."""

    maze: Annotated[str | None, optional("MAZE", "(default: 27, unless --env is given)")] = None
    """Maze to train in: a name from `tgm mazes`, or the path of a maze file."""

    env: Annotated[str | None, optional("ID")] = None
    """Any other registered Gymnasium environment, by its id; module:id imports the module first."""

    env_args: Annotated[tuple[str, ...], optional("[NAME=VALUE ...]")] = ()
    """Arguments of --env; a value is JSON (8, 0.5, true) or text. The run keeps them."""

    steps: Annotated[
        int | None, optional("STEPS", "(default: 5000; with --resume, as many as were planned)")
    ] = None
    """Environment steps in all; never fewer than are recorded."""

    maze_flags: Annotated[MazeFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=MazeFlags)
    """Noise and time limit of the maze."""

    seed: int = 0
    """Seed of everything random: agent and environment."""

    preset: Preset = "default"
    """Settings to start from: those of this package, or the published procedure."""

    out: Annotated[Path | None, optional("DIR", "(default: a new one under runs/)")] = None
    """Directory of the run; it must not exist."""

    resume: Annotated[Path | None, optional("RUN")] = None
    """Run to continue from its newest checkpoint, as if it had never stopped. Its environment,
    seed and settings stay as they are; other ones are refused."""

    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints. They are written between episodes (0: after each); if
    no episode ends for five times as long, within one."""

    tensorboard: Annotated[Path | None, optional("DIR")] = None
    """Directory for TensorBoard's event files, beside the run directory."""

    report: bool = True
    """Write report.html into the run, if the inspector is installed."""

    json: Switch = False
    """Print one JSON object instead."""

    config: Annotated[TGMConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=TGMConfig)
    """Settings of the agent; the defaults are those of the preset."""

    opened: Annotated[Run | None, tyro.conf.Fixed, tyro.conf.Suppress] = None
    """The run of --resume, whose run.json the defaults were read from; not an argument."""

    @classmethod
    def defaults(cls, arguments: list[str]) -> Train:
        """The defaults of all flags, given the arguments: those of the preset or of the run.

        With --resume and no preset they are the settings of the run, so that a setting which
        differs from them was given by the user.
        """
        parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
        parser.add_argument("--preset")
        parser.add_argument("--resume", type=Path)
        try:
            asked = parser.parse_known_args(arguments)[0]
        except (argparse.ArgumentError, SystemExit):
            return cls()  # tyro reports the error
        preset = asked.preset if asked.preset in get_args(Preset) else "default"
        config, seed, opened = TGMConfig.preset(preset), cls.seed, None
        if asked.resume is not None:
            with contextlib.suppress(TGMError, TypeError):  # reported when the run is opened
                opened = Run.open(_run_folder(asked.resume))
                seed = opened.metadata["seed"]
                if asked.preset is None:
                    config = TGMConfig.from_dict(opened.metadata["config"])
        return cls(config=config, seed=seed, opened=opened)

    def run(self) -> int:
        """Train, evaluate, print the outcome, and return the exit code."""
        self._check_numbers()
        writers = []
        if self.tensorboard is not None:
            from tgm.runs.tensorboard import TensorBoardWriter

            writers.append(TensorBoardWriter(self.tensorboard))
        agent, recorder, n_steps = self._begin() if self.resume is None else self._continue()
        began = time.perf_counter()
        if n_steps == 0:  # it was stopped after its last step
            recorder.close("finished")
        else:
            try:
                with stop_with_checkpoint(recorder):
                    agent.learn(n_steps, callback=writers, progress_bar=True, run_dir=recorder)
            except TGMError as error:
                raise FailedRunError(f"the run failed: {error}") from error
            finally:
                for writer in writers:
                    writer.close()
        seconds = time.perf_counter() - began
        run = Run.open(recorder.path)
        if recorder.stops:
            say(f"tgm: interrupted; tgm train --resume {self._words_to_resume(run)}")
            return INTERRUPTED
        with busy("greedy episodes"):
            outcome = Outcome.of(agent, run, n_steps, seconds)
        outcome.print(as_json=self.json, with_report=self.report)
        return 0

    def _check_numbers(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise ConfigError(f"--steps is {self.steps}; it must be above 0")
        if not 0 <= self.checkpoint_seconds < 1e9:
            seen = self.checkpoint_seconds
            raise ConfigError(f"--checkpoint-seconds is {seen}; it must be 0 or more")

    @property
    def _request(self) -> EnvRequest:
        return self.maze_flags.request(self.maze, self.env, self.env_args)

    def _begin(self) -> tuple[TGMAgent, RunRecorder, int]:
        """A new agent in a new run, and the steps to take."""
        spec = self._request.spec()
        warn_of_limit(spec)
        env = make_env(spec)
        spec = EnvSpec.of(env, spec.module)
        agent = TGMAgent(env, self.config, seed=self.seed)
        n_steps = DEFAULT_STEPS if self.steps is None else self.steps
        begin = partial(
            RunRecorder.begin,
            agent,
            n_steps=n_steps,
            world=spec,
            checkpoint_seconds=self.checkpoint_seconds,
        )
        if self.out is not None:
            return agent, begin(self.out), n_steps
        recorder = begin_in_free(self._folder(spec), begin)
        _point_latest_at(recorder.path)
        return agent, recorder, n_steps

    def _continue(self) -> tuple[TGMAgent, RunRecorder, int]:
        """The agent of a run at its newest checkpoint, and the steps that are left."""
        assert self.resume is not None
        if self.out is not None:
            raise ConfigError("--resume continues a run in its own directory; do not give --out")
        folder = _run_folder(self.resume)
        run = Run.open(folder) if self.opened is None else self.opened
        planned = run.metadata["steps"] if self.steps is None else self.steps
        other = setting_differences(run, self.seed, self.config.to_dict())
        if other:
            raise ConfigError(f"{run.folder}: --resume changes no setting: {'; '.join(other)}")
        check_steps(run, planned)
        env = environment_of(run, self._request, "tgm train --resume")
        agent, troubles = resume(run, env)
        for trouble in troubles:
            say(f"tgm: {trouble}")
        recorder = open_run(agent, folder, planned, self.checkpoint_seconds, may_begin_again=True)
        return agent, recorder, planned - agent.n_steps

    def _words_to_resume(self, run: Run) -> str:
        """The arguments of `tgm train --resume` that continue an interrupted run."""
        words = [str(run.folder)]
        if must_be_named(run.world):
            words.append(run.world.flags)
        if self.steps not in (None, run.metadata["steps"]):
            words.append(f"--steps {self.steps}")
        return " ".join(words)

    def _folder(self, spec: EnvSpec) -> Path:
        """The directory of a new run, if it is free."""
        maze = spec.maze
        what = f"maze-{Path(maze.name).stem}" if maze else spec.id.replace("/", "-")
        return RUNS / f"{datetime.now():%Y%m%d-%H%M%S}-{what}-seed-{self.seed}"


def _run_folder(path: Path) -> Path:
    """The directory of a run that may be named by a link, such as runs/latest."""
    return path.resolve() if path.is_symlink() else path


def _point_latest_at(folder: Path) -> None:
    """Let runs/latest point at a run; on a system without links it is left out."""
    link = folder.parent / "latest"
    temporary = unique_temporary_name(link)
    if link.exists() and not link.is_symlink():
        return  # a file or folder of the user
    try:
        temporary.symlink_to(folder.name)
        temporary.replace(link)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
