"""Reads the metrics log of a run, in bounded time and memory for any length."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from tgm.errors import RunError
from tgm.files import n_json_values, opened, parse_json
from tgm.inspector.log_lines import all_lines, is_short, sampled_lines
from tgm.inspector.plain import number, text

MOST_IN_LINE = 200_000  # values
MOST_VALUES = 2_000_000  # in all lines: twice what a real log of eight megabytes holds
MOST_ITEMS = 120_000  # moves and episodes that are read: more than a real log of that size holds
MOST_POINTS = 3_000  # of a curve
MOST_EPISODES = 12_000
MOST_MOVES = 6_000
MOST_TERMS = 20
MOST_PATHS = 300  # fits whose free energy per sweep is shown
LONGEST_PATH = 200  # sweeps of each
MOST_PROBLEMS = 5
SERIES = ("n_states", "n_fixed", "n_kept", "n_forgotten", "free_energy")
MOVES = ("birth", "split", "merge", "removal", "fixed", "change")


@dataclass(frozen=True)
class Log:
    """A metrics log as columns.

    Attributes:
        series: step and the columns of SERIES, and n_forgotten_total, one entry per record kept.
        terms: free energy by term, aligned with `series`.
        paths: free energy within the fits, where the log has it: [[step, [values]], ...].
        episodes: columns episode, step, total_reward, length, terminated.
        moves: {step, kind, ids, cause, gain, accepted}, in order.
        is_whole: False if lines of a long log were left out.
        problems: one message for each line that could not be read.
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


