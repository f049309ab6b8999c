"""Scores by bsuite's own analysis, per experiment and per capability."""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from tgm.experiments.behaviour_suite import suite
from tgm.experiments.behaviour_suite.trial import SuiteResult, SuiteTrial
from tgm.experiments.comparison.trial_store import write_csv

Results = Sequence[tuple[SuiteTrial, SuiteResult]]


@dataclass(frozen=True)
class Score:
    """The score of an experiment.

    Attributes:
        experiment: its name.
        capabilities: what it tries.
        score: from 0 to 1; None if bsuite's analysis gives no number.
        settings: settings that were run, of all that it has.
        n_settings: settings that it has.
        is_whole: whether all of them were run for all of their episodes.
        seconds: of all its trials.
    """

    experiment: str
    capabilities: tuple[str, ...]
    score: float | None
    settings: int
    n_settings: int
    is_whole: bool
    seconds: float


def scores_of(results: Results) -> list[Score]:
    """One score for each experiment that has a result, in bsuite's order."""
    known, tags = suite.experiments(), suite.capabilities()
    found = []
    for experiment, ids in known.items():
        own = [pair for pair in results if pair[0].id.split(suite.SEPARATOR)[0] == experiment]
        if not own:
            continue
        is_whole = len(own) == len(ids) and all(
            trial.episodes == suite.n_episodes(trial.id) for trial, _ in own
        )
        seconds = round(sum(result.seconds for _, result in own), 1)
        score = _score(experiment, own)
        found.append(
            Score(experiment, tags[experiment], score, len(own), len(ids), is_whole, seconds)
        )
    return found


def per_capability(scores: Sequence[Score]) -> dict[str, float]:
    """The mean score of the experiments that try each capability, as on bsuite's radar."""
    names = sorted({name for score in scores for name in score.capabilities})
    means = {}
    for name in names:
        own = [one.score for one in scores if name in one.capabilities and one.score is not None]
        if own:
            means[name] = sum(own) / len(own)
    return means


def mean_score(scores: Sequence[Score]) -> float | None:
    """The mean over experiments; None of none."""
    own = [score.score for score in scores if score.score is not None]
    return sum(own) / len(own) if own else None


@cache
def published() -> dict[str, Any]:
    """Scores that others published, with their source."""
    text = resources.files(__package__).joinpath("published.json").read_text(encoding="utf-8")
    scores: dict[str, Any] = json.loads(text)
    return scores


def write_logs(folder: Path, results: Results) -> None:
    """The files that bsuite's own notebook reads: one for each setting."""
    folder.mkdir(parents=True, exist_ok=True)
    prefix = suite.load("bsuite.logging.csv_logging").BSUITE_PREFIX
    for trial, result in results:
        if result.rows:
            name = f"{prefix}{trial.id.replace(suite.SEPARATOR, '-')}.csv"
            write_csv(folder / name, list(result.rows[-1]), result.rows)


def _score(experiment: str, results: Results) -> float | None:
    pandas = suite.load("pandas")
    rows = [{**row, "bsuite_id": trial.id} for trial, result in results for row in result.rows]
    if not rows:
        return None
    frame = suite.load("bsuite.logging.logging_utils").join_metadata(pandas.DataFrame(rows))
    info = suite.load("bsuite.experiments.summary_analysis").BSUITE_INFO[experiment]
    with _older_pandas(pandas), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, to the authors of bsuite
        score = float(info.score(frame))
    return score if math.isfinite(score) else None


@contextlib.contextmanager
def _older_pandas(pandas: Any) -> Iterator[None]:
    """bsuite calls Series.append, which pandas 2 removed, and takes the rows of no id by name."""
    if hasattr(pandas.Series, "append"):
        yield
        return
    pandas.Series.append = lambda self, other: pandas.concat([self, other])
    try:
        yield
    finally:
        del pandas.Series.append
