"""The campaign behind docs/results.md, and the page itself.

`python -m tgm.experiments.results` writes the page from the tables in docs/data;
`python -m tgm.experiments.results --run campaign --jobs 2` runs every trial first, or what is
left of them, and renews the tables.
"""
