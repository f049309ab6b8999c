"""From trials to a table with one row for each world, with what is wanted beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tgm.experiments.harness.tables import count, grouped, markdown, median
from tgm.experiments.hidden_worlds.sweep import WORLDS, HiddenResult, HiddenTrial


def report(results: Sequence[tuple[HiddenTrial, HiddenResult]]) -> str:
    """The table."""
    rows = []
    for name, pairs in grouped(results, lambda pair: pair[0].world).items():
        world, group = WORLDS[name], [result for _, result in pairs]
        unit = "episodes" if world.counts_episodes else "steps"
        found = [r.episodes if world.counts_episodes else r.solved_at for r in group]
        times = [time for time in found if time is not None]
        worst = None if len(times) < len(found) else max(times)
        rows.append(
            {
                "world": name,
                "wanted": f"{world.wanted:,} {unit}",
                "optimal in time": count([t is not None and t <= world.wanted for t in found]),
                "optimal at the end": count([t is not None for t in found]),
                "median": median(times),
                "worst": worst,
                "states": ", ".join(str(r.n_states) for r in group),
                "true states": "fewer will do" if world.n_states is None else world.n_states,
                "ms a step": round(float(np.mean([r.milliseconds for r in group])), 2),
            }
        )
    return markdown(rows)
