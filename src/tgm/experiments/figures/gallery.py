"""Draw figures, write their files, and make the page that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tgm.errors import ConfigError, RunError
from tgm.experiments.figures import style
from tgm.experiments.figures.catalogue import FIGURES
from tgm.experiments.figures.drawing import Settings
from tgm.experiments.figures.page import Entry, as_html

PAGE = "index.html"
DPI = 150

Progress = Callable[[int, str], object]


def draw_figures(
    folder: Path,
    numbers: Sequence[int],
    settings: Settings,
    *,
    dpi: int = DPI,
    progress: Progress | None = None,
) -> list[Entry]:
    """Draw the figures with these numbers into `folder`, each as PNG and as SVG.

    `progress` is called with the number and title of each figure when its files are written.
    """
    unknown = sorted(set(numbers) - set(FIGURES))
    if unknown:
        raise ConfigError(f"there is no figure {unknown[0]}; the numbers are 1 to {max(FIGURES)}")
    entries = []
    for number in sorted(set(numbers)):
        with style.look():
            drawing = FIGURES[number](settings)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                png, svg = style.save(drawing.figure, folder / f"figure-{number:02}", dpi=dpi)
            except OSError as error:
                raise RunError(f"{folder}: cannot be written ({error.strerror})") from None
        entries.append(
            Entry(number, drawing.title, drawing.see, drawing.claims, png.name, svg.name)
        )
        if progress is not None:
            progress(number, drawing.title)
    return entries


def write_page(folder: Path, entries: Sequence[Entry]) -> Path:
    """Write index.html beside the images."""
    path = folder / PAGE
    try:
        path.write_text(as_html(entries), encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror})") from None
    return path
