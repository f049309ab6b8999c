"""A folding as arrays, and back."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays, number, prefixed
from tgm.files.schema import LARGEST_WHOLE
from tgm.structure.folding import EdgeKey, Folding
from tgm.structure.reckoning import Reckoning
from tgm.transition.automaton import BEGIN, END, ROOT, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase


def folding_to_arrays(folding: Folding) -> Arrays:
    """Everything, in its order."""
    rivals = [
        (number, nats, clone)
        for number, found in enumerate(folding.undecided.values())
        for nats, clone in found
    ]
    counts = [
        (*kind, *outcome, n)
        for kind, known in folding.base.counts.items()
        for outcome, n in known.items()
    ]
    return {
        **prefixed("graph", folding.graph.to_arrays()),
        "clones": np.array(folding.clones, dtype=np.intp),
        "strength": number(folding.base.strength),
        "flags": np.array([folding.is_cued, folding.is_strict]),
        "place_of": np.array(list(folding.place_of.items()), dtype=np.intp).reshape(-1, 2),
        "edge_nats": number(folding.edge_nats),
        **prefixed("reckoning", _reckoning_to_arrays(folding)),
        **prefixed("undecided", _keys(folding.undecided)),
        "rival.edge": np.array([one[0] for one in rivals], dtype=np.intp),
        "rival.nats": np.array([one[1] for one in rivals], dtype=np.float64),
        "rival.clone": np.array([one[2] for one in rivals], dtype=np.intp),
        **prefixed("base", _keys((one[0], one[1], Outcome(*one[2:5])) for one in counts)),
        "base.count": np.array([one[5] for one in counts], dtype=np.intp),
    }


def folding_from_arrays(saved: ArrayReader, n_actions: int) -> Folding:
    """Take over what `folding_to_arrays` gave, checked."""
    graph = Automaton.from_arrays(saved.part("graph"), n_actions)
    n = len(graph.symbols)
    base = OutcomeBase(saved.number("strength", low=1e-6, high=1e6))
    kinds = _read_keys(saved.part("base"), n_actions, low=ROOT)
    for (symbol, action, outcome), count in zip(
        kinds, saved.whole("base.count", len(kinds)).tolist(), strict=True
    ):
        base.add((symbol, action), outcome, count)
    folding = Folding(graph, base)
    folding.is_cued, folding.is_strict = saved.flags("flags", 2).tolist()
    folding.place_of = dict(saved.whole("place_of", ANY, 2).tolist())
    folding.edge_nats = saved.number("edge_nats")
    clones = saved.whole("clones", ANY, high=n - 1).tolist()
    if not clones or clones[0] != 0 or len(set(clones)) < len(clones):
        raise DataError("array 'clones' does not begin with the root, or holds a node twice")
    for clone in clones[1:]:
        folding.accept(clone)
    _restore_reckoning(folding, saved.part("reckoning"), n_actions)
    keys = _read_keys(saved.part("undecided"), n_actions, low=0)
    edges = saved.whole("rival.edge", ANY, high=max(0, len(keys) - 1)).tolist()
    nats = saved.floats("rival.nats", len(edges)).tolist()
    rivals = saved.whole("rival.clone", len(edges), high=n - 1).tolist()
    if not keys and edges:
        raise DataError("array 'rival.edge' names an edge that is not there")
    folding.undecided = {key: [] for key in keys}
    for edge, gain, rival in zip(edges, nats, rivals, strict=True):
        folding.undecided[keys[edge]].append((gain, rival))
    if not folding.is_clone.issuperset(rivals):
        raise DataError("array 'rival.clone' names a node that is no clone")
    return folding


def _reckoning_to_arrays(folding: Folding) -> Arrays:
    """Nothing where places were found by folding."""
    reckoning = folding.reckoning
    if reckoning is None:
        return {}
    axes = [(action, *axis) for action, axis in reckoning.axes.items()]
    n_axes = 1 + max((axis for _, axis, _ in axes), default=-1)
    steps = [(*step, step in reckoning.exceptions) for step in sorted(reckoning.steps)]
    places = [(clone, *place) for clone, place in folding.reckoned_at.items()]
    moves = [(action, moves, *at) for (at, action), moves in reckoning.moves.items()]
    starts = [(*begin, *place) for begin, place in reckoning.starts.items()]
    return {
        "axes": np.array(axes, dtype=np.intp).reshape(-1, 3),
        "steps": np.array(steps, dtype=np.intp).reshape(-1, 4),
        "places": np.array(places, dtype=np.intp).reshape(len(places), 3 + n_axes),
        "moves": np.array(moves, dtype=np.intp).reshape(len(moves), 4 + n_axes),
        "starts": np.array(starts, dtype=np.intp).reshape(len(starts), 4 + n_axes),
        "alike": np.array(reckoning.n_alike, dtype=np.intp),
    }


def _restore_reckoning(folding: Folding, saved: ArrayReader, n_actions: int) -> None:
    if saved.is_empty:
        return
    axes = saved.whole("axes", ANY, 3, low=-1).tolist()
    is_known = all(0 <= action < n_actions and axis >= 0 for action, axis, _ in axes)
    if not is_known or any(abs(direction) != 1 for _, _, direction in axes):
        raise DataError("array 'axes' names an action or an axis that is not there")
    n_axes = 1 + max((axis for _, axis, _ in axes), default=-1)
    steps = saved.whole("steps", ANY, 4).tolist()
    places = saved.whole("places", ANY, 3 + n_axes, low=-LARGEST_WHOLE).tolist()
    inner = {clone for clone in folding.clones[1:] if folding.graph.symbols[clone] != END}
    if {clone for clone, *_ in places} != inner:
        raise DataError("array 'places' does not name each clone")
    low = -LARGEST_WHOLE
    moves = saved.whole("moves", ANY, 4 + n_axes, low=low).tolist()
    starts = saved.whole("starts", ANY, 4 + n_axes, low=low).tolist()
    n_walls, n_open = saved.whole("alike", 2).tolist()
    if any(action not in {one for one, *_ in axes} for action, *_ in moves):
        raise DataError("array 'moves' names an action without an axis")
    folding.reckoning = Reckoning(
        {action: (axis, direction) for action, axis, direction in axes},
        frozenset((look, action, after) for look, action, after, _ in steps),
        frozenset((look, action, after) for look, action, after, is_one in steps if is_one),
        {(tuple(place), action): bool(is_move) for action, is_move, *place in moves},
        {(symbol, number): tuple(place) for symbol, number, *place in starts},
        (n_walls, n_open),
    )
    folding.reckoned_at = {clone: tuple(place) for clone, *place in places}


def _keys(keyed: Iterable[EdgeKey]) -> Arrays:
    keys = list(keyed)
    return {
        "node": np.array([key[0] for key in keys], dtype=np.intp),
        "action": np.array([key[1] for key in keys], dtype=np.intp),
        "symbol": np.array([key[2].symbol for key in keys], dtype=np.intp),
        "reward": np.array([key[2].reward for key in keys], dtype=np.float64),
        "ended": np.array([key[2].ended for key in keys], dtype=bool),
    }


def _read_keys(saved: ArrayReader, n_actions: int, *, low: int) -> list[EdgeKey]:
    nodes = saved.whole("node", ANY, low=low).tolist()
    n = len(nodes)
    actions = saved.whole("action", n, low=BEGIN, high=n_actions - 1).tolist()
    symbols, rewards = (
        saved.whole("symbol", n, low=END).tolist(),
        saved.floats("reward", n).tolist(),
    )
    outcomes = zip(symbols, rewards, saved.flags("ended", n).tolist(), strict=True)
    return [
        (node, action, Outcome(*outcome))
        for node, action, outcome in zip(nodes, actions, outcomes, strict=True)
    ]
