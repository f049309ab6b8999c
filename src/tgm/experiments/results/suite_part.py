"""The part of docs/results.md on bsuite: what was run whole, and a first look at the rest."""

from __future__ import annotations

from typing import Any

from tgm.experiments.results.page import markdown_table

INTRODUCTION = """\
## bsuite
The behaviour suite for reinforcement learning, scored by its own analysis, with one setting for all
experiments. {left_out} download their data and are left out.
Campaigns add to `docs/data/bsuite`, which holds the score's inputs, episodes, steps, processor time
and code of every setting. Why scores are low, as far as it is known:
[comparing.md](comparing.md#bsuite).
"""

WHOLE = """\
### Run whole
All settings of an experiment, with all episodes that bsuite wants. Settings below {low} have their
numbers in the last column. Digest: of the code that ran it, as for studies.

"""

NOT_WHOLE = """\
**Not a score of bsuite yet**: {n_whole} of its {n} experiments were run whole{mean}.
"""

FIRST_LOOK = """\
### A first look at the others
**Not scores of bsuite**: few settings, most of them with fewer episodes than bsuite wants, which
costs score where learning counts from the first episode.{missing}

"""
N_EXPERIMENTS = 20
LOW = 0.95  # score below which an experiment or a setting is named


def suite_part(facts: dict[str, Any]) -> str:
    """Scores per experiment and per capability, beside those that others published."""
    rows = facts["experiments"]
    whole = [row for row in rows if row["is_whole"]]
    looks = [row for row in rows if not row["is_whole"]]
    others = [[name, f"{score:.2f}"] for name, score in facts["published"]["mean"].items()]
    return "\n".join(
        [
            INTRODUCTION.format(left_out=", ".join(f"`{name}`" for name in facts["left_out"])),
            *([] if len(whole) == N_EXPERIMENTS else [_not_whole(facts, len(whole))]),
            *([_whole(whole)] if whole else []),
            *([_looks(looks, N_EXPERIMENTS - len(rows))] if looks else []),
            *([_summary(facts)] if len(whole) == N_EXPERIMENTS else []),
            f"Published ({facts['published']['source']}). {facts['published']['note']}\n",
            markdown_table(["agent", "mean score"], others),
        ]
    )


def low_settings(row: dict[str, Any]) -> str:
    """The settings of an experiment that score low, each with its score; "" if none does."""
    low = {name: score for name, score in row["by_setting"].items() if score is None or score < LOW}
    return ", ".join(f"/{name} {_score(score)}" for name, score in low.items())


def _not_whole(facts: dict[str, Any], n_whole: int) -> str:
    mean = facts["mean_of_whole"]
    said = "" if mean is None else f" (the mean of those is {mean:.2f})"
    return NOT_WHOLE.format(n_whole=n_whole, n=N_EXPERIMENTS, mean=said)


def _whole(rows: list[dict[str, Any]]) -> str:
    heads = ["experiment", "score", "settings", "steps", "us a step", "minutes", "digest"]
    body = [
        [
            row["experiment"],
            _score(row["score"]),
            str(row["n_settings"]),
            f"{row['steps']:,}",
            _microseconds(row),
            f"{row['seconds'] / 60.0:,.1f}",
            ", ".join(row["codes"]),
            _capabilities(row),
            low_settings(row) or "-",
        ]
        for row in rows
    ]
    table = markdown_table([*heads, "capabilities", "low settings"], body)
    return WHOLE.format(low=LOW) + table


def _looks(rows: list[dict[str, Any]], n_missing: int) -> str:
    heads = ["experiment", "settings", "episodes", "steps", "us a step", "capabilities"]
    body = [
        [
            row["experiment"],
            ", ".join(f"/{name} {_score(score)}" for name, score in row["by_setting"].items()),
            f"{row['episodes']:,} or more of {row['n_episodes']:,}",
            f"{row['steps']:,}",
            _microseconds(row),
            _capabilities(row),
        ]
        for row in rows
    ]
    missing = f" Experiments that were not tried: {n_missing}." if n_missing else ""
    return FIRST_LOOK.format(missing=missing) + markdown_table(heads, body)


def _summary(facts: dict[str, Any]) -> str:
    """Means, which only a whole run has."""
    tags = [
        [name.replace("_", " "), f"{score:.2f}"] for name, score in facts["capabilities"].items()
    ]
    return f"By capability, and the mean of all experiments ({facts['agent']}):\n\n" + (
        markdown_table(["capability", "score"], [*tags, ["mean", _score(facts["mean"])]])
    )


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _microseconds(row: dict[str, Any]) -> str:
    return f"{1e6 * row['seconds'] / max(1, row['steps']):,.0f}"


def _capabilities(row: dict[str, Any]) -> str:
    return ", ".join(name.replace("_", " ") for name in row["capabilities"])
