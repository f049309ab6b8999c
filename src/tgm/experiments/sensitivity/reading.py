"""Which constants are read in which world: to change another one changes nothing there."""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import tgm
from tgm.experiments.sensitivity.constants import CONSTANT_NAME, Constant
from tgm.experiments.sensitivity.worlds import SLOW, measure

ROOT = Path(tgm.__file__).parent
LOADS = ("LOAD_NAME", "LOAD_GLOBAL")
Read = tuple[str, str]
"""Module and name of a constant."""
Trace = Callable[[FrameType, str, object], Any]
IS_FUNCTION = 1  # of the flags of code: CO_OPTIMIZED, which a module and a class do not have


def worlds_that_read(constant: Constant, worlds: Sequence[str]) -> tuple[str, ...]:
    """The worlds in whose first run a line was executed that reads the constant.

    A constant that is read at import is read where what it is assigned to is; if it is a default
    value, it is read in all. SLOW worlds count where no other world of their kind does.
    """
    reads = _followers((constant.module, constant.name))
    found = [
        world
        for world in worlds
        if not reads.isdisjoint(_read_at_import()) or not reads.isdisjoint(_read_in(world))
    ]
    return tuple(
        world
        for world in found
        if world not in SLOW or not any(other in found for other in SLOW[world] if other != world)
    )


def _followers(read: Read) -> frozenset[Read]:
    """A constant, and all that are computed from it at import."""
    found, new = {read}, {read}
    while new:
        new = {name for name, needed in _assigned_from() if needed & new} - found
        found |= new
    return frozenset(found)


@cache
def _assigned_from() -> tuple[tuple[Read, frozenset[Read]], ...]:
    """Names that a module assigns, each with the constants that it is computed from."""
    return tuple(
        ((_module(path), target.id), frozenset(_names_in(path, statement.value)))
        for path in ROOT.rglob("*.py")
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
        for target in ast.walk(statement)
        if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
    )


def _names_in(path: Path, value: ast.expr) -> Iterator[Read]:
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and CONSTANT_NAME.fullmatch(node.id):
            yield _origins(path).get(node.id, (_module(path), node.id))


@cache
def _read_in(world: str) -> frozenset[Read]:
    """(module, name) of the constants in the lines that a run executes."""
    seen: set[Read] = set()
    waiting: dict[tuple[str, int, str], dict[int, set[Read]]] = {}

    def lines_of(code: CodeType) -> dict[int, set[Read]]:
        key = code.co_filename, code.co_firstlineno, code.co_qualname
        if key not in waiting:
            waiting[key] = _reads_by_line(code)
        return waiting[key]

    def call(frame: FrameType, _: str, __: object) -> Trace | None:
        return line if lines_of(frame.f_code) else None

    def line(frame: FrameType, _: str, __: object) -> Trace | None:
        lines = lines_of(frame.f_code)
        seen.update(lines.pop(frame.f_lineno, ()))
        return line if lines else None

    before = sys.gettrace()
    sys.settrace(call)
    try:
        measure(world, 0)
    finally:
        sys.settrace(before)
    return frozenset(seen)


@cache
def _read_at_import() -> frozenset[Read]:
    """Constants that are read at import for something else than another name of a module."""
    trees = [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in ROOT.rglob("*.py")]
    for _, tree in trees:
        tree.body = [one for one in tree.body if not isinstance(one, ast.Assign | ast.AnnAssign)]
    return frozenset(
        read
        for path, tree in trees
        for code in _run_at_import(compile(tree, str(path), "exec"))
        for read in _reads(code)
    )


def _run_at_import(code: CodeType) -> Iterator[CodeType]:
    """The code of a module and of its classes."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType) and not part.co_flags & IS_FUNCTION:
            yield from _run_at_import(part)


def _reads(code: CodeType) -> Iterator[Read]:
    """(module, name) of the constants that code reads, by where they are assigned."""
    for names in _reads_by_line(code).values():
        yield from names


def _reads_by_line(code: CodeType) -> dict[int, set[Read]]:
    """The same for each line."""
    path = Path(code.co_filename)
    if ROOT not in path.parents:
        return {}
    origins, found = _origins(path), dict[int, set[Read]]()
    for instruction in dis.get_instructions(code):
        name, positions = str(instruction.argval), instruction.positions
        if instruction.opname in LOADS and CONSTANT_NAME.fullmatch(name) and positions:
            read = origins.get(name, (_module(path), name))
            found.setdefault(positions.lineno or 0, set()).add(read)
    return found


@cache
def _origins(path: Path) -> dict[str, Read]:
    """By the name that a file imports: the module that it imports it from, and the name there."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")
