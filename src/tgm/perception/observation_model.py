"""The seam of perception: what the rest of the agent asks of a model of observations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NewType, Protocol

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.moments import Moments
from tgm.files.arrays import ArrayReader, Arrays

StateId = NewType("StateId", int)
"""The name of a state for life, never used again. A slot is a plain int: the row of a state in the
arrays, which another state takes over when the first is gone."""

NO_STATE = StateId(-1)


class ObservationModel(Protocol):
    """What each state looks like, learned point by point, in slots.

    A slot holds one state or none. No other module reads how a state is described inside (a
    precision, a scatter, a table): they call these methods, in points and nats. `gaussian_states`,
    `symbol_states` and `keyed_states` are implementations;
    tests/perception/test_observation_model.py holds what each must pass.

    Attributes:
        ids: (n_slots or more,) the id of the state in each slot, -1 for none.
        is_alive: (n_slots or more,) whether a slot holds a state.
        alive: (n_alive,) the slots that do, in order.
        weight: (n_slots or more,) points of each state.
        mean: (n_slots or more, n_features) the expected observation of each state.
        peak: (n_slots or more,) the largest log density of each state.
        n_slots: slots used so far, free ones between them included.
        next_id: the id of the next state.
    """

    mean: FloatArray
    next_id: int

    @property
    def ids(self) -> IntArray: ...
    @property
    def is_alive(self) -> BoolArray: ...
    @property
    def alive(self) -> IntArray: ...
    @property
    def weight(self) -> FloatArray: ...
    @property
    def peak(self) -> FloatArray: ...
    @property
    def n_slots(self) -> int: ...

    @property
    def n_features(self) -> int:
        """Length of an observation."""

    @property
    def n_alive(self) -> int:
        """Number of states."""

    @property
    def surely_seen(self) -> float:
        """Points below which a state may be an outlier of another, and must not decide."""

    @property
    def prior_covariance(self) -> FloatArray:
        """(n_features, n_features) what is believed of the covariance of a state."""

    @property
    def prior_dof(self) -> float:
        """Points that the prior covariance is worth in a state."""

    @property
    def mean_features(self) -> FloatArray:
        """(n_slots, n_products) `second_order` features of the means; free slots hold old ones."""

    # --- densities --------------------------------------------------------------------------------

    def log_densities(
        self, point: FloatArray, departure: FloatArray | None = None, action: int | None = None
    ) -> FloatArray:
        """(n_slots,) log predictive density of one point (n_features,) under each state.

        `departure` and `action` are its context: the observation before and what was done.
        """

    def log_densities_of(self, points: FloatArray) -> FloatArray:
        """(n_points, n_slots) the same for points (n_points, n_features) without a context."""

    def log_repulsion(self, point: FloatArray, slot: int) -> float:
        """ln prior of a further state at `point`, beside the state in `slot`."""

    def log_anywhere(self, point: FloatArray) -> float:
        """ln density of a state of which nothing is known but that there are others."""

    def fit(self, points: FloatArray, slots: IntArray) -> FloatArray:
        """(n,) the chance that an observation of a state lies as far off as the point given."""

    def squared_distances(self, points: Sequence[FloatArray], slot: int) -> list[float]:
        """Squared distances of points from a state, in typical standard deviations."""

    def in_deviations(self, offset: FloatArray) -> FloatArray:
        """(n_features,) an offset times the typical precision: a product with it is a distance."""

    # --- learning ---------------------------------------------------------------------------------

    def birth(self) -> int:
        """The slot of a new state without points."""

    @property
    def next_slot(self) -> int:
        """The slot that the next `birth` will take."""

    def remove(self, slot: int) -> None:
        """Empty a slot."""

    def add(self, slot: int, point: FloatArray, weight: float) -> None:
        """Add a weighted point (n_features,) to a state."""

    def take_back(self, slot: int, point: FloatArray, weight: float) -> None:
        """The inverse of `add`; a state without points keeps its slot."""

    # --- structure --------------------------------------------------------------------------------

    def moments(self, slot: int) -> Moments:
        """Weight, mean and scatter of the points of a state."""

    def set_moments(self, slot: int, moments: Moments) -> None:
        """Replace the moments of a state."""

    def near(self, slots: Sequence[int]) -> list[tuple[int, int]]:
        """Each of some states with each other one that is near enough to be worth a comparison."""

    def merge_gain(self, one: int, other: int) -> float:
        """Nats of evidence of the observations won by making two states one."""

    def is_wide(self, slot: int) -> bool:
        """Whether a state is so much wider than is believed of one that it may be two."""

    def cut(self, points: FloatArray) -> BoolArray | None:
        """(n,) one side of the best cut of points (n, n_features) in two, or None."""

    def split_gain(self, first: Moments, second: Moments) -> float:
        """Nats of evidence of the observations won by seeing two sets of points as two states."""

    def log_odds(self, first: Moments, second: Moments) -> Callable[[FloatArray], float]:
        """ln of how much more likely a point is in a state of the first moments than the second.

        A function of the point, because many points are asked for.
        """

    def expected_scatter(self, weight: float) -> FloatArray:
        """(n_features, n_features) the scatter to be expected of `weight` points of a state."""

    # --- scale ------------------------------------------------------------------------------------

    def set_state_density(self, log_density: float) -> None:
        """Set ln of the expected number of states per unit of volume; no density changes by it."""

    def learn_scale(self, first: FloatArray, typical_step: FloatArray) -> None:
        """Let what is believed of all states follow what was seen of each.

        `first` (n, n) is the first guess of their covariance, `typical_step` how far a step leads,
        in the features that have a width.
        """

    def scale_to_arrays(self) -> Arrays:
        """What is believed of all states."""

    def restore_scale(self, saved: ArrayReader) -> None:
        """Take over what `scale_to_arrays` gave, checked; before `restore`."""

    # --- reports and files ------------------------------------------------------------------------

    def covariances(self, slots: IntArray) -> FloatArray:
        """(n, n_features, n_features) expected covariances of states."""

    def covariance(self, slot: int) -> list[float]:
        """The expected covariance of one state, row by row, in plain numbers."""

    def log_evidence(self, slot: int) -> float:
        """Nats that the points of a state add to the evidence."""

    def to_arrays(self) -> Arrays:
        """Everything, slot by slot."""

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
