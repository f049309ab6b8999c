"""`tgm train`: let an agent live in an environment and keep what it learned."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, get_args

import gymnasium as gym
import tyro

from tgm.agent import TGMAgent, TGMConfig
from tgm.agent.config import Preset
from tgm.cli.output import print_json, print_lines
from tgm.cli.words import evaluation_facts, evaluation_line, learned_map, structure_lines
from tgm.envs import Maze, load_maze
from tgm.errors import ConfigError, FailedRunError, TGMError
from tgm.experiments.evaluation import evaluate
from tgm.experiments.structure import compare_structure
from tgm.runs import RunWriter
from tgm.runs.world import World

DEFAULT_MAZE = "27"
EVALUATION_EPISODES = 20


@dataclass(frozen=True)
class Train:
    """Train an agent, draw what it learned, and leave a run directory."""

    maze: str | None = None
    """Maze to live in: a name from `tgm mazes` or a maze file. 27 unless --env is given."""

    env: str | None = None
    """Any other registered Gymnasium environment, by its id."""

    steps: int = 5000
    """Environment steps to learn for."""

    seed: int = 0
    """Everything random follows from it."""

    preset: Preset = "default"
    """Where the settings start from: ours, or the published procedure."""

    out: Path | None = None
    """Directory of the run; a new one under runs/ by default. It must not exist."""

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
        if self.steps < 1:
            raise ConfigError(f"--steps is {self.steps}; it must be above 0")
        world, maze = self._world()
        env = world.make()
        agent = TGMAgent(env, self.config, seed=self.seed)
        writer = RunWriter(self._folder(maze), agent, world)
        began = time.perf_counter()
        try:
            agent.learn(self.steps, callback=writer.record, progress_bar=True)
        except KeyboardInterrupt:
            writer.finish()  # what was learned so far is kept
            raise
        except TGMError as error:
            raise FailedRunError(f"the run failed: {error}") from error
        writer.finish()
        seconds = time.perf_counter() - began
        self._tell(agent, env, maze, writer.folder, seconds)
        return 0

    def _world(self) -> tuple[World, Maze | None]:
        if self.env is not None:
            if self.maze is not None:
                raise ConfigError("--maze and --env are two different worlds; give one")
            return World.of_environment(self.env), None
        maze = load_maze(DEFAULT_MAZE if self.maze is None else self.maze)
        return World.of_maze(maze), maze

    def _folder(self, maze: Maze | None) -> Path:
        if self.out is not None:
            return self.out
        what = f"maze-{maze.name}" if maze is not None else str(self.env).replace("/", "-")
        name = f"{datetime.now():%Y%m%d-%H%M%S}-{Path(what).stem}-seed-{self.seed}"
        folder = Path("runs") / name
        suffix = 1
        while folder.exists():
            suffix += 1
            folder = Path("runs") / f"{name}-{suffix}"
        return folder

    def _tell(
        self,
        agent: TGMAgent,
        env: gym.Env[Any, Any],
        maze: Maze | None,
        folder: Path,
        seconds: float,
    ) -> None:
        evaluation = evaluate(agent, env, EVALUATION_EPISODES, self.seed)
        facts = {
            "run": str(folder),
            "steps": agent.n_steps,
            "seconds": round(seconds, 3),
            "states": agent.n_states,
            **evaluation_facts(evaluation, maze),
        }
        report = None if maze is None else compare_structure(agent, maze)
        if report is not None:
            facts["structure"] = report.to_dict()
        if self.json:
            print_json(facts)
            return
        if maze is None or report is None:
            print_lines(f"{agent.n_states} states found")
        else:
            print_lines(learned_map(maze, agent, report), *structure_lines(report))
        print_lines(
            evaluation_line(evaluation, maze),
            f"{agent.n_steps} steps in {seconds:.1f} s; the run is in {folder}",
        )
