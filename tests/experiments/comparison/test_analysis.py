"""The numbers that people read, from rows written by hand."""

import pytest

from tgm.experiments.comparison.analysis import per_agent, per_maze


def row(maze, agent, seed, solved_at, final_return, **more):
    return {
        "maze": maze,
        "agent": agent,
        "seed": seed,
        "steps": 5000,
        "max_episode_steps": 50,
        "solved_at": solved_at,
        "final_return": final_return,
        "optimal_return": -5.0,
        "regret": 10.0 * seed,
        "recent_reward": -6.0 - seed,
        "n_episodes": 9,
        "n_states": None,
        "is_exact": None,
        "seconds": 1.0 + seed,
        **more,
    }


ROWS = [
    row("8", "tgm", 0, 50, -5.0, n_states=8, is_exact=True),
    row("8", "tgm", 1, 70, -5.0, n_states=9, is_exact=False),
    row("8", "dqn", 0, None, -50.0),
    row("8", "dqn", 1, 60, -5.0),
    row("8", "dqn", 2, None, -14.0, recent_reward=None),
]


def test_one_row_for_each_maze_and_agent():
    ours, theirs = per_maze(ROWS)
    assert (ours["agent"], ours["runs"], ours["solved"], ours["solve_steps"]) == ("tgm", 2, 2, 60)
    assert (ours["states_median"], ours["exact"], ours["regret_mean"]) == (8.5, 1, 5.0)
    assert (ours["recent_reward_mean"], ours["recent_reward_deviation"]) == (-6.5, 0.5)
    assert ours["seconds_mean"] == 1.5
    # Two of three never solve: the median is beyond all, and so is the upper end.
    assert (theirs["solved"], theirs["solve_steps"], theirs["solve_high"]) == (1, None, None)
    assert theirs["solve_low"] == 60
    # Three runs: the middle one whole, a quarter of each neighbour.
    assert theirs["return_mean"] == pytest.approx((-14 - 0.25 * 55) / 1.5)
    assert (theirs["states_median"], theirs["exact"]) == (None, None)
    assert theirs["recent_reward_mean"] == -6.5


def test_one_row_for_each_agent():
    ours, theirs = per_agent(ROWS)
    assert (ours["score_mean"], ours["score_low"], ours["score_high"]) == (1.0, 1.0, 1.0)
    # Normalised: 0, 1 and 36/45.
    assert theirs["score_mean"] == pytest.approx((0.8 + 0.25) / 1.5)
    assert theirs["profile"][:1] == pytest.approx([2 / 3])
    assert theirs["profile"][9] == pytest.approx(1 / 3)
    # 50 beats all three; 70 beats the two that never solve: 5 of 6.
    assert theirs["first_is_better"] == pytest.approx(5 / 6)


def test_mazes_that_only_one_agent_saw_are_not_compared():
    rows = [*ROWS, row("20", "dqn", 0, None, -50.0)]
    assert per_agent(rows)[1]["first_is_better"] == pytest.approx(5 / 6)
    alone = [ROWS[0], row("20", "dqn", 0, None, -50.0)]
    assert per_agent(alone)[1]["first_is_better"] is None


def test_the_score_knows_the_limit():
    # From -100, all cut off, to -5, the best.
    rows = [row("own", "tgm", 0, None, -52.5, max_episode_steps=100)]
    assert per_agent(rows)[0]["score_mean"] == pytest.approx(0.5)
    # Where the goal is beyond the limit there is nothing to score.
    beyond = row("far", "tgm", 0, None, -50.0, optimal_return=-50.0)
    assert per_agent([beyond])[0]["score_mean"] is None
    assert per_agent([*rows, beyond])[0]["score_mean"] == pytest.approx(0.5)
