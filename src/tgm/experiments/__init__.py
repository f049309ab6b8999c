"""Trials of what agents learned: evaluation, structure, and the errata at work."""
