"""The lanes of the components follow the moves of the log."""

from types import SimpleNamespace

import gymnasium as gym
import numpy as np

import tgm
from tgm.envs import random_maze
from tgm.inspector.lineage import lanes_of
from tgm.inspector.log import Log, read_log
from tgm.runs import Run


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
    lanes = {lane["id"]: lane for lane in lanes_of(log, [0], [])}
    assert sorted(lanes) == [0, 1, 2]  # a refused split makes no lane
    assert (lanes[0]["birth"], lanes[0]["fixed"], lanes[0]["end"]) == (1, 6, None)
    assert (lanes[1]["birth"], lanes[1]["parent"], lanes[1]["end"]) == (4, 0, 12)
    assert (lanes[2]["birth"], lanes[2]["into"], lanes[2]["end"]) == (7, 1, 9)


def test_a_component_that_is_there_has_a_lane_though_the_log_lost_its_birth():
    [lane] = lanes_of(log_of(), [7], [])
    assert (lane["id"], lane["birth"], lane["end"]) == (7, None, None)


def test_the_history_tells_of_a_birth_that_the_log_lost():
    """State 5 came when the agent learned again, which is no move; then it was split."""
    arrays = {
        "frame.step": np.array([3, 140]),
        "frame.is_full": np.array([True, False]),
        "frame.n_components": np.array([1, 2]),
        "component.id": np.array([0, 4, 5]),
        "frame.n_removed": np.array([0, 1]),
        "removed.id": np.array([0]),
    }
    log = log_of((2, "birth", [0], True), (140, "split", [5, 4], True))
    lanes = {lane["id"]: lane for lane in lanes_of(log, [4, 5], [SimpleNamespace(arrays=arrays)])}
    assert (lanes[5]["birth"], lanes[5]["parent"]) == (140, None)
    assert (lanes[4]["birth"], lanes[4]["parent"]) == (140, 5)
    assert (lanes[0]["birth"], lanes[0]["end"]) == (2, 140)


def test_the_lanes_of_a_run_that_are_open_are_its_states(run):
    ids = run.frame_at(1100).ids.tolist()
    lanes = lanes_of(read_log(run.folder / "metrics.jsonl"), ids, [])
    assert sorted(lane["id"] for lane in lanes if lane["end"] is None) == ids
    assert all(lane["birth"] is not None for lane in lanes)


def test_a_history_that_is_ahead_of_the_log_tells_of_births_and_ends(tmp_path):
    """As a killed run leaves it: its history was written after its last line of metrics."""
    env = gym.make("tgm/Maze-v0", maze=random_maze("open", 6, 6, 1), noise=0.3)
    births, ends = {}, {}

    def note(info) -> None:
        for move in info.moves:
            first, *others = move.ids
            if move.accepted and move.kind in ("birth", "split"):
                births.update(dict.fromkeys(others or [first], info.step))
            elif move.accepted and move.kind in ("merge", "removal"):
                ends.update(dict.fromkeys(others or [first], info.step))

    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=0.5), seed=0)
    agent.learn(600, callback=note, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    ids, tail = agent.state_ids.tolist(), [run.chunk(0)]
    n_ahead = 0
    for n_lines in range(1, 20):
        lines = (run.folder / "metrics.jsonl").read_text().splitlines(keepends=True)
        short = tmp_path / "short.jsonl"
        short.write_text("".join(lines[:n_lines]))
        lanes = lanes_of(read_log(short), ids, tail)
        n_ahead += sum(lane["birth"] > read_log(short).last_step for lane in lanes)
        assert sorted(lane["id"] for lane in lanes if lane["end"] is None) == sorted(ids)
        assert {lane["id"]: lane["birth"] for lane in lanes} == {
            lane["id"]: births[lane["id"]] for lane in lanes
        }
        assert all(lane["end"] in (None, ends.get(lane["id"])) for lane in lanes)
    assert n_ahead > 20
