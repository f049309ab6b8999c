"""Figures 3 and 4: the mixture's prior from mean shift, and its fit step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from scipy.special import softmax

from tgm.distributions import FloatArray, Moments, NormalWishart, normal_wishart
from tgm.experiments.dimension_erratum import LEAST_POINTS, log_rho
from tgm.experiments.figures import samples, style
from tgm.experiments.figures.drawing import Claim, Drawing, Settings, below
from tgm.perception.cluster_prior import prior_from_clusters
from tgm.perception.mean_shift import Clusters, mean_shift
from tgm.perception.mixture import Mixture

SHOWN = (0, 5, 7, 10)  # iterations, as in the paper
LONG = 100
N_FEATURES = 2
N_CLOUDS = len(samples.CLOUDS)


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of a fit: the belief (K components) and its responsibilities (N, K)."""

    belief: Mixture
    resp: FloatArray

    @property
    def n_active(self) -> int:
        """Number of components with responsibility for some point."""
        return int((self.resp.sum(axis=0) > LEAST_POINTS).sum())


def stages(prior: Mixture, points: FloatArray, dimension: int) -> Iterator[Stage]:
    """The fit after 0, 1, 2, ... iterations, with `dimension` where the paper prints K."""
    belief = prior
    while True:
        resp = softmax(log_rho(belief, points, dimension), axis=1)
        yield Stage(belief, resp)
        belief = prior.update(Moments.of_points(points, resp))


def stages_at(
    prior: Mixture, points: FloatArray, dimension: int, iterations: Sequence[int]
) -> list[Stage]:
    """The stages after these numbers of iterations."""
    way = stages(prior, points, dimension)
    return [
        stage for n, stage in zip(range(max(iterations) + 1), way, strict=False) if n in iterations
    ]


def mixture_prior(settings: Settings) -> Drawing:
    """The prior as mean shift sets it."""
    points = samples.three_clouds(settings.seed)
    clusters = mean_shift(points, samples.BANDWIDTH)
    prior = prior_from_clusters(points, clusters)
    figure = style.new_figure(7.0, 4.9)
    axes = figure.subplots()
    resp = np.eye(clusters.n_clusters)[clusters.labels]
    draw_stage(axes, points, Stage(prior, resp))
    strength = 2 * prior.n_components
    style.title(
        axes,
        f"{prior.n_components} components from {prior.n_components} clusters, each worth "
        f"{strength} points",
    )
    return Drawing(
        "The mixture's prior, set from the clusters of mean shift",
        figure,
        "Each ellipse is a component before any fit, at two standard deviations of its expected "
        "precision: its mean and shape are those of the cluster of the same colour. Clusters of "
        "one or two points have no shape of their own and use the common one.",
        (_claim_prior(points, clusters, prior),),
    )


def mixture_steps(settings: Settings) -> Drawing:
    """The fit after 0, 5, 7 and 10 iterations, as printed and with the corrected dimension."""
    points = samples.three_clouds(settings.seed)
    prior = prior_from_clusters(points, mean_shift(points, samples.BANDWIDTH))
    figure = style.new_figure(11.4, 4.7)
    axes = figure.subplots(2, 4, sharex=True, sharey=True)
    rows = {"as printed": prior.n_components, "corrected": N_FEATURES}
    for row, (name, dimension) in enumerate(rows.items()):
        for column, stage in enumerate(stages_at(prior, points, dimension, SHOWN)):
            panel = axes[row, column]
            draw_stage(panel, points, stage)
            panel.set(xlabel="", ylabel="")
            panel.tick_params(labelbottom=False, labelleft=False, length=0)
            style.title(panel, f"{SHOWN[column]} iterations: {stage.n_active} active")
        sign = "K" if dimension != N_FEATURES else "O"
        axes[row, 0].set_ylabel(f"{name}: {sign} = {dimension}\nfor the dimension")
    return Drawing(
        "The mixture's fit: the competition is a misprint",
        figure,
        "The same data and prior, fitted twice. Above, with K, the number of components, where the "
        "paper prints K for the dimension of an observation: components lose their points one by "
        "one within ten iterations, as in the paper. Below, with the correct dimension O = 2: "
        "no component loses its points. Only active components are outlined.",
        (_claim_competition(settings),),
    )


