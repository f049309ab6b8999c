"""Estimators of states in data: points, and logged trajectories.

`VariationalMixture` needs scikit-learn, the extra `estimators`; it is imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tgm.errors import ConfigError
from tgm.estimators.dask_points import DaskPoints
from tgm.estimators.sources import ArrayPoints, ParquetPoints
from tgm.estimators.temporal_mixture import TemporalMixture

if TYPE_CHECKING:
    from tgm.estimators.variational_mixture import VariationalMixture

__all__ = ["ArrayPoints", "DaskPoints", "ParquetPoints", "TemporalMixture", "VariationalMixture"]


def __getattr__(name: str) -> Any:
    if name != "VariationalMixture":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from tgm.estimators.variational_mixture import VariationalMixture
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != "sklearn":
            raise
        raise ConfigError(
            "VariationalMixture needs scikit-learn: "
            "pip install temporal-gaussian-mixture[estimators]"
        ) from None
    return VariationalMixture
