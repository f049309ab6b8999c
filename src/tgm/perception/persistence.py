"""Match the components of one fit with those of the fit before (section 4.2)."""

from __future__ import annotations

import numpy as np

from tgm.distributions import FloatArray, IntArray, gaussian, normal_wishart
from tgm.perception.mixture import Mixture


def match_components(old: Mixture, new: Mixture, kl_threshold: float) -> IntArray:
    """For each new component the index of the old one that it continues, or -1.

    Two are the same if KL(N_old || N_new) < kl_threshold, between the Gaussians at the expected
    mean and precision. Erratum 8: the match is one-to-one (the assignment of least total KL).

    Returns:
        (n_new,) indices of old components.
    """
    # Imported here: it takes a tenth of the time of `import tgm`, and only mean shift needs it.
    from scipy.optimize import linear_sum_assignment

    sources = np.full(new.n_components, -1, dtype=np.intp)
    if old.n_components == 0 or new.n_components == 0:
        return sources
    kl = _pairwise_kl(old, new)
    # The cost is cut off at the threshold, so that a pair above it costs as much as no match.
    rows, columns = linear_sum_assignment(np.minimum(kl, kl_threshold))
    same = kl[rows, columns] < kl_threshold
    sources[columns[same]] = rows[same]
    return sources


def _pairwise_kl(old: Mixture, new: Mixture) -> FloatArray:
    """(n_old, n_new) KL(N_old || N_new)."""
    return gaussian.pairwise_kl(
        old.components.mean,
        normal_wishart.expected_covariance(old.components),
        new.components.mean,
        normal_wishart.expected_covariance(new.components),
    )
