"""The episodes that are kept where places may look alike."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.memory import symbol_history
from tgm.memory.symbol_history import LONGEST_EPISODE, MOST_HISTORY_STEPS, SymbolHistory
from tgm.transition.automaton import Outcome

POINT = np.zeros(1)


def lived(n_steps: int) -> SymbolHistory:
    """An episode that never ends, kept in pieces as its owners do."""
    history = SymbolHistory(1)
    history.begin(0, POINT)
    for step in range(n_steps):
        history.add(0, Outcome(step % 3, 0.0, False), POINT)
        if history.is_long:
            history.begin(history.newest.symbol, POINT)
    return history


def test_an_episode_without_an_end_is_kept_in_pieces():
    history = lived(LONGEST_EPISODE + 5)
    assert [len(episode) for episode in history.episodes] == [LONGEST_EPISODE + 1, 6]
    assert history.episodes[1][0].outcome.symbol == history.episodes[0][-1].outcome.symbol


def test_what_is_kept_of_an_endless_episode_is_bounded():
    history = lived(4 * MOST_HISTORY_STEPS)
    assert history.n_steps <= MOST_HISTORY_STEPS + LONGEST_EPISODE
    assert history.n_steps == sum(len(episode) - 1 for episode in history.episodes)
    assert sum(len(points) for points in history.points) == history.n_steps + len(history.points)


def test_an_episode_that_has_ended_is_not_long():
    history = lived(LONGEST_EPISODE - 1)
    history.add(0, Outcome(0, 1.0, True), POINT)
    assert not history.is_long


def seen(*symbols: int, ended: bool = False) -> SymbolHistory:
    """One episode whose points are ten times the symbols."""
    history = SymbolHistory(1)
    history.begin(symbols[0], np.array([10.0 * symbols[0]]))
    for i, symbol in enumerate(symbols[1:], start=1):
        is_end = ended and i == len(symbols) - 1
        history.add(0, Outcome(symbol, 0.0, is_end), np.array([10.0 * symbol]))
    return history


def test_whole_old_episodes_are_evicted_when_another_one_begins(monkeypatch):
    monkeypatch.setattr(symbol_history, "MOST_HISTORY_STEPS", 100)
    history = SymbolHistory(1)
    for number in range(4):
        history.begin(number, POINT)
        for _ in range(50):
            history.add(0, Outcome(9, 0.0, False), POINT)
    assert [one[0].outcome.symbol for one in history.episodes] == [1, 2, 3]
    history.begin(4, POINT)
    assert [one[0].outcome.symbol for one in history.episodes] == [2, 3, 4]
    assert history.n_steps == 100
    assert len(history.points) == 3


@pytest.mark.parametrize(
    ("n_features", "n_kept"), [(1, 6000), (500, 6000), (1000, 3000), (10**6, 100)]
)
def test_fewer_steps_are_kept_where_points_are_long(n_features, n_kept):
    history = SymbolHistory(n_features)
    history.n_steps, history.episodes, history.points = n_kept + 1, [[None] * 2, [None]], [[], []]
    history.begin(0, np.zeros(1))
    assert history.n_steps == n_kept
    history.begin(0, np.zeros(1))
    assert history.n_steps == n_kept  # no more than that is too much


def test_points_are_named_again_but_for_ends():
    history = seen(1, 2, 1, 3, ended=True)
    assert history.relabel(lambda points: (points[:, 0] // 5).astype(int))
    assert [outcome.symbol for _, outcome in history.episodes[0]] == [2, 4, 2, 3]
    assert not history.relabel(lambda points: (points[:, 0] // 5).astype(int))
    assert history.newest == Outcome(3, 0.0, True)


def test_recent_points_are_the_newest_at_which_nothing_ended():
    history = seen(1, 2, 3, ended=True)
    history.begin(4, np.array([40.0]))
    assert history.recent_points(9).ravel().tolist() == [40.0, 10.0, 20.0]
    history.add(0, Outcome(5, 0.0, False), np.array([50.0]))
    assert history.recent_points(2).ravel().tolist() == [40.0, 50.0]
    assert history.recent_points(1).ravel().tolist() == [50.0]


def test_a_history_survives_a_file_and_a_changed_one_is_refused():
    history = seen(1, 2, 3, ended=True)
    history.begin(4, np.array([40.0]))
    arrays = history.to_arrays()
    copy = SymbolHistory(1)
    copy.restore(ArrayReader(arrays), 1)
    assert copy.episodes == history.episodes
    assert copy.n_steps == 2
    assert [[p.item() for p in one] for one in copy.points] == [[10.0, 20.0, 30.0], [40.0]]
    arrays["ended"] = np.array([False, True, True, False])
    with pytest.raises(DataError, match="goes on"):
        SymbolHistory(1).restore(ArrayReader(arrays), 1)
