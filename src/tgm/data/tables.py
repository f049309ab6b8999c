"""Logs from arrays, lists of episodes, and frames of pandas or Polars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tgm.data.columns import Place, labels, numbers, objects, same_length, unmasked
from tgm.data.log import Log, made_log
from tgm.distributions import FloatArray, IntArray
from tgm.errors import ConfigError, DataError


def from_arrays(
    observations: Any,
    actions: Any = None,
    episode_ids: Any = None,
    rewards: Any = None,
    terminated: Any = None,
) -> Log:
    """A log of arrays (or of anything that NumPy makes one of), or of lists of episodes.

    Args:
        observations: (n_rows, n_features) or (n_rows,); a frame, whose columns name the features;
            or a list of such arrays, one for each episode. NaN is a missing value. Of a list of
            arrays (n,) of one length each is a row, as in NumPy, unless actions or rewards are
            lists of lists; more features than rows are refused as ambiguous.
        actions: (n_rows,) whole numbers or text; a list of arrays if observations is one, each as
            long as its episode or one shorter.
        episode_ids: (n_rows,) what belongs together; one episode if not given.
        rewards: (n_rows,) of the step from each row; a list as with actions.
        terminated: (n_rows,) whether the step from each row ended the episode by itself; of a list
            of episodes one value for each is enough.
    """
    if isinstance(observations, Log):
        others = {"actions": actions, "episode_ids": episode_ids, "rewards": rewards}
        for name, one in (others | {"terminated": terminated}).items():
            if one is not None:
                raise ConfigError(f"a Log holds the rest too; leave out {name}")
        return observations
    if _is_ragged(observations, episode_ids, (actions, rewards)):
        if episode_ids is not None:
            raise ConfigError("a list of episodes has no episode_ids; leave them out")
        return _from_episodes(observations, actions, rewards, terminated)
    observations = collected(observations)
    table, names = _matrix(observations, "observations")
    _refuse_lengths(actions, len(table))
    place = _place_in("observations")
    columns = [("observations", table)]
    given = {"actions": actions, "episode_ids": episode_ids, "rewards": rewards}
    given["terminated"] = terminated
    columns += [(name, _column(one, name)) for name, one in given.items() if one is not None]
    same_length(columns, "the log")
    found = dict(columns)
    return _checked(
        [numbers(column, name, place) for column, name in zip(table.T, names, strict=True)],
        names,
        found.get("actions"),
        found.get("episode_ids"),
        found.get("rewards"),
        found.get("terminated"),
        lambda column: _place_in(column),
        "the log",
    )


def from_frame(
    frame: Any,
    obs: Sequence[str] | str,
    action: str | None = None,
    episode: str | None = None,
    reward: str | None = None,
    terminated: str | None = None,
    *,
    source: str = "the frame",
    place: Place | None = None,
) -> Log:
    """A log of a frame of pandas or Polars, or of a dict of columns.

    Args:
        frame: has the columns.
        obs: names of the columns of an observation.
        action, episode, reward, terminated: names of the other columns; see `from_arrays`.
        source: what it is called in messages.
        place: names a row.
    """
    obs = [obs] if isinstance(obs, str) else obs
    known = [str(name) for name in (frame if isinstance(frame, dict) else frame.columns)]
    if not obs:
        raise ConfigError(f"{source}: name the columns of an observation; it has {_list(known)}")
    wanted = [*obs, *(name for name in (action, episode, reward, terminated) if name is not None)]
    for name in wanted:
        if name not in known:
            raise DataError(f"{source}: no column {name!r}; it has {_list(known)}")
        if known.count(name) > 1:
            raise DataError(f"{source}: {known.count(name)} columns are called {name!r}")
    doubled = [name for name in obs if list(obs).count(name) > 1]
    if doubled:
        raise ConfigError(f"{source}: column {doubled[0]!r} is named twice for an observation")
    where = place or _place_in(source)

    def column(name: str | None) -> Any:
        return None if name is None else _column(frame[name], f"{source}: column {name!r}")

    same_length([(name, column(name)) for name in wanted], source)

    return _checked(
        [numbers(column(name), name, where) for name in obs],
        tuple(obs),
        column(action),
        column(episode),
        column(reward),
        column(terminated),
        lambda _: where,
        source,
        (
            action or "actions",
            episode or "episode_ids",
            reward or "rewards",
            terminated or "terminated",
        ),
    )


def _checked(
    features: list[FloatArray],
    names: tuple[str, ...],
    actions: Any,
    episode_ids: Any,
    rewards: Any,
    terminated: Any,
    places: Any,
    source: str,
    called: tuple[str, str, str, str] = ("actions", "episode_ids", "rewards", "terminated"),
) -> Log:
    """A log of columns, each of which is checked here except the features."""
    place = places("observations")
    episode_of = np.zeros(len(features[0]), dtype=np.intp)
    if episode_ids is not None:
        episode_of = _numbered(episode_ids, called[1], places(called[1]))
    return made_log(
        np.stack(features, axis=1),
        episode_of,
        names,
        None if actions is None else labels(actions, called[0], places(called[0])),
        None if rewards is None else numbers(rewards, called[2], places(called[2])),
        None if terminated is None else numbers(terminated, called[3], places(called[3])),
        place,
        source,
    )


def _numbered(episode_ids: Any, name: str, place: Place) -> IntArray:
    """(n_rows,) episodes, numbered in the order of their first rows."""
    indices, _ = labels(episode_ids, name, place)
    for row in np.flatnonzero(indices < 0)[:1].tolist():
        raise DataError(f"{place(row)}, column {name!r}: the episode is missing")
    _, first, inverse = np.unique(indices, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)])


def _from_episodes(episodes: Any, actions: Any, rewards: Any, terminated: Any) -> Log:
    """A log of lists of episodes."""
    parts = [_matrix(one, f"episode {index}") for index, one in enumerate(episodes)]
    names = parts[0][1]
    for index, (table, own) in enumerate(parts):
        if table.shape[1] != len(names):
            raise DataError(
                f"episode {index} has {table.shape[1]} features, and episode 0 has {len(names)}"
            )
        if own != names:
            raise DataError(
                f"episode {index} has the features {_list(own)}, and episode 0 has {_list(names)}"
            )
        if not len(table):
            raise DataError(f"episode {index} has no rows; leave it out")
    lengths = [len(table) for table, _ in parts]
    starts = np.cumsum([0, *lengths])

    def place(row: int) -> str:
        episode = int(np.searchsorted(starts, row, side="right")) - 1
        return f"episode {episode}, row {row - int(starts[episode])} (counted from 0)"

    whole = np.concatenate([table for table, _ in parts])
    joined = [_joined(one, name, lengths) for one, name in
              ((actions, "actions"), (rewards, "rewards"))]  # fmt: skip
    ended = None if terminated is None else _ends(terminated, lengths)
    return made_log(
        np.stack([numbers(c, n, place) for c, n in zip(whole.T, names, strict=True)], axis=1),
        np.repeat(np.arange(len(lengths)), lengths),
        names,
        None if joined[0] is None else labels(joined[0], "actions", place),
        None if joined[1] is None else numbers(joined[1], "rewards", place),
        None if ended is None else numbers(ended, "terminated", place),
        place,
        "the log",
        is_ragged=True,
    )


def _joined(values: Any, name: str, lengths: list[int]) -> list[Any] | None:
    """One value for each row; None for the last row of an episode that has one fewer."""
    if values is None:
        return None
    if len(values) != len(lengths):
        raise DataError(f"{name} has {len(values)} episodes, and observations has {len(lengths)}")
    rows: list[Any] = []
    for index, (one, length) in enumerate(zip(values, lengths, strict=True)):
        column = list(_column(one, f"{name} of episode {index}"))
        if len(column) not in (length, length - 1):
            raise DataError(
                f"{name} of episode {index} has {len(column)} rows, and its observations have "
                f"{length}; it must be as many or one fewer"
            )
        rows += [*column, *[None] * (length - len(column))]
    return rows


def _ends(terminated: Any, lengths: list[int]) -> list[Any]:
    """(n_rows,) where episodes ended, of one value for each episode or for each row."""
    if len(terminated) != len(lengths):
        raise DataError(
            f"terminated has {len(terminated)} episodes, and observations has {len(lengths)}"
        )
    rows: list[Any] = []
    for index, (one, length) in enumerate(zip(terminated, lengths, strict=True)):
        ends = numbers(one, "terminated", partial(_of_episode, index))
        rows += [0.0] * (length - 1) + [float(np.any(ends > 0.0))]
    return rows


def _of_episode(index: int, _: int) -> str:
    return f"episode {index}"


def _is_ragged(observations: Any, episode_ids: Any, others: tuple[Any, ...]) -> bool:
    """Whether it is a list of episodes, and not of rows."""
    if not isinstance(observations, list | tuple) or not len(observations):
        return False
    first = observations[0]
    if isinstance(first, list | tuple):  # a list of rows, or a list of episodes that are lists
        return bool(len(first)) and isinstance(first[0], list | tuple | np.ndarray)
    if hasattr(first, "columns") or np.ndim(first) == 2:
        return True
    if np.ndim(first) != 1 or episode_ids is not None:
        return False
    values = [next(iter(one)) for one in others if one is not None and len(one)]
    are_lists = any(np.ndim(value) == 1 and len(value) > 1 for value in values)
    if are_lists or len({len(one) for one in observations}) > 1:
        return True
    if not values and len(observations) < len(first):
        raise DataError(
            f"observations is a list of {len(observations)} arrays of length {len(first)}, which "
            f"can be rows or episodes: pass np.stack(observations) if these are rows of "
            f"{len(first)} features, or arrays of shape ({len(first)}, 1) if these are episodes of "
            "one feature"
        )
    return False


def collected(frame: Any) -> Any:
    """The same; of a lazy frame of Polars what it stands for."""
    return frame.collect() if hasattr(frame, "collect") else frame


def _refuse_lengths(actions: Any, n_rows: int) -> None:
    """DataError if the second argument is, as hmmlearn has it, the lengths of the episodes."""
    if actions is None or not 1 < len(actions) < n_rows:
        return
    given = np.asarray(actions)
    if given.dtype.kind in "iu" and given.sum() == n_rows:
        raise DataError(
            f"actions has {len(given)} values whose sum is {n_rows}, the number of rows: if these "
            "are lengths of episodes, pass np.split(observations, np.cumsum(lengths)[:-1]) as "
            "observations; actions need one value for each row"
        )


def _refuse_others(values: Any, source: str) -> None:
    """DataError with a remedy for what is no table in memory."""
    if isinstance(values, str | Path):
        raise DataError(
            f"{source} is the path {str(values)!r:.200}; read the file first: "
            "tgm.data.read(path, obs=[names of columns], ...)"
        )
    if hasattr(values, "toarray"):
        raise DataError(f"{source} is sparse; wanted a dense array: pass {source}.toarray()")


def _matrix(values: Any, source: str) -> tuple[np.ndarray[Any, Any], tuple[str, ...]]:
    """(n_rows, n_features) and the names of the features."""
    _refuse_others(values, source)
    if hasattr(values, "columns"):
        names = tuple(str(name) for name in values.columns)
        for name, count in Counter(names).items():
            if count > 1:
                raise DataError(f"{source}: {count} columns are called {name!r}")
        columns = [objects(_column(values[name])) for name in values.columns]
        if not columns:
            raise DataError(f"{source} has no columns")
        return np.stack(columns, axis=1), names
    try:
        given = np.asarray(unmasked(values))
    except ValueError:
        raise DataError(f"{source}: the rows differ in length") from None
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or not given.shape[1]:
        raise DataError(f"{source} has shape {given.shape}; wanted (n_rows, n_features)")
    return given, default_names(given.shape[1])


def default_names(n_features: int) -> tuple[str, ...]:
    """What the features of an array are called."""
    return tuple(f"x{index}" for index in range(n_features))


def _column(values: Any, name: str = "the column") -> Any:
    """(n_rows,) one value for each row."""
    given = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(unmasked(values))
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise DataError(f"{name} has shape {given.shape}; wanted one value for each row")
    return given


def _place_in(source: str) -> Place:
    return lambda row: f"{source}, row {row} (counted from 0)"


def _list(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:20]) + (", ..." if len(names) > 20 else "")
