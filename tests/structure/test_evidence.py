"""Merges and splits, weighed by what they explain."""

import math

import numpy as np
import pytest
from tests.oracles import normal_gamma_log_evidence, polya_urn_log_probability

from tgm.distributions.moments import Moments
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import GaussianStates
from tgm.structure.evidence import missed_chances, split_gain, transition_gain
from tgm.transition.sparse import SparseTransitions

DEVIATION = 0.15
PRIOR = ComponentPrior(DEVIATION**2 * np.eye(2), 22.0, -1.8, 3.0)
SEEDS = range(20)


def two_states(distance: float, seed: int, n: int = 12):
    """Two states (0 and 1) and four more far away, for rows to lead to."""
    rng = np.random.default_rng(seed)
    components = GaussianStates(PRIOR)
    for centre in (0.0, distance, 20.0, 30.0, 40.0, 50.0):
        slot = components.birth()
        for point in rng.normal((centre, 0.0), DEVIATION, size=(n, 2)):
            components.add(slot, point, 1.0)
    model = SparseTransitions(4, 0.9)
    model.make_room(6)
    return components, model


def gain_of(components, model, one: int = 0, other: int = 1) -> float:
    rows = transition_gain(model, one, other, components.n_alive, 0.5)
    return components.merge_gain(one, other) + rows


@pytest.mark.parametrize("seed", SEEDS)
def test_states_in_one_place_merge_and_clear_ones_do_not(seed):
    assert gain_of(*two_states(0.0, seed)) > 2
    assert gain_of(*two_states(DEVIATION, seed)) > 0
    assert gain_of(*two_states(1.0, seed)) < -5
    assert gain_of(*two_states(1.0, seed, n=3)) < 0


