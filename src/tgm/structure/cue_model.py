"""Clones by a cue: one for each pair of a look and of a look at the beginning of the episode.

Folding compares futures, and needs some that overlap. Where every action leads on and only the
beginning matters, futures hardly overlap; the cue alone then distinguishes the clones.
"""

from __future__ import annotations

from collections.abc import Sequence

from tgm.structure.folding import Folding
from tgm.transition.automaton import END, Automaton, Episode
from tgm.transition.clone_evidence import OutcomeBase

CUES = 3  # looks at the beginning of an episode; one of them may be the cue
MOST_CUES = 16  # different values of a cue
NOT_YET = -3  # a mark: the cue was not seen yet


def cued_foldings(episodes: Sequence[Episode], strength: float) -> list[Folding]:
    """A folding for each cue: the first, second or third look of the episode; all are decided."""
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
    graph = Automaton()
    nodes: dict[tuple[int, int], int] = {}
    for episode in episodes:
        at, cue, n_looks, look = 0, NOT_YET, -1, NOT_YET
        for action, outcome in episode:
            symbol = END if outcome.ended else outcome.symbol
            if symbol not in (END, look):
                look, n_looks = symbol, n_looks + 1
                cue = symbol if n_looks == number else cue
            place = (symbol, NOT_YET if symbol == END else cue)
            if place not in nodes:
                nodes[place] = len(graph.symbols)
                graph.symbols.append(symbol)
                graph.rows.append({})
            row = graph.rows[at].setdefault(action, {})
            row.setdefault(outcome, [0, nodes[place]])[0] += 1
            at = nodes[place]
    folding = Folding(graph, OutcomeBase(strength))
    for node in range(1, len(graph.symbols)):
        folding.accept(node)
    folding.is_cued = True
    folding.count_base()
    return folding
