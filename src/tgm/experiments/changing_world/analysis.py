"""From trials to a table with one row for each change."""

from __future__ import annotations

from collections.abc import Sequence

from tgm.experiments.changing_world.sweep import ChangeResult, ChangeTrial
from tgm.experiments.harness.tables import count, grouped, markdown, median


def report(results: Sequence[tuple[ChangeTrial, ChangeResult]]) -> str:
    """The table."""
    rows = []
    for change, pairs in grouped(results, lambda pair: pair[0].change).items():
        again = [result.again for _, result in pairs if result.again is not None]
        fresh = [result.fresh for _, result in pairs if result.fresh is not None]
        rows.append(
            {
                "change at step 3,000": change,
                "optimal again": count([result.again is not None for _, result in pairs]),
                "steps, median": median(again),
                "steps, worst": max(again, default=None),
                "fresh agent, median": median(fresh),
                "fresh agent, worst": max(fresh, default=None),
            }
        )
    return markdown(rows)
