"""`tgm train`: let an agent live in an environment and keep what it learned."""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, get_args

import tyro

from tgm.agent import TGMAgent, TGMConfig
from tgm.cli.maze_flags import MazeFlags, warn_of_limit
from tgm.cli.output import print_json, print_lines, say
from tgm.cli.report import report_within
from tgm.cli.words import evaluation_facts, evaluation_line, learned_map, structure_lines
from tgm.cli.worlds import environment_of
from tgm.config import Preset
from tgm.envs import load_maze
from tgm.errors import ConfigError, FailedRunError, TGMError
from tgm.experiments.evaluation import evaluate
from tgm.experiments.structure import compare_structure
from tgm.files.atomic import unique_temporary_name
from tgm.runs import Run, RunRecorder, World, open_run, resume
from tgm.runs.admission import check_steps, check_world, setting_differences
from tgm.runs.env_spec import options_of
from tgm.runs.folder import begin_in_free, write_result
from tgm.runs.timing import CHECKPOINT_SECONDS

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
    """Any other registered Gymnasium environment, by its id; module:id imports the module first."""

    env_args: tuple[str, ...] = ()
    """Options of --env, NAME=VALUE; a value is JSON (8, 0.5, true) or text."""

    steps: int | None = None
    """Environment steps in all: 5000, or with --resume as many as were planned; never fewer than
    are recorded."""

    maze_flags: Annotated[MazeFlags, tyro.conf.OmitArgPrefixes] = field(default_factory=MazeFlags)
    """How the maze is seen, and for how long."""

    seed: int = 0
    """Everything random follows from it."""

    preset: Preset = "default"
    """Where the settings start from: ours, or the published procedure."""

    out: Path | None = None
    """Directory of the run; a new one under runs/ by default. It must not exist."""

    resume: Path | None = None
    """A run to go on with, from its newest checkpoint, as if it had never stopped. Its world,
    seed and settings stay as they are; other ones are refused."""

    checkpoint_seconds: float = CHECKPOINT_SECONDS
    """Least time between two checkpoints, which are written between episodes (0: after each); if
    no episode ends for five times as long, within one."""

    tensorboard: Path | None = None
    """Directory for TensorBoard's own event files, beside the run directory."""

    report: bool = True
    """Write report.html into the run's directory, if the inspector is installed."""

    json: bool = False
    """Print one JSON object instead."""

    config: Annotated[TGMConfig, tyro.conf.OmitArgPrefixes] = field(default_factory=TGMConfig)
    """The agent's settings, as far as they differ from the preset's."""

    opened: Annotated[Run | None, tyro.conf.Fixed, tyro.conf.Suppress] = None
    """The run of --resume, whose run.json the defaults were read from; not an argument."""

    @classmethod
    def defaults(cls, arguments: list[str]) -> Train:
        """The defaults that `arguments` ask for: settings start from those of the preset.

        Without a preset a run that is gone on with has its own; so what differs was asked for.
        """
        parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
        parser.add_argument("--preset")
        parser.add_argument("--resume", type=Path)
        try:
            asked = parser.parse_known_args(arguments)[0]
        except (argparse.ArgumentError, SystemExit):
            return cls()  # tyro is about to say what is wrong
        preset = asked.preset if asked.preset in get_args(Preset) else "default"
        config, seed, opened = TGMConfig.preset(preset), cls.seed, None
        if asked.resume is not None:
            with contextlib.suppress(TGMError, TypeError):  # it will be told when it is opened
                opened = Run.open(_run_folder(asked.resume))
                seed = opened.facts["seed"]
                if asked.preset is None:
                    config = TGMConfig.from_dict(opened.facts["config"])
        return cls(config=config, seed=seed, opened=opened)

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
                with _stop_with_checkpoint(recorder):
                    agent.learn(n_steps, callback=writers, progress_bar=True, run_dir=recorder)
            except TGMError as error:
                raise FailedRunError(f"the run failed: {error}") from error
            finally:
                for writer in writers:
                    writer.close()
        seconds = time.perf_counter() - began
        if recorder.stops:
            run = Run.open(recorder.path)
            words = [str(run.folder), *([run.world.flags] if run.world.must_be_named else [])]
            if self.steps not in (None, run.facts["steps"]):
                words.append(f"--steps {self.steps}")
            say(f"tgm: interrupted; tgm train --resume {' '.join(words)}")
            return INTERRUPTED
        self._tell(agent, Run.open(recorder.path), n_steps, seconds)
        return 0

    def _begin(self) -> tuple[TGMAgent, RunRecorder, int]:
        """A new agent in a new run."""
        world = self._world()
        if world.maze is not None:
            warn_of_limit(world.maze, world.episode_limit)
        env = world.make()
        world = World.of(env, world.module)
        agent = TGMAgent(env, self.config, seed=self.seed)
        n_steps = DEFAULT_STEPS if self.steps is None else self.steps
        begin = partial(
            RunRecorder.begin,
            agent,
            n_steps=n_steps,
            world=world,
            checkpoint_seconds=self.checkpoint_seconds,
        )
        if self.out is not None:
            return agent, begin(self.out), n_steps
        recorder = begin_in_free(self._folder(world), begin)
        _point_latest_at(recorder.path)
        return agent, recorder, n_steps

    def _go_on(self) -> tuple[TGMAgent, RunRecorder, int]:
        """The agent of a run at its newest checkpoint, and the steps that are left."""
        assert self.resume is not None
        if self.out is not None:
            raise ConfigError("--resume goes on with a run where it is; do not give --out")
        folder = _run_folder(self.resume)
        run = Run.open(folder) if self.opened is None else self.opened
        planned = run.facts["steps"] if self.steps is None else self.steps
        self._check_same(run, planned)
        env = environment_of(run, "tgm train --resume", self.env, self.env_args)
        agent, troubles = resume(run, env)
        for trouble in troubles:
            say(f"tgm: {trouble}")
        recorder = open_run(agent, folder, planned, self.checkpoint_seconds, may_begin_again=True)
        return agent, recorder, planned - agent.n_steps

    def _check_same(self, run: Run, n_steps: int) -> None:
        """Refuse what would change a run that is gone on with, or make it shorter."""
        other = setting_differences(run, self.seed, self.config.to_dict())
        if other:
            raise ConfigError(f"{run.folder}: --resume changes no setting: {'; '.join(other)}")
        check_steps(run, n_steps)
        options = self.maze_flags.options()
        if self.maze is not None or options:
            maze = run.world.maze if self.maze is None else load_maze(self.maze)
            if maze is None:
                flags = _flags(options)
                raise ConfigError(f"{run.folder}: is no run in a maze; leave {flags} out")
            named = World.of_maze(maze, **(run.world.options | options))
            check_world(run, World.of(named.make()))

    def _world(self) -> World:
        options = self.maze_flags.options()
        if self.env is not None:
            if self.maze is not None:
                raise ConfigError("--maze and --env are two different worlds; give one")
            if options:
                raise ConfigError(f"--env does not take {_flags(options)}: only a maze does")
            return World.of_environment(self.env, options_of(self.env_args))
        if self.env_args:
            raise ConfigError("--env-args are the options of --env; give both")
        maze = load_maze(DEFAULT_MAZE if self.maze is None else self.maze)
        return World.of_maze(maze, **options)

    def _folder(self, world: World) -> Path:
        """The directory of a new run, if it is free."""
        maze = world.maze
        what = f"maze-{Path(maze.name).stem}" if maze else world.id.replace("/", "-")
        return RUNS / f"{datetime.now():%Y%m%d-%H%M%S}-{what}-seed-{self.seed}"

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
            **evaluation_facts(evaluation, run.world),
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
            evaluation_line(evaluation, run.world),
            f"{agent.n_steps} steps{of_them} in {seconds:.1f} s; the run is in {run.folder}",
        )
        if report is not None:
            print_lines(f"see how it learned: {report} opens in any browser")


