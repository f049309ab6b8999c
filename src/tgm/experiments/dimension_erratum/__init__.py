"""Erratum 1 at work: the component count in place of the dimension makes the mixture collapse.

The print writes K for the number of components and for the dimension of an observation. Here the
same data is fitted with both readings; run `python -m tgm.experiments.dimension_erratum`.
"""

from tgm.experiments.dimension_erratum.analysis import report
from tgm.experiments.dimension_erratum.sweep import (
    LEAST_POINTS,
    FitSweep,
    FitTrial,
    Outcome,
    compare,
    log_rho,
    random_walk,
    run,
)
from tgm.experiments.harness.study import Study

STUDY = Study("dimension_erratum", FitSweep, run, FitTrial, Outcome, report)

__all__ = ["LEAST_POINTS", "STUDY", "Outcome", "compare", "log_rho", "random_walk"]
