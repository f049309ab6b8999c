"""bsuite, the behaviour suite for reinforcement learning: a suite that nobody here wrote.

`tgm bsuite` is its command. Environments, settings and scores are those of the package `bsuite`.
"""