def test_the_gain_without_transitions_by_hand():
    components, model = two_states(0.7, 0)
    (w0, m0, s0), (w1, m1, s1) = (
        (known.weight, known.mean, known.scatter) for known in map(components.moments, (0, 1))
    )
    gap = m0 - m1
    both = s0 + s1 + np.outer(gap, gap) * w0 * w1 / (w0 + w1)
    expected = PRIOR.log_evidence(w0 + w1, both)
    expected -= PRIOR.log_evidence(w0, s0) + PRIOR.log_evidence(w1, s1) + PRIOR.log_repulsion(gap)
    assert gain_of(components, model) == pytest.approx(expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_gain_does_not_depend_on_who_is_named_first(seed):
    rng = np.random.default_rng(seed)
    components, model = two_states(0.5, seed)
    for _ in range(60):
        state, after = (int(x) for x in rng.integers(6, size=2))
        model.add(state, int(rng.integers(4)), after, 1.0, 0.0, float(rng.random() < 0.2))
    one, other = (gain_of(components, model, *pair) for pair in ((0, 1), (1, 0)))
    assert one == pytest.approx(other, abs=1e-8)


def test_transitions_tip_the_balance():
    """Between the two a distance where the observations alone are nearly silent."""
    for distance in np.arange(0.2, 1.0, 0.02):
        components, model = two_states(distance, 1)
        alone = gain_of(components, model)
        if abs(alone) < 3:
            break
    assert abs(alone) < 3
    _, same = two_states(distance, 1)
    _, different = two_states(distance, 1)
    for action in range(4):
        for state in (0, 1):
            same.add(state, action, 2 + action, 6.0, -1.0, 0.0)
            different.add(state, action, 2 + (action + state) % 4, 6.0, -1.0, 0.0)
    assert gain_of(components, same) > alone + 4
    assert gain_of(components, same) > 0
    assert gain_of(components, different) < alone - 4
    assert gain_of(components, different) < 0


def urn(draws: dict[int, int], home: int, n_actions: int = 4) -> float:
    """Evidence of a row: a third of 0.5 for staying, two thirds over 6 places."""
    outcomes = [outcome for outcome, n in draws.items() for _ in range(n)]
    n_places = min(6, 2 * n_actions)
    concentration = [1 / 3 * 0.5 if k == home else 0.5 * (2 / 3) / n_places for k in range(6)]
    # What is not named is the rest of the half.
    concentration.append(0.5 - sum(concentration[k] for k in set(draws)))
    named = [*range(6)]
    used = [c if k in draws else 1e-300 for k, c in zip(named, concentration[:6], strict=True)]
    return polya_urn_log_probability(outcomes, np.array([*used, concentration[6]]))


def test_the_gain_of_rows_by_hand():
    components, model = two_states(0.5, 2)
    silent = gain_of(components, model)
    # Out of both, by one action; nothing ever ended.
    model.add(0, 0, 2, 3.0, 0.0, 0.0)
    model.add(1, 0, 2, 2.0, 0.0, 0.0)
    expected = urn({2: 5}, 0) - urn({2: 3}, 0) - urn({2: 2}, 1)
    ends = [polya_urn_log_probability([0] * n, np.array([0.5, 0.5])) for n in (5, 3, 2)]
    expected += ends[0] - ends[1] - ends[2]
    assert gain_of(components, model) == pytest.approx(silent + expected, abs=1e-8)
    # An action that was tried in one of them only says nothing.
    model.add(0, 1, 3, 4.0, 0.0, 0.0)
    assert gain_of(components, model) == pytest.approx(silent + expected, abs=1e-8)
    # Not even if it leads to the other one.
    model.add(0, 3, 1, 4.0, 0.0, 0.0)
    assert gain_of(components, model) == pytest.approx(silent + expected, abs=1e-8)
    # Staying within the two is staying.
    model.add(0, 2, 1, 2.0, 0.0, 0.0)
    model.add(1, 2, 1, 1.0, 0.0, 0.0)
    more = urn({0: 3}, 0) - urn({1: 2}, 0) - urn({1: 1}, 1)
    ends = [polya_urn_log_probability([0] * n, np.array([0.5, 0.5])) for n in (3, 2, 1)]
    more += ends[0] - ends[1] - ends[2]
    assert gain_of(components, model) == pytest.approx(silent + expected + more, abs=1e-8)


def test_a_row_that_leads_to_both_speaks_for_one():
    components, model = two_states(0.5, 3)
    silent = gain_of(components, model)
    model.add(4, 0, 0, 3.0, 0.0, 0.0)
    model.add(4, 0, 1, 2.0, 0.0, 0.0)
    # One outcome five times, with the concentration of one place, against three and two times.
    c = 0.5 * (2 / 3) / 6
    one = math.lgamma(c + 5) - math.lgamma(c)
    two = math.lgamma(c + 3) + math.lgamma(c + 2) - 2 * math.lgamma(c)
    assert gain_of(components, model) == pytest.approx(silent + one - two, abs=1e-8)
    assert gain_of(components, model) > silent


def test_where_episodes_end_is_an_outcome_too():
    components, model = two_states(0.3, 4)
    for state in (0, 1):
        model.add(state, 0, 2, 5.0, 0.0, 0.0)
    alike = gain_of(components, model)
    model.end_sum[1, 0] = 5.0
    assert gain_of(components, model) < alike - 3


def test_missed_chances_by_hand():
    # 12 visits to the older one, a quarter of them since the younger was born.
    assert missed_chances((12.0, 2.0), (0.8, 0.25)) == pytest.approx(3.0)
    assert missed_chances((2.0, 12.0), (0.25, 0.8)) == pytest.approx(3.0)
    assert missed_chances((12.0, 3.0), (0.8, 0.25)) == 0  # known well enough
    assert missed_chances((1.0, 3.0), (0.8, 0.25)) == 0  # the older one is the rare one


def cloud(centres, seed, n=10):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal((x, 0.0), DEVIATION, size=(n, 2)) for x in centres])


def gain_of_split(points, side, n_states: int) -> float:
    halves = (Moments.of_points(points[half]) for half in (side, ~side))
    return split_gain(GaussianStates(PRIOR), *halves, n_states)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_heaps_split_and_one_does_not(seed):
    points = cloud((0.0, 1.0), seed)
    states = GaussianStates(PRIOR)
    side = states.cut(points)
    assert (side == side[0]).tolist() == [True] * 10 + [False] * 10
    two = gain_of_split(points, side, n_states=5)
    one = cloud((0.0, 0.0), seed)
    # Two halves of one heap are narrower by the cut: half a nat for each point.
    assert two > 20
    assert gain_of_split(one, states.cut(one), n_states=5) < 10


