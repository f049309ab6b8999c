"""Agents to compare with, behind one small protocol: `learn` and `predict`."""

from tgm.experiments.baselines.catalogue import AGENTS, check_agent_name, check_extras, make_agent
from tgm.experiments.baselines.oracle import OracleAgent
from tgm.experiments.baselines.protocol import Agent

__all__ = ["AGENTS", "Agent", "OracleAgent", "check_agent_name", "check_extras", "make_agent"]
