"""What each part is worth: the default agent with one thing changed at a time.

`python -m tgm.experiments.ablation` prints the table, exploration strategies included.
"""

from tgm.experiments.ablation.analysis import report
from tgm.experiments.ablation.sweep import AblationSweep
from tgm.experiments.harness.study import Study
from tgm.experiments.harness.trial import Trial, TrialResult, run_trial

STUDY = Study("ablation", AblationSweep, run_trial, Trial, TrialResult, report)
