"""What bsuite holds: its experiments, their settings and capabilities; found when it is needed."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from tgm.errors import ConfigError

LEFT_OUT = ("mnist", "mnist_noise", "mnist_scale")
"""Experiments that download their pictures when they are made."""

SEPARATOR = "/"


def load(name: str) -> ModuleType:
    """A module of bsuite, or a ConfigError that says which extra has it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"tgm bsuite needs {error.name}; pip install temporal-gaussian-mixture[bsuite]"
        ) from None


def experiments() -> dict[str, list[str]]:
    """The ids of the settings of each experiment, without those that are left out."""
    found: dict[str, list[str]] = {}
    for one in load("bsuite.sweep").SWEEP:
        experiment = one.split(SEPARATOR)[0]
        if experiment not in LEFT_OUT:
            found.setdefault(experiment, []).append(one)
    return found


def ids_of(names: Sequence[str] | None) -> list[str]:
    """The ids that names stand for, each once: of experiments, capabilities or single settings.

    Args:
        names: such as "catch", "memory" or "deep_sea/0"; None: all.
    """
    known = experiments()
    if names is None:
        return [one for ids in known.values() for one in ids]
    by_name = {one: [one] for ids in known.values() for one in ids}
    for tag, ids in load("bsuite.sweep").TAGS.items():
        by_name[tag] = [one for one in ids if one in by_name]
    by_name |= known
    found: list[str] = []
    for name in names:
        experiment = name.split(SEPARATOR)[0]
        if experiment in LEFT_OUT:
            raise ConfigError(f"'{name}' downloads its data when it is made, and is left out")
        if name not in by_name:
            raise ConfigError(f"unknown experiment '{name}'; {_hint(name, known, list(by_name))}")
        found += by_name[name]
    return list(dict.fromkeys(found))


def _hint(name: str, known: dict[str, list[str]], names: list[str]) -> str:
    experiment = name.split(SEPARATOR)[0]
    if experiment in known:
        return f"'{experiment}' has the settings 0 to {len(known[experiment]) - 1}"
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}"


def n_episodes(one: str) -> int:
    """Episodes that bsuite wants of a setting."""
    return int(load("bsuite.sweep").EPISODES[one])


def capabilities() -> dict[str, tuple[str, ...]]:
    """The capabilities (bsuite calls them tags) that each experiment tries."""
    info = load("bsuite.experiments.summary_analysis").BSUITE_INFO
    return {name: tuple(info[name].tags) for name in experiments()}


def make(one: str, seed: int) -> Any:
    """The environment of an id, seeded; bsuite would draw a seed of its own where it names none."""
    suite = load("bsuite.bsuite")
    experiment = one.split(SEPARATOR)[0]
    settings = dict(load("bsuite.sweep").SETTINGS[one])
    maker = suite.EXPERIMENT_NAME_TO_ENVIRONMENT[experiment]
    takes_seed = "seed" in inspect.signature(maker).parameters
    if settings.get("seed") is None and takes_seed:
        settings["seed"] = seed
    env = maker(**settings)
    if not takes_seed and hasattr(env, "_rng"):  # deep_sea_stochastic passes no seed on
        env._rng = np.random.RandomState(seed)
    return env
