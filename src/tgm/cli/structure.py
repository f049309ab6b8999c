"""`tgm structure`: the learned map against the true maze, now and over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.cli.flags import Switch
from tgm.cli.output import columns, print_json, print_lines
from tgm.cli.words import learned_map, newest_agent, structure_lines
from tgm.envs import facts_of
from tgm.errors import RunError
from tgm.experiments.structure import StructureReport, compare_structure
from tgm.runs import Run

EVERY = 100  # steps between two rows of the history


@dataclass(frozen=True)
class Structure:
    """Compare what the agent of a run learned with its maze."""

    run_dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """The run's directory."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Compare, print the result, and return the exit code."""
        run = Run.open(self.run_dir)
        maze = facts_of(run.world).maze
        if maze is None:
            raise RunError(f"{self.run_dir}: only a maze has a true structure to compare with")
        agent = newest_agent(run)
        report = compare_structure(agent, maze)
        over_time = [(step, compare_structure(then, maze)) for step, then in run.frames(EVERY)]
        if self.json:
            history = [
                {
                    "step": step,
                    "states": len(then.state_cells),
                    **then.counts,
                    **then.transition_counts,
                }
                for step, then in over_time
            ]
            print_json({"run": str(self.run_dir), **report.to_dict(), "over_time": history})
            return 0
        print_lines(learned_map(maze, agent, report), *structure_lines(report), "", "over time:")
        print_lines(*_history(over_time))
        return 0


def _history(over_time: list[tuple[int, StructureReport]]) -> list[str]:
    heads = ("step", "states", "learned", "duplicated", "fused", "missing", "right", "wrong")
    rows = [
        (
            step,
            len(report.state_cells),
            *report.counts.values(),
            report.transition_counts["right"],
            report.transition_counts["wrong"],
        )
        for step, report in over_time
    ]
    return columns([heads, *(tuple(map(str, row)) for row in rows)], to_the_right=True)
