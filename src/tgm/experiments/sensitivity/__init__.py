"""What each numeric constant of the core is worth: docs/sensitivity.md.

`python -m tgm.experiments.sensitivity` finds the constants in the source, halves and doubles each,
and writes the page; `--only NAME` prints the page for some of them.
"""
