"""The command that a shell calls: Ctrl-C ends it in one line from its first moment on."""

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

import tgm_command

ROOT = Path(__file__).parents[2]
CALL = "import sys; from tgm_command import main; sys.exit(main())"


def test_it_is_the_command_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"]["tgm"] == "tgm_command:main"
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages == ["src/tgm", "src/tgm_command"]


def test_it_does_what_tgm_does():
    done = subprocess.run([sys.executable, "-c", CALL, "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("tgm ")
    assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("raises", ["pass", "raise ImportError('in C')"])
def test_it_can_be_interrupted_while_it_imports(raises, tmp_path):
    """A package in place of `tgm` whose import takes long, and turns an exception into another."""
    slow = tmp_path / "tgm" / "__init__.py"
    slow.parent.mkdir()
    slow.write_text(
        "import sys, time\nprint('now', flush=True)\ntry:\n    time.sleep(60)\n"
        f"except KeyboardInterrupt:\n    {raises}\n"
    )
    path = os.pathsep.join([str(tmp_path), str(Path(tgm_command.__file__).parents[1])])
    process = subprocess.Popen(
        [sys.executable, "-c", CALL],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "now\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=30)
    assert words == "tgm: interrupted\n"
    assert process.returncode == 130
