"""From trials to a table with one row for each kind and size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tgm.experiments.harness.tables import count, grouped, markdown
from tgm.experiments.larger_worlds.sweep import WorldResult, WorldTrial


def report(results: Sequence[tuple[WorldTrial, WorldResult]]) -> str:
    """The table."""
    rows = []
    for world, pairs in grouped(results, lambda pair: pair[0].world).items():
        group = [result for _, result in pairs]
        ratios = [r.solved_at / r.oracle for r in group if r.solved_at is not None]
        rows.append(
            {
                "world": world,
                "cells": pairs[0][0].side ** 2,
                "oracle, median steps": round(float(np.median([r.oracle for r in group]))),
                "solved within 3x": count([r.solved_at is not None for r in group]),
                "ratio, median": round(float(np.median(ratios)), 2) if ratios else None,
                "ratio, worst": round(max(ratios), 2) if ratios else None,
                "exact": count([r.exact for r in group]),
                "us per step": round(float(np.mean([r.microseconds for r in group]))),
            }
        )
    return markdown(rows)
