"""The log of a run, read at a bounded cost however long it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from tgm.errors import RunError
from tgm.inspector.plain import number, text

READ_WHOLE = 8_000_000  # bytes: some 20,000 lines, a fifth of a second
ENDS = 1_500_000  # bytes read without a gap at both ends of a longer log
SAMPLES = 2_500  # single lines between them
LONGEST_LINE = 1_000_000  # bytes
MOST_POINTS = 3_000  # of a curve
MOST_EPISODES = 12_000
MOST_MOVES = 6_000
MOST_TERMS = 20
MOST_PATHS = 300  # fits whose way down is shown
LONGEST_PATH = 200  # sweeps of each
MOST_PROBLEMS = 5
SERIES = ("n_states", "n_fixed", "n_kept", "n_forgotten", "free_energy")
MOVES = ("birth", "split", "merge", "removal", "fixed")


@dataclass(frozen=True)
class Log:
    """What a metrics log says, as columns.

    Attributes:
        series: step and the columns of SERIES, and n_forgotten_total, one entry per record kept.
        terms: free energy by term, aligned with `series`.
        paths: free energy within the fits, where the log has it: [[step, [values]], ...].
        episodes: columns episode, step, total_reward, length, terminated.
        moves: {step, kind, ids, cause, gain, accepted}, in order.
        is_whole: False if lines of a long log were left out.
        problems: lines that could not be read, in words.
    """

    series: dict[str, list[Any]]
    terms: dict[str, list[Any]]
    paths: list[list[Any]]
    episodes: dict[str, list[Any]]
    moves: list[dict[str, Any]]
    is_whole: bool
    problems: list[str]

    @property
    def last_step(self) -> int:
        """The step of the last record; 0 without any."""
        return int(self.series["step"][-1]) if self.series["step"] else 0


@dataclass
class _Columns:
    records: list[dict[str, Any]] = field(default_factory=list)
    episodes: list[list[Any]] = field(default_factory=list)
    moves: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def read_log(path: Path) -> Log:
    """The log at `path`; a missing one is empty, unreadable lines are named and left out."""
    columns = _Columns()
    is_whole = True
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            is_whole = size <= READ_WHOLE
            places = _whole(file) if is_whole else _sampled(file, size)
            for place, line in places:
                _take(columns, place, line)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise RunError(f"{path.name}: cannot be read ({error.strerror})") from None
    return _columns(columns, is_whole)


def _whole(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    number_ = 0
    while line := file.readline(LONGEST_LINE):
        number_ += 1
        if line.endswith(b"\n"):
            yield f"line {number_}", line
        elif len(line) == LONGEST_LINE:
            yield f"line {number_}", b"?"  # named as unreadable; its rest is passed over
            _pass_over(file)


def _pass_over(file: BinaryIO) -> None:
    while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        pass


def _sampled(file: BinaryIO, size: int) -> Iterator[tuple[str, bytes]]:
    """Both ends without a gap, and single lines at even distances between them."""
    while file.tell() < ENDS and (line := file.readline(LONGEST_LINE)):
        yield f"byte {file.tell() - len(line)}", line
    begin = file.tell()
    gap = (size - ENDS - begin) / SAMPLES
    for index in range(SAMPLES):
        file.seek(max(begin + int(index * gap), file.tell()))
        file.readline(LONGEST_LINE)  # the rest of a line that was entered in its middle
        if file.tell() >= size - ENDS:
            break
        yield f"byte {file.tell()}", file.readline(LONGEST_LINE)
    file.seek(max(size - ENDS, file.tell()))
    file.readline(LONGEST_LINE)
    while line := file.readline(LONGEST_LINE):
        if line.endswith(b"\n"):
            yield f"byte {file.tell() - len(line)}", line


def _take(columns: _Columns, place: str, line: bytes) -> None:
    """Add what one line says; each value is checked, since the file may be anybody's."""
    try:
        record = json.loads(line)
        step = number(record["step"]) if isinstance(record, dict) else None
    except (ValueError, KeyError, RecursionError):
        record, step = {}, None
    if step is None or step < 0:
        if len(columns.problems) < MOST_PROBLEMS:
            columns.problems.append(f"the log cannot be read at {place}")
        return
    step = int(step)
    columns.records.append(
        {"step": step, "terms": record.get("free_energy_terms")}
        | {"path": record.get("free_energy_path")}
        | {name: number(record.get(name)) for name in SERIES}
    )
    columns.episodes += [
        [number(item.get(name)) for name in ("episode", "step", "total_reward", "length")]
        + [1 if item.get("terminated") is True else 0]
        for item in _dicts(record.get("episodes"))
    ]
    columns.moves += [_move(step, item) for item in _dicts(record.get("moves"))]


def _dicts(items: object) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _move(step: int, item: dict[str, Any]) -> dict[str, Any]:
    ids, at = item.get("ids"), item.get("step")
    whole = [id_ for id_ in ids if type(id_) is int][:20] if isinstance(ids, list) else []
    return {
        # A record tells of the moves since the one before, each with its own step.
        "step": at if type(at) is int and 0 <= at <= step else step,
        "kind": item["kind"] if item.get("kind") in MOVES else "other",
        "ids": whole,
        "cause": text(item.get("cause")),
        "gain": number(item.get("gain")),
        "accepted": item.get("accepted") is not False,
    }


def _columns(columns: _Columns, is_whole: bool) -> Log:
    forgotten = 0.0
    for record in columns.records:
        forgotten += record["n_forgotten"] or 0
        record["n_forgotten_total"] = forgotten
    records = thinned(columns.records, MOST_POINTS)
    names = ("step", *SERIES, "n_forgotten_total")
    episodes = [row for row in columns.episodes if None not in row]
    rows = thinned(episodes, MOST_EPISODES)
    fields = ("episode", "step", "total_reward", "length", "terminated")
    moves = columns.moves
    if len(moves) > MOST_MOVES:
        moves = [move for move in moves if move["accepted"]]
    is_cut = len(episodes) > MOST_EPISODES or len(moves) > MOST_MOVES
    return Log(
        series={name: [record[name] for record in records] for name in names},
        terms=_terms(records),
        paths=_paths(columns.records),
        episodes={name: [row[index] for row in rows] for index, name in enumerate(fields)},
        moves=moves[: MOST_MOVES // 2] + moves[MOST_MOVES // 2 :][-(MOST_MOVES // 2) :],
        is_whole=is_whole and not is_cut,
        problems=columns.problems,
    )


def thinned(items: list[Any], most: int) -> list[Any]:
    """At most `most` of the items, evenly spread, the first and the last among them."""
    if len(items) <= most:
        return items
    if most == 1:
        return items[-1:]
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]


def _terms(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names: dict[str, None] = {}
    for record in records:
        if isinstance(record["terms"], dict):
            names |= dict.fromkeys(list(record["terms"])[:MOST_TERMS])
    return {
        text(name): [
            number(record["terms"].get(name)) if isinstance(record["terms"], dict) else None
            for record in records
        ]
        for name in list(names)[:MOST_TERMS]
    }


def _paths(records: list[dict[str, Any]]) -> list[list[Any]]:
    paths = [
        [record["step"], [number(value) for value in record["path"][:LONGEST_PATH]]]
        for record in records
        if isinstance(record["path"], list) and record["path"]
    ]
    return thinned(paths, MOST_PATHS)
