"""One trial: an agent lives in one setting of one experiment for as many episodes as it wants."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tgm.experiments.baselines import make_agent
from tgm.experiments.behaviour_suite import suite
from tgm.experiments.behaviour_suite.adapter import EnoughEpisodesError, FromDMEnv
from tgm.experiments.harness.fingerprint import code_fingerprint
from tgm.experiments.harness.store import ResultStore

AGENTS = ("tgm", "tgm-paper", "random")
ENDLESS = 10**12  # steps; the environment ends the trial


@dataclass(frozen=True)
class SuiteTrial:
    """What is to be run.

    Attributes:
        id: experiment and number of the setting, such as "deep_sea/3".
        agent: one of AGENTS.
        episodes: of training; bsuite's own number unless the user wants fewer.
        seed: of the agent and the environment, beside what the setting says.
    """

    id: str
    agent: str
    episodes: int
    seed: int = 0

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.agent} {self.id}"

    @property
    def experiment(self) -> str:
        """What it is a setting of."""
        return self.id.split(suite.SEPARATOR)[0]

    @property
    def setting(self) -> str:
        """The number of the setting."""
        return self.id.split(suite.SEPARATOR)[1]


@dataclass(frozen=True)
class SuiteResult:
    """What bsuite logs of a trial, at episodes that are spaced by their logarithm.

    Attributes:
        rows: one for each logged episode: the columns of bsuite's own files.
        steps: of training in all.
        n_states: states found; None for an agent without states.
        seconds: of the processor.
        code: digest of the code that ran it.
    """

    rows: tuple[dict[str, Any], ...]
    steps: int
    n_states: int | None
    seconds: float
    code: str


def store_in(out: Path) -> ResultStore[SuiteTrial, SuiteResult]:
    """The trials in the --out of `tgm bsuite`."""
    return ResultStore(out / "trials", SuiteTrial, SuiteResult)


class Rows:
    """A logger of bsuite that keeps the rows."""

    def __init__(self) -> None:
        """No rows yet."""
        self.rows: list[dict[str, Any]] = []

    def write(self, data: Mapping[str, Any]) -> None:
        """One more row, as plain values."""
        self.rows.append({name: _plain(value) for name, value in data.items()})


def run_suite_trial(trial: SuiteTrial) -> SuiteResult:
    """Run one trial; the result depends on nothing but the trial, its seconds apart."""
    number = int(trial.setting)
    logger = Rows()
    # Settings of an experiment often differ in nothing but the seed.
    raw = suite.make(trial.id, seed=1000 * trial.seed + number)
    env = FromDMEnv(suite.load("bsuite.utils.wrappers").Logging(raw, logger), trial.episodes)
    agent = make_agent(trial.agent, env, 1000 * trial.seed + number)
    began = time.process_time()
    with contextlib.suppress(EnoughEpisodesError):
        agent.learn(ENDLESS)
    seconds = round(time.process_time() - began, 3)
    rows = tuple(logger.rows)
    return SuiteResult(rows, env.n_steps, agent.n_states, seconds, code_fingerprint())


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic | np.ndarray) else value
