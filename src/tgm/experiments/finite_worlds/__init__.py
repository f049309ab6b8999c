"""The default agent in finite worlds of every kind: docs/worlds.md.

`python -m tgm.experiments.finite_worlds` trains `TGMConfig()` as it is in every world of
`worlds.py`, and writes the page; with `--worlds NAME ...` it prints the table of some of them.
"""

from tgm.experiments.finite_worlds.analysis import report
from tgm.experiments.finite_worlds.sweep import FiniteSweep, FiniteTrial, run
from tgm.experiments.finite_worlds.wanted import WorldResult
from tgm.experiments.harness.study import Study

STUDY = Study("finite_worlds", FiniteSweep, run, FiniteTrial, WorldResult, report)
