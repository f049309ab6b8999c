"""The style of all figures: colours for any colour vision, plain axes, and a few shapes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Ellipse, Rectangle

from tgm.distributions import FloatArray
from tgm.envs import Maze
from tgm.envs.maze import WALL

# The palette of Okabe and Ito; its yellow is too pale for lines and text on white.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, GREY, PALE, WALL_COLOUR = "#22303C", "#7A8793", "#E9EDF0", "#C3CCD4"
CYCLE = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, "#8A7500", "#5B5B5B")

BLUES = LinearSegmentedColormap.from_list("tgm-blues", ["#F3F6F8", "#BBDDF3", SKY, BLUE, "#00395C"])

TWO_SIGMA = 2.0  # ellipses are drawn at two standard deviations

_LOOK: Any = {  # the stubs want each name as a literal type
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine has it
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlepad": 7,
    "axes.labelsize": 9.5,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "figure.facecolor": "white",
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
    "mathtext.fontset": "dejavusans",
    # The same seed gives the same bytes: the names of SVG elements follow from this salt.
    "svg.hashsalt": "tgm",
    "svg.fonttype": "path",
}


@contextmanager
def look() -> Iterator[None]:
    """Draw and save in the style of all figures; matplotlib's settings are restored afterwards."""
    with matplotlib.rc_context(_LOOK):
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches, with automatic layout and without global state."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, stem: Path, *, dpi: int) -> tuple[Path, Path]:
    """Write `stem`.png and `stem`.svg, without dates, and return their paths."""
    png, svg = stem.with_suffix(".png"), stem.with_suffix(".svg")
    figure.savefig(png, dpi=dpi)
    figure.savefig(svg, metadata={"Date": None})
    return png, svg


def title(axes: Axes, text: str, letter: str = "") -> None:
    """A title at the left, after the panel's letter."""
    axes.set_title(f"$\\bf{{{letter}}}$   {text}" if letter else text, loc="left")


def plane(axes: Axes, *, grid: bool = True) -> None:
    """Axes of two observed features: equal units, a faint grid."""
    axes.set_aspect("equal")
    axes.set(xlabel="first feature", ylabel="second feature")
    if grid:
        axes.grid(color=PALE, linewidth=0.8)
        axes.set_axisbelow(True)


def bare(axes: Axes) -> None:
    """Remove ticks and frame, for drawings that are not plots."""
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def ellipse(axes: Axes, mean: FloatArray, covariance: FloatArray, **look: Any) -> Ellipse:
    """The outline of a Gaussian at two standard deviations: mean (2,), covariance (2, 2)."""
    lengths, directions = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(directions[1, 1], directions[0, 1]))
    width, height = 2 * TWO_SIGMA * np.sqrt(lengths[::-1])
    patch = Ellipse((float(mean[0]), float(mean[1])), width, height, angle=float(angle), **look)
    axes.add_patch(patch)
    return patch


def dots(axes: Axes, points: FloatArray, size: float, **look: Any) -> None:
    """Points (N, 2) as small dots without outline."""
    axes.scatter(points[:, 0], points[:, 1], s=size, linewidths=0, **look)


def write(axes: Axes, place: FloatArray, words: str, **look: Any) -> None:
    """Text centred at a position (2,)."""
    axes.text(float(place[0]), float(place[1]), words, ha="center", va="center", **look)


def draw_walls(axes: Axes, maze: Maze) -> None:
    """The walls of a maze in its own coordinates, (0, 0) at the bottom left."""
    for line, row in enumerate(maze.grid):
        for x, glyph in enumerate(row):
            if glyph == WALL:
                corner = (x - 0.5, maze.height - 1 - line - 0.5)
                axes.add_patch(Rectangle(corner, 1, 1, facecolor=WALL_COLOUR, linewidth=0))
    axes.set(xlim=(-0.5, maze.width - 0.5), ylim=(-0.5, maze.height - 0.5), aspect="equal")
    bare(axes)


def matrix(
    axes: Axes, values: FloatArray, *, vmin: float, vmax: float, cmap: Colormap = BLUES
) -> AxesImage:
    """A heat map of (rows, columns) with thin white lines between its cells."""
    image = axes.imshow(values, cmap=cmap, vmin=vmin, vmax=vmax, aspect="equal")
    n_rows, n_columns = values.shape
    axes.set_xticks(np.arange(n_columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(n_rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=1.2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    return image


def spread(axes: Axes, x: FloatArray, mean: FloatArray, sd: FloatArray, **line: Any) -> None:
    """A line with a band of one standard deviation."""
    drawn = axes.plot(x, mean, **line)[0]
    axes.fill_between(x, mean - sd, mean + sd, color=drawn.get_color(), alpha=0.15, linewidth=0)
