"""docs/testing.md names files and tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "testing.md"
ROWS = re.findall(r"^\| `([\w/.]+)` \| .* \| `(\w+)(?:\.\.\.)?` \|$", PAGE.read_text(), re.M)
TESTS = "\n".join(file.read_text() for file in sorted((ROOT / "tests").rglob("test_*.py")))


def test_every_row_of_the_tables_is_read():
    cells = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert len(ROWS) == len(cells) > 80


@pytest.mark.parametrize(("file", "test"), ROWS)
def test_the_file_and_the_test_are_there(file, test):
    assert any((ROOT / "src" / "tgm" / folder / file).is_file() for folder in ("", "inspector"))
    assert f"def {test}" in TESTS
