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
Loads = dict[int, dict[int, Read]]
"""By line and by the place of the instruction in the code."""
Trace = Callable[[FrameType, str, object], Any]
IS_FUNCTION = 1  # of the flags of code: CO_OPTIMIZED, which a module and a class do not have


def worlds_that_read(constant: Constant, worlds: Sequence[str]) -> tuple[str, ...]:
    """The worlds in whose first run an instruction was executed that reads the constant.

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
    """(module, name) of the constants that are loaded by the instructions that a run executes.

    A line may load one of two constants: instructions are followed in lines that load some.
    """
    seen: set[Read] = set()
    waiting: dict[tuple[str, int, str], Loads] = {}

    def loads_of(code: CodeType) -> Loads:
        key = code.co_filename, code.co_firstlineno, code.co_qualname
        if key not in waiting:
            waiting[key] = _loads_by_line(code)
        return waiting[key]

    def call(frame: FrameType, _: str, __: object) -> Trace | None:
        return execute if loads_of(frame.f_code) else None

    def execute(frame: FrameType, event: str, _: object) -> Trace | None:
        loads, line = loads_of(frame.f_code), frame.f_lineno
        if event == "line":
            frame.f_trace_opcodes = line in loads
        elif event == "opcode" and frame.f_lasti in loads.get(line, {}):
            seen.add(loads[line].pop(frame.f_lasti))
            if not loads[line]:
                del loads[line]
        return execute if loads else None

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
    for loads in _loads_by_line(code).values():
        yield from loads.values()


def _loads_by_line(code: CodeType) -> Loads:
    """The same by line and by the place of the instruction in the code."""
    path = Path(code.co_filename)
    if ROOT not in path.parents:
        return {}
    origins, found, start = _origins(path), Loads(), None
    for instruction in dis.get_instructions(code):
        start = instruction.offset if start is None else start
        if instruction.opname == "EXTENDED_ARG":
            continue  # the first half of the next one, whose place is here
        name, positions = str(instruction.argval), instruction.positions
        if instruction.opname in LOADS and CONSTANT_NAME.fullmatch(name) and positions:
            read = origins.get(name, (_module(path), name))
            at = found.setdefault(positions.lineno or 0, {})
            at[start] = at[instruction.offset] = read
        start = None
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
