"""Which features are an angle, a clock or a flag: found where it is so, and nowhere else."""

import numpy as np
import pytest

from tgm.transition.flow_relations import are_told, clock_of, find_chart, lasting, time_limit
from tgm.transition.flow_units import Steps

N_ACTIONS = 2


def swing(n=300, seed=0, limit=60, wide=0.05, drift=0.0):
    """A pendulum that is pushed: cosine, sine, speed, clock, and a flag of its speed.

    Episodes end when their time is over. With a drift the speed depends on the clock.
    """
    rng, rows = np.random.default_rng(seed), []
    state = None
    for _ in range(n):
        if state is None:
            state = np.array([wide * rng.normal(), 0.2 * rng.normal(), 0.0])
        action = int(rng.integers(2))
        angle, speed, time = state
        speed += 0.2 * action - 0.1 - 0.1 * np.sin(angle) + drift * np.sin(8.0 * time)
        later = np.array([angle + 0.1 * speed, speed, time + 0.01])
        ended = later[2] > 0.01 * limit
        rows.append((seen(state), action, 0.0, seen(later), ended))
        state = None if ended else later
    departure, action, reward, arrival, ended = zip(*rows, strict=True)
    return Steps(np.array(departure), np.array(action), np.array(reward), np.array(arrival),
                 np.array(ended))  # fmt: skip


def seen(state):
    angle, speed, time = state
    flag = 1.0 if abs(speed) < 0.5 else -1.0
    return np.array([np.cos(angle), np.sin(angle), speed, time, flag], dtype=np.float32)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_pendulum_has_an_angle_and_a_speed(scale):
    steps = swing()
    steps = steps._replace(departure=scale * steps.departure, arrival=scale * steps.arrival)
    chart = find_chart(steps, N_ACTIONS)
    assert chart.plain.tolist() == [2]
    ((across, along, radius, _, _),) = chart.circles
    assert (across, along, radius) == (0, 1, pytest.approx(scale))
    assert (chart.clock, chart.left_out.tolist()) == (3, [3, 4])
    assert chart.relevant.tolist() == [True, True, True, False, False]


def test_each_feature_is_a_coordinate_where_nothing_is_known_of_them():
    steps = swing()
    few = steps._replace(departure=steps.departure[:, 1:3], arrival=steps.arrival[:, 1:3])
    assert find_chart(few, N_ACTIONS) is None


def test_a_clock_on_which_laws_depend_stays():
    chart = find_chart(swing(drift=0.3), N_ACTIONS)
    assert (chart.clock, chart.plain.tolist()) == (-1, [2, 3])


def test_a_clock_on_which_rewards_depend_stays():
    steps = swing()
    chart = find_chart(steps._replace(reward=np.square(steps.arrival[:, 3])), N_ACTIONS)
    assert (chart.clock, chart.plain.tolist()) == (-1, [2, 3])


def test_a_flag_of_something_unseen_stays():
    steps = swing()
    flag = np.where(np.random.default_rng(1).random(len(steps.action)) < 0.5, 1.0, -1.0)
    steps.departure[:, 4], steps.arrival[:, 4] = flag, np.roll(flag, -1)
    assert find_chart(steps, N_ACTIONS).plain.tolist() == [2, 4]


def remembered(steps, shown):
    """The same steps, each seen by some features of an observation and of the one before."""
    rows, last = [], None
    for departure, arrival, ended in zip(steps.departure, steps.arrival, steps.ended, strict=True):
        last = departure if last is None else last
        rows.append(([*last[shown], *departure[shown]], [*departure[shown], *arrival[shown]]))
        last = None if ended else departure
    departure, arrival = zip(*rows, strict=True)
    return steps._replace(departure=np.array(departure), arrival=np.array(arrival))


def test_echoes_are_left_out_with_their_angle():
    chart = find_chart(remembered(swing(), [0, 1, 2]), N_ACTIONS)
    assert (chart.plain.tolist(), chart.left_out.tolist()) == ([5], [0, 1, 2])
    assert [circle[:2] for circle in chart.circles] == [(3, 4)]


def test_an_echo_that_tells_a_speed_stays():
    chart = find_chart(remembered(swing(), [0, 1]), N_ACTIONS)
    assert [circle[:2] for circle in chart.circles] == [(0, 1), (2, 3)]
    assert not len(chart.left_out)


@pytest.mark.parametrize(("wide", "is_whole"), [(0.05, False), (3.0, True)])
def test_an_angle_is_a_whole_turn_where_nearly_all_of_it_was_seen(wide, is_whole):
    ((*_, middle, found),) = find_chart(swing(900, wide=wide), N_ACTIONS).circles
    assert found is is_whole
    if not is_whole:  # opposite of the middle nothing was seen
        assert abs(middle) < 1.0


def test_features_that_hardly_miss_a_circle_are_none():
    steps = swing()
    off = 1.0 + 0.01 * np.random.default_rng(2).normal(size=(2, len(steps.action)))
    steps.departure[:, 0] *= off[0]
    steps.arrival[:, 0] *= off[1]
    assert find_chart(steps, N_ACTIONS).circles == ()


def test_a_clock_adds_the_same_whatever_is_done():
    steps = swing()
    assert clock_of(steps) == 3
    steps.arrival[7, 3] += 0.001
    assert clock_of(steps) == -1


def test_ends_of_the_time_say_nothing_of_places():
    steps = swing()
    chart = find_chart(steps, N_ACTIONS)
    np.testing.assert_array_equal(lasting(steps, chart), ~steps.ended)
    assert time_limit(steps, chart) == pytest.approx(0.61, abs=0.011)
    # An earlier end is one of a place; the latest ones are still those of the time.
    early = steps._replace(ended=steps.ended.copy())
    early.ended[20] = True
    assert lasting(early, chart)[20]
    assert (~lasting(early, chart)).sum() == steps.ended.sum()


def test_one_end_is_no_time_limit_and_without_a_clock_there_is_none():
    steps = swing(70)
    chart = find_chart(steps, N_ACTIONS)
    assert steps.ended.sum() == 1
    assert time_limit(steps, chart) == time_limit(steps, None) == np.inf
    assert lasting(steps, None).all()
    assert not lasting(steps, chart)[steps.ended].any()


def test_thresholds_tell_a_flag_inside_or_outside_of_them():
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(200, 2))
    inside = np.abs(points[:, 0]) < 0.5
    assert are_told(np.where(inside, 1.0, -1.0), points)
    assert are_told(np.where(inside, -1.0, 1.0), points)
    assert are_told(np.ones(200), points)
    assert not are_told(np.where(points.prod(axis=1) > 0.0, 1.0, -1.0), points)
    assert not are_told(points[:, 0], points)  # more than two values
