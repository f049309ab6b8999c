"""Figure 13: tables in, curves and verdicts out."""

import json

import numpy as np
import pytest

from tgm.envs import maze_names
from tgm.errors import ConfigError, DataError
from tgm.experiments.figures import rewards
from tgm.experiments.figures.drawing import Settings
from tgm.experiments.figures.rewards import Row

HEADS = "maze,agent,seed,step,mean_return_last_100,wall_clock\n"


def table(ends, n_seeds=3):
    """Rows that rise from -50 to the end given for each (maze, agent)."""
    return [
        Row(maze, agent, seed, step, -50 + (end + 50) * step / 1000 + (seed - 1) * step / 1000)
        for (maze, agent), end in ends.items()
        for seed in range(n_seeds)
        for step in (0, 500, 1000)
    ]


def write(path, rows):
    lines = [f"{r.maze},{r.agent},{r.seed},{r.step},{r.mean_return_last_100},1.0" for r in rows]
    path.write_text(HEADS + "\n".join(lines) + "\n")
    return path


def test_a_table_comes_back_as_it_was_written(tmp_path):
    rows = table({("8", "dqn"): -9.5, ("10", "a2c"): -50.0})
    assert rewards.read_results(write(tmp_path / "curves.csv", rows)) == rows


def test_in_a_folder_the_file_with_the_columns_is_found(tmp_path):
    (tmp_path / "a.csv").write_text("maze,agent\n8,dqn\n")
    (tmp_path / "b.csv").write_text("maze,agent,seed,steps,step,recent_reward\n8,dqn,0,9,5,\n")
    (row,) = rewards.read_results(tmp_path)
    assert (row.maze, row.agent, row.seed, row.step) == ("8", "dqn", 0, 5)
    assert np.isnan(row.mean_return_last_100)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("maze,agent\n8,dqn\n", ConfigError, "no CSV file there has the columns maze, agent, seed"),
        (HEADS + "8,dqn,zero,5,-3.0,1\n", DataError, "t.csv:2: .*zero"),
        (HEADS + "8,dqn,0,5,-3.0,1\n8,dqn,0\n", DataError, "t.csv:3"),
        ("\xff\xfe", ConfigError, "t.csv"),
    ],
)
def test_bad_tables_are_named(text, error, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(error, match=message):
        rewards.read_results(path)


def test_curves_are_means_and_deviations_over_seeds():
    rows = [
        Row("8", "dqn", 0, 100, -40.0),
        Row("8", "dqn", 1, 100, -20.0),
        Row("8", "dqn", 0, 200, float("nan")),
        Row("8", "dqn", 1, 200, -10.0),
        Row("8", "dqn", 1, 200, -12.0),  # told twice: the last word counts
        Row("10", "dqn", 0, 100, -50.0),
    ]
    curves = rewards.curves_of(rows)
    assert set(curves) == {("8", "dqn"), ("10", "dqn")}
    curve = curves["8", "dqn"]
    assert curve.steps.tolist() == [100, 200]
    assert curve.mean.tolist() == [-30, -12]
    assert curve.sd.tolist() == [10, 0]
    assert curve.n_seeds == 2


AS_PRINTED = {
    "tgm-paper": {"8": -5, "10": -50, "20": -5, "25": -3, "26": -20, "27": -50},
    "dqn": {"8": -30, "10": -50, "20": -5, "25": -3, "26": -6, "27": -10},
    "a2c": {"8": -50, "10": -50, "20": -40, "25": -30, "26": -45, "27": -52},
    "tgm": {"8": -5, "10": -28, "20": -5, "25": -3, "26": -5, "27": -7},
}


def drawn(ends, tmp_path):
    rows = table({(maze, agent): end for agent, of in ends.items() for maze, end in of.items()})
    path = write(tmp_path / "curves.csv", rows)
    return rewards.reward_curves(Settings(results=path)), rows


def test_every_curve_of_the_table_is_drawn(tmp_path):
    drawing, rows = drawn(AS_PRINTED, tmp_path)
    for maze, axes in zip(maze_names(), drawing.figure.axes, strict=True):
        assert axes.get_title(loc="left") == f"maze {maze}"
        lines = {line.get_label(): line for line in axes.lines}
        for agent in AS_PRINTED:
            mine = [row for row in rows if (row.maze, row.agent) == (maze, agent)]
            for step, value in zip(*lines[agent].get_data(), strict=True):
                at = [row.mean_return_last_100 for row in mine if row.step == step]
                assert value == pytest.approx(sum(at) / 3)
        bands = axes.collections
        assert len(bands) == 4
        # At the end the three seeds are one apart: the deviation is the root of 2/3.
        low = min(vertex[1] for vertex in bands[0].get_paths()[0].vertices if vertex[0] == 1000)
        assert low == pytest.approx(AS_PRINTED["tgm"][maze] - np.sqrt(2 / 3))


def test_a_table_as_the_paper_prints_it_holds_in_all_claims(tmp_path):
    drawing, _ = drawn(AS_PRINTED, tmp_path)
    assert [claim.verdict for claim in drawing.claims] == ["yes"] * 4
    dqn = drawing.claims[1].numbers
    assert dqn["gap_8"] == pytest.approx(25)
    assert dqn["as_printed"] == 6


def test_a_table_that_contradicts_it_does_not(tmp_path):
    ends = AS_PRINTED | {
        "tgm-paper": AS_PRINTED["tgm-paper"] | {"27": -10},
        "a2c": dict.fromkeys(maze_names(), -1),
        "tgm": dict.fromkeys(maze_names(), -50),
    }
    drawing, _ = drawn(ends, tmp_path)
    tgm, dqn, a2c, ours = (claim.verdict for claim in drawing.claims)
    assert (tgm, dqn, a2c, ours) == ("partly", "partly", "no", "no")


def test_agents_that_miss_some_mazes_are_judged_by_the_others(tmp_path):
    ends = {"tgm": {"8": -5, "10": -28, "20": -5}, "tgm-paper": {"8": -6}, "dqn": {"10": -50}}
    drawing, _ = drawn(ends, tmp_path)
    _, last = drawing.claims  # nothing is said of DQN, which shares no maze with the paper's TGM
    ours = last.numbers
    assert ours["best_rival_8"] == pytest.approx(-6)
    assert ours["best_rival_10"] == pytest.approx(-50)
    assert not any(name.endswith("_20") for name in ours)
    json.dumps([claim.numbers for claim in drawing.claims], allow_nan=False)


def test_without_a_table_both_presets_live_their_own():
    drawing = rewards.reward_curves(Settings(quick=True))
    assert len(drawing.claims) == 2
    labels = {line.get_label() for line in drawing.figure.axes[0].lines}
    assert {"tgm", "tgm-paper"} <= labels
    assert "--results" in drawing.see


def test_a_table_of_strangers_is_refused(tmp_path):
    path = write(tmp_path / "t.csv", table({("8", "sarsa"): -5, ("99", "dqn"): -5}))
    with pytest.raises(DataError, match="none of the six mazes"):
        rewards.reward_curves(Settings(results=path))
