"""What a run says at its end of whether learning worked, and of the features."""

import warnings

import gymnasium as gym
import pytest
from campaigns.common.worlds import Stream
from tests.agent.test_advice import maze

import tgm
from tgm.runs import Run
from tgm.runs.result import texts
from tgm.runs.summary import summary_of


@pytest.fixture(scope="module")
def noise(tmp_path_factory):
    """A run in pure noise."""
    path = tmp_path_factory.mktemp("runs") / "noise"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tgm.TGMWarning)
        tgm.TGMAgent(Stream(2, "normal"), seed=0).learn(300, run_dir=path)
    return path


def test_advice_is_in_the_lines_and_in_the_result(noise):
    run = Run.open(noise)
    (told,) = run.status().result["advice"]
    assert told.startswith("one state explains all 301 observations. ")
    assert run.status().last["advice"] == [told]
    assert next(run.metrics())["advice"] == []
    assert summary_of(noise).advice == (told,)
    assert run.status().result["features"] == "none of 2 features tells states apart"


def test_a_run_that_was_killed_is_advised_by_its_last_line(noise):
    result = (noise / "result.json").read_bytes()
    (noise / "result.json").unlink()
    try:
        assert len(summary_of(noise).advice) == 1
    finally:
        (noise / "result.json").write_bytes(result)


def test_features_that_were_left_out_are_in_the_result(tmp_path):
    tgm.TGMAgent(maze(3), seed=0).learn(300, run_dir=tmp_path / "run")
    result = Run.open(tmp_path / "run").status().result
    assert result["left_out"] == [f"observation[{k}]" for k in (2, 3, 4)]
    assert result["features"] == (
        "2 of 5 features tell states apart: observation[0], observation[1]"
    )
    assert result["advice"] == []


def test_nothing_is_said_of_features_where_all_count(tmp_path):
    env = gym.make("tgm/Maze-v0", maze="8")
    tgm.TGMAgent(env, seed=0).learn(100, run_dir=tmp_path / "run")
    assert not {"left_out", "features"} & set(Run.open(tmp_path / "run").status().result)


def test_texts_of_a_file_are_bounded():
    assert texts(None) == texts("text") == texts({"a": 1}) == ()
    assert texts(["a", 1, None, "b"]) == ("a", "b")
    assert len(texts(["x" * 10**6] * 1000)) == 10
    assert len(texts(["x" * 10**6])[0]) == 2000
