"""The part of docs/results.md on bsuite: what `tgm bsuite --json` printed."""

from __future__ import annotations

from typing import Any

from tgm.experiments.results.page import markdown_table

INTRODUCTION = """\
## bsuite
The behaviour suite for reinforcement learning, scored by its own analysis, with one setting for all
experiments. {left_out} download their data and are left out.
"""

WARNING = """\
**Not a score of bsuite yet**: {n_whole} of its 20 experiments were run whole. The others had fewer
settings or episodes, and the first settings of an experiment are often its easiest: a first look
only, without a mean. [comparing.md](comparing.md#bsuite) says which were chosen, what harder ones
scored, and what did not finish.

"""
N_EXPERIMENTS = 20


def suite_part(facts: dict[str, Any]) -> str:
    """Scores per experiment and per capability, beside those that others published."""
    rows = facts["experiments"]
    body = [
        [
            row["experiment"],
            "-" if row["score"] is None else f"{row['score']:.2f}",
            f"{row['settings']}/{row['n_settings']}",
            "yes" if row["is_whole"] else "no",
            f"{row['seconds']:,.0f}",
            ", ".join(name.replace("_", " ") for name in row["capabilities"]),
        ]
        for row in rows
    ]
    others = [[name, f"{score:.2f}"] for name, score in facts["published"]["mean"].items()]
    whole = [row for row in rows if row["is_whole"]]
    return (
        INTRODUCTION.format(left_out=", ".join(f"`{name}`" for name in facts["left_out"]))
        + "\n"
        + (WARNING.format(n_whole=len(whole)) if len(whole) < N_EXPERIMENTS else "")
        + markdown_table(
            ["experiment", "score", "settings run", "whole", "seconds", "capabilities"], body
        )
        + (_summary(facts) if len(whole) == N_EXPERIMENTS else "")
        + f"\nPublished ({facts['published']['source']}). {facts['published']['note']}\n\n"
        + markdown_table(["agent", "mean score"], others)
    )


def _summary(facts: dict[str, Any]) -> str:
    """Means, which only a whole run has."""
    tags = [
        [name.replace("_", " "), f"{score:.2f}"] for name, score in facts["capabilities"].items()
    ]
    return f"\nBy capability, and the mean of all experiments ({facts['agent']}):\n\n" + (
        markdown_table(["capability", "score"], [*tags, ["mean", _mean(facts["mean"])]])
    )


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
