"""`tgm train`: let an agent live in an environment and keep what it learned."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, get_args

import tyro

from tgm.agent import TGMAgent, TGMConfig
from tgm.agent.config import Preset
from tgm.cli.output import one_line, print_json, print_lines
from tgm.cli.report import report_within
from tgm.cli.words import evaluation_facts, evaluation_line, learned_map, structure_lines
from tgm.envs import Maze, load_maze
from tgm.errors import ConfigError, FailedRunError, TGMError
from tgm.experiments.evaluation import evaluate
from tgm.experiments.structure import compare_structure
from tgm.runs import Run, RunRecorder, World, open_run, resume
from tgm.runs.folder import write_result
from tgm.runs.recorder import CHECKPOINT_SECONDS

DEFAULT_MAZE = "27"
DEFAULT_STEPS = 5000
EVALUATION_EPISODES = 20
RUNS = Path("runs")
INTERRUPTED = 130


@dataclass(frozen=True)
class Train:
    """Train an agent, draw what it learned, and leave a run directory."""

    maze: str | None = None
    """Maze to live in: a name from `tgm mazes` or a maze file. 27 unless --env is given."""

    env: str | None = None
    """Any other registered Gymnasium environment, by its id."""

    steps: int | None = None
    """Environment steps to learn for: 5000, or with --resume as many as were planned."""

    seed: int = 0
    """Everything random follows from it."""

    preset: Preset = "default"
    """Where the settings start from: ours, or the published procedure."""

    out: Path | None = None
    """Directory of the run; a new one under runs/ by default. It must not exist."""

    resume: Path | None = None
    """A run to go on with, from its newest checkpoint, as if it had never stopped."""

    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints; they are written between episodes. 0: after each."""

    tensorboard: Path | None = None
    """Directory for TensorBoard's own event files, beside the run directory."""

    report: bool = True
    """Write report.html into the run's directory, if the inspector is installed."""

    json: bool = False
    """Print one JSON object instead."""

    config: Annotated[TGMConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=TGMConfig)
    """The agent's settings, as far as they differ from the preset's."""

    @classmethod
    def defaults(cls, arguments: list[str]) -> Train:
        """The defaults that `arguments` ask for: the settings start from those of the preset."""
        parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
        parser.add_argument("--preset", default="default")
        try:
            preset = parser.parse_known_args(arguments)[0].preset
        except (argparse.ArgumentError, SystemExit):
            preset = "default"  # tyro is about to say what is wrong
        return cls(config=TGMConfig.preset(preset if preset in get_args(Preset) else "default"))

    def run(self) -> int:
        """Train, evaluate, tell, and return the exit code."""
        if self.steps is not None and self.steps < 1:
            raise ConfigError(f"--steps is {self.steps}; it must be above 0")
        if not 0 <= self.checkpoint_seconds < 1e9:
            seen = self.checkpoint_seconds
            raise ConfigError(f"--checkpoint-seconds is {seen}; it must be 0 or more")
        writers = []
        if self.tensorboard is not None:
            from tgm.runs.tensorboard import TensorBoardWriter

            writers.append(TensorBoardWriter(self.tensorboard))
        agent, recorder, n_steps = self._begin() if self.resume is None else self._go_on()
        began = time.perf_counter()
        if n_steps == 0:  # it was stopped after its last step
            recorder.close("finished")
        else:
            try:
                with _stop_between_episodes(recorder):
                    agent.learn(n_steps, callback=writers, progress_bar=True, run_dir=recorder)
            except TGMError as error:
                raise FailedRunError(f"the run failed: {error}") from error
            finally:
                for writer in writers:
                    writer.close()
        seconds = time.perf_counter() - began
        if recorder.stops:
            path = one_line(str(recorder.path))
            print(f"tgm: interrupted; tgm train --resume {path}", file=sys.stderr)
            return INTERRUPTED
        self._tell(agent, Run.open(recorder.path), n_steps, seconds)
        return 0

    def _begin(self) -> tuple[TGMAgent, RunRecorder, int]:
        """A new agent in a new run."""
        world = self._world()
        agent = TGMAgent(world.make(), self.config, seed=self.seed)
        n_steps = DEFAULT_STEPS if self.steps is None else self.steps
        folder = self._folder(world.maze)
        recorder = RunRecorder.begin(
            agent, folder, n_steps, world, checkpoint_seconds=self.checkpoint_seconds
        )
        if self.out is None:
            _point_latest_at(folder)
        return agent, recorder, n_steps

    def _go_on(self) -> tuple[TGMAgent, RunRecorder, int]:
        """The agent of a run at its newest checkpoint, and the steps that are left."""
        assert self.resume is not None
        for name in ("maze", "env", "out"):
            if getattr(self, name) is not None:
                raise ConfigError(f"--resume goes on with a run as it was; leave --{name} out")
        folder = self.resume.resolve() if self.resume.is_symlink() else self.resume
        agent, troubles = resume(folder)
        for trouble in troubles:
            print(f"tgm: {one_line(trouble)}", file=sys.stderr)
        planned = Run.open(folder).facts["steps"] if self.steps is None else self.steps
        if planned < agent.n_steps:
            raise ConfigError(f"{folder}: has {agent.n_steps} steps already; --steps is the total")
        recorder = open_run(agent, folder, planned, self.checkpoint_seconds, may_begin_again=True)
        return agent, recorder, planned - agent.n_steps

    def _world(self) -> World:
        if self.env is not None:
            if self.maze is not None:
                raise ConfigError("--maze and --env are two different worlds; give one")
            return World.of_environment(self.env)
        return World.of_maze(load_maze(DEFAULT_MAZE if self.maze is None else self.maze))

    def _folder(self, maze: Maze | None) -> Path:
        if self.out is not None:
            return self.out
        what = f"maze-{maze.name}" if maze is not None else str(self.env).replace("/", "-")
        name = f"{datetime.now():%Y%m%d-%H%M%S}-{Path(what).stem}-seed-{self.seed}"
        folder = RUNS / name
        suffix = 1
        while folder.exists():
            suffix += 1
            folder = RUNS / f"{name}-{suffix}"
        return folder

    def _tell(self, agent: TGMAgent, run: Run, n_new: int, seconds: float) -> None:
        """What came of the run, of which `n_new` steps took so long now."""
        maze, env = run.world.maze, agent.env
        assert env is not None
        evaluation = evaluate(agent, env, EVALUATION_EPISODES, run.facts["seed"])
        facts = {
            "run": str(run.folder),
            "steps": agent.n_steps,
            "seconds": round(seconds, 3),
            "states": agent.n_states,
            **evaluation_facts(evaluation, maze),
        }
        write_result(run.folder, run.status().result | _outcome(facts))
        structure = None if maze is None else compare_structure(agent, maze)
        if structure is not None:
            facts["structure"] = structure.to_dict()
        report = report_within(Run.open(run.folder)) if self.report else None
        if report is not None:
            facts["report"] = str(report)
        if self.json:
            print_json(facts)
            return
        if maze is None or structure is None:
            print_lines(f"{agent.n_states} states found")
        else:
            print_lines(learned_map(maze, agent, structure), *structure_lines(structure))
        of_them = "" if n_new == agent.n_steps else f", {n_new} of them now,"
        print_lines(
            evaluation_line(evaluation, maze),
            f"{agent.n_steps} steps{of_them} in {seconds:.1f} s; the run is in {run.folder}",
        )
        if report is not None:
            print_lines(f"see how it learned: {report} opens in any browser")


def _outcome(facts: dict[str, Any]) -> dict[str, Any]:
    """What `tgm runs` tells of greedy episodes."""
    names = ("mean_return", "optimal_return", "solved")
    return {name: facts[name] for name in names if name in facts}


def _point_latest_at(folder: Path) -> None:
    """Let runs/latest point at a run; where there are no links, there is none."""
    link = folder.parent / "latest"
    temporary = folder.parent / f".latest.{os.getpid()}.tmp"
    if link.exists() and not link.is_symlink():
        return  # somebody's own
    try:
        temporary.symlink_to(folder.name)
        temporary.replace(link)
    except OSError:
        return


@contextlib.contextmanager
def _stop_between_episodes(recorder: RunRecorder) -> Iterator[None]:
    """The first Ctrl-C lets the episode end and writes a checkpoint; the second stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ask(signal_number: int, frame: Any) -> None:
        if recorder.stops:
            raise KeyboardInterrupt
        recorder.request_stop()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
