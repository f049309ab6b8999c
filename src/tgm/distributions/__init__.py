"""Conjugate families as pure functions on arrays, batched over components."""

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray
from tgm.distributions.features import Features
from tgm.distributions.moments import Moments
from tgm.distributions.normal_wishart import NormalWishart

__all__ = ["BoolArray", "Features", "FloatArray", "IntArray", "Moments", "NormalWishart"]
