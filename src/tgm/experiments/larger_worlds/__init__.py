"""Worlds of a hundred to a thousand cells, against the oracle that sees the true cells.

`python -m tgm.experiments.larger_worlds --sides 10 20 32 --seeds 10` prints the table.
"""

from tgm.experiments.harness.study import Study
from tgm.experiments.larger_worlds.analysis import report
from tgm.experiments.larger_worlds.sweep import LargerWorldsSweep, WorldResult, WorldTrial, run

STUDY = Study("larger_worlds", LargerWorldsSweep, run, WorldTrial, WorldResult, report)
