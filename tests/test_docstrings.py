"""The examples in the docstrings run and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

import tgm

SOURCES = Path(tgm.__file__).parent
PUBLIC = {*tgm.__all__, *tgm.agent.__all__, *tgm.data.__all__, *tgm.envs.__all__, *tgm.runs.__all__}


def modules() -> list[str]:
    """The modules that have examples."""
    paths = [path for path in sorted(SOURCES.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
    return [".".join(path.relative_to(SOURCES.parent).with_suffix("").parts) for path in paths]


def test_modules_with_examples_are_found():
    assert {"tgm.config", "tgm.envs.maze", "tgm.agent.arguments"} <= set(modules())


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings(name):
    """Those that the reference shows import what they use, so that a reader can copy them."""
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        if test.name.removeprefix(f"{name}.").partition(".")[0] in PUBLIC:
            test.globs = {}
        runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0
