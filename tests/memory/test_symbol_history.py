"""The episodes that are kept where places may look alike."""

import numpy as np

from tgm.memory.symbol_history import LONGEST, MOST_KEPT, SymbolHistory
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
    history = lived(LONGEST + 5)
    assert [len(episode) for episode in history.episodes] == [LONGEST + 1, 6]
    assert history.episodes[1][0].outcome.symbol == history.episodes[0][-1].outcome.symbol


def test_what_is_kept_of_an_endless_episode_is_bounded():
    history = lived(4 * MOST_KEPT)
    assert history.n_steps <= MOST_KEPT + LONGEST
    assert history.n_steps == sum(len(episode) - 1 for episode in history.episodes)
    assert sum(len(points) for points in history.points) == history.n_steps + len(history.points)


def test_an_episode_that_has_ended_is_not_long():
    history = lived(LONGEST - 1)
    history.add(0, Outcome(0, 1.0, True), POINT)
    assert not history.is_long
