"""A log: episodes of observations, with actions and rewards where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tgm.data.columns import Place
from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError

NO_ACTION = -1


@dataclass(frozen=True, eq=False)
class Log:
    """Logged trajectories. Row t holds an observation, the action taken there, and its reward.

    Rows of an episode stand together and in the order of time. The action and reward of the last
    row of an episode may be missing: nothing is known of where they led.

    Attributes:
        observations: (n_rows, n_features) NaN where a value is missing.
        lengths: (n_episodes,) rows of each episode.
        feature_names: (n_features,)
        actions: (n_rows,) index into action_values, NO_ACTION where it is missing; None if there
            are none.
        action_values: what the log calls the actions, sorted: whole numbers or text.
        rewards: (n_rows,) NaN where it is missing; None if there are none.
        terminated: (n_episodes,) whether each ended by itself, and was not cut off; None if that
            is not known.
        given_rows: (n_rows,) where each row stood in what was given.
        is_ragged: whether a list of episodes was given.
        source: what was read, for messages.
    """

    observations: FloatArray
    lengths: IntArray
    feature_names: tuple[str, ...]
    actions: IntArray | None
    action_values: tuple[Any, ...]
    rewards: FloatArray | None
    terminated: BoolArray | None
    given_rows: IntArray
    is_ragged: bool
    source: str

    @property
    def n_rows(self) -> int:
        """Number of observations."""
        return len(self.observations)

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return int(self.observations.shape[1])

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self.lengths)

    @cached_property
    def starts(self) -> IntArray:
        """(n_episodes,) the first row of each episode."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths)

    def as_given(self, values: Any) -> Any:
        """Values (n_rows, ...) in the order of what was given; a list if episodes were."""
        if self.is_ragged:
            return np.split(values, self.starts[1:])
        result = np.empty_like(values)
        result[self.given_rows] = values
        return result


def made_log(
    observations: FloatArray,
    episode_of: IntArray,
    feature_names: tuple[str, ...],
    actions: tuple[IntArray, tuple[Any, ...]] | None,
    rewards: FloatArray | None,
    terminated: FloatArray | None,
    place: Place,
    source: str,
    *,
    is_ragged: bool = False,
) -> Log:
    """A log of checked columns; rows of one episode are put together.

    Args:
        observations: (n_rows, n_features)
        episode_of: (n_rows,) index of the episode of each row, in the order of its first row.
        feature_names: (n_features,)
        actions: (n_rows,) indices and their values.
        rewards: (n_rows,)
        terminated: (n_rows,) 1 where the step from a row ended the episode.
        place: names a row as it was given.
        source: what was read.
        is_ragged: whether a list of episodes was given.
    """
    if not len(observations):
        raise DataError(f"{source}: no rows")
    order = np.argsort(episode_of, kind="stable")
    lengths = np.bincount(episode_of)
    is_last = np.zeros(len(order), dtype=bool)
    is_last[np.cumsum(lengths) - 1] = True
    indices = None
    if actions is not None:
        indices = actions[0][order]
        for row in np.flatnonzero((indices == NO_ACTION) & ~is_last)[:1].tolist():
            raise DataError(
                f"{place(int(order[row]))}: the action is missing; it may be in the last row of "
                "an episode only. Begin another episode after this row, or, if 'none' or 'na' is "
                "an action here, give it another name"
            )
    ended = None if terminated is None else np.nan_to_num(terminated[order]) != 0
    if ended is not None:
        for row in np.flatnonzero(ended & ~is_last)[:1].tolist():
            raise DataError(
                f"{place(int(order[row]))}: the episode has ended here, and has further rows; a "
                "new episode needs another number"
            )
    return Log(
        np.ascontiguousarray(observations[order]),
        lengths,
        feature_names,
        indices,
        () if actions is None else actions[1],
        None if rewards is None else rewards[order],
        None if ended is None else ended[is_last],
        order,
        is_ragged,
        source,
    )
