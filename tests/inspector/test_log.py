"""The log is read as columns, at a bounded cost, and whatever is in it."""

import json

import pytest

from tgm.inspector import log as log_module
from tgm.inspector.log import read_log, thinned


def record(step, **more):
    return {"step": step, "episode": 1, "n_states": step // 10, "n_forgotten": 2, **more}


def write(path, records):
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_a_short_log_is_read_whole(tmp_path):
    ended = {"episode": 3, "step": 20, "total_reward": -4.5, "length": 9, "terminated": True}
    moves = [{"step": 17, "kind": "merge", "ids": [2, 5], "cause": "one state", "gain": 1.5}]
    path = write(
        tmp_path / "metrics.jsonl",
        [record(10), record(20, episodes=[ended], moves=moves, free_energy_terms={"a": 2.0})],
    )
    log = read_log(path)
    assert log.is_whole
    assert log.problems == []
    assert log.series["step"] == [10, 20]
    assert log.series["n_states"] == [1, 2]
    assert log.series["n_forgotten_total"] == [2, 4]
    assert log.terms == {"a": [None, 2.0]}
    assert {name: column[0] for name, column in log.episodes.items()} == ended | {"terminated": 1}
    [move] = log.moves
    assert (move["step"], move["kind"], move["ids"]) == (17, "merge", [2, 5])
    assert move["accepted"] is True


def test_the_columns_are_those_of_a_real_log(run):
    log = read_log(run.folder / "metrics.jsonl")
    records = list(run.metrics())
    assert log.series["step"] == [one["step"] for one in records]
    assert log.series["n_states"] == [one["n_states"] for one in records]
    returns = [ended["total_reward"] for one in records for ended in one["episodes"]]
    assert log.episodes["total_reward"] == returns
    assert len(log.moves) == sum(len(one["moves"]) for one in records)


def test_broken_lines_are_named_and_left_out(tmp_path):
    path = tmp_path / "metrics.jsonl"
    good = json.dumps(record(5))
    lines = [good, "{", "[1]", '{"step": null}', '{"step": 1e999}', "\x00\xff", "[" * 10**5, good]
    path.write_text("\n".join(lines) + "\n" + good[:10], errors="surrogatepass")
    log = read_log(path)
    assert log.series["step"] == [5, 5]
    assert len(log.problems) == log_module.MOST_PROBLEMS
    assert "line 2" in log.problems[0]


@pytest.mark.parametrize("hostile", ["<b>", 7, None, [], {}, -1e308, True])
def test_values_of_any_type_are_survived(tmp_path, hostile):
    names = ("episode", "n_states", "free_energy", "free_energy_terms", "free_energy_path")
    bad = dict.fromkeys((*names, "moves", "episodes"), hostile)
    move = {"kind": hostile, "ids": hostile, "cause": hostile, "gain": hostile, "step": hostile}
    nested = {"moves": [move, hostile], "episodes": [{"episode": hostile}, hostile]}
    path = write(tmp_path / "metrics.jsonl", [record(1) | bad, record(2) | nested])
    log = read_log(path)
    assert log.series["step"] == [1, 2]
    json.dumps([log.series, log.terms, log.paths, log.episodes, log.moves], allow_nan=False)


def test_a_long_log_is_sampled(tmp_path):
    n = 60_000
    path = write(tmp_path / "metrics.jsonl", (record(step, pad="x" * 150) for step in range(n)))
    log = read_log(path)
    assert not log.is_whole
    assert log.problems == []
    steps = log.series["step"]
    assert steps[0] == 0
    assert steps[-1] == n - 1
    assert len(steps) <= log_module.MOST_POINTS
    assert steps == sorted(set(steps))


def test_a_missing_log_is_empty(tmp_path):
    assert read_log(tmp_path / "metrics.jsonl").series["step"] == []
    assert read_log(tmp_path / "metrics.jsonl").last_step == 0


def test_thinning_keeps_both_ends():
    assert thinned([1, 2, 3], 3) == [1, 2, 3]
    kept = thinned(list(range(1000)), 10)
    assert kept[0] == 0
    assert kept[-1] == 999
    assert len(set(kept)) == 10
