"""No module and no function is too long to be read at once."""

import ast
from pathlib import Path

import tgm

MODULES = sorted(Path(tgm.__file__).parent.rglob("*.py"))
LONGEST_MODULE = 350  # lines
LONGEST_BODY = 40  # lines of a function, without its docstring


def body_length(node):
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def functions_of(text):
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]


def test_the_length_of_a_body_by_hand():
    text = 'def a():\n    """One.\n\n    Two."""\n    x = (\n        1\n    )\n    return x\n'
    text += 'def b():\n    """Only words."""\n'
    assert [body_length(node) for node in functions_of(text)] == [4, 0]


def test_no_module_is_longer_than_a_few_screens():
    lengths = {path.name: len(path.read_text().splitlines()) for path in MODULES}
    assert {name: n for name, n in lengths.items() if n > LONGEST_MODULE} == {}
    assert len(lengths) > 200


def test_no_function_is_longer_than_a_screen():
    lengths = [
        (body_length(node), path.name, node.name)
        for path in MODULES
        for node in functions_of(path.read_text())
    ]
    assert [one for one in lengths if one[0] > LONGEST_BODY] == []
    assert max(lengths)[0] > 20
