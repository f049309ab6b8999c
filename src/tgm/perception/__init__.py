"""From observations to beliefs: the mixture, its fit and free energy, and its first clusters."""

from tgm.perception.cluster_prior import prior_from_clusters
from tgm.perception.free_energy import FreeEnergy, free_energy
from tgm.perception.mean_shift import Clusters, mean_shift
from tgm.perception.mixture import Mixture
from tgm.perception.variational import Fit, fit, log_responsibilities, responsibilities

__all__ = [
    "Clusters",
    "Fit",
    "FreeEnergy",
    "Mixture",
    "fit",
    "free_energy",
    "log_responsibilities",
    "mean_shift",
    "prior_from_clusters",
    "responsibilities",
]