def _run_folder(path: Path) -> Path:
    """The directory of a run that may be named by a link, such as runs/latest."""
    return path.resolve() if path.is_symlink() else path


def _flags(options: dict[str, Any]) -> str:
    return " and ".join(f"--{name.replace('_', '-')}" for name in options)


def _outcome(facts: dict[str, Any]) -> dict[str, Any]:
    """What `tgm runs` tells of greedy episodes."""
    names = ("mean_return", "optimal_return", "solved")
    return {name: facts[name] for name in names if name in facts}


def _point_latest_at(folder: Path) -> None:
    """Let runs/latest point at a run; where there are no links, there is none."""
    link = folder.parent / "latest"
    temporary = unique_temporary_name(link)
    if link.exists() and not link.is_symlink():
        return  # somebody's own
    try:
        temporary.symlink_to(folder.name)
        temporary.replace(link)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _stop_with_checkpoint(recorder: RunRecorder) -> Iterator[None]:
    """The first Ctrl-C lets the episode end if it is near, SIGTERM does not; the second raises.

    Either waits for the step of the environment that is under way.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen: set[int] = set()

    def ask(signal_number: int, frame: Any) -> None:
        is_first_term = signal_number == signal.SIGTERM and signal_number not in seen
        if recorder.stops and not is_first_term:
            raise KeyboardInterrupt
        seen.add(signal_number)
        recorder.request_stop(at_once=is_first_term)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
