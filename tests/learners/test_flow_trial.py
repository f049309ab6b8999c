"""The trial of laws against cells: what is compared, what cannot be, and its file."""

import gymnasium as gym
import numpy as np
import pytest
from scipy.special import betaln

import tgm
from tgm.config import TGMConfig
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.learners.events import Event
from tgm.learners.flow import FlowLearner
from tgm.learners.flow_trial import LAWS_AT, FlowTrial, may_flow

BOTH = np.ones(2, dtype=bool)


def walked(n_steps: int, point_of) -> FlowTrial:
    """Steps of one episode; cells give each point a density of one."""
    trial = FlowTrial(2, 1)
    trial.add(Event(point_of(0)), 0.0, BOTH)
    for step in range(1, n_steps + 1):
        trial.events.append(Event(point_of(step), 0, -1.0, step == n_steps))
        trial._log_densities.append(-2.0)
    return trial


@pytest.mark.parametrize(
    "settings",
    [
        {"bandwidth": 0.5},
        {"max_states": 50},
        {"half_life": 1000.0},
        {"exploration": "greedy"},
        {"filtering": False},
    ],
)
def test_any_setting_of_cells_keeps_cells(settings):
    assert may_flow(4, TGMConfig())
    assert not may_flow(4, TGMConfig(**settings))


def test_steps_begin_where_the_event_before_was_seen():
    trial = FlowTrial(2, 3)
    points = np.arange(10.0).reshape(5, 2)
    trial.add(Event(points[0]), 0.0, BOTH)
    trial.add(Event(points[1], 2, -1.0), 0.0, BOTH)
    trial.add(Event(points[2], 1, 5.0, True), 0.0, BOTH)
    trial.add(Event(points[3]), 0.0, BOTH)
    trial.add(Event(points[4], 0, 7.0), 0.0, BOTH)
    steps = trial.steps()
    np.testing.assert_array_equal(steps.departure, points[[0, 1, 3]])
    np.testing.assert_array_equal(steps.arrival, points[[1, 2, 4]])
    assert steps.action.tolist() == [2, 1, 0]
    assert steps.reward.tolist() == [-1.0, 5.0, 7.0]
    assert steps.ended.tolist() == [False, True, False]


def test_a_line_is_predicted_by_laws():
    trial = walked(48, lambda step: np.array([0.1 * step, 1.0 - 0.2 * step]))
    gain, n_compared = trial.gain(BOTH)
    assert n_compared == 48 - 32
    # Without noise the laws are as sure as they can be, and cells gave each point two nats less.
    assert gain > 16 * 2.0
    again, _ = walked(48, lambda step: np.array([0.1 * step, 1.0 - 0.2 * step])).gain(BOTH)
    assert again == gain


def test_units_do_not_matter_but_for_the_density_of_cells():
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.normal(size=(49, 2))
    plain, wide = (
        walked(48, lambda step, u=unit: u * (np.array([0.1 * step, np.sin(step)]) + noise[step]))
        for unit in (1.0, 1000.0)
    )
    one, other = plain.gain(BOTH)[0], wide.gain(BOTH)[0]
    assert other == pytest.approx(one - 16 * 2 * np.log(1000.0), abs=1e-6)


@pytest.mark.parametrize(
    ("point_of", "relevant"),
    [
        (lambda _: np.ones(2), BOTH),  # nothing moves
        (lambda step: np.array([step, 1.0]), np.array([False, True])),  # nothing that counts
        (lambda step: np.array([1e-200 * step, step]), BOTH),  # too small for the laws
    ],
)
def test_what_cannot_be_compared_speaks_for_cells(point_of, relevant):
    assert walked(48, point_of).gain(relevant) == (-np.inf, 16)


