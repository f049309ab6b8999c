"""The published search for structure: mean shift, a fit, fixed and flexible components."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray, Moments
from tgm.perception.cluster_prior import prior_from_clusters
from tgm.perception.component_map import ComponentMap, Move
from tgm.perception.mean_shift import mean_shift
from tgm.perception.mixture import Mixture, concatenate
from tgm.perception.persistence import match_components
from tgm.perception.variational import Fit, fit


@dataclass(frozen=True)
class Components:
    """The components after a fit, and how long each has been known.

    Attributes:
        prior: belief about each component before the kept data; includes the forgotten data.
        posterior: the prior updated by the kept data.
        ids: (n_components,) constant over the life of a component, never reused.
        persistence: (n_components,) consecutive fits in which the component was found.
        is_fixed: (n_components,) whether it was found in more than `fix_after` fits in a row.
        next_id: the id of the next new component.
    """

    prior: Mixture
    posterior: Mixture
    ids: IntArray
    persistence: IntArray
    is_fixed: BoolArray
    next_id: int

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.ids)

    def fold(self, points: FloatArray, responsibilities: FloatArray) -> Components:
        """Add points that will be forgotten to the prior; the posterior already contains them."""
        return replace(self, prior=self.prior.update(Moments.of_points(points, responsibilities)))


@dataclass(frozen=True)
class Discovery:
    """The result of one search for structure.

    Attributes:
        components: the components now.
        responsibilities: (n_points, n_components) of the points they were fitted to.
        change: which old components become which new ones.
        fit: the variational fit, over all proposed components (active or not).
        kept: (n_components,) index in the fit of each component that stays.
    """

    components: Components
    responsibilities: FloatArray
    change: ComponentMap
    fit: Fit
    kept: IntArray


def discover(
    old: Components | None,
    points: FloatArray,
    *,
    bandwidth: float,
    kl_threshold: float,
    fix_after: int,
) -> Discovery:
    """Propose clusters, fit them together with the fixed components, match them with the old ones.

    Args:
        old: the components of the last search, None at the first.
        points: (n_points, n_features) the kept data.
        bandwidth: radius of mean shift's window (theta_b).
        kl_threshold: two components with a smaller KL are the same (theta_kl), in nats.
        fix_after: a component found in more consecutive fits than this is fixed (theta_counts).
    """
    proposed = prior_from_clusters(points, mean_shift(points, bandwidth))
    if old is None:
        fixed = np.empty(0, dtype=np.intp)
        prior = proposed
    else:
        fixed = np.flatnonzero(old.is_fixed)
        known = match_components(old.posterior.take(fixed), proposed, kl_threshold) >= 0
        prior = concatenate([old.prior.take(fixed), proposed.take(~known)])
    fitted = fit(prior, points)
    # A fixed component stays even if no kept point belongs to it (erratum 8).
    kept = np.flatnonzero(fitted.active | (np.arange(prior.n_components) < len(fixed)))
    prior, posterior = prior.take(kept), fitted.posterior.take(kept)
    sources = _sources(old, fixed, posterior, kl_threshold)
    components, moves = _lineage(old, sources, prior, posterior, fix_after)
    resp = fitted.responsibilities[:, kept]
    resp = resp / resp.sum(axis=1, keepdims=True)  # inactive components had less than half a point
    change = ComponentMap.of_survivors(0 if old is None else old.n_components, sources, moves)
    return Discovery(components, resp, change, fitted, kept)


def _sources(
    old: Components | None, fixed: IntArray, posterior: Mixture, kl_threshold: float
) -> IntArray:
    """For each component the index of the old one that it continues, or -1; fixed ones first."""
    if old is None:
        return np.full(posterior.n_components, -1, dtype=np.intp)
    flexible = np.flatnonzero(~old.is_fixed)
    flexible_now = posterior.take(np.arange(len(fixed), posterior.n_components))
    matched = match_components(old.posterior.take(flexible), flexible_now, kl_threshold)
    if len(flexible) == 0:
        return np.concatenate([fixed, matched])
    return np.concatenate([fixed, np.where(matched >= 0, flexible[matched], -1)])


def _lineage(
    old: Components | None,
    sources: IntArray,
    prior: Mixture,
    posterior: Mixture,
    fix_after: int,
) -> tuple[Components, tuple[Move, ...]]:
    """Ids, persistence and fixing of the components, and a move for each change."""
    persists = sources >= 0
    next_id = 0 if old is None else old.next_id
    ids = np.empty(len(sources), dtype=np.intp)
    persistence = np.ones(len(sources), dtype=np.intp)
    was_fixed = np.zeros(len(sources), dtype=bool)
    moves: list[Move] = []
    if old is not None:
        ids[persists] = old.ids[sources[persists]]
        persistence[persists] = old.persistence[sources[persists]] + 1
        was_fixed[persists] = old.is_fixed[sources[persists]]
        gone = np.setdiff1d(np.arange(old.n_components), sources[persists])
        moves += [Move("removal", (int(id_),), "not found again") for id_ in old.ids[gone]]
    ids[~persists] = next_id + np.arange(np.count_nonzero(~persists))
    is_fixed = was_fixed | (persistence > fix_after)
    moves += [Move("birth", (int(id_),), "a new cluster") for id_ in ids[~persists]]
    moves += [
        Move("fixed", (int(id_),), f"found {fix_after + 1} times in a row")
        for id_ in ids[is_fixed & ~was_fixed]
    ]
    next_id += int(np.count_nonzero(~persists))
    components = Components(prior, posterior, ids, persistence, is_fixed, next_id)
    return components, tuple(moves)
