"""Exact states: a state is one observation, whatever its numbers mean; found by a hash."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.errors import DataError
from tgm.files.arrays import LARGEST_POINT, ArrayReader, Arrays
from tgm.perception.state_slots import LEAST_WEIGHT, NO_DENSITY, NO_WEIGHT, StateSlots

OTHER = 1e30  # squared distance of another symbol


class SymbolStates(StateSlots):
    """States that each look like one point and no other: an `ObservationModel`.

    p(x | state) is 1 for the point of the state and 0 for all others, so there is nothing to
    merge and nothing to split, and no other state is near.
    """

    PER_SLOT = ("weight", "mean", "peak")
    surely_seen = 0.0  # points: one observation of a symbol is no outlier of another

    def __init__(self, n_features: int) -> None:
        """No states yet."""
        super().__init__()
        n_slots = len(self.ids)
        self.weight = np.zeros(n_slots)
        self.mean = np.zeros((n_slots, n_features))
        self.peak = np.zeros(n_slots)
        self._slots: dict[bytes, int] = {}

    @property
    def n_features(self) -> int:
        """Length of an observation."""
        return self.mean.shape[1]

    @property
    def mean_features(self) -> FloatArray:
        """(n_slots, n_features) the symbols; no law of displacement asks for more."""
        return self.mean[: self.n_slots]

    @property
    def prior_covariance(self) -> FloatArray:
        """(n_features, n_features) a symbol has no width."""
        return np.zeros((self.n_features, self.n_features))

    @property
    def prior_dof(self) -> float:
        """Points that the prior covariance is worth."""
        return 0.0

    def slot_of(self, point: FloatArray) -> int | None:
        """The slot of the state that looks like a point (n_features,); None if there is none."""
        return self._slots.get(_key(point))

    # --- densities --------------------------------------------------------------------------------

    def log_densities(
        self, point: FloatArray, departure: FloatArray | None = None, action: int | None = None
    ) -> FloatArray:
        """(n_slots,) 0 for the state of this point, and as good as -inf for all others."""
        return np.asarray(self.log_densities_of(point[None])[0])

    def log_densities_of(self, points: FloatArray) -> FloatArray:
        """(n_points, n_slots) the same for points (n_points, n_features)."""
        log = np.full((len(points), self.n_slots), NO_DENSITY)
        for row, point in zip(log, points, strict=True):
            slot = self.slot_of(point)
            if slot is not None:
                row[slot] = 0.0
        return log

    def log_repulsion(self, point: FloatArray, slot: int) -> float:
        """ln prior of a further state at `point`: none where there is one already."""
        return 0.0 if self.slot_of(point) is None else NO_DENSITY

    def log_anywhere(self, point: FloatArray) -> float:
        """ln probability of a symbol that was never seen, of those that there may be."""
        return -math.log(self.n_alive + 1.0)

    def fit(self, points: FloatArray, slots: IntArray) -> FloatArray:
        """(n,) 1 where the point is that of the state, 0 elsewhere."""
        is_same: BoolArray = np.all(points == self.mean[slots], axis=1)
        return is_same.astype(np.float64)

    def squared_distances(self, points: Sequence[FloatArray], slot: int) -> list[float]:
        """0 for points of the state, and very much for any other."""
        return [0.0 if self.slot_of(point) == slot else OTHER for point in points]

    def in_deviations(self, offset: FloatArray) -> FloatArray:
        """(n_features,) any offset is far."""
        return np.asarray(offset * OTHER)

    # --- learning ---------------------------------------------------------------------------------

    def birth(self) -> int:
        """The slot of a new state without points."""
        slot = super().birth()
        self.weight[slot] = 0.0
        return slot

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        super().remove(slot)
        self.weight[slot] = 0.0
        self._unname(slot)

    def add(self, slot: int, point: FloatArray, weight: float) -> None:
        """Add a weighted point; the first one is what the state looks like."""
        if self.weight[slot] == 0.0:
            self.mean[slot] = point
            self._slots[_key(point)] = slot
        self.weight[slot] += weight

    def take_back(self, slot: int, point: FloatArray, weight: float) -> None:
        """The inverse of `add`; a state without points keeps its slot."""
        after = float(self.weight[slot]) - weight
        self.weight[slot] = LEAST_WEIGHT if after < NO_WEIGHT else after

    def _unname(self, slot: int) -> None:
        """No point leads to a slot any more."""
        key = _key(self.mean[slot])
        if self._slots.get(key) == slot:
            del self._slots[key]

    # --- structure: there is nothing to merge or split --------------------------------------------

    def moments(self, slot: int) -> Moments:
        """Weight, mean and scatter of the points of a state."""
        n_features = self.n_features
        scatter = np.zeros((n_features, n_features))
        return Moments(self.weight[slot], self.mean[slot].copy(), scatter)

    def set_moments(self, slot: int, moments: Moments) -> None:
        """Replace the moments of a state."""
        self._unname(slot)
        self.weight[slot] = moments.weight
        self.mean[slot] = moments.mean
        self._slots[_key(self.mean[slot])] = slot

    def near(self, slots: Sequence[int]) -> list[tuple[int, int]]:
        """No other state."""
        return []

    def merge_gain(self, one: int, other: int) -> float:
        """Two symbols are never one state: the evidence against it has no bound."""
        return NO_DENSITY

    def is_wide(self, slot: int) -> bool:
        """A symbol is never two."""
        return False

    def cut(self, points: FloatArray) -> BoolArray | None:
        """(n,) one symbol against all others, or None if there is one only."""
        side = np.all(points == points[0], axis=1)
        return None if side.all() else side

    def split_gain(self, first: Moments, second: Moments) -> float:
        """Two sets of points of different symbols are surely two states."""
        return 0.0 if (first.mean == second.mean).all() else -NO_DENSITY

    def log_odds(self, first: Moments, second: Moments) -> Callable[[FloatArray], float]:
        """ln of how much more likely a point is in a state of the first moments than the second."""

        def log_odds_of(point: FloatArray) -> float:
            here, there = ((moments.mean == point).all() for moments in (first, second))
            return (float(here) - float(there)) * -NO_DENSITY

        return log_odds_of

    def expected_scatter(self, weight: float) -> FloatArray:
        """(n_features, n_features) none."""
        return np.zeros((self.n_features, self.n_features))

    # --- scale: there is none ---------------------------------------------------------------------

    def set_state_density(self, log_density: float) -> None:
        """Symbols have no density."""

    def learn_scale(self, first: FloatArray, typical_step: FloatArray) -> None:
        """Symbols have no width."""

    def scale_to_arrays(self) -> Arrays:
        """Nothing."""
        return {}

    def restore_scale(self, saved: ArrayReader) -> None:
        """Nothing."""

    # --- reports and files ------------------------------------------------------------------------

    def covariances(self, slots: IntArray) -> FloatArray:
        """(n, n_features, n_features) zeros that take no memory."""
        return np.broadcast_to(0.0, (len(slots), self.n_features, self.n_features))

    def covariance(self, slot: int) -> list[float]:
        """The covariance of one state, row by row: zeros."""
        return [0.0] * self.n_features**2

    def log_evidence(self, slot: int) -> float:
        """Nats that the points of a state add to the evidence: what it looks like is certain."""
        return 0.0

    def to_arrays(self) -> Arrays:
        """Everything, slot by slot."""
        n_slots = self.n_slots
        return self.slots_to_arrays() | {
            "weight": self.weight[:n_slots],
            "symbol": self.mean[:n_slots],
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.restore_slots(saved)
        n_slots = self.n_slots
        self.weight[:n_slots] = saved.floats("weight", n_slots, low=0.0)
        if (self.weight[self.alive] <= 0).any():
            raise DataError("array 'weight' holds 0 for a state that is there")
        self.mean[:n_slots] = saved.floats("symbol", n_slots, self.n_features, size=LARGEST_POINT)
        self._slots = {_key(self.mean[slot]): slot for slot in self.alive.tolist()}
        if len(self._slots) != self.n_alive:
            raise DataError("array 'symbol' holds the same symbol for two states")


def _key(point: FloatArray) -> bytes:
    return (point + 0.0).tobytes()  # -0.0 is 0.0