@pytest.mark.parametrize(("n_steps", "is_over"), [(LAWS_AT[0], False), (LAWS_AT[1], True)])
def test_numbers_too_far_apart_end_the_trial_at_the_second_look(n_steps, is_over):
    def fail(_):
        raise np.linalg.LinAlgError

    trial = FlowTrial(2, 1)
    trial.gain = fail
    trial.add(Event(np.zeros(2)), 0.0, BOTH)
    for _ in range(n_steps):
        assert not trial.add(Event(np.zeros(2), 0), 0.0, BOTH)
    assert trial.is_over == is_over


def gain_of_a_walk(unit: float) -> tuple[float, int]:
    """The second feature answers from step 40 on; the density of that step is of one feature."""
    points = np.random.default_rng(0).normal(size=(LAWS_AT[0] + 1, 2)).cumsum(axis=0)
    trial = FlowTrial(2, 1)
    trial.gain, compute = lambda relevant: (0.0, 0), trial.gain
    for step, point in enumerate(points):
        n_known, relevant = 1 if step <= 40 else 2, np.array([True, step >= 40])
        event = Event(unit * point, 0 if step else None)
        trial.add(event, -2.0 - n_known * np.log(unit), relevant)
    return compute(BOTH)


@pytest.mark.parametrize("unit", [1e3, 1e-3])
def test_units_do_not_matter_where_a_feature_becomes_relevant(unit):
    """Densities of one feature and of two have different units: they are not added up."""
    gain, n_compared = gain_of_a_walk(unit)
    assert n_compared == LAWS_AT[0] - 40
    assert gain == pytest.approx(gain_of_a_walk(1.0)[0], rel=1e-6)


def test_a_trial_goes_on_after_a_file():
    trial = walked(40, lambda step: np.array([0.1 * step, 1.0]))
    trial._before = 3.5, 7
    copy = FlowTrial(2, 1)
    copy.restore(ArrayReader(trial.to_arrays()))
    assert copy._n_steps == 40
    assert copy._before == (3.5, 7)
    assert copy._log_densities == [0.0] + [-2.0] * 40
    assert len(copy.events) == 41
    assert copy.events[-1].terminated
    assert copy.gain(BOTH) == trial.gain(BOTH)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("action", lambda array: np.zeros_like(array)),
        ("log_density", lambda array: array[1:]),
        ("before", lambda array: array[1:]),
        ("before", lambda array: np.nan * array),
    ],
)
def test_a_trial_that_does_not_fit_is_refused(name, change):
    arrays = walked(40, lambda step: np.array([0.1 * step, 1.0])).to_arrays()
    arrays[name] = change(arrays[name].copy())
    with pytest.raises(DataError, match=name):
        FlowTrial(2, 1).restore(ArrayReader(arrays))


@pytest.mark.parametrize(("gain", "is_over"), [(0.5, False), (-0.5, True)])
def test_after_a_look_that_could_compare_nothing_both_are_as_good(gain, is_over):
    trial, gains = FlowTrial(2, 1), iter([(-np.inf, 16), (gain, 64)])
    trial.gain = lambda _: next(gains)
    trial.add(Event(np.zeros(2)), 0.0, BOTH)
    for _ in range(LAWS_AT[1]):
        assert not trial.add(Event(np.zeros(2), 0), 0.0, BOTH)
    assert trial.is_over == is_over


FLAGGED = np.array([False, True])


def flagged(flag_of, n_steps=48, point_of=lambda step: np.sin(0.3 * step)):
    trial = walked(n_steps, lambda step: np.array([point_of(step), flag_of(step)]))
    trial._is_exact = FLAGGED
    return trial


def test_laws_win_beside_a_flag_that_amounts_tell():
    told = flagged(lambda step: 1.0 if np.sin(0.3 * step) > 0.2 else -1.0)
    constant = flagged(lambda step: 1.0)
    assert told.gain(BOTH)[0] > 20.0
    # What is left to say of a flag is when it changes.
    n = 48
    changes = [
        np.sign(np.sin(0.3 * one) - 0.2) != np.sign(np.sin(0.3 * (one - 1)) - 0.2)
        for one in range(1, n + 1)
    ]
    n_before, n_after = sum(changes[:32]), sum(changes)
    later = betaln(0.5 + n_after, 0.5 + n - n_after) - betaln(0.5 + n_before, 32.5 - n_before)
    assert told.gain(BOTH)[0] == pytest.approx(constant.gain(BOTH)[0] + later)
    assert later < 0.0


