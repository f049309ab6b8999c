"""Success and structure as the noise grows, beside the best that single observations allow.

`python -m tgm.experiments.noise` prints the table.
"""

from tgm.experiments.harness.study import Study
from tgm.experiments.harness.trial import Trial, TrialResult, run_trial
from tgm.experiments.noise.analysis import report
from tgm.experiments.noise.sweep import NoiseSweep

STUDY = Study("noise", NoiseSweep, run_trial, Trial, TrialResult, report)
