"""The posterior of one step against every way in which it can have gone."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_t
from tests.oracles import OUTLIER, joint_posterior

from tgm.inference import step_filter
from tgm.inference.step_filter import StepFilter
from tgm.memory.step_memory import StepMemory
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.transition.displacements import Displacements
from tgm.transition.sparse import START, START_ACTION, SparseTransitions
from tgm.world_model import WorldModel

ROW_PRIOR = 0.5
VARIANCE = 0.02
GONE = 2


class World:
    """States on a line one apart (in the first of two features), one of them gone."""

    def __init__(self, seed: int = 0, n_states: int = 5, *, filtering: bool = True) -> None:
        rng = np.random.default_rng(seed)
        prior = ComponentPrior(VARIANCE * np.eye(2), 20.0, -2.0, 3.0)
        self.states = GaussianStates(prior)
        self.transitions = SparseTransitions(2, 0.9)
        self.transitions.make_room(n_states + 1)
        self.displacements = Displacements(2, np.eye(2), VARIANCE * np.eye(2))
        for index in range(n_states + 1):
            slot = self.states.birth()
            for point in rng.normal((index, 0), 0.1, size=(6, 2)):
                self.states.add(slot, point, 1.0)
            self.states.refresh(slot)
        self.states.remove(GONE)
        self.model = WorldModel(self.states, self.transitions, self.displacements, StepMemory(20))
        self.filter = StepFilter(
            self.model,
            ROW_PRIOR,
            filtering=filtering,
            max_states=None,
            most_states=100,
        )

    def fill(self, rng: np.random.Generator) -> None:
        """Some tries of everything, some starts, some displacements of action 1."""
        alive = self.states.alive.tolist()
        for _ in range(25):
            state, after = (int(rng.choice(alive)) for _ in range(2))
            self.transitions.add(state, int(rng.integers(2)), after, rng.uniform(0.2, 1), 0.0, 0.0)
        for _ in range(3):
            self.transitions.add(START, START_ACTION, int(rng.choice(alive)), 1.0, 0.0, 0.0)
        for _ in range(4):
            self.displacements.add(1, rng.normal((1, 0), 0.1), 1.0)
        self.model.background.n_outliers, self.model.background.n_points = 7.0, 90.0

    def oracle(self, point, before, action, departure, *, filtering=True):
        """What the oracle is given: numbers, not parts of the agent."""
        states, n = self.states, self.states.n_slots
        dead = ~states.is_alive[:n]
        likelihood = np.exp(states.log_densities(point))
        likelihood[dead] = 0.0
        rows = {s: self.row(s, action) if filtering else np.zeros(n) for s, _ in before}
        starts = self.row(START, START_ACTION) if action is None else np.zeros(n)
        origin = states.mean[before[0][0]] if before else departure
        means = states.mean[:n]
        if origin is not None and action is not None:
            new_density = math.exp(self.displacements.log_density(point - origin, action))
            outlier_density = student(point - origin, self.displacements._broad, 3.0)
        else:
            new_density = outlier_density = anywhere(point, means[~dead])
        if origin is None or action is None or self.displacements.weight[action] < 0.5:
            elsewhere = np.ones(n)
        else:
            elsewhere = self.displacements.densities(means - origin, action)
            elsewhere = 0.98 * elsewhere / elsewhere[~dead].sum() + 0.02 / sum(~dead)
        elsewhere[dead] = 0.0
        nearest = means[int(likelihood.argmax())]
        z = np.sum((point - nearest) ** 2) / VARIANCE / 3.0**2
        repulsion = max(1 - math.exp(-(z**2)), 1e-12)
        return joint_posterior(
            likelihood,
            before,
            rows,
            starts,
            elsewhere / elsewhere.sum(),
            new_density * repulsion,
            ROW_PRIOR,
            (0.5 + 7) / (100 + 90),
            outlier_density * repulsion,
        )

    def row(self, state: int, action: int) -> np.ndarray:
        row = self.transitions.row(state, action)
        return np.array([row.get(after, 0.0) for after in range(self.states.n_slots)])


def anywhere(point: np.ndarray, means: np.ndarray) -> float:
    """A Gaussian over all states and the point, at least three standard deviations wide."""
    density = 1.0
    for value, known in zip(point, means.T, strict=True):
        low, high = min(value, *known), max(value, *known)
        deviation = max(high - low, 3 * math.sqrt(VARIANCE))
        density *= math.exp(-0.5 * ((value - (low + high) / 2) / deviation) ** 2)
        density /= deviation * math.sqrt(2 * math.pi)
    return density


def student(offset: np.ndarray, square: np.ndarray, dof: float) -> float:
    """The density of a Student t about zero."""
    return float(multivariate_t(np.zeros(len(offset)), square, dof).pdf(offset))


BELIEFS = {
    "sure": [(1, 1.0)],
    "torn": [(1, 0.55), (0, 0.45)],
    "half lost": [(3, 0.4), (4, 0.2)],
}


@pytest.fixture
def nothing_dropped(monkeypatch):
    monkeypatch.setattr(step_filter, "DROPPED", -1.0)
    monkeypatch.setattr(step_filter, "NEGLIGIBLE_DENSITY", 1e200)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("filtering", [True, False])
@pytest.mark.parametrize("belief", BELIEFS)
@pytest.mark.usefixtures("nothing_dropped")
def test_the_posterior_of_a_step(seed, belief, filtering):
    rng = np.random.default_rng(seed)
    world = World(seed, filtering=filtering)
    world.fill(rng)
    before = BELIEFS[belief]
    for action in (0, 1):
        # Between the states, where much is possible; and it must not be the ordinary step.
        point = np.array([rng.uniform(-0.5, 5.5), rng.normal(scale=0.2)])
        departure = np.array([before[0][0] + 0.05, 0.0])
        result = world.filter.posterior(point, before, action, departure)
        expected, density = world.oracle(point, before, action, departure, filtering=filtering)
        after = dict(result.after)
        for state in range(world.states.n_slots):
            total = sum(expected[s, state] for s in [*(s for s, _ in before), None])
            assert after.get(state, 0.0) == pytest.approx(total, abs=1e-9)
        newness = sum(p for (_, state), p in expected.items() if state is None)
        assert result.newness == pytest.approx(newness, abs=1e-9)
        assert result.outlier == pytest.approx(expected[None, OUTLIER], abs=1e-9)
        assert sum(after.values()) + result.newness + result.outlier == pytest.approx(1, abs=1e-9)
        assert result.log_density == pytest.approx(math.log(density), abs=1e-8)
        # The joint, up to the rule that only what was believed can be counted.
        joint = {
            (s, t): p
            for (s, t), p in expected.items()
            if None not in (s, t) and t not in (GONE, OUTLIER)
        }
        believed, found = sum(p for _, p in before), sum(joint.values())
        scale = min(1.0, believed / found)
        for s, t, weight in result.entries:
            assert weight == pytest.approx(joint[s, t] * scale, abs=1e-9)
        assert len(result.entries) == len(joint)
        for s, weight in result.new_from:
            assert weight == pytest.approx(expected[s, None], abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.usefixtures("nothing_dropped")
def test_the_posterior_at_the_start_of_an_episode(seed):
    rng = np.random.default_rng(seed)
    world = World(seed)
    world.fill(rng)
    point = np.array([rng.uniform(-0.5, 5.5), 0.1])
    result = world.filter.posterior(point, [], None, None)
    expected, density = world.oracle(point, [], None, None)
    assert dict(result.after) == pytest.approx(
        {state: expected[None, state] for state in world.states.alive.tolist()}, abs=1e-9
    )
    assert result.newness == pytest.approx(expected[None, None], abs=1e-9)
    assert result.outlier == pytest.approx(expected[None, OUTLIER], abs=1e-9)
    assert result.entries == []
    assert result.new_from == []
    assert result.log_density == pytest.approx(math.log(density), abs=1e-8)


@pytest.mark.usefixtures("nothing_dropped")
def test_the_posterior_when_lost():
    world = World()
    world.fill(np.random.default_rng(0))
    point, departure = np.array([3.2, 0.0]), np.array([2.2, 0.0])
    result = world.filter.posterior(point, [], 1, departure)
    expected, _ = world.oracle(point, [], 1, departure)
    assert dict(result.after) == pytest.approx(
        {state: expected[None, state] for state in world.states.alive.tolist()}, abs=1e-9
    )
    assert result.entries == []


def test_small_probabilities_are_dropped_and_the_rest_is_in_order():
    world = World()
    world.fill(np.random.default_rng(1))
    result = world.filter.posterior(np.array([0.6, 0.0]), [(0, 0.6), (1, 0.4)], 0, np.zeros(2))
    probabilities = [p for _, p in result.after]
    assert probabilities == sorted(probabilities, reverse=True)
    assert min(probabilities) > 0.01
    assert min(weight for *_, weight in result.entries) > 0.01
    assert GONE not in dict(result.after)
    assert sum(probabilities) + result.newness <= 1 + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_no_more_is_counted_than_was_believed(seed):
    rng = np.random.default_rng(seed)
    world = World(seed)
    world.fill(rng)
    for _ in range(20):
        states = rng.choice(world.states.alive, size=2, replace=False).tolist()
        before = [(states[0], rng.uniform(0.3, 0.6)), (states[1], rng.uniform(0, 0.3))]
        point = np.array([rng.uniform(-1, 6), rng.normal(scale=0.2)])
        result = world.filter.posterior(point, before, int(rng.integers(2)), np.zeros(2))
        believed = sum(p for _, p in before)
        assert sum(weight for *_, weight in result.entries) <= believed + 1e-9


def well_known() -> World:
    world = World(3)
    for state, after in ((0, 1), (1, 0), (3, 4), (4, 5), (5, 5)):
        for _ in range(8):
            world.transitions.add(state, 0, after, 1.0, -1.0, 0.0)
    return world


@pytest.mark.parametrize("state", [0, 1, 3, 4, 5])
def test_the_shortcut_agrees_with_the_whole_computation(state):
    world = well_known()
    usual = int(world.transitions.successor[state, 0, 0])
    rng = np.random.default_rng(state)
    taken = 0
    for _ in range(20):
        point = world.states.mean[usual] + rng.normal(scale=0.14, size=2)
        before, departure = [(state, 1.0)], world.states.mean[state]
        log_likelihood = world.states.log_densities(point)
        short = world.filter._fast(log_likelihood, before[0], 0)
        whole = world.filter._full(point, log_likelihood, before, 0, departure)
        if short is None:
            continue
        taken += 1
        chosen = world.filter.posterior(point, before, 0, departure)
        assert (chosen.after, chosen.entries) == (short.after, short.entries)
        assert short.after[0] == (usual, pytest.approx(whole.after[0][1], abs=0.01))
        assert short.after[0][0] == whole.after[0][0]
        assert {e[:2]: e[2] for e in short.entries}[state, usual] == pytest.approx(
            {e[:2]: e[2] for e in whole.entries}[state, usual], abs=0.01
        )
        assert whole.newness < 0.01
        # The base of the row takes what it is worth: ln (8.5 / 8) and a little.
        assert short.log_density == pytest.approx(whole.log_density, abs=0.1)
    assert taken > 10


def test_the_shortcut_is_not_taken_where_anything_is_odd():
    def taken(world, point, before=(0, 1.0)):
        log = world.states.log_densities(np.array(point, dtype=float))
        return world.filter._fast(log, before, 0) is not None

    at_one = World(3).states.mean[1]
    assert taken(well_known(), at_one)
    assert not taken(World(3), at_one)  # nothing is known
    assert not taken(well_known(), at_one, (0, 0.5))  # where it was is not sure
    assert not taken(well_known(), at_one + np.array([0.0, 0.7]))  # too far out
    assert not taken(well_known(), (at_one + World(3).states.mean[0]) / 2)  # between two
    crowded = well_known()
    neighbour = crowded.states.birth()
    crowded.states.add(neighbour, at_one + 0.2, 6.0)
    assert not taken(crowded, at_one)  # it may be the neighbour
    random = well_known()
    random.transitions.add(0, 0, 3, 2.0, 0.0, 0.0)
    assert not taken(random, at_one)
    surprised = well_known()
    surprised.transitions.runs[0, 0] = [2]
    surprised.transitions.add(0, 0, 1, 1.0, 0.0, 0.0)
    assert not taken(surprised, at_one)


@pytest.mark.parametrize(
    ("tries", "bound"),
    [(8, 0.5 * 3.0**2), (1, 0.5 * 1.5)],  # three deviations; or half of the points
)
def test_the_shortcut_is_taken_up_to_some_deviations(tries, bound):
    world = World(3)
    for _ in range(tries):
        world.transitions.add(0, 0, 1, 1.0, -1.0, 0.0)
    before, mean = [(0, 1.0)], world.states.mean[1]

    def newness(depth: float) -> float:
        """Of a point so many nats below the peak of the state."""
        ways = mean + np.array([0.0, 1.0]) * np.linspace(0, 1, 20001)[:, None]
        depths = world.states.peak[1] - world.states.log_densities_of(ways)[:, 1]
        return world.filter.posterior(
            ways[np.abs(depths - depth).argmin()], before, 0, world.states.mean[0]
        ).newness

    assert newness(0.9 * bound) == 0.0
    assert newness(1.1 * bound) > 0.0


@pytest.mark.parametrize(
    ("starts", "is_fast"),
    [([0], False), ([0, 0], True), ([0] * 9 + [1], True), ([0] * 8 + [1], False), ([], False)],
)
def test_the_fast_path_is_taken_where_nine_in_ten_episodes_begin(starts, is_fast):
    world = World(3)
    for state in starts:
        world.transitions.add(START, START_ACTION, state, 1.0, 0.0, 0.0)
    found = world.filter.posterior(world.states.mean[0], [], None, None)
    assert found.after[0] == (0, pytest.approx(1.0, abs=1e-3))
    assert (found.newness == 0.0) == is_fast
    if is_fast:
        share = starts.count(0) / len(starts)
        assert found.log_density == pytest.approx(world.states.peak[0] + math.log(share))


@pytest.mark.parametrize(("above", "counted"), [(0.9, 0.9), (1.1, 1.0), (50.0, 1.0)])
def test_a_log_density_more_than_a_nat_above_its_peak_is_rounding(above, counted, monkeypatch):
    world = well_known()
    log, peak = world.states.log_densities(world.states.mean[1]), world.states.peak[1]
    log[1] = peak + above
    monkeypatch.setattr(world.states, "log_densities", lambda *_: log.copy())
    found = world.filter.posterior(world.states.mean[1], [(0, 1.0)], 0, world.states.mean[0])
    # The fast path knows no outliers. The row is sure: it takes less than a tenth of a nat.
    is_fast = found.newness == 0.0
    assert is_fast == (above < 1.0)
    assert found.log_density == pytest.approx(peak + counted, abs=0.1)
    assert found.after[0] == (1, pytest.approx(1.0, abs=1e-3))


@pytest.mark.parametrize("distance", [2.0, 30.0, 1e6])
def test_a_far_observation_is_new_or_an_outlier(distance):
    world = World()
    world.fill(np.random.default_rng(2))
    point = np.array([1.0, distance])
    for before, action in (([(1, 1.0)], 0), ([(1, 1.0)], 1), ([], None)):
        result = world.filter.posterior(point, before, action, np.array([1.0, 0.0]))
        assert result.newness + result.outlier > 0.99
        assert np.isfinite(result.log_density)
        assert result.after == []


@pytest.mark.parametrize("distance", [2.0, 30.0, 1e6])
def test_where_an_untried_action_leads_far_away_the_state_is_new(distance):
    result = World().filter.posterior(np.array([1.0, distance]), [(1, 1.0)], 0, None)
    assert result.newness > 0.98
    # It was left for the new state where it was.
    assert result.new_from == [(1, pytest.approx(1, abs=0.02))]


def test_an_action_that_always_led_to_one_place_makes_an_outlier_of_a_far_observation():
    world = well_known()
    for _ in range(200):
        world.transitions.add(0, 0, 1, 1.0, -1.0, 0.0)
    result = world.filter.posterior(np.array([0.4, 1.0]), [(0, 1.0)], 0, np.zeros(2))
    assert result.outlier > 0.8
    assert result.after == []


def test_what_looks_like_a_known_state_is_no_outlier_however_unexpected():
    world = well_known()
    for _ in range(1000):
        world.transitions.add(0, 0, 1, 1.0, -1.0, 0.0)
        world.displacements.add(0, np.array([1.0, 0.0]), 1.0)
    result = world.filter.posterior(world.states.mean[4] + 0.05, [(0, 1.0)], 0, np.zeros(2))
    assert result.after[0][0] == 4
    assert result.outlier < 0.05


def test_what_was_expected_of_a_step_that_was_not_seen():
    world = World()
    for after, weight in ((1, 3.0), (3, 1.0), (4, 0.01)):
        world.transitions.add(0, 0, after, weight, 0.0, 0.0)
    expected = world.filter.expected([(0, 0.8), (5, 0.2)], 0)
    assert [state for state, _ in expected] == [1, 5, 3]  # 5 was never tried: it stays
    seen = {1: 0.8 * 3 / 4.01, 5: 0.2, 3: 0.8 / 4.01}
    assert dict(expected) == pytest.approx(seen, rel=1e-9)
    assert world.filter.expected([], None) == []
    world.transitions.add(START, START_ACTION, 3, 2.0, 0.0, 0.0)
    assert world.filter.expected([], None) == [(3, 1.0)]


def test_what_is_expected_as_much_stands_in_the_order_of_the_states():
    world = World()
    for after in (4, 1, 3):  # in this order they were seen
        world.transitions.add(0, 0, after, 1.0, 0.0, 0.0)
    assert [state for state, _ in world.filter.expected([(0, 1.0)], 0)] == [1, 3, 4]


def test_an_observation_within_a_state_is_not_new():
    world = World()
    result = world.filter.posterior(world.states.mean[3] + 0.05, [(1, 1.0)], 0, np.zeros(2))
    assert result.newness < 0.01
    assert result.after[0][0] == 3


def test_an_outcome_that_is_rarer_than_one_in_a_hundred_is_not_expected():
    world = World()
    for after, tries in ((1, 97.9), (3, 1.2), (4, 0.9)):
        world.transitions.add(0, 0, after, tries, 0.0, 0.0)
    expected = world.filter.expected([(0, 1.0)], 0)
    assert [state for state, _ in expected] == [1, 3]
    assert [p for _, p in expected] == pytest.approx([0.979, 0.012])


def test_where_no_state_may_be_added_an_observation_is_known_or_an_outlier():
    world = World()
    full = StepFilter(world.model, ROW_PRIOR, filtering=True, max_states=None, most_states=5)
    assert full.share_of_new == 0.0
    result = full.posterior(np.array([0.5, 9.0]), [(1, 1.0)], 0, np.zeros(2))
    assert result.newness == 0.0
    assert result.outlier > 0.99
    for most, share in ((None, 1.0), (10, 0.5), (5, 0.0), (4, 0.0)):
        some = StepFilter(world.model, ROW_PRIOR, filtering=True, max_states=most, most_states=6)
        assert some.share_of_new == pytest.approx(share)
    assert world.filter.may_misread


def test_a_posterior_without_a_word_about_outliers_has_none():
    assert step_filter.StepPosterior([], [], 0.0, [], 0.0).outlier == 0.0