@pytest.mark.parametrize(
    ("flag_of", "point_of"),
    [
        (lambda step: float(step // 10), lambda step: np.sin(0.3 * step)),  # of many values
        (lambda step: 1.0 if step > 5 else -1.0, lambda step: 0.1 * step),  # told by a clock
    ],
)
def test_laws_lose_where_amounts_do_not_tell_a_flag(flag_of, point_of):
    assert flagged(flag_of, point_of=point_of).gain(BOTH) == (-np.inf, 0)


def switched(flag_of):
    """An amount that moves as a switch says; one of two actions toggles it in some steps."""
    rng, trial = np.random.default_rng(0), FlowTrial(2, 2)
    point, flag = 0.0, -1.0
    trial.add(Event(np.array([point, flag])), 0.0, BOTH, FLAGGED)
    for _ in range(LAWS_AT[0]):
        action = int(rng.integers(2))
        flag = flag_of(flag, action, rng)
        point += 0.1 * flag - 0.05 * point
        trial.add(Event(np.array([point, flag]), action), 0.0, BOTH, FLAGGED)
    return trial


def test_a_flag_that_an_action_toggles_is_a_coordinate_and_changes_by_action_and_value():
    trial = switched(lambda flag, action, _: -flag if action else flag)
    steps, later = trial.steps(), 0.0
    for action in (0, 1):
        for value in (-1.0, 1.0):
            chosen = (steps.action == action) & (steps.departure[:, 1] == value)
            n_first, n = chosen[:32].sum(), chosen.sum()
            n_before, n_after = action * n_first, action * n
            later += betaln(0.5 + n_after, 0.5 + n - n_after)
            later -= betaln(0.5 + n_before, 0.5 + n_first - n_before)
    assert later > -2.0
    found, without = trial.gain(BOTH)[0], trial.gain(np.array([True, False]))[0]
    assert found > 30.0
    assert found == pytest.approx(without + later)  # beside one that is left out it is an input too


def test_a_flag_that_changes_by_chance_speaks_against_laws():
    toggled = switched(lambda flag, action, _: -flag if action else flag)
    drawn = switched(lambda _flag, _action, rng: float(rng.choice([-1.0, 1.0])))
    assert drawn.gain(BOTH)[0] < toggled.gain(BOTH)[0] - 5.0


def test_laws_win_where_an_action_switches_the_direction_of_others():
    class Gear(gym.Wrapper):
        """CartPole is pushed to one side until action 1 turns to the other."""

        observation_space = gym.spaces.Box(-np.inf, np.inf, (5,), np.float64)

        def reset(self, **options):
            self.side = 0
            seen, info = self.env.reset(**options)
            return np.array([*seen, self.side]), info

        def step(self, action):
            self.side ^= int(action)
            seen, *rest = self.env.step(self.side)
            return np.array([*seen, self.side]), *rest

    agent = tgm.TGMAgent(Gear(gym.make("CartPole-v1")), seed=700).learn(200)
    assert isinstance(agent.learner.inner, FlowLearner)
    assert agent.relevance["observation[4]"]


def test_where_every_feature_is_exact_there_is_no_look():
    trial = FlowTrial(2, 1)
    trial.add(Event(np.zeros(2)), 0.0, BOTH, BOTH)
    for step in range(1, LAWS_AT[-1] + 1):
        assert not trial.add(Event(np.full(2, float(step)), 0), 0.0, BOTH, BOTH)
        assert trial.is_over == (step == LAWS_AT[-1])
