"""The same world in metres, millimetres and far away: nothing changes.

`python -m tgm.experiments.units` prints the table.
"""

from tgm.experiments.harness.study import Study
from tgm.experiments.harness.trial import Trial, TrialResult, run_trial
from tgm.experiments.units.analysis import report
from tgm.experiments.units.sweep import UnitsSweep

STUDY = Study("units", UnitsSweep, run_trial, Trial, TrialResult, report)
