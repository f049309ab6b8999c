"""Clones that are likely, but not by enough to take over: what they have not tried is tried."""

from __future__ import annotations

from tgm.learners.clone_life import CloneLife
from tgm.structure.folding import Folding
from tgm.transition.automaton import Episode, Outcome


class Rival:
    """Follows one episode through the clones of a trial.

    One state for each look knows an action that is untried after another cue; clones do not. To
    try it while they are in doubt decides sooner, and costs little if they are wrong.
    """

    def __init__(self, life: CloneLife, episode: Episode) -> None:
        """Follow the newest episode, or the next one if it has ended."""
        self._planner, self._folding = life.planner, life.folding
        self._node: int | None = 0
        if not episode[-1].outcome.ended:
            for action, outcome in episode:
                self.follow(action, outcome)

    def follow(self, action: int, outcome: Outcome) -> None:
        """A step on; where the clones do not know it, nothing is said until the episode ends."""
        folding: Folding = self._folding
        row = {} if self._node is None else folding.graph.rows[self._node].get(action, {})
        self._node = row[outcome][1] if outcome in row else None

    def choose(self) -> int | None:
        """The first action of a way to what was never tried; None if there is none."""
        return None if self._node is None else self._planner.towards_unknown(self._node)
