"""Figures 2 and 5: the graphical models, and a check that the code computes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch

from tgm.envs.maze import N_ACTIONS
from tgm.experiments.figures import samples, style
from tgm.experiments.figures.drawing import Claim, Drawing, Settings, below
from tgm.perception.cluster_prior import prior_from_clusters
from tgm.perception.free_energy import free_energy
from tgm.perception.mean_shift import mean_shift
from tgm.perception.variational import fit
from tgm.transition import transition_counts

RADIUS = 0.3
OBSERVED = "#CBD5DD"
SIGNS = {"Lambda": r"$\Lambda$", "mu": r"$\mu$"}


@dataclass(frozen=True)
class Graph:
    """A Bayesian network: the positions of its variables, which are observed, and its arrows."""

    places: Mapping[str, tuple[float, float]]
    observed: frozenset[str]
    edges: Sequence[tuple[str, str]]
    shared: frozenset[str] = frozenset()  # parameters, the same for all observations


MIXTURE = Graph(
    places={"D": (0, 2.2), "Z": (0, 1.1), "X": (0, 0), "Lambda": (1.4, 1.1), "mu": (1.4, 0)},
    observed=frozenset({"X"}),
    edges=(("D", "Z"), ("Z", "X"), ("Lambda", "mu"), ("Lambda", "X"), ("mu", "X")),
    shared=frozenset({"D", "Lambda", "mu"}),
)

JOINT = Graph(
    places={
        "D": (0, 3.3),
        "A0": (1.5, 3.3),
        "B": (3, 3.3),
        "Z0": (0, 2.2),
        "Z1": (3, 2.2),
        "Lambda": (1.5, 1.35),
        "mu": (1.5, 0.25),
        "X0": (0, 0.25),
        "X1": (3, 0.25),
    },
    observed=frozenset({"A0", "X0", "X1"}),
    edges=(
        ("D", "Z0"),
        ("B", "Z1"),
        ("A0", "Z1"),
        ("Z0", "Z1"),
        ("Z0", "X0"),
        ("Z1", "X1"),
        ("Lambda", "mu"),
        ("Lambda", "X0"),
        ("mu", "X0"),
        ("Lambda", "X1"),
        ("mu", "X1"),
    ),
    shared=frozenset({"D", "B", "Lambda", "mu"}),
)

TRANSITION = Graph(
    places={"D": (0, 3.3), "A0": (1.5, 3.3), "B": (3, 3.3), "Z0": (0, 2.2), "Z1": (3, 2.2)},
    observed=frozenset({"A0"}),
    edges=(("D", "Z0"), ("B", "Z1"), ("A0", "Z1"), ("Z0", "Z1")),
    shared=frozenset({"D", "B"}),
)


def mixture_graph(settings: Settings) -> Drawing:
    """The graph of the variational Gaussian mixture."""
    figure = style.new_figure(7.2, 3.5)
    axes = figure.subplots()
    draw_graph(axes, MIXTURE)
    notes = {
        (-0.55, 2.2): "weights of the\ncomponents",
        (-0.55, 1.1): "which component\nmade each point",
        (-0.55, 0.0): "the points\n(observed)",
    }
    for (x, y), words in notes.items():
        axes.text(x, y, words, ha="right", va="center", color=style.GREY)
    axes.text(1.95, 1.1, "precision of\neach component", va="center", color=style.GREY)
    axes.text(1.95, 0.0, "mean of\neach component", va="center", color=style.GREY)
    axes.set(xlim=(-2.4, 3.8), ylim=(-0.5, 2.7))
    return Drawing(
        "The variational Gaussian mixture as a graph",
        figure,
        "Grey is observed, white is inferred, green outlines are parameters shared by all points. "
        "Each variable depends on those whose arrows end in it, and on nothing else.",
        (_claim_factors(settings),),
    )


def temporal_graphs(settings: Settings) -> Drawing:
    """The joint model, and the transition model that the paper uses instead."""
    figure = style.new_figure(9.2, 4.4)
    left, right = figure.subplots(1, 2)
    draw_graph(left, JOINT)
    style.title(left, "joint: perception and transition in one model", "a")
    draw_graph(right, TRANSITION)
    style.title(right, "separate: the transition model on its own", "b")
    right.text(
        1.5,
        1.0,
        "the beliefs about $Z_0$ and $Z_1$ come from\nthe mixture of figure 2 and are not changed",
        ha="center",
        va="center",
        color=style.GREY,
    )
    for axes in (left, right):
        axes.set(xlim=(-0.8, 3.8), ylim=(-0.25, 3.8))
    return Drawing(
        "Two ways to add time to the mixture",
        figure,
        "In (a) the states of two consecutive observations are inferred together with the "
        "components and the transitions B. In (b) the states are given and only B is learned. "
        "Figure 6 compares the two.",
        (_claim_counts(settings),),
    )


def draw_graph(axes: Axes, graph: Graph) -> None:
    """Variables as circles with their names inside, dependence as arrows."""
    for name, (x, y) in graph.places.items():
        axes.add_patch(
            Circle(
                (x, y),
                RADIUS,
                facecolor=OBSERVED if name in graph.observed else "white",
                edgecolor=style.GREEN if name in graph.shared else style.INK,
                linewidth=1.6,
                zorder=2,
                label=name,
            )
        )
        axes.text(x, y, _sign(name), ha="center", va="center", fontsize=13, zorder=3)
    for source, target in graph.edges:
        start, end = np.array(graph.places[source]), np.array(graph.places[target])
        along = (end - start) / np.linalg.norm(end - start)
        arrow = FancyArrowPatch(
            tuple(start + RADIUS * along),
            tuple(end - (RADIUS + 0.03) * along),
            arrowstyle="-|>",
            mutation_scale=13,
            linewidth=1.2,
            color=style.INK,
            shrinkA=0,
            shrinkB=0,
            label=f"{source}>{target}",
        )
        axes.add_patch(arrow)
    axes.set_aspect("equal")
    style.bare(axes)


def _sign(name: str) -> str:
    if name in SIGNS:
        return SIGNS[name]
    return f"${name[0]}_{name[1]}$" if len(name) == 2 else f"${name}$"


def _claim_factors(settings: Settings) -> Claim:
    points = samples.three_clouds(settings.seed)
    prior = prior_from_clusters(points, mean_shift(points, samples.BANDWIDTH))
    fitted = fit(prior, points)
    terms = free_energy(prior, fitted.posterior, points, fitted.responsibilities)
    gap = abs(terms.total - fitted.free_energy)
    return Claim(
        "The model factorises along these arrows, so that the free energy is a sum of nine "
        "expectations, one for each factor of model and belief.",
        "yes" if gap < 1e-6 * abs(fitted.free_energy) else "no",
        f"On the 300 points of figure 1 the {len(terms.by_term())} expectations sum to "
        f"{terms.total:.3f} nats, and so does the same bound from the log evidence (they differ by "
        f"{below(gap)}).",
        {"terms": len(terms.by_term()), "free_energy": terms.total, "difference": gap},
    )


def _claim_counts(settings: Settings) -> Claim:
    walk = samples.random_walk("8", 500, settings.seed)
    fitted = fit(
        prior_from_clusters(walk.points, mean_shift(walk.points, samples.BANDWIDTH)), walk.points
    )
    after = np.flatnonzero(walk.has_previous)
    counts = transition_counts(
        fitted.responsibilities[after - 1],
        walk.actions[after],
        fitted.responsibilities[after],
        N_ACTIONS,
    )
    gap = abs(float(counts.sum()) - len(after))
    return Claim(
        "In (b) only the update of B is needed: every observed transition adds its belief, "
        "r0 times r1, to the counts.",
        "yes" if gap < 1e-6 else "no",
        f"A walk of 500 points in maze 8 has {len(after)} transitions; the counts of its "
        f"{counts.shape[1]} states sum to {counts.sum():.6f}.",
        {"transitions": len(after), "sum_of_counts": float(counts.sum())},
    )
