"""The documentation site: every public name is in the reference, and every page in its contents."""

import re
from pathlib import Path

import pytest

import tgm
from tgm.cli.main import COMMANDS
from tgm.planning import exploration

DOCS = Path(__file__).parents[1] / "docs"
API = (DOCS / "api.md").read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", API, re.S))
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
        *tgm.agent.__all__,
        *tgm.data.__all__,
        *tgm.estimators.__all__,
        *tgm.envs.__all__,
        *tgm.runs.__all__,
        "TGMError",
    ],
)
def test_every_public_name_has_an_example(name):
    assert re.search(rf"\b{name}\b", EXAMPLES)


def test_every_command_is_on_the_page_of_commands():
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert re.search(rf"^tgm {command}\b", page, re.M), command


def test_every_page_is_in_the_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^([\w-]+)$", contents, re.M))
    assert {page.stem for page in DOCS.glob("*.md")} - {"index"} <= listed
