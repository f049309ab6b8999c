"""Agents to compare with: each is a `harness.agent.Agent`."""

from tgm.experiments.baselines.catalogue import AGENTS, check_agent_name, check_extras, make_agent
from tgm.experiments.baselines.oracle import OracleAgent

__all__ = ["AGENTS", "OracleAgent", "check_agent_name", "check_extras", "make_agent"]