def draw_stage(axes: Axes, points: FloatArray, stage: Stage) -> None:
    """Points in the colour of their most likely component, active components as ellipses."""
    owner = stage.resp.argmax(axis=1)
    weight = stage.resp.sum(axis=0)
    covariances = stage.belief.covariances
    for k in range(stage.belief.n_components):
        colour = style.CYCLE[k % len(style.CYCLE)]
        style.dots(axes, points[owner == k], 9, color=colour, alpha=0.75)
        if weight[k] > LEAST_POINTS:
            mean = stage.belief.components.mean[k]
            style.ellipse(
                axes, mean, covariances[k], fill=False, edgecolor=colour, linewidth=1.8, zorder=3
            )
            axes.plot(*mean, "+", color=style.INK, ms=6, mew=1.2, zorder=4)
    style.plane(axes)


def weak_prior(prior: Mixture) -> Mixture:
    """The same means and expected precisions with a much weaker prior, and prunable weights."""
    ones = np.ones(prior.n_components)
    dof = ones * (prior.n_features + 1)
    covariances = normal_wishart.expected_covariance(prior.components)
    components = NormalWishart(prior.components.mean, ones, dof, covariances * dof[:, None, None])
    return Mixture(0.01 * ones, components)


def _claim_prior(points: FloatArray, clusters: Clusters, prior: Mixture) -> Claim:
    sizes = np.bincount(clusters.labels)
    own = np.flatnonzero(sizes > N_FEATURES)  # smaller clusters have no covariance of their own
    means = np.array([points[clusters.labels == k].mean(axis=0) for k in own])
    shapes = np.array([np.cov(points[clusters.labels == k].T, bias=True) for k in own])
    mean_gap = float(np.abs(prior.components.mean[own] - means).max())
    shape_gap = float(np.abs(prior.covariances[own] - shapes).max())
    pseudo = float(prior.weight_concentration.sum())
    return Claim(
        "The prior's means are the clusters' means and its expected precisions are the inverses of "
        "the clusters' covariances.",
        "yes" if max(mean_gap, shape_gap) < 1e-9 else "no",
        f"Over the {len(own)} clusters of more than two points means and covariances differ "
        f"by {below(max(mean_gap, shape_gap))}. Note how strong it is: d = beta = 2K "
        f"makes {pseudo:.0f} imagined points beside {len(points)} real ones, which are the "
        "same points (erratum 7).",
        {
            "clusters": clusters.n_clusters,
            "mean_difference": mean_gap,
            "covariance_difference": shape_gap,
            "imagined_points": pseudo,
            "points": len(points),
        },
    )


def _claim_competition(settings: Settings) -> Claim:
    n_sets = settings.choose(20, 3)
    printed, corrected, weak, proposed = [], [], [], []
    for offset in range(n_sets):
        points = samples.three_clouds(settings.seed + offset)
        prior = prior_from_clusters(points, mean_shift(points, samples.BANDWIDTH))
        proposed.append(prior.n_components)
        at_ten = {
            dimension: stages_at(prior, points, dimension, (SHOWN[-1],))[0].n_active
            for dimension in (prior.n_components, N_FEATURES)
        }
        printed.append(at_ten[prior.n_components])
        corrected.append(at_ten[N_FEATURES])
        weak.append(stages_at(weak_prior(prior), points, N_FEATURES, (LONG,))[0].n_active)
    kept_three = printed.count(N_CLOUDS), corrected.count(N_CLOUDS)
    lost = sum(after < before for after, before in zip(corrected, proposed, strict=True))
    return Claim(
        "Iterating gives rise to a competition between the components, which leaves only three.",
        "yes" if kept_three[1] > n_sets / 2 else "partly" if kept_three[0] > n_sets / 2 else "no",
        f"Only because of the misprint: over {n_sets} data sets mean shift proposes "
        f"{np.mean(proposed):.1f} components; ten iterations with K for the dimension leave "
        f"{np.mean(printed):.1f} (exactly three in {kept_three[0]}), with O they leave "
        f"{np.mean(corrected):.1f} (some lost in {lost} of {n_sets}). With O, a weak prior "
        f"(d = 0.01) prunes slowly: {np.mean(weak):.1f} after {LONG} iterations.",
        {
            "data_sets": n_sets,
            "proposed": float(np.mean(proposed)),
            "left_with_K": float(np.mean(printed)),
            "three_with_K": kept_three[0],
            "left_with_O": float(np.mean(corrected)),
            "three_with_O": kept_three[1],
            "left_with_weak_prior": float(np.mean(weak)),
        },
    )
