"""Decision tables of Gymnasium's toy texts, of mazes and of deep sea."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.envs import Maze
from tgm.envs.decision_table import DecisionTable, Outcome
from tgm.envs.maze import EAT, GOAL_REWARD, LAVA_REWARD, N_ACTIONS, STEP_REWARD

CARDS = {card: (4 if card == 10 else 1) / 13.0 for card in range(1, 11)}  # with replacement
BLACKJACK_SHAPE = (32, 11, 2)  # sum of the player, card of the dealer, usable ace


def table_of_toy_text(env: gym.Env[Any, Any], limit: int) -> DecisionTable:
    """The table that a toy text of Gymnasium carries as `P`."""
    inner: Any = env.unwrapped
    return DecisionTable.of(inner.P, inner.initial_state_distrib, limit)


def table_of_maze(maze: Maze, slip: float, limit: int) -> DecisionTable:
    """A maze; its states are the cells in the order of `maze.moves`."""
    index = {cell: number for number, cell in enumerate(maze.moves)}
    rules: dict[int, dict[int, list[Outcome]]] = {}
    for cell, here in index.items():
        certain = []
        for action in range(N_ACTIONS):
            there = maze.moves[cell][action]
            is_eaten, is_burnt = action == EAT and cell == maze.goal, there in maze.lava
            reward = GOAL_REWARD if is_eaten else LAVA_REWARD if is_burnt else STEP_REWARD
            certain.append((index[there], reward, is_eaten or is_burnt))
        moves = [certain[action] for action in range(N_ACTIONS) if action != EAT]
        rules[here] = {
            action: [
                (1.0 - slip, *certain[action]),
                *((slip / len(moves), *move) for move in moves if slip),
            ]
            for action in range(N_ACTIONS)
        }
    starts = np.zeros(len(index))
    starts[index[maze.start]] = 1.0
    return DecisionTable.of(rules, starts, limit)


def table_of_deep_sea(right: IntArray) -> DecisionTable:
    """Deep sea: state row * n + column, and one for the bottom.

    Args:
        right: (n, n) the action that leads to the right at each row and column.
    """
    n = len(right)
    rules: dict[int, dict[int, list[Outcome]]] = {n * n: {}}
    for row in range(n):
        for column in range(n):
            rules[row * n + column] = found = {}
            for action in range(2):
                is_right = action == right[row, column]
                is_last = row == n - 1
                treasure = float(is_right and is_last and column == n - 1)
                reward = treasure - (0.01 / n if is_right else 0.0)
                shifted = min(column + 1, n - 1) if is_right else max(column - 1, 0)
                after = n * n if is_last else (row + 1) * n + shifted
                found[action] = [(1.0, after, reward, is_last)]
    starts = np.zeros(n * n + 1)
    starts[0] = 1.0
    return DecisionTable.of(rules, starts, n)


def table_of_one_state(n_actions: int, limit: int) -> DecisionTable:
    """A world in which nothing matters: one state, no reward."""
    rules = {0: {action: [(1.0, 0, 0.0, False)] for action in range(n_actions)}}
    return DecisionTable.of(rules, np.ones(1), limit)


def table_of_blackjack() -> DecisionTable:
    """Blackjack-v1 with its default rules; states are flat indices of BLACKJACK_SHAPE."""
    rules: dict[int, dict[int, list[Outcome]]] = {}
    starts = np.zeros(int(np.prod(BLACKJACK_SHAPE)))
    for dealer, chance in CARDS.items():
        scores = _dealer_scores(dealer, dealer == 1)
        for first, p in CARDS.items():
            for second, q in CARDS.items():
                total, ace = _hand(first + second, 1 in (first, second))
                starts[_blackjack_state(total, dealer, ace)] += chance * p * q
        for total in range(4, 22):
            for ace in (False, True):
                here = _blackjack_state(total, dealer, ace)
                hits: list[Outcome] = []
                for card, p in CARDS.items():
                    drawn, still = _hand(total - 10 * ace + card, ace or card == 1)
                    is_bust = drawn > 21
                    reward = -1.0 if is_bust else 0.0
                    hits.append((p, _blackjack_state(drawn, dealer, still), reward, is_bust))
                sticks = [
                    (float(scores[:total].sum()), here, 1.0, True),
                    (float(scores[total]), here, 0.0, True),
                    (float(scores[total + 1 :].sum()), here, -1.0, True),
                ]
                rules[here] = {0: sticks, 1: hits}
    return DecisionTable.of(rules, starts, limit=22)


def _blackjack_state(total: int, dealer: int, ace: bool) -> int:
    return int(np.ravel_multi_index((total, dealer, int(ace)), BLACKJACK_SHAPE))


def _hand(raw: int, has_ace: bool) -> tuple[int, bool]:
    """The sum of a hand whose aces count 1 in `raw`, and whether an ace counts 11 in it."""
    is_usable = has_ace and raw + 10 <= 21
    return raw + 10 * is_usable, is_usable


def _dealer_scores(raw: int, has_ace: bool) -> FloatArray:
    """(22,) probability of each score of the dealer, who draws below 17; bust is 0."""
    total, _ = _hand(raw, has_ace)
    if total >= 17:
        scores = np.zeros(22)
        scores[total if total <= 21 else 0] = 1.0
        return scores
    return np.asarray(
        sum(p * _dealer_scores(raw + card, has_ace or card == 1) for card, p in CARDS.items())
    )
