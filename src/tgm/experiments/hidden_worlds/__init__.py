"""Places that look alike: mazes seen by their walls or by x alone, cues to be remembered.

`python -m tgm.experiments.hidden_worlds` prints the table.
"""

from tgm.experiments.harness.study import Study
from tgm.experiments.hidden_worlds.analysis import report
from tgm.experiments.hidden_worlds.sweep import HiddenResult, HiddenSweep, HiddenTrial, run

STUDY = Study("hidden_worlds", HiddenSweep, run, HiddenTrial, HiddenResult, report)
"""The command `python -m tgm.experiments.hidden_worlds`."""