class _Thinning:
    """Keeps evenly spaced items of a stream: when there are many, every second one is dropped.

    The first and the last item are always kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._every = 1
        self._kept: list[Any] = []
        self._last: Any = None
        self.n_seen = 0

    def add(self, item: Any) -> None:
        self._last = item
        if self.n_seen % self._every == 0:
            self._kept.append(item)
            if len(self._kept) >= 4 * self._most:
                self._kept = self._kept[::2]
                self._every *= 2
        self.n_seen += 1

    def items(self) -> list[Any]:
        is_last = self.n_seen == 0 or (self.n_seen - 1) % self._every == 0
        return thinned(self._kept if is_last else [*self._kept, self._last], self._most)


class _Ends:
    """Keeps the first and the last MOST_MOVES / 2 items of a stream."""

    def __init__(self) -> None:
        self._first: list[Any] = []
        self._last: deque[Any] = deque(maxlen=MOST_MOVES // 2)
        self.n_seen = 0

    def add(self, item: Any) -> None:
        (self._first if self.n_seen < MOST_MOVES // 2 else self._last).append(item)
        self.n_seen += 1

    def items(self) -> list[Any]:
        return [*self._first, *self._last]


@dataclass
class _Columns:
    """The content of the lines read so far, in bounded memory."""

    records: _Thinning = field(default_factory=lambda: _Thinning(MOST_POINTS))
    paths: _Thinning = field(default_factory=lambda: _Thinning(MOST_PATHS))
    episodes: _Thinning = field(default_factory=lambda: _Thinning(MOST_EPISODES))
    moves: _Ends = field(default_factory=_Ends)
    accepted: _Ends = field(default_factory=_Ends)
    problems: list[str] = field(default_factory=list)
    n_forgotten: float = 0.0
    n_values: int = 0
    n_left: int = MOST_ITEMS

    @property
    def is_full(self) -> bool:
        """Whether something was left out."""
        return self.n_left == 0 or self.n_values > MOST_VALUES

    def add_problem(self, words: str) -> None:
        if len(self.problems) < MOST_PROBLEMS and words not in self.problems:
            self.problems.append(words)

    def items_of(self, items: object) -> Iterator[dict[str, Any]]:
        """The moves or episodes of a line, until MOST_ITEMS of them were read in all."""
        for item in items if isinstance(items, list) else ():
            if self.n_left == 0:
                self.add_problem(f"the log lists more than {MOST_ITEMS} moves and episodes")
                return
            self.n_left -= 1
            if isinstance(item, dict):
                yield item


def read_log(path: Path) -> Log:
    """Read the log at `path`. A missing file is an empty log; unreadable lines become problems."""
    columns = _Columns()
    is_whole = True
    if path.exists():
        with opened(path) as (file, size):
            is_whole = is_short(file, size)
            for place, line in all_lines(file) if is_whole else sampled_lines(file, size):
                _take(columns, place, line)
    return _columns(columns, is_whole)


def _take(columns: _Columns, place: str, line: bytes) -> None:
    """Add the content of one line; each value is checked, since the file is not trusted."""
    columns.n_values += n_json_values(line)
    if columns.n_values > MOST_VALUES:
        columns.add_problem(f"the log holds more than {MOST_VALUES} values; the rest is left out")
        return
    try:
        record = parse_json(line, place, MOST_IN_LINE)
        step = number(record.get("step")) if isinstance(record, dict) else None
    except RunError:
        record, step = {}, None
    if step is None or step < 0:
        columns.add_problem(f"the log cannot be read at {place}")
        return
    step = int(step)
    values = {name: number(record.get(name)) for name in SERIES}
    columns.n_forgotten += values["n_forgotten"] or 0
    columns.records.add(
        values
        | {"step": step, "n_forgotten_total": columns.n_forgotten}
        | {"terms": _first_terms(record.get("free_energy_terms"))}
    )
    path = record.get("free_energy_path")
    if isinstance(path, list) and path:
        columns.paths.add((step, path[:LONGEST_PATH]))
    for item in columns.items_of(record.get("episodes")):
        if None not in (row := _episode(item)):
            columns.episodes.add(row)
    for item in columns.items_of(record.get("moves")):
        move = _move(step, item)
        columns.moves.add(move)
        if move["accepted"]:
            columns.accepted.add(move)


def _first_terms(terms: object) -> dict[str, Any]:
    return dict(islice(terms.items(), MOST_TERMS)) if isinstance(terms, dict) else {}


def _episode(item: dict[str, Any]) -> list[Any]:
    values = [number(item.get(name)) for name in ("episode", "step", "total_reward", "length")]
    return [*values, 1 if item.get("terminated") is True else 0]


def _move(step: int, item: dict[str, Any]) -> dict[str, Any]:
    ids, at = item.get("ids"), item.get("step")
    whole = [id_ for id_ in ids if type(id_) is int][:20] if isinstance(ids, list) else []
    return {
        # A record lists the moves since the record before it, each with its own step.
        "step": at if type(at) is int and 0 <= at <= step else step,
        "kind": item["kind"] if item.get("kind") in MOVES else "other",
        "ids": whole,
        "cause": text(item.get("cause")),
        "gain": number(item.get("gain")),
        "accepted": item.get("accepted") is not False,
    }


def _columns(columns: _Columns, is_whole: bool) -> Log:
    records, episodes = columns.records.items(), columns.episodes.items()
    names = ("step", *SERIES, "n_forgotten_total")
    fields = ("episode", "step", "total_reward", "length", "terminated")
    moves = columns.moves if columns.moves.n_seen <= MOST_MOVES else columns.accepted
    is_cut = columns.episodes.n_seen > MOST_EPISODES or moves.n_seen > MOST_MOVES
    return Log(
        series={name: [record[name] for record in records] for name in names},
        terms=_terms(records),
        paths=[[step, [number(value) for value in path]] for step, path in columns.paths.items()],
        episodes={name: [row[index] for row in episodes] for index, name in enumerate(fields)},
        moves=moves.items(),
        is_whole=is_whole and not is_cut and not columns.is_full,
        problems=columns.problems,
    )


def thinned(items: list[Any], most: int) -> list[Any]:
    """At most `most` of the items, evenly spaced, including the first and the last."""
    if len(items) <= most:
        return items
    if most == 1:
        return items[-1:]
    return [items[round(index * (len(items) - 1) / (most - 1))] for index in range(most)]


def _terms(records: list[dict[str, Any]]) -> dict[str, list[Any]]:
    names: dict[str, None] = {}
    for record in records:
        names |= dict.fromkeys(record["terms"])
    return {
        text(name): [number(record["terms"].get(name)) for record in records]
        for name in list(names)[:MOST_TERMS]
    }
