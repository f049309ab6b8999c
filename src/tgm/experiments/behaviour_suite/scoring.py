"""Scores by bsuite's own analysis, per experiment and per capability."""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
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
        episodes: fewest of a setting that was run.
        n_episodes: that bsuite wants of each.
        steps: of all its trials.
        seconds: of the processor, of all its trials.
        by_setting: the score of each setting alone, by its number.
        codes: digests of the code that ran them, each once.
    """

    experiment: str
    capabilities: tuple[str, ...]
    score: float | None
    settings: int
    n_settings: int
    is_whole: bool
    episodes: int
    n_episodes: int
    steps: int
    seconds: float
    by_setting: dict[str, float | None]
    codes: tuple[str, ...]


def scores_of(results: Results) -> list[Score]:
    """One score for each experiment that has a result, in bsuite's order."""
    return [
        _score_of(experiment, ids, own)
        for experiment, ids in suite.experiments().items()
        if (own := [pair for pair in results if pair[0].experiment == experiment])
    ]


def _score_of(experiment: str, ids: Sequence[str], own: Results) -> Score:
    return Score(
        experiment=experiment,
        capabilities=suite.capabilities()[experiment],
        score=score_by_bsuite(own),
        settings=len(own),
        n_settings=len(ids),
        is_whole=len(own) == len(ids)
        and all(trial.episodes == suite.n_episodes(trial.id) for trial, _ in own),
        episodes=min(trial.episodes for trial, _ in own),
        n_episodes=max(suite.n_episodes(one) for one in ids),
        steps=sum(result.steps for _, result in own),
        seconds=round(sum(result.seconds for _, result in own), 1),
        by_setting={pair[0].setting: score_by_bsuite([pair]) for pair in own},
        codes=tuple(dict.fromkeys(result.code for _, result in own)),
    )


def facts_of(agent: str, results: Results) -> dict[str, Any]:
    """All that is said of the results of an agent, as plain values."""
    scores = scores_of(results)
    return {
        "agent": agent,
        "mean": mean_score(scores),
        "mean_of_whole": mean_score([score for score in scores if score.is_whole]),
        "experiments": [asdict(score) for score in scores],
        "capabilities": per_capability(scores),
        "published": published(),
        "left_out": list(suite.LEFT_OUT),
    }


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


def score_by_bsuite(results: Results) -> float | None:
    """The score of settings of one experiment by bsuite's analysis; None if that is no number."""
    pandas = suite.load("pandas")
    rows = [{**row, "bsuite_id": trial.id} for trial, result in results for row in result.rows]
    if not rows:
        return None
    frame = suite.load("bsuite.logging.logging_utils").join_metadata(pandas.DataFrame(rows))
    info = suite.load("bsuite.experiments.summary_analysis").BSUITE_INFO[results[0][0].experiment]
    with _older_pandas(pandas), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, to the authors of bsuite
        score = float(info.score(frame))
    return score if math.isfinite(score) else None


def write_logs(folder: Path, results: Results) -> None:
    """The files that bsuite's own notebook reads: one for each setting."""
    folder.mkdir(parents=True, exist_ok=True)
    prefix = suite.load("bsuite.logging.csv_logging").BSUITE_PREFIX
    for trial, result in results:
        if result.rows:
            name = f"{prefix}{trial.id.replace(suite.SEPARATOR, '-')}.csv"
            write_csv(folder / name, list(result.rows[-1]), result.rows)


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
