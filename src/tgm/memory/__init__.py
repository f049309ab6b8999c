"""Trajectories that are kept, and the choice of what to forget."""

from tgm.memory.forgetting import forgettable_points
from tgm.memory.trajectories import Trajectories, Transitions

__all__ = ["Trajectories", "Transitions", "forgettable_points"]
