"""Promise 27: files that are small on the disk and large in memory, or take long, if they are read.

Run from the root of the repository: python -m campaigns.file_bombs [--bombs N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from campaigns.common.tally import Tally, report
from tests.inspector.recorded import record_maze
from tests.runs import bombs

MEMORY = 200_000_000  # bytes beyond what the files really take
SOON = 1.0  # second, for each answer


def main() -> int:
    """Print the table; 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bombs", type=int, default=1000, help="files that are tried")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    tallies = {kind: Tally(f"{kind.__name__.replace('_', ' ')} files") for kind in bombs.KINDS}
    with tempfile.TemporaryDirectory() as name:
        source = record_maze(Path(name) / "source", "8", 300)
        for index in range(arguments.bombs):
            kind = bombs.KINDS[index % len(bombs.KINDS)]
            folder = shutil.copytree(source, Path(name) / "run")
            kind(folder, random.Random(arguments.seed + index))
            with tallies[kind].trial(f"seed {arguments.seed + index}"):
                honest = bombs.n_bytes_on_disk(folder)
                for number, question in enumerate(bombs.read_all(folder)):
                    cost = bombs.answer(question)
                    assert cost.memory < honest + MEMORY, f"question {number}: {cost}"
                    assert cost.seconds < SOON, f"question {number}: {cost}"
                    assert not cost.words.startswith("broken"), f"question {number}: {cost}"
            shutil.rmtree(folder)
    return report(tallies.values())


if __name__ == "__main__":
    sys.exit(main())
