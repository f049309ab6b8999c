"""`tgm bsuite`: the agent in the behaviour suite, scored by its own analysis."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from tgm.cli.flags import Switch, optional
from tgm.cli.output import print_json, print_lines, print_table, say
from tgm.cli.trial_progress import show_progress
from tgm.errors import ConfigError
from tgm.experiments.behaviour_suite import suite
from tgm.experiments.behaviour_suite.radar import can_draw, draw_radar
from tgm.experiments.behaviour_suite.scoring import facts_of, published, write_logs
from tgm.experiments.behaviour_suite.trial import (
    SuiteResult,
    SuiteTrial,
    run_suite_trial,
    store_in,
)
from tgm.experiments.harness.pool import usable_cores
from tgm.experiments.harness.runner import Finished, run_stored

LOGS, RADAR_FILE = "logs", "radar.png"


@dataclass(frozen=True)
class Bsuite:
    """Let the agent live in bsuite, and score it by bsuite's own analysis.

    A trial is one setting of one experiment. Each finished trial is a small file that is never
    overwritten: called again, the command continues with those that are missing. The three
    experiments with mnist download their data, and are left out.
    """

    experiments: Annotated[tuple[str, ...] | None, optional("[NAME ...]", "(default: all 20)")] = (
        None
    )
    """Experiments (catch), capabilities (memory) or single settings (deep_sea/0)."""

    agent: Literal["tgm", "tgm-paper", "random"] = "tgm"
    """The agent; it has the same settings in all experiments."""

    episodes: Annotated[int | None, optional("N", "(default: as many as bsuite wants)")] = None
    """Most episodes of a trial, to try it out: such scores are not those of bsuite."""

    seed: int = 0
    """Seed of the agent and of what bsuite leaves to chance."""

    jobs: Annotated[int | None, optional("N", "(default: one for each core)")] = None
    """Processes on this machine."""

    dask: Annotated[str | None, optional("ADDRESS")] = None
    """Address of a Dask scheduler whose workers are used instead, such as tcp://host:8786."""

    out: Path = Path("bsuite")
    """Folder of the results; finished trials in it are not run again."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Run what is missing, print the scores, and return the exit code."""
        self._check()
        trials = [
            SuiteTrial(one, self.agent, self._episodes(one), self.seed)
            for one in suite.ids_of(self.experiments)
        ]
        with show_progress("bsuite", len(trials)) as advance:
            finished = run_stored(
                trials,
                run_suite_trial,
                store_in(self.out),
                jobs=usable_cores() if self.jobs is None else self.jobs,
                dask=self.dask,
                on_outcome=advance,
                is_slow=_has_long_episodes,
            )
        for failure in finished.failures:
            say(f"tgm: {failure.trial.name} failed: {failure.error}")
        write_logs(self.out / LOGS / self.agent, finished.results)
        self._print(finished)
        return 1 if finished.failures else 0

    def _check(self) -> None:
        if self.experiments == ():
            raise ConfigError("--experiments is empty; name at least one")
        for flag, number in (("episodes", self.episodes), ("jobs", self.jobs)):
            if number is not None and number < 1:
                raise ConfigError(f"--{flag} is {number}; it must be above 0")
        if self.seed < 0:
            raise ConfigError(f"--seed is {self.seed}; it must be at least 0")
        if self.dask is not None and self.jobs is not None:
            raise ConfigError("--jobs and --dask are two different places to run; give one")

    def _episodes(self, one: str) -> int:
        wanted = suite.n_episodes(one)
        return wanted if self.episodes is None else min(wanted, self.episodes)

    def _print(self, finished: Finished[SuiteTrial, SuiteResult]) -> None:
        facts = facts_of(self.agent, finished.results)
        tags, scores = facts["capabilities"], facts["experiments"]
        radar = self._draw(tags)
        if self.json:
            print_json(
                {
                    "out": str(self.out),
                    "finished_before": finished.n_before,
                    **facts,
                    "radar": None if radar is None else str(radar),
                    "failed": [
                        {"id": one.trial.id, "error": one.error} for one in finished.failures
                    ],
                }
            )
            return
        if not scores:
            print_lines("no trial was finished")
            return
        print_table(_HEADS, [_cells(score) for score in scores])
        print_lines("")
        print_table(("capability", "score"), [(tag, f"{tags[tag]:.3f}") for tag in tags])
        print_lines("", *self._words(facts))
        print_lines(*([] if radar is None else [f"radar: {radar}"]))

    def _words(self, facts: dict[str, Any]) -> list[str]:
        """What the mean says, beside what others published."""
        scores = facts["experiments"]
        whole = [score for score in scores if score["is_whole"]]
        lines = [f"mean of {len(scores)} experiments: {_said(facts['mean'])} ({self.agent})"]
        others = ", ".join(f"{name} {score}" for name, score in published()["mean"].items())
        lines.append(f"published, mean of all 20: {others}")
        if len(whole) < len(suite.experiments()):
            of_whole = (
                f"mean of the {len(whole)} whole experiments: {_said(facts['mean_of_whole'])}"
            )
            lines += [of_whole] if whole else []
            lines.append("not the whole suite: this mean cannot be compared with those published")
        lines.append(f"left out, since they download their data: {', '.join(suite.LEFT_OUT)}")
        return lines

    def _draw(self, tags: dict[str, float]) -> Path | None:
        """The picture of the capabilities, where there are some and Matplotlib is installed."""
        if len(tags) < 3 or not can_draw():
            return None
        path = self.out / RADAR_FILE
        draw_radar(tags, f"bsuite: {self.agent}", path)
        return path


def _has_long_episodes(trial: SuiteTrial) -> bool:
    """bsuite wants fewer episodes where they are long."""
    return suite.n_episodes(trial.id) < 10_000


_HEADS = ("experiment", "score", "settings", "whole", "steps", "seconds", "capabilities")


def _said(score: float | None) -> str:
    return "-" if score is None else f"{score:.3f}"


def _cells(score: dict[str, Any]) -> tuple[Any, ...]:
    return (
        score["experiment"],
        _said(score["score"]),
        f"{score['settings']}/{score['n_settings']}",
        "yes" if score["is_whole"] else "no",
        f"{score['steps']:,}",
        f"{score['seconds']:.1f}",
        ", ".join(score["capabilities"]),
    )