def test_a_split_by_hand():
    points = cloud((0.0, 0.9), 0, n=4)
    side = np.arange(8) >= 4
    gap = points[:4].mean(axis=0) - points[4:].mean(axis=0)
    gain = -PRIOR.log_evidence(8, Moments.of_points(points).scatter) + PRIOR.log_repulsion(gap)
    for half in (points[:4], points[4:]):
        gain += PRIOR.log_evidence(4, Moments.of_points(half).scatter)
    assert gain_of_split(points, side, n_states=12) == pytest.approx(gain + math.log(4))
    assert gain_of_split(points, side, n_states=2) == pytest.approx(gain)


# --- rewards --------------------------------------------------------------------------------------


def gain_with(first, second, *, world=(-1.0, 0.0), unit=1.0):
    """The gain of rows that differ in their rewards only, less that of rows with equal ones."""

    def gain(rewards):
        model = SparseTransitions(1, 0.9)
        model.make_room(5)
        for state, values in enumerate(rewards):
            for value in values:
                model.add(state, 0, 2, 1.0, unit * value, 0.0)
        for state, value in zip((3, 4), world, strict=True):
            model.add(state, 0, 2, 1.0, unit * value, 0.0)
        return transition_gain(model, 0, 1, 5, 0.5)

    return gain((first, second)) - gain(([-1.0] * len(first), [-1.0] * len(second)))


@pytest.mark.parametrize("value", [-1.0, 0.0, 7.0])
@pytest.mark.parametrize("n", [1, 5, 100])
def test_equal_rewards_say_nothing(n, value):
    for world in [(value, value), (-1.0, 0.0)]:
        assert gain_with([value] * n, [value] * n, world=world) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize("unit", [1e-60, 1e-3, 1.0, 1e6, 1e60])
def test_different_rewards_speak_against_one_state_in_any_unit(unit):
    gains = [gain_with([-1.0] * n, [0.0] * n, unit=unit) for n in (1, 2, 5, 20)]
    assert gains == pytest.approx([-2.81, -6.77, -21.0, -110.8], abs=0.1)


def test_the_gain_of_rewards_is_a_ratio_of_evidence():
    first, second = [-1.0, -1.0, -0.9], [0.0, -0.1]
    prior = -0.5, 0.04, 0.5, 0.005  # the range of the rows' rewards is 1, its middle -0.5
    both, *each = (
        normal_gamma_log_evidence(np.array(values), *prior)
        for values in (first + second, first, second)
    )
    assert gain_with(first, second) == pytest.approx(both - sum(each), abs=1e-3)


def test_random_rewards_of_one_place_are_no_reason_for_two():
    rng = np.random.default_rng(0)
    gains = [
        gain_with(rng.normal(-0.5, 0.3, 10), rng.normal(-0.5, 0.3, 10), world=(-1.5, 0.5))
        for _ in range(50)
    ]
    assert np.mean(gains) > -0.2
    assert min(gains) > -3.0


def test_rewards_near_zero_are_no_trouble():
    assert gain_with([0.0], [1.0], unit=1e-200) == 0.0


def test_rewards_of_a_row_that_one_of_two_states_never_tried_say_nothing():
    model = SparseTransitions(2, 0.9)
    model.make_room(4)
    model.add(0, 0, 2, 1.0, -1.0, 0.0)
    model.add(0, 1, 2, 1.0, -9.0, 0.0)
    model.add(1, 0, 2, 1.0, -1.0, 0.0)
    plain = transition_gain(model, 0, 1, 4, 0.5)
    model.add(0, 1, 2, 1.0, 50.0, 0.0)
    model.add(0, 1, 2, -1.0, 50.0, 0.0)
    assert transition_gain(model, 0, 1, 4, 0.5) == pytest.approx(plain)
