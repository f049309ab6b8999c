"""Agents side by side: worlds x agents x seeds. `tgm compare` is its command."""

from tgm.experiments.comparison.compare import Comparison, compare
from tgm.experiments.comparison.sweep import make_trials

__all__ = ["Comparison", "compare", "make_trials"]
