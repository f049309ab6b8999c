"""Conjugate families as pure functions on arrays, and the moments that data adds to them."""

from tgm.distributions.arrays import BoolArray, FloatArray, IntArray
from tgm.distributions.features import Features
from tgm.distributions.moments import Moments
from tgm.distributions.normal_wishart import NormalWishart

__all__ = ["BoolArray", "Features", "FloatArray", "IntArray", "Moments", "NormalWishart"]
