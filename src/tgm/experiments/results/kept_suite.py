"""Results of bsuite that the repository keeps: a file for each experiment, a line for each setting.

Campaigns add to them: the suite is too long for one day.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tgm.errors import ConfigError, RunError
from tgm.experiments.behaviour_suite import suite
from tgm.experiments.behaviour_suite.scoring import score_by_bsuite
from tgm.experiments.behaviour_suite.trial import SuiteResult, SuiteTrial, store_in
from tgm.experiments.harness.plain import from_plain, to_plain
from tgm.files import parse_json, read_bytes, write_atomically

LARGEST_FILE, MOST_VALUES = 4_000_000, 400_000  # bytes and values of an experiment
OURS = "tgm"

Pair = tuple[SuiteTrial, SuiteResult]


def read_kept(folder: Path) -> list[Pair]:
    """All kept results, in bsuite's order."""
    order = {one: number for number, one in enumerate(suite.ids_of(None))}
    found = [pair for path in sorted(folder.glob("*.json")) for pair in _read(path)]
    return sorted(found, key=lambda pair: order[pair[0].id])


def keep(out: Path, folder: Path) -> None:
    """Add the results in the --out of `tgm bsuite` to those that are kept in `folder`.

    A newer result takes the place of one of the same setting, unless it has fewer episodes.
    """
    new = [pair for pair in store_in(out).trials() if pair[0].agent == OURS]
    if not new:
        raise ConfigError(f"{out} has no trial of {OURS}; --suite names the --out of tgm bsuite")
    kept = {trial.id: (trial, result) for trial, result in read_kept(folder)}
    for trial, result in sorted(new, key=lambda pair: pair[0].episodes):
        if trial.id not in kept or kept[trial.id][0].episodes <= trial.episodes:
            kept[trial.id] = trial, with_few_rows(trial, result)
    folder.mkdir(parents=True, exist_ok=True)
    for experiment, ids in suite.experiments().items():
        own = [kept[one] for one in ids if one in kept]
        if own:
            write_atomically(folder / f"{experiment}.json", _text(own).encode())


def with_few_rows(trial: SuiteTrial, result: SuiteResult) -> SuiteResult:
    """The result with the last row only, where bsuite's score needs no other."""
    last = replace(result, rows=result.rows[-1:])
    scores = [score_by_bsuite([(trial, one)]) for one in (result, last)]
    return last if scores[0] == scores[1] else result


def _text(pairs: Iterable[Pair]) -> str:
    lines = (
        json.dumps({"trial": to_plain(trial), "result": to_plain(result)}, allow_nan=False)
        for trial, result in pairs
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _read(path: Path) -> list[Pair]:
    try:
        return [
            (from_plain(SuiteTrial, one["trial"]), from_plain(SuiteResult, one["result"]))
            for one in parse_json(read_bytes(path, LARGEST_FILE), path, MOST_VALUES)
        ]
    except (KeyError, TypeError) as error:
        raise RunError(f"{path}: not results of bsuite ({error})") from None
