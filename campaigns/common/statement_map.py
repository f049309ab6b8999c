"""Which tests run which statements, and how long each test takes.

The modules of a copied tree are written again with a mark before each statement of a function. A
mark is one store into an array of bytes, so the tests run nearly as fast as without marks.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

MARKS = "__statement_marks__"
Place = tuple[str, int, int]
"""A statement: path of its module below the root, line, column."""


@dataclass
class StatementMap:
    """What a run of the tests has shown.

    Attributes:
        seconds: of the processor that each test takes, with the fixtures that were made for it.
        tests: the tests that run each statement.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    tests: dict[Place, set[str]] = field(default_factory=dict)

    def update(self, other: StatementMap) -> None:
        """Take in what another run has shown."""
        self.seconds.update(other.seconds)
        for place, tests in other.tests.items():
            self.tests.setdefault(place, set()).update(tests)


def mark_modules(root: Path, paths: Iterable[str]) -> list[Place]:
    """Write the modules below `root` again, with marks; the statement of each mark."""
    places: list[Place] = []
    for path in paths:
        module = ast.parse((root / path).read_text())
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                _mark(node, path, places)
        (root / path).write_text(ast.unparse(ast.fix_missing_locations(module)))
    setattr(builtins, MARKS, bytearray(len(places)))
    return places


def _mark(node: ast.AST, path: str, places: list[Place]) -> None:
    """Mark the statements of a function, or of a block in it; not those of functions within."""
    for name, value in ast.iter_fields(node):
        if not isinstance(value, list):
            continue
        if value and isinstance(value[0], ast.stmt):
            marked: list[ast.stmt] = []
            for statement in value:
                marked += [*ast.parse(f"{MARKS}[{len(places)}] = 1").body, statement]
                places.append((path, statement.lineno, statement.col_offset))
                if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    _mark(statement, path, places)
            setattr(node, name, marked)
        for child in value:
            if isinstance(child, ast.ExceptHandler | ast.match_case):
                _mark(child, path, places)


class Recorder:
    """A plugin of pytest that fills a `StatementMap`."""

    def __init__(self, places: list[Place]) -> None:
        """Know the statement of each mark."""
        self.map = StatementMap()
        self._places = places
        self._marks: bytearray = getattr(builtins, MARKS)
        self._shared: dict[str, set[int]] = {}  # statements that a shared fixture runs

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[None]:
        """What a shared fixture runs is run for every test that uses it, not for the first only."""
        if request.scope == "function":
            return (yield)
        before = self._take()
        result = yield
        run = self._shared[fixturedef.argname] = self._take()
        for number in before | run:
            self._marks[number] = 1
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """One test, with its fixtures."""
        self._take()
        began = sum(os.times()[:4])
        result = yield
        self.map.seconds[item.nodeid] = sum(os.times()[:4]) - began
        shared = (self._shared.get(name, set()) for name in getattr(item, "fixturenames", ()))
        for number in self._take().union(*shared):
            self.map.tests.setdefault(self._places[number], set()).add(item.nodeid)
        return result

    def _take(self) -> set[int]:
        """The statements that were run since the last time."""
        run = {number for number, is_run in enumerate(self._marks) if is_run}
        self._marks[:] = bytes(len(self._marks))
        return run


def users_of(sources: dict[str, str], names: set[str]) -> set[Place]:
    """The statements in functions that use one of `names`, or a constant made from one.

    `sources` maps the path of each module to its text.
    """
    modules = {path: ast.parse(source) for path, source in sources.items()}
    wanted, size = set(names), 0
    while size < len(wanted):  # a constant may be made from a constant
        size = len(wanted)
        for module in modules.values():
            for node in module.body:
                if isinstance(node, ast.Assign | ast.AnnAssign) and _names(node) & wanted:
                    wanted |= _stored(node)
    return {
        (path, node.lineno, node.col_offset)
        for path, module in modules.items()
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node is not function and _own_names(node) & wanted
    }


def constants_at(source: str, statement: tuple[int, int]) -> set[str]:
    """The names that a statement outside of functions gives a value to.

    Of a default value, that of its function; of a statement in a class, that of the class as well;
    of a statement in a function, none.
    """
    inside: set[ast.AST] = set()
    classes: dict[ast.AST, str] = {}
    for node in ast.walk(ast.parse(source)):  # what is around a node comes before it
        if isinstance(node, ast.ClassDef):
            classes.update(dict.fromkeys(node.body, node.name))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside.update(part for part in ast.walk(node) if part is not node)
        if not isinstance(node, ast.stmt) or (node.lineno, node.col_offset) != statement:
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return {node.name}
        if isinstance(node, ast.Assign | ast.AnnAssign) and node not in inside:
            return _stored(node) | ({classes[node]} if node in classes else set())
    return set()


def _stored(node: ast.Assign | ast.AnnAssign) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = (name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _names(node: ast.AST) -> set[str]:
    """All names in a node, those after a dot included."""
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def _own_names(node: ast.stmt) -> set[str]:
    """The names in a statement, without those of the statements within it."""
    children = (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))
    return {name for child in children for name in _names(child)}
