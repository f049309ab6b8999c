"""Never unlearned: a long run in maze 27, evaluated every 100 steps.

`python -m tgm.experiments.long_run --steps 100000` prints the table.
"""

from tgm.experiments.harness.study import Study
from tgm.experiments.long_run.analysis import report
from tgm.experiments.long_run.sweep import LongResult, LongRunSweep, LongTrial, run

STUDY = Study("long_run", LongRunSweep, run, LongTrial, LongResult, report)
