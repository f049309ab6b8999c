"""Promise 28: hostile names in every file, through every command: text alone is printed.

Run from the root of the repository: python -m campaigns.hostile_text [--names N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from campaigns.common.tally import Tally, report
from tests.cli.hostile_text import hostile_name, try_name
from tests.inspector.recorded import record_maze


def main() -> int:
    """Print the table; 1 if anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=1000, help="names that are tried")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    tally = Tally(f"{arguments.names} hostile names in every command: text alone is printed")
    with tempfile.TemporaryDirectory() as source:
        run = record_maze(Path(source) / "run", "8", 60)
        for _ in range(arguments.names):
            with tempfile.TemporaryDirectory() as scratch:
                try_name(run, Path(scratch), hostile_name(rng), rng, tally.trial)
    return report([tally])


if __name__ == "__main__":
    sys.exit(main())
