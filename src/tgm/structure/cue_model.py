"""A cue that is remembered: places of one look are as many as there were cues in the beginning.

Folding needs futures that overlap. Where any action leads on and only the beginning matters, they
hardly ever do; but then all places are told apart by one look at the beginning of the episode.
"""

from __future__ import annotations

from collections.abc import Sequence

from tgm.structure.folding import Folding, labelled_folding
from tgm.transition.automaton import END, Episode

CUES = 3  # looks at the beginning of an episode, of which one may be remembered
MOST_CUES = 16  # different ones
NOT_YET = -3  # before it was seen


def cued_foldings(episodes: Sequence[Episode], strength: float) -> list[Folding]:
    """Foldings that remember the first, second or third look of the episode; each of them whole."""
    paths = [_path(episode) for episode in episodes]
    found = []
    for number in range(CUES):
        cues = {path[number] for path in paths if len(path) > number}
        if 1 < len(cues) <= MOST_CUES:
            found.append(_cued(episodes, number, strength))
    return found


def _path(episode: Episode) -> list[int]:
    """The first different looks of an episode, in their order."""
    path: list[int] = []
    for _, outcome in episode:
        if not outcome.ended and (not path or path[-1] != outcome.symbol):
            path.append(outcome.symbol)
        if len(path) == CUES:
            break
    return path


def _cued(episodes: Sequence[Episode], number: int, strength: float) -> Folding:
    """Places are pairs of a look and of the cue, the look of this number, once it was seen."""
    labels = []
    for episode in episodes:
        cue, n_looks, look = NOT_YET, -1, NOT_YET
        path = []
        for _, outcome in episode:
            symbol = END if outcome.ended else outcome.symbol
            if symbol not in (END, look):
                look, n_looks = symbol, n_looks + 1
                cue = symbol if n_looks == number else cue
            path.append((symbol, NOT_YET if symbol == END else cue))
        labels.append(path)
    folding = labelled_folding(episodes, labels, strength)
    folding.is_cued = True
    return folding
