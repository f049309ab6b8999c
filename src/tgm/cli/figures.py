"""`tgm figures`: the figures of the paper, and a page that says which of its claims hold."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tgm.cli.flags import Switch, optional
from tgm.cli.output import print_json, print_lines, say
from tgm.cli.waiting import busy
from tgm.errors import ConfigError
from tgm.experiments.figures.drawing import Settings


@dataclass(frozen=True)
class Figures:
    """Draw the figures of the paper as PNG and SVG, with a page on which claims hold.

    All of them take about two minutes; --quick gives a first look in seconds.
    """

    out: Path = Path("figures")
    """Folder for the images and the page, index.html; figures already there are replaced."""

    only: Annotated[tuple[int, ...], optional("[N ...]", "(default: all of them)")] = ()
    """Numbers of the figures to draw."""

    seed: int = 0
    """Everything random follows from it: the same seed gives the same files."""

    quick: Switch = False
    """Fewer seeds and fewer steps; the numbers of the claims are then rough."""

    results: Annotated[Path | None, optional("PATH")] = None
    """Learning curves for figure 13: the folder of a `tgm compare`, or a CSV file. Without it the
    curves of both TGM presets are computed here."""

    json: Switch = False
    """Print one JSON object instead: files, claims and their numbers."""

    def run(self) -> int:
        """Draw, print the claims, and return the exit code."""
        if self.seed < 0:
            raise ConfigError(f"--seed is {self.seed}; it must be a whole number from 0")
        if self.results is not None and not self.results.exists():
            raise ConfigError(f"--results {self.results}: there is no such file or folder")
        if importlib.util.find_spec("matplotlib") is None:
            raise ConfigError(
                "figures need matplotlib; pip install temporal-gaussian-mixture[figures]"
            )
        from tgm.experiments.figures.catalogue import FIGURES
        from tgm.experiments.figures.gallery import draw_figures, write_page

        with busy("drawing"):
            entries = draw_figures(
                self.out,
                self.only or tuple(FIGURES),
                Settings(self.seed, self.quick, self.results),
                progress=lambda number, title: say(f"figure {number}: {title}"),
            )
        page = write_page(self.out, entries)
        if self.json:
            print_json({"page": str(page), "figures": [entry.to_dict() for entry in entries]})
            return 0
        for entry in entries:
            for claim in entry.claims:
                print_lines(f"{entry.number:>2}  {claim.verdict:<7} {claim.text}")
        print_lines(f"page: {page}")
        return 0
