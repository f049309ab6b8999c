"""docs/equations.md names functions and tests that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "equations.md"


def references() -> list[tuple[str, str | None]]:
    """(path, name or None) of each function and test that a table of the page names."""
    found = []
    for line in PAGE.read_text().splitlines():
        for path, names in (
            re.findall(r"`([\w/]+\.py)(?:: ([^`]+))?`", line) if line[:1] == "|" else ()
        ):
            found += [(path, name) for name in names.split(", ")] if names else [(path, None)]
    return sorted(set(found), key=str)


def names_in(tree: ast.Module) -> set[str]:
    """Names that a module defines, and `Class.name` for methods and for what `self` is given."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{part}" for part in parts_of(node)}
    return names


def parts_of(node: ast.ClassDef) -> set[str]:
    parts = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            parts.add(part.attr)
    return parts


@pytest.mark.parametrize(
    ("path", "name"),
    list(references()),
)
def test_each_reference_exists(path, name):
    folder = ROOT / ("tests" if "/test_" in path else "src/tgm")
    assert (folder / path).is_file()
    if name is not None:
        assert name in names_in(ast.parse((folder / path).read_text()))


def test_each_equation_has_a_function_and_a_test():
    paper, rest = PAGE.read_text().split("## Where the code differs")
    lines = [*paper.splitlines(), *rest.split("# The default agent")[1].splitlines()]
    rows = [line for line in lines if re.match(r"\| (?!equation|rule)", line)]
    assert len(rows) > 40
    for row in rows:
        equation, function, test = re.split(r"(?<!\\)\|", row)[1:-1]
        assert ".py" in function, equation
        assert "/test_" in test or test.strip() == "none yet", equation
