"""Logs from files: CSV, Parquet, and data sets of Minari."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tgm.data.log import Log
from tgm.data.tables import collected, from_arrays, from_frame
from tgm.errors import ConfigError, DataError

MINARI = "minari:"
SUFFIXES = ".csv, .tsv, .parquet"
SEPARATORS = ",;\t|"


def read(
    source: Any,
    obs: Sequence[str] | str | None = (),
    action: str | None = None,
    episode: str | None = None,
    reward: str | None = None,
    terminated: str | None = None,
) -> Log:
    """A log from a file, a frame or a data set of Minari.

    Args:
        source: the path of a .csv, .tsv or .parquet file; the folder of a Minari data set, or
            "minari:" and its id if it is on this machine; a Minari data set; or a frame.
        obs: names of the columns of an observation; of Minari, of the features that are wanted,
            all if not given.
        action, episode, reward, terminated: names of the other columns; of Minari they are known.
    """
    named = (action, episode, reward, terminated)
    obs = _names(obs)
    if hasattr(source, "iterate_episodes"):
        return _minari(source, obs, "the data set")
    if not isinstance(source, str | Path):
        source = collected(source)
        if not isinstance(source, dict) and not hasattr(source, "columns"):
            raise ConfigError(
                f"the source is {source!r:.60}; wanted a file, a frame, a dict of columns or a "
                "data set of Minari: for arrays there is tgm.data.from_arrays"
            )
        return from_frame(source, obs, *named)
    if str(source).startswith(MINARI):
        return _minari(_local_data_set(str(source)), obs, str(source))
    path = Path(source)
    if path.is_dir():
        return _minari(_data_set_in(path), obs, str(source))
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    if path.suffix.lower() in (".csv", ".tsv", ".txt"):
        return _csv(path, obs, named)
    if path.suffix.lower() in (".parquet", ".pq"):
        return _parquet(path, obs, named)
    raise DataError(f"{path}: files of this kind cannot be read; wanted {SUFFIXES}")


def _names(obs: Sequence[str] | str | None) -> Sequence[str]:
    """The names of columns, of which one may stand alone."""
    return [obs] if isinstance(obs, str) else (obs or ())


Named = tuple[str | None, str | None, str | None, str | None]


def _csv(path: Path, obs: Sequence[str], named: Named) -> Log:
    """A log from a text file of columns; the first line names them."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            first = file.readline()
            file.seek(0)
            lines = csv.reader(file, delimiter=_separator(path, first), strict=True)
            head = [name.strip() for name in next(lines, [])]
            rows, line_of = [], []
            for row in lines:
                if not row:
                    continue
                if len(row) != len(head):
                    raise DataError(
                        f"{path}, line {lines.line_num}: {len(row)} values, and the first line "
                        f"names {len(head)} columns"
                    )
                rows.append(row)
                line_of.append(lines.line_num)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: cannot be read ({error}); save it as UTF-8") from None
    except (OSError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    if not head:
        raise DataError(f"{path}: is empty; the first line must name the columns")
    columns = _named_columns(head, rows, str(path))
    return from_frame(
        columns,
        obs,
        *named,
        source=str(path),
        place=lambda row: f"{path}, row {row + 1} (line {line_of[row]})",
    )


def _separator(path: Path, first: str) -> str:
    """What stands between values: of .tsv a tab, else what gives the first line most columns."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    return max(SEPARATORS, key=lambda one: len(next(csv.reader([first], delimiter=one), [])))


def _named_columns(head: list[str], rows: list[list[str]], source: str) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for index, name in enumerate(head):
        if name in columns:
            raise DataError(f"{source}: two columns are called {name!r}")
        columns[name] = np.array([row[index] for row in rows], dtype=object)
    return columns


def _parquet(path: Path, obs: Sequence[str], named: Named) -> Log:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise missing_extra("Parquet files need pyarrow") from None
    wanted = [*obs, *(name for name in named if name is not None)]
    try:
        known = parquet.read_schema(path).names
        table = parquet.read_table(path, columns=[name for name in known if name in wanted])
    except (OSError, ArrowException) as error:
        raise DataError(f"{path}: cannot be read ({error})") from None
    columns: dict[str, Any] = dict.fromkeys(known)
    for name in table.column_names:
        columns[name] = table[name].to_numpy()
    return from_frame(
        columns,
        obs,
        *named,
        source=str(path),
        place=lambda row: f"{path}, row {row + 1}",
    )


def missing_extra(what: str) -> ConfigError:
    """The error that names the extra to install."""
    return ConfigError(f"{what}: pip install temporal-gaussian-mixture[data]")


def _local_data_set(source: str) -> Any:
    """A data set of Minari that is on this machine; nothing is downloaded."""
    try:
        import minari
    except ImportError:
        raise missing_extra("data sets of Minari need minari") from None
    try:
        return minari.load_dataset(source.removeprefix(MINARI), download=False)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise DataError(f"{source}: cannot be read ({str(error).splitlines()[0]})") from None


def _data_set_in(path: Path) -> Any:
    if not (path / "data").is_dir() and not any(path.glob("*.hdf5")):
        raise DataError(f"{path}: is a folder, and no data set of Minari")
    try:
        import minari
    except ImportError:
        raise missing_extra("data sets of Minari need minari") from None
    try:
        return minari.MinariDataset(path / "data" if (path / "data").is_dir() else path)
    except (OSError, ValueError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None


def _minari(data_set: Any, obs: Sequence[str], source: str) -> Log:
    """A log from the episodes of a data set, each with one observation more than actions."""
    tables, actions, rewards, ends = [], [], [], []
    names: list[str] = []
    for episode in data_set.iterate_episodes():
        parts = _flat(episode.observations, "")
        names = [name for name, _ in parts]
        chosen = [column for name, column in parts if not obs or name in obs]
        missing = [name for name in obs if name not in names]
        if missing:
            raise DataError(f"{source}: no feature {missing[0]!r}; it has {', '.join(names)}")
        tables.append(np.stack(chosen, axis=1))
        if np.ndim(episode.actions) != 1:
            raise DataError(
                f"{source}: the actions are {np.shape(episode.actions)[1:]} numbers each; wanted "
                "one whole number: put them in classes and use tgm.data.from_arrays"
            )
        actions.append(episode.actions)
        rewards.append(episode.rewards)
        ends.append(bool(np.any(episode.terminations)))
    if not tables:
        raise DataError(f"{source}: no episodes")
    log = from_arrays(tables, actions, None, rewards, ends)
    chosen_names = tuple(name for name in names if not obs or name in obs)
    return replace(log, feature_names=chosen_names, source=source)


def _flat(values: Any, name: str) -> list[tuple[str, Any]]:
    """Columns of observations of any kind, with names."""
    if isinstance(values, dict):
        return [one for key, part in values.items()
                for one in _flat(part, f"{name}.{key}" if name else str(key))]  # fmt: skip
    if isinstance(values, tuple):
        return [one for key, part in enumerate(values)
                for one in _flat(part, f"{name or 'observation'}[{key}]")]  # fmt: skip
    table = np.asarray(values)
    name = name or "observation"
    if table.ndim == 1:
        return [(name, table)]
    flat = table.reshape(len(table), -1)
    return [(f"{name}[{index}]", column) for index, column in enumerate(flat.T)]
