"""Tries what was built, as a user would: `try_packages.py dist`, in an environment of the wheel.

The wheel must train an agent from an empty folder, by import and by command. The source
distribution must hold all that its tests import.
"""

import ast
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

TRAINS = """
import tgm
agent = tgm.TGMAgent("tgm/Maze-v0", seed=0, env_kwargs={"maze": "27"}).learn(500)
print(tgm.__version__, repr(agent))
assert agent.n_states == 25, agent.n_states
"""
NEEDED = ("Makefile", "constraints.txt", "CITATION.cff", ".ci/run", "examples/own_environment.py")


def check_wheel(folder: Path) -> None:
    """Train in an empty folder, with the package of this environment."""
    for words in (["-c", TRAINS], ["-m", "tgm", "train", "--maze", "8", "--steps", "300"]):
        subprocess.run([sys.executable, *words], cwd=folder, check=True)
    assert (folder / "runs" / "latest").exists()


def check_source(dist: Path, folder: Path) -> None:
    """Unpack, and find every module of ours that a test imports."""
    archive = next(dist.glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    root = next(folder.iterdir())
    missing = [name for name in NEEDED if not (root / name).exists()]
    for test in sorted((root / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
            name = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            if name and re.match(r"(benchmarks|campaigns|tests)\b", name):
                path = root.joinpath(*name.split("."))
                if not path.is_dir() and not path.with_suffix(".py").exists():
                    missing.append(f"{name}, imported by {test.relative_to(root)}")
    if missing:
        sys.exit(f"{archive} lacks {'; '.join(missing)}")
    print(f"{archive.name}: all modules that tests import are in it")


def main() -> None:
    """Try both."""
    dist = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        check_wheel(Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_source(dist, Path(name))


if __name__ == "__main__":
    main()
