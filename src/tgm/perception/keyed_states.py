"""States with a key: exact in one number, and whatever another model says in all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.files.arrays import ArrayReader, Arrays
from tgm.perception.observation_model import ObservationModel
from tgm.perception.state_slots import NO_DENSITY
from tgm.perception.symbol_states import OTHER


class KeyedStates:
    """An `ObservationModel` of points whose first number is a key, a code without width.

    p(key, x | state) = [key = key of the state] p(x | state), with p(x | state) of `inner`. So
    states of different keys are never near, never merged, and no state is split by its key.
    Points, means and moments have the key as their first number.
    """

    def __init__(self, inner: ObservationModel) -> None:
        """No states yet; `inner` models the numbers after the key."""
        self.inner = inner
        self.key = np.zeros(len(inner.ids))
        self.mean = np.zeros((len(inner.ids), inner.n_features + 1))

    # --- slots are those of the inner model -------------------------------------------------------

    @property
    def ids(self) -> IntArray:
        """(n_slots or more,) the id of the state in each slot, -1 for none."""
        return self.inner.ids

    @property
    def is_alive(self) -> BoolArray:
        """(n_slots or more,) whether a slot holds a state."""
        return self.inner.is_alive

    @property
    def alive(self) -> IntArray:
        """(n_alive,) the slots that do, in order."""
        return self.inner.alive

    @property
    def weight(self) -> FloatArray:
        """(n_slots or more,) points of each state."""
        return self.inner.weight

    @property
    def peak(self) -> FloatArray:
        """(n_slots or more,) the largest log density of each state."""
        return self.inner.peak

    @property
    def n_slots(self) -> int:
        """Slots used so far, free ones between them included."""
        return self.inner.n_slots

    @property
    def next_id(self) -> int:
        """The id of the next state."""
        return self.inner.next_id

    @next_id.setter
    def next_id(self, value: int) -> None:
        self.inner.next_id = value

    @property
    def next_slot(self) -> int:
        """The slot that the next `birth` will take."""
        return self.inner.next_slot

    @property
    def n_alive(self) -> int:
        """Number of states."""
        return self.inner.n_alive

    @property
    def n_features(self) -> int:
        """Length of an observation, with the key."""
        return self.mean.shape[1]

    @property
    def mean_features(self) -> FloatArray:
        """(n_slots, n_products) of the means without their keys."""
        return self.inner.mean_features

    @property
    def surely_seen(self) -> float:
        """Points below which a state may be an outlier of another."""
        return self.inner.surely_seen

    # --- densities --------------------------------------------------------------------------------

    def log_densities(
        self, point: FloatArray, departure: FloatArray | None = None, action: int | None = None
    ) -> FloatArray:
        """(n_slots,) log density of a point under each state; as good as -inf for other keys."""
        before = None if departure is None else departure[1:]
        log = self.inner.log_densities(point[1:], before, action)
        return np.where(self.key[: self.n_slots] == point[0], log, NO_DENSITY)

    def log_densities_of(self, points: FloatArray) -> FloatArray:
        """(n_points, n_slots) the same for points (n_points, n_features)."""
        log = self.inner.log_densities_of(points[:, 1:])
        return np.where(self.key[: self.n_slots] == points[:, :1], log, NO_DENSITY)

    def log_repulsion(self, point: FloatArray, slot: int) -> float:
        """ln prior of a further state at `point`, beside the state in `slot`."""
        return self.inner.log_repulsion(point[1:], slot) if self._is_of(slot, point) else 0.0

    def log_anywhere(self, point: FloatArray) -> float:
        """ln density of a state of which nothing is known but that there are others."""
        return self.inner.log_anywhere(point[1:])

    def fit(self, points: FloatArray, slots: IntArray) -> FloatArray:
        """(n,) the chance that an observation of a state lies as far off as the point given."""
        return np.asarray(self.inner.fit(points[:, 1:], slots) * (self.key[slots] == points[:, 0]))

    def squared_distances(self, points: Sequence[FloatArray], slot: int) -> list[float]:
        """Squared distances of points from a state, in typical standard deviations."""
        squares = self.inner.squared_distances([point[1:] for point in points], slot)
        return [
            square if self._is_of(slot, point) else OTHER
            for square, point in zip(squares, points, strict=True)
        ]

    def in_deviations(self, offset: FloatArray) -> FloatArray:
        """(n_features,) an offset times the typical precision; keys do not differ in a state."""
        return np.concatenate([[0.0], self.inner.in_deviations(offset[1:])])

    def _is_of(self, slot: int, point: FloatArray) -> bool:
        return bool(self.key[slot] == point[0])

    # --- learning ---------------------------------------------------------------------------------

    def birth(self) -> int:
        """The slot of a new state without points."""
        slot = self.inner.birth()
        while len(self.key) < len(self.inner.ids):
            self.key = np.concatenate([self.key, np.zeros_like(self.key)])
            self.mean = np.concatenate([self.mean, np.zeros_like(self.mean)])
        return slot

    def remove(self, slot: int) -> None:
        """Empty a slot."""
        self.inner.remove(slot)

    def add(self, slot: int, point: FloatArray, weight: float) -> None:
        """Add a weighted point (n_features,) to a state."""
        if self.inner.weight[slot] == 0.0:
            self.key[slot] = point[0]
        self.inner.add(slot, point[1:], weight)
        self._follow(slot)

    def take_back(self, slot: int, point: FloatArray, weight: float) -> None:
        """The inverse of `add`; a state without points keeps its slot."""
        self.inner.take_back(slot, point[1:], weight)
        self._follow(slot)

    def _follow(self, slot: int) -> None:
        self.mean[slot, 0] = self.key[slot]
        self.mean[slot, 1:] = self.inner.mean[slot]

    # --- structure --------------------------------------------------------------------------------

    def moments(self, slot: int) -> Moments:
        """Weight, mean and scatter of the points of a state."""
        inner = self.inner.moments(slot)
        mean = np.concatenate([self.key[slot : slot + 1], inner.mean])
        return Moments(inner.weight, mean, _padded(inner.scatter))

    def set_moments(self, slot: int, moments: Moments) -> None:
        """Replace the moments of a state."""
        self.key[slot] = np.rint(moments.mean[0])  # a weighted mean of equal keys may be rounded
        self.inner.set_moments(slot, _without_key(moments))
        self._follow(slot)

    def near(self, slots: Sequence[int]) -> list[tuple[int, int]]:
        """Each of some states with each other one of its key that is worth a comparison."""
        pairs = self.inner.near(slots)
        return [(slot, other) for slot, other in pairs if self.key[slot] == self.key[other]]

    def merge_gain(self, one: int, other: int) -> float:
        """Nats of evidence of the observations won by making two states one."""
        return self.inner.merge_gain(one, other) if self.key[one] == self.key[other] else NO_DENSITY

    def is_wide(self, slot: int) -> bool:
        """Whether a state is so much wider than is believed of one that it may be two."""
        return self.inner.is_wide(slot)

    def cut(self, points: FloatArray) -> BoolArray | None:
        """(n,) one side of the best cut of points (n, n_features) in two, or None."""
        return self.inner.cut(points[:, 1:])

    def split_gain(self, first: Moments, second: Moments) -> float:
        """Nats of evidence of the observations won by seeing two sets of points as two states."""
        if np.rint(first.mean[0]) != np.rint(second.mean[0]):
            return -NO_DENSITY
        return self.inner.split_gain(_without_key(first), _without_key(second))

    def log_odds(self, first: Moments, second: Moments) -> Callable[[FloatArray], float]:
        """ln of how much more likely a point is in a state of the first moments than the second."""
        of_numbers = self.inner.log_odds(_without_key(first), _without_key(second))
        return lambda point: of_numbers(point[1:])

    def expected_scatter(self, weight: float) -> FloatArray:
        """(n_features, n_features) the scatter to be expected of `weight` points of a state."""
        return _padded(self.inner.expected_scatter(weight))

    # --- scale ------------------------------------------------------------------------------------

    def set_state_density(self, log_density: float) -> None:
        """Set ln of the expected number of states per unit of volume."""
        self.inner.set_state_density(log_density)

    def learn_scale(self, first: FloatArray, typical_step: FloatArray) -> None:
        """Let what is believed of all states follow what was seen of each."""
        self.inner.learn_scale(first[1:, 1:], typical_step)

    def scale_to_arrays(self) -> Arrays:
        """What is believed of all states."""
        return self.inner.scale_to_arrays()

    def restore_scale(self, saved: ArrayReader) -> None:
        """Take over what `scale_to_arrays` gave, checked."""
        self.inner.restore_scale(saved)

    # --- reports and files ------------------------------------------------------------------------

    @property
    def prior_covariance(self) -> FloatArray:
        """(n_features, n_features) what is believed of the covariance; 1 for the key, as a unit."""
        covariance = _padded(self.inner.prior_covariance)
        covariance[0, 0] = 1.0
        return covariance

    @property
    def prior_dof(self) -> float:
        """Points that the prior covariance is worth."""
        return self.inner.prior_dof

    def covariances(self, slots: IntArray) -> FloatArray:
        """(n, n_features, n_features) expected covariances of states."""
        return _padded(self.inner.covariances(slots))

    def covariance(self, slot: int) -> list[float]:
        """The expected covariance of one state, row by row, in plain numbers."""
        n_inner = self.inner.n_features
        rows = np.array(self.inner.covariance(slot)).reshape(n_inner, n_inner)
        return _padded(rows).ravel().tolist()

    def log_evidence(self, slot: int) -> float:
        """Nats that the points of a state add to the evidence."""
        return self.inner.log_evidence(slot)

    def to_arrays(self) -> Arrays:
        """Everything, slot by slot."""
        return self.inner.to_arrays() | {"key": self.key[: self.n_slots]}

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.inner.restore(saved)
        while len(self.key) < len(self.inner.ids):
            self.key = np.concatenate([self.key, np.zeros_like(self.key)])
        self.mean = np.zeros((len(self.key), self.n_features))
        self.key[: self.n_slots] = saved.floats("key", self.n_slots)
        for slot in range(self.n_slots):
            self._follow(slot)


def _padded(matrices: FloatArray) -> FloatArray:
    """Matrices (..., n, n) with a row and a column of zeros for the key."""
    n = matrices.shape[-1]
    padded = np.zeros((*matrices.shape[:-2], n + 1, n + 1))
    padded[..., 1:, 1:] = matrices
    return padded


def _without_key(moments: Moments) -> Moments:
    return Moments(moments.weight, moments.mean[..., 1:], moments.scatter[..., 1:, 1:])
