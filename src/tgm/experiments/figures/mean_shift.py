"""Figure 1: mean shift, its windows and its clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from tgm.distributions import FloatArray, IntArray
from tgm.experiments.figures import samples, style
from tgm.experiments.figures.drawing import Claim, Drawing, Settings
from tgm.perception.mean_shift import Clusters, mean_shift

AT_REST = 1e-9
MOST_STEPS = 300
CIRCLES = 6  # drawn along the path of the window


@dataclass(frozen=True, eq=False)
class Climb:
    """The path of one window: its centres (n_steps + 1, 2), and its number of points at each."""

    centres: FloatArray
    n_members: IntArray


def climb(points: FloatArray, start: FloatArray, bandwidth: float) -> Climb:
    """Move a window from `start` (2,) to the mean of its members until it stops moving."""
    centres, counts = [start], []
    while len(centres) <= MOST_STEPS:
        inside = np.linalg.norm(points - centres[-1], axis=1) <= bandwidth
        counts.append(int(inside.sum()))
        mean = points[inside].mean(axis=0)
        if np.linalg.norm(mean - centres[-1]) <= AT_REST:
            break
        centres.append(mean)
    return Climb(np.array(centres[: len(counts)]), np.array(counts))


def mean_shift_steps(settings: Settings) -> Drawing:
    """The paths of windows, and the clusters that follow."""
    points = samples.three_clouds(settings.seed)
    clusters = mean_shift(points, samples.BANDWIDTH)
    climbs = [climb(points, point, samples.BANDWIDTH) for point in points]
    longest = max(climbs, key=lambda way: np.linalg.norm(way.centres[-1] - way.centres[0]))
    figure = style.new_figure(9.6, 3.9)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    _draw_climb(left, points, longest)
    _draw_clusters(right, points, clusters)
    return Drawing(
        "Mean shift: windows move to dense regions",
        figure,
        "Left, one window of radius 0.5 moves to the mean of its points until it stops; some of "
        "its positions are circled, later ones darker. Right, the points coloured by the place "
        f"where their windows stop: {clusters.n_clusters} clusters, because each of "
        "the three clouds is longer than a window is wide.",
        (_claim_climbing(climbs), _claim_number(settings)),
    )


def _draw_climb(axes: Axes, points: FloatArray, way: Climb) -> None:
    style.dots(axes, points, 11, color=style.WALL_COLOUR)
    shown = np.unique(np.linspace(0, len(way.centres) - 1, CIRCLES).round().astype(int))
    for shade, index in zip(np.linspace(0.3, 1.0, len(shown)), shown, strict=True):
        last = index == shown[-1]
        axes.add_patch(
            Circle(
                (float(way.centres[index, 0]), float(way.centres[index, 1])),
                samples.BANDWIDTH,
                fill=False,
                edgecolor=style.VERMILLION,
                alpha=float(shade),
                linewidth=2.0 if last else 1.1,
            )
        )
    axes.plot(*way.centres.T, "-o", color=style.VERMILLION, ms=3, lw=1.2)
    _note(axes, "starts at a point", way.centres[0], (0.03, 0.52))
    words = f"stops after {len(way.centres) - 1} steps,\n{way.n_members[-1]} points inside"
    _note(axes, words, way.centres[-1], (0.3, 0.62))
    style.title(axes, "one window on its way", "a")
    style.plane(axes)


def _note(axes: Axes, words: str, place: FloatArray, at: tuple[float, float]) -> None:
    axes.annotate(
        words,
        (float(place[0]), float(place[1])),
        xytext=at,
        textcoords="axes fraction",
        arrowprops={"arrowstyle": "-", "color": style.GREY, "lw": 0.8, "shrinkB": 4},
    )


def _draw_clusters(axes: Axes, points: FloatArray, clusters: Clusters) -> None:
    for index in range(clusters.n_clusters):
        members = points[clusters.labels == index]
        style.dots(axes, members, 13, color=style.CYCLE[index % len(style.CYCLE)])
    axes.scatter(
        clusters.centres[:, 0],
        clusters.centres[:, 1],
        marker="X",
        s=75,
        color=style.INK,
        edgecolor="white",
        lw=1,
        zorder=3,
    )
    style.title(axes, f"the {clusters.n_clusters} clusters, and where their windows stop (x)", "b")
    style.plane(axes)


def _claim_climbing(climbs: list[Climb]) -> Claim:
    started = np.array([way.n_members[0] for way in climbs])
    rested = np.array([way.n_members[-1] for way in climbs])
    denser = int((rested >= started).sum())
    return Claim(
        "Each window moves until it rests in a part of the space with high density.",
        "yes" if denser >= 0.95 * len(climbs) else "partly",
        f"{denser} of {len(climbs)} windows stop where they hold at least as many points as where "
        f"they started; the mean grows from {started.mean():.1f} to {rested.mean():.1f} points.",
        {
            "windows": len(climbs),
            "rest_at_least_as_dense": denser,
            "mean_members_at_start": float(started.mean()),
            "mean_members_at_rest": float(rested.mean()),
        },
    )


def _claim_number(settings: Settings) -> Claim:
    n_seeds = settings.choose(20, 3)
    walks = [samples.random_walk("8", 500, settings.seed + offset) for offset in range(n_seeds)]
    right = sum(
        mean_shift(walk.points, samples.BANDWIDTH).n_clusters == walk.n_visited for walk in walks
    )
    clouds = [
        mean_shift(samples.three_clouds(settings.seed + offset), samples.BANDWIDTH).n_clusters
        for offset in range(n_seeds)
    ]
    return Claim(
        "The number of clusters need not be known, only the radius.",
        "yes" if right == n_seeds and set(clouds) == {3} else "partly" if right else "no",
        f"If the radius fits, this holds: one cluster for each visited cell of maze 8 in "
        f"{right} of {n_seeds} walks of 500 points. Otherwise it fails: {min(clouds)} to "
        f"{max(clouds)} clusters for the three clouds drawn here.",
        {
            "seeds": n_seeds,
            "walks_with_right_number": right,
            "fewest_clusters_of_three_clouds": min(clouds),
            "most_clusters_of_three_clouds": max(clouds),
        },
    )
