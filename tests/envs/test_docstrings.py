"""The examples in the docstrings run and print what they say."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["catalogue", "generate", "maze"])
def test_examples_in_docstrings(name):
    result = doctest.testmod(importlib.import_module(f"tgm.envs.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
