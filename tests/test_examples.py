"""The examples run as they are and say what they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SAID = {
    "cognitive_map.py": "19 places were told apart, by 8 different looks",
    "own_environment.py": "4 states, at [",
    "watch_learning.py": "8 states for 8 cells",
}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_runs(path, capsys):
    runpy.run_path(str(path), run_name="__main__")
    assert SAID[path.name] in capsys.readouterr().out
