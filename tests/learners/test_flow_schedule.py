"""When to plan in a world that flows."""

import pytest

from tgm.learners.flow_schedule import (
    AFTER_EPISODE,
    FEW_STEPS,
    FIRST_PACE,
    LONGEST,
    PACE,
    SOONEST,
    SincePlan,
)

LATER = SincePlan(1000, 0, 0, has_found=True, episode_ended=False)


def first_due(since, growth=0.0):
    """The least number of new steps after which there is a plan."""
    return next(n for n in range(LONGEST + 1) if since._replace(n_new=n).is_due(growth))


@pytest.mark.parametrize(("growth", "expected"), [(0.0, SOONEST), (0.05, 50), (0.25, 250)])
def test_steps_grow_by_a_share_until_the_next_plan(growth, expected):
    assert first_due(LATER, growth) == expected


@pytest.mark.parametrize(("has_found", "pace"), [(False, FIRST_PACE), (True, PACE)])
def test_the_next_plan_waits_longer_the_more_points_a_plan_has(has_found, pace):
    assert first_due(LATER._replace(n_points=60 * pace, has_found=has_found)) == 60
    assert first_due(LATER._replace(n_points=60 * pace + 1, has_found=has_found)) == 61


def test_new_steps_do_not_wait_for_ever_however_long_life_was():
    assert first_due(LATER._replace(n_steps=10**6), 0.5) == LONGEST


@pytest.mark.parametrize(
    ("n_steps", "expected"), [(FEW_STEPS - 1, AFTER_EPISODE), (FEW_STEPS, SOONEST)]
)
def test_the_end_of_an_episode_asks_for_a_plan_while_there_are_few_steps(n_steps, expected):
    assert first_due(LATER._replace(n_steps=n_steps, episode_ended=True)) == expected
