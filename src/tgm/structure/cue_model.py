"""Clones by a cue: one for each pair of a look and of a look at the beginning of the episode.

Folding compares futures, and needs some that overlap. Where every action leads on and only the
beginning matters, futures hardly overlap; the cue alone then distinguishes the clones. The first
moment of an episode may be a place of its own, though it looks like a later one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tgm.structure.edge_code import log_edges
from tgm.structure.folding import Folding, labelled_folding
from tgm.transition.automaton import END, Episode

CUES = 3  # looks at the beginning of an episode; one of them may be the cue
MOST_CUES = 16  # different values of a cue
MODELS = CUES * 2  # cues that compete: each with the first moment as a place of its own, and not
NOT_YET = -3  # a mark: the cue was not seen yet


def cued_foldings(episodes: Sequence[Episode], strength: float) -> list[Folding]:
    """A folding for each cue: the first, second or third look of the episode; all are decided.

    Where the first look of an episode comes again, there is another one for each cue, in which the
    first moment is a place of its own.
    """
    paths = [_path(episode) for episode in episodes]
    comes_again = any(_comes_again(episode) for episode in episodes)
    found = []
    for number in range(CUES):
        cues = {path[number] for path in paths if len(path) > number}
        if 1 < len(cues) <= MOST_CUES:
            found.append(_cued(episodes, number, strength))
            if comes_again:
                found.append(_cued(episodes, number, strength, is_first_apart=True))
    return found


def cued_places(folding: Folding, episodes: Sequence[Episode], strength: float) -> list[Folding]:
    """A folding for each cue: each of its places is a clone of an undecided one, and the cue.

    Where a clone leads does not depend on the cue, what happens there may: in a corridor the number
    of steps says where its end is, and the cue says which choice is right there.
    """
    paths = [_path(episode) for episode in episodes]
    clones = [followed(folding, episode) for episode in episodes]
    nats = log_edges(folding)
    found = []
    for number in range(CUES):
        cues = {path[number] for path in paths if len(path) > number}
        if 1 < len(cues) <= MOST_CUES:
            one = _cued(episodes, number, strength, places=clones)
            one.edge_nats = nats
            for episode, places in zip(episodes, clones, strict=True):
                one.place_of |= dict(zip(followed(one, episode), places, strict=True))
            found.append(one)
    return found


def uncued(folding: Folding, episodes: Sequence[Episode]) -> Folding | None:
    """The clones without the cue, with all episodes; None if there are none.

    What look and cue alone make, or dead reckoning, are none: they are made again each time.
    """
    is_made_again = folding.reckoning is not None or (folding.is_cued and not folding.place_of)
    if len(folding.clones) <= 1 or is_made_again:
        return None
    if not folding.place_of:
        return folding
    graph, place_of, labels = folding.graph.copy(), folding.place_of, []
    for episode in episodes:
        node, path = 0, list[tuple[bool, int]]()
        for action, outcome in episode:
            node = graph.advance(node, action, outcome)
            path.append((node in place_of, place_of.get(node, node)))
        labels.append(path)
    return labelled_folding(episodes, labels, folding.base.strength)


def followed(folding: Folding, episode: Episode) -> list[int]:
    """The nodes that an episode goes through; it must be in the folding."""
    rows, node, found = folding.graph.rows, 0, []
    for action, outcome in episode:
        node = rows[node][action][outcome][1]
        found.append(node)
    return found


def _comes_again(episode: Episode) -> bool:
    first = episode[0].outcome.symbol
    return any(outcome.symbol == first for _, outcome in episode[1:])


def _path(episode: Episode) -> list[int]:
    """The first different looks of an episode, in their order."""
    path: list[int] = []
    for _, outcome in episode:
        if not outcome.ended and (not path or path[-1] != outcome.symbol):
            path.append(outcome.symbol)
        if len(path) == CUES:
            break
    return path


def _cued(
    episodes: Sequence[Episode],
    number: int,
    strength: float,
    *,
    is_first_apart: bool = False,
    places: Sequence[Sequence[int]] = (),
) -> Folding:
    """Places are pairs of a look and of the cue, the look of this number, once it was seen.

    Or of one of the `places` of each step, and of the cue.
    """
    labels = []
    for k, episode in enumerate(episodes):
        cue, n_looks, look = NOT_YET, -1, NOT_YET
        path: list[tuple[int, int, bool]] = []
        for i, (_, outcome) in enumerate(episode):
            symbol = END if outcome.ended else outcome.symbol
            if symbol not in (END, look):
                look, n_looks = symbol, n_looks + 1
                cue = symbol if n_looks == number else cue
            is_first = is_first_apart and not path
            place = places[k][i] if places else symbol
            path.append((place, NOT_YET if symbol == END else cue, is_first))
        labels.append(path)
    folding = labelled_folding(episodes, labels, strength)
    folding.is_cued = True
    return folding
