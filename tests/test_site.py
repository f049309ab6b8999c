"""The documentation site: public names have examples in the reference, and pages are listed."""

import ast
import codeop
import doctest
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

import tgm
from tgm.cli.main import COMMANDS
from tgm.planning import exploration

DOCS = Path(__file__).parents[1] / "docs"
API = (DOCS / "api.md").read_text(encoding="utf-8")
BLOCKS = "\n".join(re.findall(r"```python\n(.*?)```", API, re.S))
# What runs, and what it answers: a name in a comment is no example.
EXAMPLES = "\n".join(
    f"{ast.unparse(ast.parse(example.source))}\n{example.want}"
    for example in doctest.DocTestParser().get_examples(BLOCKS)
)
ERRORS = [name for name in vars(tgm.errors) if name.endswith(("Error", "Warning"))]


@pytest.mark.parametrize(
    "name", sorted({*tgm.__all__, *tgm.agent.__all__} - {"data", "envs", "errors", "runs"})
)
def test_every_name_of_the_agent_is_in_the_reference(name):
    assert re.search(rf"auto(class|data|function):: tgm\.(agent\.)?{name}\n", API)


@pytest.mark.parametrize("module", [tgm.data, tgm.envs, tgm.runs, exploration, tgm.errors])
def test_modules_are_in_the_reference_with_all_that_they_offer(module):
    section = API.partition(f"automodule:: {module.__name__}\n")[2].partition("```")[0]
    assert ":members:" in section
    for name in getattr(module, "__all__", ERRORS):
        assert hasattr(module, name)


@pytest.mark.parametrize(
    "name",
    [
        "__version__",
        *tgm.agent.__all__,
        *tgm.data.__all__,
        *tgm.estimators.__all__,
        *tgm.envs.__all__,
        *tgm.runs.__all__,
        *exploration.__all__,
        *ERRORS,
    ],
)
def test_every_public_name_has_an_example(name):
    assert re.search(rf"\b{name}\b", EXAMPLES)


CLASSES = (tgm.TGMAgent, tgm.TGMConfig, tgm.VariationalMixture, tgm.TemporalMixture)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_method_and_property_has_an_example_in_the_reference(kind):
    names = {name for name in dir(kind) if not name.startswith("_") and is_ours(kind, name)}
    assert len(names) >= 4
    assert {name for name in names if not re.search(rf"\.{name}\b", EXAMPLES)} == set()


def is_ours(kind, name):
    member = inspect.getattr_static(kind, name)
    function = getattr(member, "fget", getattr(member, "__func__", member))
    return getattr(function, "__module__", "").startswith("tgm")


@pytest.mark.parametrize("setting", [field.name for field in fields(tgm.TGMConfig)])
def test_every_setting_has_an_example_in_the_reference(setting):
    assert re.search(rf"\b{setting}(=|': )", EXAMPLES)


def test_every_command_is_on_the_page_of_commands():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert re.search(rf"^tgm {command}\b", page, re.M), command


def test_every_page_is_in_the_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([\w-]+)$", contents, re.M))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= listed


@pytest.mark.parametrize("page", sorted(DOCS.glob("tutorial-*.md")), ids=lambda page: page.stem)
def test_a_tutorial_installs_the_extras_that_it_uses(page):
    text = page.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```(?:python)?\n(.*?)```", text, re.S))
    (installed, *_) = re.findall(r'pip install "?temporal-gaussian-mixture(.*?)"?$', code, re.M)
    for used, extra in (("VariationalMixture", "estimators"), ("tgm inspect", "inspect")):
        assert used not in code or extra in installed


def refused_by_an_interpreter(block: str) -> list[str]:
    """The lines of a block that `python` does not take if they are pasted without prompts."""
    lines = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "..."))]
    compile_lines, typed, refused = codeop.CommandCompiler(), "", []
    for line in [*lines, ""]:
        typed += f"{line}\n"
        try:
            if compile_lines(typed.removesuffix("\n")) is None:
                continue  # it waits for more
        except SyntaxError:
            refused.append(line)
        typed = ""
    return refused


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_an_example_can_be_pasted_into_python(page):
    """No blank line within a class or function, and one after it: a line of "..." alone."""
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        assert refused_by_an_interpreter(block) == []


def test_what_cannot_be_pasted_is_seen():
    assert refused_by_an_interpreter(">>> if 1:\n...     a = 1\n...\n>>> a\n1\n") == []
    assert refused_by_an_interpreter(">>> if 1:\n...     a = 1\n>>> a\n1\n") == ["a"]
    assert refused_by_an_interpreter(">>> if 1:\n...     a = 1\n...\n...     b = 2\n") == [
        "    b = 2"
    ]
