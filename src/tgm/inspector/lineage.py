"""The lives of the components, from the structure moves in the log."""

from __future__ import annotations

from typing import Any

from tgm.inspector.log import Log

MOST_LANES = 600


def lanes_of(log: Log, final_ids: list[int]) -> list[dict[str, Any]]:
    """One lane per component in order of birth, the latest MOST_LANES of them.

    A lane is {id, birth, end, fixed, parent, into}: steps (None where it did not happen or is not
    known), the component it was split from, and the one it was merged into.

    Args:
        log: with its moves in order.
        final_ids: the components of the last frame; a log that was thinned may not tell of all.
    """
    lanes: dict[int, dict[str, Any]] = {}

    def lane(id_: int, birth: int | None = None, parent: int | None = None) -> dict[str, Any]:
        if id_ not in lanes:
            lanes[id_] = {
                "id": id_,
                "birth": birth,
                "end": None,
                "fixed": None,
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
    for id_ in final_ids:
        lane(id_)["end"] = None
    ordered = sorted(lanes.values(), key=lambda one: (one["birth"] or 0, one["id"]))
    return ordered[-MOST_LANES:]
