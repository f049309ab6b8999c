"""A folding with one path beside its clones: what was done and seen in one episode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tgm.structure.folding import Folding
from tgm.transition.automaton import END, Episode, Happening


def kept_episode(actions: Sequence[int], episodes: Iterable[Episode]) -> Episode:
    """The first episode that consists of these actions and ended; empty if there is none."""
    for episode in episodes if actions else ():
        is_whole = len(episode) == len(actions) + 1 and episode[-1].outcome.ended
        is_first = is_whole and not episode[0].outcome.reward  # no later piece of one
        if is_first and [action for action, _ in episode[1:]] == list(actions):
            return list(episode)
    return []


def with_path(folding: Folding, episode: Sequence[Happening]) -> Folding:
    """The same clones, and one more for each step of an episode that ended.

    An episode that begins in the same way is on the path, and in each of its places only what was
    done there is known. What does not happen as on the path leads back to the clones.
    """
    graph = folding.graph.copy()
    found = Folding(graph, folding.base)
    for clone in folding.clones[1:]:
        found.accept(clone)
    found.undecided = dict(folding.undecided)
    node = 0
    for action, outcome in episode:
        count = graph.rows[node].get(action, {}).get(outcome, [1, 0])[0]
        ends = found.by_symbol.get(END, []) if outcome.ended else []
        if ends:
            target = ends[0]
        else:
            target = len(graph.symbols)
            graph.symbols.append(END if outcome.ended else outcome.symbol)
            graph.rows.append({})
            found.accept(target)
        graph.rows[node].setdefault(action, {})[outcome] = [count, target]
        node = target
    return found
