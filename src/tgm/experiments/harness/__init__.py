"""The harness of all studies: trials as data, one training loop, one runner, one store.

A study is a folder beside this one: `sweep.py` says what is varied (its fields are the flags of the
command, its `trials()` the list of trials), `analysis.py` makes a table of the results.
"""
