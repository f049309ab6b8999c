"""Finds the numeric constants of the core in its source, whatever they are called."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import io
import pkgutil
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

CORE = ("perception", "transition", "inference", "structure", "memory", "planning", "learners")
"""Packages of tgm whose constants steer the agent."""

CONSTANT_NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
LARGEST_GROWTH = 1.5  # a number between 1 and this is taken for a factor of growth

Number = int | float
Value = Number | tuple[Any, ...]


@dataclass(frozen=True)
class Constant:
    """A numeric constant at the top level of a module.

    Attributes:
        module: the module that assigns it, such as `tgm.planning.sweeping`.
        name: its name there.
        value: its value.
        note: the comment or docstring of the assignment, which should state the unit.
        why_fixed: why it is not varied; empty if it is.
    """

    module: str
    name: str
    value: Value
    note: str
    why_fixed: str

    def changed(self) -> dict[str, Value]:
        """The values to try, "halved" and "doubled"; without one that changes nothing."""
        tried = {"halved": _scaled(self.value, 0.5), "doubled": _scaled(self.value, 2.0)}
        return {change: value for change, value in tried.items() if value != self.value}


@cache
def find_constants() -> tuple[Constant, ...]:
    """Every numeric constant of the core packages, in the order of modules and lines."""
    return tuple(
        constant
        for package in CORE
        for name in _modules(f"tgm.{package}")
        for constant in constants_of(name)
    )


def constants_of(module_name: str) -> Iterator[Constant]:
    """The numeric constants of one module."""
    module = importlib.import_module(module_name)
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    tree = ast.parse(source)
    comments = _comments(source)
    for index, statement in enumerate(tree.body):
        for name, expression in _assigned(statement):
            value: Any = getattr(module, name, None)
            if CONSTANT_NAME.fullmatch(name) and _is_numeric(value):
                note = _note(tree.body, index, comments)
                yield Constant(module_name, name, value, note, _why_fixed(value, expression))


def _why_fixed(value: Value, expression: ast.expr) -> str:
    if isinstance(value, int) and value <= 0:
        return "a mark, not a quantity"
    if value == 0.0:
        return "zero"
    if _reads_names(expression):
        return "follows from other constants"
    return ""


def _scaled(value: Value, factor: float) -> Value:
    """Whole numbers stay whole and at least 1, probabilities below 1, factors of growth above 1.

    Where doubling would make a probability of more than 1, its distance to 1 is halved; of a factor
    of growth the part above 1 is scaled.
    """
    if isinstance(value, tuple):
        return tuple(_scaled(part, factor) for part in value)
    return _scaled_number(value, factor)


def _scaled_number(value: Number, factor: float) -> Number:
    if isinstance(value, int):
        return max(1, round(value * factor))
    if 1.0 < value < LARGEST_GROWTH:
        scaled = 1.0 + (value - 1.0) * factor
    elif factor > 1.0 and 0.5 < value < 1.0:
        scaled = 1.0 - (1.0 - value) / factor
    else:
        scaled = value * factor
    return float(f"{scaled:.12g}")  # 1.2, not 1.2000000000000002


def _is_numeric(value: Any) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(_is_numeric(item) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns, each with its expression."""
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        pairs: list[tuple[ast.expr, ast.expr]] = [(statement.target, statement.value)]
    elif isinstance(statement, ast.Assign):
        pairs = [(target, statement.value) for target in statement.targets]
    else:
        return
    for target, value in pairs:
        if isinstance(target, ast.Name):
            yield target.id, value
        elif isinstance(target, ast.Tuple):
            parts = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for part, part_value in zip(target.elts, parts, strict=True):
                if isinstance(part, ast.Name):
                    yield part.id, part_value


def _reads_names(expression: ast.expr) -> bool:
    """Whether an expression depends on more than literals and the functions that it calls."""
    functions = {id(node.func) for node in ast.walk(expression) if isinstance(node, ast.Call)}
    functions |= {
        id(node.func.value)
        for node in ast.walk(expression)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    return any(
        isinstance(node, ast.Name | ast.Attribute) and id(node) not in functions
        for node in ast.walk(expression)
    )


def _comments(source: str) -> dict[int, tuple[str, bool]]:
    """By line: the comment, and whether it stands alone on the line."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: (token.string.lstrip("# "), not token.line[: token.start[1]].strip())
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def _note(body: list[ast.stmt], index: int, comments: dict[int, tuple[str, bool]]) -> str:
    """The comment at the end of an assignment, else its docstring, else the comment above it."""
    statement = body[index]
    last = statement.end_lineno or statement.lineno
    if last in comments:
        return comments[last][0]
    following = body[index + 1] if index + 1 < len(body) else None
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return " ".join(str(following.value.value).split())
    line = statement.lineno - 1
    lines: list[str] = []
    while comments.get(line, ("", False))[1]:
        lines.insert(0, comments[line][0])
        line -= 1
    return " ".join(lines)


def _modules(package: str) -> list[str]:
    """The modules of a package that are there, by name; a package that is not there has none."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return []
    walked = pkgutil.walk_packages(spec.submodule_search_locations, f"{package}.")
    return [package, *sorted(module.name for module in walked)]
