"""The radar of bsuite: one spoke for each capability."""

from __future__ import annotations

import importlib.util
import io
import math
from collections.abc import Mapping
from pathlib import Path

from tgm.files import write_atomically


def can_draw() -> bool:
    """Whether Matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def draw_radar(scores: Mapping[str, float], title: str, path: Path) -> None:
    """Write a picture with a spoke for each capability, from 0 in the middle to 1."""
    from matplotlib.figure import Figure

    names = list(scores)
    angles = [2.0 * math.pi * number / len(names) for number in range(len(names))]
    values = [max(0.0, min(1.0, scores[name])) for name in names]
    figure = Figure(figsize=(6.0, 5.5))
    axes = figure.add_subplot(polar=True)
    axes.plot([*angles, angles[0]], [*values, values[0]], color="#1f5fa8", linewidth=2)
    axes.fill(angles, values, color="#1f5fa8", alpha=0.2)
    axes.set_xticks(angles, [f"{name.replace('_', ' ')}\n{scores[name]:.2f}" for name in names])
    axes.set_yticks([0.25, 0.5, 0.75, 1.0])
    axes.set_ylim(0.0, 1.0)
    axes.set_title(title, pad=24)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=120, bbox_inches="tight")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data.getvalue())
