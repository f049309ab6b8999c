"""A wall moves at step 3,000: how long until the agent is optimal again?

`python -m tgm.experiments.changing_world` prints the table.
"""

from tgm.experiments.changing_world.analysis import report
from tgm.experiments.changing_world.sweep import ChangeResult, ChangeTrial, ChangingSweep, run
from tgm.experiments.harness.study import Study

STUDY = Study("changing_world", ChangingSweep, run, ChangeTrial, ChangeResult, report)
