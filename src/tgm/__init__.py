"""Temporal Gaussian Mixture: agents that discover the states of their world.

Importing this package registers the environment `tgm/Maze-v0` with Gymnasium.
"""

from tgm import data, envs, errors, runs
from tgm.agent import TGMAgent, TGMConfig
from tgm.errors import TGMWarning
from tgm.estimators.temporal_mixture import TemporalMixture
from tgm.version import __version__

__all__ = [
    "TGMAgent",
    "TGMConfig",
    "TGMWarning",
    "TemporalMixture",
    "__version__",
    "data",
    "envs",
    "errors",
    "runs",
]

envs.register()
