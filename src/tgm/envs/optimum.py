"""The best expected return of a maze in which the mouse slips, by dynamic programming."""

from __future__ import annotations

import numpy as np

from tgm.envs.maze import EAT, GOAL_REWARD, LAVA_REWARD, N_ACTIONS, STEP_REWARD, Maze

_CONVERGED = 1e-9  # change of the values in one step that ends the iteration without a time limit
_MOST_STEPS = 100_000


def best_mean_return(maze: Maze, limit: int | None, slip: float) -> float:
    """The best expected return of an episode of at most `limit` steps (None: any number).

    Without slipping it is `maze.best_return(limit)`. Without a way to the goal and without a time
    limit no return is the best: minus infinity.
    """
    if slip == 0.0 or not maze.shortest_path:
        return maze.best_return(limit)
    cells = list(maze.moves)
    index = {cell: number for number, cell in enumerate(cells)}
    after = np.array([[index[there] for there in maze.moves[cell]] for cell in cells])
    is_lava = np.array([cell in maze.lava for cell in cells])
    reward = np.where(is_lava[after], LAVA_REWARD, STEP_REWARD)
    goes_on = (~is_lava[after]).astype(np.float64)
    reward[index[maze.goal], EAT], goes_on[index[maze.goal], EAT] = GOAL_REWARD, 0.0
    moves = [action for action in range(N_ACTIONS) if action != EAT]
    value = np.zeros(len(cells))
    for _ in range(_MOST_STEPS if limit is None else min(limit, _MOST_STEPS)):
        chosen = reward + goes_on * value[after]
        slipped = chosen[:, moves].mean(axis=1, keepdims=True)
        new = ((1.0 - slip) * chosen + slip * slipped).max(axis=1)
        change, value = float(np.abs(new - value)[~is_lava].max()), new
        if change < _CONVERGED:
            break
    return float(value[index[maze.start]])
