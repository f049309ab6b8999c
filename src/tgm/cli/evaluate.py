"""`tgm evaluate`: greedy episodes with a trained agent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.cli.flags import Switch, optional
from tgm.cli.output import print_json, print_lines
from tgm.cli.waiting import busy
from tgm.cli.words import evaluation_facts, evaluation_line, newest_agent
from tgm.envs import EnvRequest
from tgm.errors import ConfigError
from tgm.experiments.evaluation import evaluate
from tgm.runs import Run
from tgm.runs.admission import environment_of


@dataclass(frozen=True)
class Evaluate:
    """Play greedy episodes with the agent of a run."""

    run_dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's directory."""

    episodes: int = 20
    """Number of episodes."""

    seed: int = 0
    """Seed of the episodes."""

    env: Annotated[str | None, optional("ID")] = None
    """The environment of the run, needed if a module registers it: module:id, as in `tgm train`.
    Any other environment is made with the arguments in the run."""

    env_args: Annotated[tuple[str, ...], optional("[NAME=VALUE ...]")] = ()
    """Arguments of --env, the same as in `tgm train`."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Evaluate and return the exit code."""
        if self.episodes < 1 or self.seed < 0:
            raise ConfigError("--episodes must be above 0 and --seed at least 0")
        run = Run.open(self.run_dir)
        request = EnvRequest(env=self.env, env_args=self.env_args)
        env = environment_of(run, request, "tgm evaluate")
        with busy("greedy episodes"):
            evaluation = evaluate(newest_agent(run), env, self.episodes, self.seed)
        if self.json:
            print_json({"run": str(self.run_dir), **evaluation_facts(evaluation, run.world, env)})
        else:
            print_lines(evaluation_line(evaluation, run.world, env))
        return 0
