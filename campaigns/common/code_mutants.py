"""Mutants of a module: copies of its source with one small change each.

A test suite that pins behaviour fails for nearly all of them. The changes are those that a slip of
an engineer makes: another comparison, a wrong sign, half a constant, a statement left out.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Node = ast.expr | ast.stmt

NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
SHIFTED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
OPPOSITES = {
    "min": "max",
    "minimum": "maximum",
    "argmin": "argmax",
    "any": "all",
    "floor": "ceil",
}
OPPOSITES |= {other: one for one, other in OPPOSITES.items()}
SYMMETRIC = {"isinstance", "getattr", "setattr", "min", "max", "minimum", "maximum", "range"}
GUARDS = 1e-4, 1e4  # constants beyond these guard against rounding and overflow: signs only
REBOUND = ast.Pow | ast.BitOr | ast.BitAnd  # what takes their place binds in another way
PLAIN = ast.Name | ast.Attribute | ast.Call | ast.Subscript  # conditions without an operator
REMOVABLE = ast.AugAssign, ast.Raise, ast.Delete, ast.Break, ast.Continue


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes:
        path: of the module, below the root of the repository.
        function: qualified name of the function; "" at the level of the module.
        line: number of the first line that changes.
        statement: (line, column) of the smallest statement around the change.
        before, after: the lines that change, their white space reduced to single blanks.
        source: the whole module after the change.
    """

    path: str
    function: str
    line: int
    statement: tuple[int, int]
    before: str
    after: str
    source: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Names the mutant as long as its lines stay what they are, wherever they stand."""
        return self.path, self.function, self.before, self.after


def mutants_of(source: str, path: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    finder = _Finder(source, path)
    finder.visit(ast.parse(source))
    return finder.found


def sample(mutants: Sequence[Mutant], n: int, seed: int) -> list[Mutant]:
    """Draw `n` mutants, evenly over functions: each gives one before any gives another."""
    rng = random.Random(seed)
    by_function: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants:
        by_function.setdefault((mutant.path, mutant.function), []).append(mutant)
    piles = list(by_function.values())
    for pile in piles:
        rng.shuffle(pile)
    drawn: list[Mutant] = []
    while piles and len(drawn) < n:
        rng.shuffle(piles)
        drawn += [pile.pop() for pile in piles]
        piles = [pile for pile in piles if pile]
    return drawn[:n]


class _Finder(ast.NodeVisitor):
    """Walks a module and writes down its mutants."""

    def __init__(self, source: str, path: str) -> None:
        self.found: list[Mutant] = []
        self._path = path
        self._source = source.encode()
        self._lines = source.splitlines()
        starts = [0]
        for line in self._source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts
        self._names: list[str] = []
        self._in_function = 0
        self._statement = (1, 0)

    def visit(self, node: ast.AST) -> None:
        """Mutants of a node and of what it holds; text and types have none."""
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr | ast.Global):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._enter(node)
            return
        if isinstance(node, ast.stmt):
            if _is_docstring(node) or _is_exported(node) or _is_type_checking(node):
                return
            self._statement = node.lineno, node.col_offset
            for text in _statement_changes(node, in_function=self._in_function > 0):
                self._add(node, text)
            if isinstance(node, ast.If | ast.While) and isinstance(node.test, PLAIN):
                self._add(node.test, f"not {ast.unparse(node.test)}")
            if isinstance(node, ast.Raise):  # its message is for people
                return
        elif isinstance(node, ast.expr):
            for text in _expression_changes(node):
                self._add(node, text)
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return  # of zip: a check of what is always so
        if isinstance(node, ast.UnaryOp) and ast.unparse(node) == "-1":
            return  # an index or a mark: -2 says the same
        around = self._statement
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "type_comment", "ctx"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)
                    self._statement = around

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        is_function = not isinstance(node, ast.ClassDef)
        self._statement = node.lineno, node.col_offset
        self._names.append(node.name)
        self._in_function += is_function
        if not isinstance(node, ast.ClassDef):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.visit(default)
        for child in node.body:
            self.visit(child)
        self._in_function -= is_function
        self._names.pop()

    def _add(self, node: Node, text: str) -> None:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        source = (self._source[:begin] + text.encode() + self._source[end:]).decode()
        n_after = len(source.splitlines()) - len(self._lines) + node.end_lineno
        before = _plain(self._lines[node.lineno - 1 : node.end_lineno])
        after = _plain(source.splitlines()[node.lineno - 1 : n_after])
        if before == after:
            return
        function = ".".join(self._names)
        line, statement = node.lineno, self._statement
        self.found.append(Mutant(self._path, function, line, statement, before, after, source))


def _plain(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_exported(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("__all__", "__slots__")


def _is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _statement_changes(node: ast.stmt, *, in_function: bool) -> Iterator[str]:
    """What a statement may become."""
    if not in_function:
        return
    match node:
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield "return None"
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            other = ast.AugAssign(node.target, ARITHMETIC[type(op)](), node.value)
            yield ast.unparse(other)
    stores = ast.Attribute | ast.Subscript
    is_store = isinstance(node, ast.Assign) and isinstance(node.targets[0], stores)
    is_call = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if isinstance(node, REMOVABLE) or is_store or is_call:
        yield "pass"


def _expression_changes(node: ast.expr) -> Iterator[str]:
    """What an expression may become, as text that can stand where it stood."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from _compared(left, op, right)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            if not _is_text(left) and not _is_text(right):
                other = ast.unparse(ast.BinOp(left, ARITHMETIC[type(op)](), right))
                yield f"({other})" if isinstance(op, REBOUND) else other
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            is_whole = isinstance(operand, PLAIN | ast.Constant)
            yield ast.unparse(operand) if is_whole else f"({ast.unparse(operand)})"
        case ast.BoolOp(op=op, values=values):
            swapped = ast.And() if isinstance(op, ast.Or) else ast.Or()
            yield ast.unparse(ast.BoolOp(swapped, values))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield ast.unparse(ast.IfExp(test, orelse, body))
        case ast.Constant(value=value):
            yield from _other_numbers(value)
        case ast.Call():
            yield from _other_calls(node)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> Iterator[str]:
    others = [NEGATED[type(op)]]
    # Two floats are never equal: there, "below" and "at most" are the same.
    if type(op) in SHIFTED and (_is_whole(left) or _is_whole(right)):
        others.append(SHIFTED[type(op)])
    for other in others:
        yield ast.unparse(ast.Compare(left, [other()], [right]))


