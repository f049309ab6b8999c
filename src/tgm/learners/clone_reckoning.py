"""When dead reckoning is done again: where it was refuted, or where its map goes on to grow."""

from __future__ import annotations

import numpy as np

from tgm.files.arrays import ArrayReader, Arrays
from tgm.structure.clone_model import best_reckoned
from tgm.structure.folding import Folding
from tgm.structure.reckoned_map import contradictions
from tgm.transition.automaton import BEGIN, Episode, Outcome

LONGEST_PAUSE = 0.25  # steps until a map that contradicts itself is made again, for each kept step


class Reckoner:
    """Makes the map by dead reckoning again; where it goes on to contradict itself, more rarely."""

    def __init__(self, growth: float, pause: float) -> None:
        """No map was made yet.

        Args:
            growth: times the steps of the last map, until one that has grown is made again.
            pause: steps until a refuted one is made again, for each kept step; at first.
        """
        self._at = self._n_clones = self._hoped_at = 0
        self._growth, self._least = growth, pause
        self._pause = pause

    def note(self, folding: Folding, n_steps: int) -> None:
        """A folding was adopted."""
        if folding.reckoning is not None:
            self._at, self._n_clones = n_steps, len(folding.clones)

    def is_due(
        self, folding: Folding, key: tuple[int, int, Outcome], n_steps: int, n_kept: int
    ) -> bool:
        """Whether to make the map again after an outcome of an action at a node of its folding."""
        node, action, outcome = key
        if folding.reckoning is None or action == BEGIN:
            return False
        if n_steps >= self._at + self._pause * n_kept:
            row = folding.graph.rows[node].get(action)
            is_refuted = folding.reckoning.is_refuted(folding.graph.symbols[node], action, outcome)
            if is_refuted or (row is not None and outcome not in row):
                return True
        return n_steps >= self._growth * self._at and len(folding.clones) > self._n_clones

    def again(self, folding: Folding, episodes: list[Episode]) -> Folding:
        """The map of all episodes, at best by another reckoning."""
        found = best_reckoned(episodes, folding.reckoning)
        is_sure = contradictions(found) == 0
        self._pause = self._least if is_sure else min(2.0 * self._pause, LONGEST_PAUSE)
        return found

    def hope(self, folding: Folding, episodes: list[Episode], n_steps: int) -> Folding | None:
        """A map that explains all and has places to explore, where the folding leads nowhere.

        A smaller world of chance may be more likely, but it cannot get better by being explored.
        None if nothing is by chance in it, if that was tried a short while ago, or if there is no
        such map.
        """
        if folding.reckoning is not None or n_steps < self._growth * self._hoped_at:
            return None
        if contradictions(folding) == 0:  # a larger one could be hoped for without end
            return None
        self._hoped_at = n_steps
        found = best_reckoned(episodes, None)
        if not (found.reckoning and found.reckoning.axes) or contradictions(found) > 0:
            return None
        return found if len(found.clones) > len(folding.clones) else None

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything."""
        counts = [self._at, self._n_clones, self._hoped_at]
        return {"counts": np.array(counts), "pause": np.array([self._pause])}

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self._at, self._n_clones, self._hoped_at = saved.whole("counts", 3).tolist()
        self._pause = float(saved.floats("pause", 1, low=self._least)[0])
