"""How soon a maze is solved for good: the table of the default preset.

`python -m tgm.experiments.solving --seeds 50` prints it.
"""

from tgm.experiments.harness.study import Study
from tgm.experiments.harness.trial import Trial, TrialResult, run_trial
from tgm.experiments.solving.analysis import report
from tgm.experiments.solving.sweep import SolvingSweep

STUDY = Study("solving", SolvingSweep, run_trial, Trial, TrialResult, report)
