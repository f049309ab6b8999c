"""When dead reckoning is done again: where it was refuted, or where its map goes on to grow."""

from __future__ import annotations

import numpy as np

from tgm.files.arrays import ArrayReader, Arrays
from tgm.structure.clone_model import folding_evidence
from tgm.structure.folding import Folding
from tgm.structure.reckoned_map import contradictions, reckoned_folding
from tgm.transition.automaton import BEGIN, Episode, Outcome

GROWTH = 1.25  # times the steps at the last reckoning, until a map that has grown is made again
PAUSES = (0.02, 0.25)  # steps until a refuted one is made again, for each kept step: least and most


class Reckoner:
    """Makes the map by dead reckoning again; where it goes on to contradict itself, more rarely."""

    def __init__(self) -> None:
        """No map was made yet."""
        self._at = self._n_clones = 0
        self._pause = PAUSES[0]

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
        return n_steps >= GROWTH * self._at and len(folding.clones) > self._n_clones

    def again(self, folding: Folding, episodes: list[Episode]) -> Folding:
        """The map of all episodes, at best by another reckoning."""
        strength = folding.base.strength
        found = reckoned_folding(episodes, strength, folding_evidence, folding.reckoning)
        is_sure = contradictions(found) == 0
        self._pause = PAUSES[0] if is_sure else min(2.0 * self._pause, PAUSES[1])
        return found

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything."""
        return {"counts": np.array([self._at, self._n_clones]), "pause": np.array([self._pause])}

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self._at, self._n_clones = saved.whole("counts", 2).tolist()
        self._pause = float(saved.floats("pause", 1, low=PAUSES[0])[0])
