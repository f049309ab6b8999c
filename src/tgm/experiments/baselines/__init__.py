"""Agents to compare with, behind one small protocol: `learn` and `predict`."""

from tgm.experiments.baselines.oracle import OracleAgent

__all__ = ["OracleAgent"]
