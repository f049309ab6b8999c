"""The examples run, say what they promise and draw a picture; most of them with fewer steps."""

import pytest
from examples.run_all import HERE, examples, load

from tgm.planning.exploration import STRATEGIES

# Example -> (arguments that make it short, what it prints).
SHORT = {
    "against_dqn": ({"n_steps": 40, "every": 40, "n_episodes": 1}, "tgm: greedy return"),
    "cognitive_map": ({}, "19 places were told apart, by 8 different looks"),
    "frozen_lake": ({"n_steps": 300, "n_episodes": 5}, "of the episodes reach the goal"),
    "mountain_car": ({"n_steps": 60, "n_episodes": 1, "n_grid": 4}, "mean return"),
    "logs_frame": ({"n_rows": 300}, "4 states, near ["),
    "looks_alike": ({"n_steps": 120}, "16 places that look like 9"),
    "moving_wall": ({"n_steps": 250, "changes_at": 200}, "the wall moved at step 200"),
    "own_environment": ({}, "4 states, at ["),
    "own_strategy": ({"n_steps": 60}, "curious: "),
    "parquet_stream": ({"n_groups": 2, "n_rows": 500}, "5 components in 1,000 points"),
    "read_a_run": ({"n_steps": 100}, "maze 27: finished"),
    "watch_learning": ({}, "8 states for 8 cells"),
}


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.stem)
def test_an_example_runs(path, capsys):
    before = set(STRATEGIES)
    arguments, said = SHORT[path.stem]
    figure = load(path).main(**arguments)
    for name in set(STRATEGIES) - before:  # for other tests it was never registered
        del STRATEGIES[name]
    assert said in capsys.readouterr().out
    assert any(axes.has_data() for axes in figure.axes)


def test_every_example_is_in_the_gallery_with_its_picture():
    page = (HERE.parent / "docs" / "gallery.md").read_text(encoding="utf-8")
    for path in examples():
        picture = f"images/gallery/{path.stem}.png"
        assert f"({picture})" in page
        assert (HERE.parent / "docs" / picture).is_file()
        assert f"../examples/{path.name}" in page
