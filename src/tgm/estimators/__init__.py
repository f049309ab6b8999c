"""Estimators for logged data."""

from tgm.estimators.temporal_mixture import TemporalMixture

__all__ = ["TemporalMixture"]