def _is_whole(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) is int
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "len"


def _is_text(node: ast.expr) -> bool:
    is_string = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_string or isinstance(node, ast.JoinedStr)


def _other_numbers(value: object) -> Iterator[str]:
    match value:
        case bool():
            yield str(not value)
        case int():
            yield str(value + 1)
            if value > 1:
                yield str(value // 2)
        case float() if value == 0.0:
            yield "1.0"
        case float():
            yield repr(-value)
            if GUARDS[0] <= value <= GUARDS[1]:
                yield repr(value / 2)
                yield repr(value * 2)


def _other_calls(node: ast.Call) -> Iterator[str]:
    """The opposite function, and the first two arguments in the other order."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
    if name in OPPOSITES:
        other = (
            ast.Attribute(node.func.value, OPPOSITES[name], ast.Load())
            if isinstance(node.func, ast.Attribute)
            else ast.Name(OPPOSITES[name], ast.Load())
        )
        yield ast.unparse(ast.Call(other, node.args, node.keywords))
    names = ast.Name | ast.Attribute | ast.Subscript
    if name not in SYMMETRIC and len(node.args) >= 2:
        first, second, *rest = node.args
        if isinstance(first, names) and isinstance(second, names):
            yield ast.unparse(ast.Call(node.func, [second, first, *rest], node.keywords))
