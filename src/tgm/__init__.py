"""Temporal Gaussian Mixture: agents that discover the states of their world.

Importing this package registers the environment `tgm/Maze-v0` with Gymnasium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tgm import data, envs, errors, runs
from tgm.agent import TGMAgent, TGMConfig
from tgm.errors import TGMWarning
from tgm.estimators.temporal_mixture import TemporalMixture
from tgm.version import __version__

if TYPE_CHECKING:
    from tgm.estimators import VariationalMixture

__all__ = [
    "TGMAgent",
    "TGMConfig",
    "TGMWarning",
    "TemporalMixture",
    "VariationalMixture",
    "__version__",
    "data",
    "envs",
    "errors",
    "runs",
]

envs.register()


def __getattr__(name: str) -> Any:
    """What needs an extra, imported when it is asked for."""
    if name == "VariationalMixture":
        from tgm.estimators import VariationalMixture

        return VariationalMixture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
