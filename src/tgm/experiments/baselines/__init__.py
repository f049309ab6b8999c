"""Agents to compare with: each is a `harness.agent.Agent`."""

from tgm.experiments.baselines.catalogue import (
    AGENTS,
    PAPER_AGENTS,
    check_agent_name,
    check_extras,
    make_agent,
    unfit,
)
from tgm.experiments.baselines.oracle import OracleAgent

__all__ = [
    "AGENTS",
    "PAPER_AGENTS",
    "OracleAgent",
    "check_agent_name",
    "check_extras",
    "make_agent",
    "unfit",
]
