"""Agents to compare with, behind one small protocol: `learn` and `predict`."""

from tgm.experiments.baselines.catalogue import AGENTS, check_agent_name, check_extras, make_student
from tgm.experiments.baselines.oracle import OracleAgent
from tgm.experiments.baselines.student import Student

__all__ = ["AGENTS", "OracleAgent", "Student", "check_agent_name", "check_extras", "make_student"]
