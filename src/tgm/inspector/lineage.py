"""Birth, end and origin of each component, from the moves in the log and the last chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tgm.inspector.log import Log
from tgm.runs import Chunk

MOST_LANES = 600


def lanes_of(log: Log, final_ids: list[int], tail: list[Chunk]) -> list[dict[str, Any]]:
    """One lane per component in order of birth, the latest MOST_LANES of them.

    A lane is {id, birth, end, fixed, parent, into}: steps (None where it did not happen or is not
    known), the id of the component it was split from, and of the one it was merged into.

    Args:
        log: its moves are in order.
        final_ids: the components of the last frame; a thinned log may lack some of them.
        tail: the last chunks of the history; while a run is written, they may be ahead of the log.
    """
    lanes: dict[int, dict[str, Any]] = {}

    def lane(id_: int, birth: int | None = None, parent: int | None = None) -> dict[str, Any]:
        if id_ not in lanes:
            lanes[id_] = {"id": id_, "birth": birth, "end": None, "fixed": None} | {
                "parent": parent,
                "into": None,
            }
        return lanes[id_]

    for move in log.moves:
        if not move["accepted"] or not move["ids"]:
            continue
        step, first, others = move["step"], move["ids"][0], move["ids"][1:]
        if move["kind"] == "birth":
            lane(first, birth=step)
        elif move["kind"] == "split":
            lane(first)
            for other in others:
                lane(other, birth=step, parent=first)
        elif move["kind"] == "merge":
            lane(first)
            for other in others:
                lane(other)["end"] = step
                lane(other)["into"] = first
        elif move["kind"] == "removal":
            lane(first)["end"] = step
        elif move["kind"] == "fixed":
            lane(first)["fixed"] = step
    born, gone = _newest_births_and_ends(tail)
    for id_ in final_ids:
        lane(id_)["end"] = None
    for id_, one in lanes.items():
        if one["birth"] is None:
            one["birth"] = born.get(id_)
    for id_ in set(gone) & set(lanes) - set(final_ids):
        if lanes[id_]["end"] is None:
            lanes[id_]["end"] = gone[id_]
    ordered = sorted(lanes.values(), key=lambda one: (one["birth"] or 0, one["id"]))
    return ordered[-MOST_LANES:]


def _newest_births_and_ends(tail: list[Chunk]) -> tuple[dict[int, int], dict[int, int]]:
    """(births, ends): id -> step, for the births and ends that these chunks show."""
    born: dict[int, int] = {}
    gone: dict[int, int] = {}
    there: set[int] = set()
    for chunk in tail:
        a = chunk.arrays
        known = np.split(a["component.id"], np.cumsum(a["frame.n_components"])[:-1])
        removed = np.split(a["removed.id"], np.cumsum(a["frame.n_removed"])[:-1])
        frames = zip(a["frame.step"].tolist(), a["frame.is_full"].tolist(), known, removed,
                     strict=False)  # fmt: skip
        for step, is_full, ids, left in frames:
            listed = set(ids.tolist())
            went = there - listed if is_full else set(left.tolist())
            gone.update(dict.fromkeys(went, step))
            if not is_full or there:  # the first full frame lists older components too
                born.update(dict.fromkeys(listed - there - born.keys(), step))
            there = listed if is_full else (there - went) | listed
    return born, gone
