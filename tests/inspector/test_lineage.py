"""The lanes of the components follow the moves of the log."""

from tgm.inspector.lineage import lanes_of
from tgm.inspector.log import Log


def log_of(*moves):
    moves = [
        {"step": step, "kind": kind, "ids": ids, "cause": "", "gain": None, "accepted": accepted}
        for step, kind, ids, accepted in moves
    ]
    return Log({"step": []}, {}, [], {}, moves, True, [])


def test_births_splits_merges_and_ends():
    log = log_of(
        (1, "birth", [0], True),
        (4, "split", [0, 1], True),
        (5, "split", [0, 9], False),
        (6, "fixed", [0], True),
        (7, "birth", [2], True),
        (9, "merge", [1, 2], True),
        (12, "removal", [1], True),
    )
    lanes = {lane["id"]: lane for lane in lanes_of(log, [0])}
    assert sorted(lanes) == [0, 1, 2]  # a refused split makes no lane
    assert (lanes[0]["birth"], lanes[0]["fixed"], lanes[0]["end"]) == (1, 6, None)
    assert (lanes[1]["birth"], lanes[1]["parent"], lanes[1]["end"]) == (4, 0, 12)
    assert (lanes[2]["birth"], lanes[2]["into"], lanes[2]["end"]) == (7, 1, 9)


def test_a_component_that_is_there_has_a_lane_though_the_log_lost_its_birth():
    [lane] = lanes_of(log_of(), [7])
    assert (lane["id"], lane["birth"], lane["end"]) == (7, None, None)


def test_the_lanes_of_a_run_that_are_open_are_its_states(run):
    from tgm.inspector.log import read_log

    ids = run.frame_at(1100).ids.tolist()
    lanes = lanes_of(read_log(run.folder / "metrics.jsonl"), ids)
    assert sorted(lane["id"] for lane in lanes if lane["end"] is None) == ids
    assert all(lane["birth"] is not None for lane in lanes)
