"""The forward-backward algorithm, over all blocks of all episodes at once.

A block needs the message of the block before it. All blocks start with a guess, and those whose
message turns out to be another one are computed again, until none is: the answer is that of the
sequential algorithm. Because a hidden Markov model forgets where it was, two rounds do as a rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.temporal.episodes import NO_BLOCK, Episodes

SAME = 1e-12  # largest difference of two messages that count as one, as a share of the largest part


@dataclass(frozen=True, eq=False)
class Smoothed:
    """The posterior over the paths of all episodes.

    Attributes:
        log_likelihood: ln of the sum over all paths.
        marginals: (n_rows, n_states) probability of each state at each row.
        transitions: (n_actions, n_states, n_states) expected number of each transition.
        starts: (n_states,) expected number of episodes that start in each state.
    """

    log_likelihood: float
    marginals: FloatArray
    transitions: FloatArray
    starts: FloatArray


def smooth(
    episodes: Episodes, start: FloatArray, transition: FloatArray, log_density: FloatArray
) -> Smoothed:
    """Run forward-backward.

    Args:
        episodes: n_rows rows.
        start: (n_states,) weight of each state at the start of an episode; need not sum to one.
        transition: (n_actions, n_states, n_states) weights; rows need not sum to one.
        log_density: (n_rows, n_states) ln density of each row in each state.
    """
    largest = log_density.max(axis=1)
    density = np.exp(log_density - largest[:, None])
    forward, scale = _forward(episodes, start, transition, density)
    density /= scale[:, None]
    backward = _backward(episodes, transition, density)
    density *= backward
    counts = np.stack(
        [
            forward[rows].T @ density[rows + 1] * transition[action]
            for action, rows in enumerate(episodes.steps)
        ]
    )
    backward *= forward
    log_likelihood = float(largest.sum() + np.log(scale).sum())
    return Smoothed(log_likelihood, backward, counts, backward[episodes.starts].sum(axis=0))


def log_likelihoods(
    episodes: Episodes, start: FloatArray, transition: FloatArray, log_density: FloatArray
) -> FloatArray:
    """(n_episodes,) ln of the sum over all paths of each episode; see `smooth`."""
    largest = log_density.max(axis=1)
    density = np.exp(log_density - largest[:, None])
    scale = _forward(episodes, start, transition, density)[1]
    return np.asarray(np.add.reduceat(largest + np.log(scale), episodes.starts))


def _forward(
    episodes: Episodes, start: FloatArray, transition: FloatArray, density: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """(n_rows, n_states) filtered probabilities, and (n_rows,) the factor that makes them one."""
    blocks = episodes.blocks
    filtered, scale = np.empty_like(density), np.empty(len(density))
    entering = np.tile(start, (len(blocks.first), 1))
    follows = blocks.before != NO_BLOCK
    entering[follows] = transition.mean(axis=(0, 1))
    todo = np.arange(len(blocks.first))
    while len(todo):
        _forward_blocks(episodes, todo, entering, transition, density, filtered, scale)
        after = blocks.after[todo]
        done = todo[after != NO_BLOCK]
        after = after[after != NO_BLOCK]
        rows = blocks.last[done]
        message = _step(filtered[rows], transition, episodes.actions[rows])
        gap = np.abs(message - entering[after]).max(axis=1)
        is_new = gap > SAME * message.max(axis=1)
        entering[after[is_new]] = message[is_new]
        todo = np.sort(after[is_new])
    return filtered, scale


def _forward_blocks(
    episodes: Episodes,
    chosen: IntArray,
    entering: FloatArray,
    transition: FloatArray,
    density: FloatArray,
    filtered: FloatArray,
    scale: FloatArray,
) -> None:
    """Fill in the rows of the chosen blocks, which are sorted: the longest are first."""
    first, length = episodes.blocks.first[chosen], episodes.blocks.length[chosen]
    message, rows = entering[chosen], first
    for place in range(int(length[0])):
        if place:
            n_active = int(np.searchsorted(-length, -place, side="left"))
            message = _step(message[:n_active], transition, episodes.actions[rows[:n_active]])
        rows = first[: len(message)] + place
        message = message * density[rows]
        total = message.sum(axis=1)
        message /= total[:, None]
        filtered[rows], scale[rows] = message, total


def _backward(episodes: Episodes, transition: FloatArray, density: FloatArray) -> FloatArray:
    """(n_rows, n_states) what comes after each row, given each state; `density` is scaled."""
    blocks = episodes.blocks
    later, turned = np.empty_like(density), np.swapaxes(transition, 1, 2)
    leaving = np.ones((len(blocks.first), density.shape[1]))
    todo = np.arange(len(blocks.first))
    while len(todo):
        _backward_blocks(episodes, todo, leaving, turned, density, later)
        before = blocks.before[todo]
        done = todo[before != NO_BLOCK]
        before = before[before != NO_BLOCK]
        rows = blocks.first[done]
        message = _step(later[rows] * density[rows], turned, episodes.actions[rows - 1])
        gap = np.abs(message - leaving[before]).max(axis=1)
        is_new = gap > SAME * message.max(axis=1)
        leaving[before[is_new]] = message[is_new]
        todo = np.sort(before[is_new])
    return later


def _backward_blocks(
    episodes: Episodes,
    chosen: IntArray,
    leaving: FloatArray,
    turned: FloatArray,
    density: FloatArray,
    later: FloatArray,
) -> None:
    """Fill in the rows of the chosen blocks, which are sorted: the longest are first."""
    first, length = episodes.blocks.first[chosen], episodes.blocks.length[chosen]
    message = leaving[chosen]
    for place in range(int(length[0]) - 1, -1, -1):
        n_active = int(np.searchsorted(-length, -place, side="left"))  # of more than `place` rows
        rows = first[:n_active] + place
        n_inner = int(np.searchsorted(-length, -place - 1, side="left"))  # that do not end here
        if n_inner:
            inner = rows[:n_inner]
            message[:n_inner] = _step(
                message[:n_inner] * density[inner + 1], turned, episodes.actions[inner]
            )
        later[rows] = message[:n_active]


def _step(message: FloatArray, transition: FloatArray, actions: IntArray) -> FloatArray:
    """(n, n_states) messages one step further, each with the matrix of its action."""
    if len(transition) == 1:
        return np.asarray(message @ transition[0])
    result = np.empty_like(message)
    for action in np.unique(actions).tolist():
        rows = actions == action
        result[rows] = message[rows] @ transition[action]
    return result


def most_likely_paths(
    episodes: Episodes, start: FloatArray, transition: FloatArray, log_density: FloatArray
) -> IntArray:
    """(n_rows,) the most likely path of each episode (Viterbi); the arguments are as in `smooth`.

    Of paths that are equally likely, the one with the smaller states at its end.
    """
    with np.errstate(divide="ignore"):
        log_start, log_transition = np.log(start), np.log(transition)
    order = np.argsort(-episodes.lengths, kind="stable")
    first, length = episodes.starts[order], episodes.lengths[order]
    best = log_start + log_density[first]
    origin = np.zeros(log_density.shape, dtype=np.int32)
    path = np.empty(len(log_density), dtype=np.intp)
    for place in range(1, int(length[0]) + 1):
        n_active = int(np.searchsorted(-length, -place, side="left"))
        ended = first[n_active : len(best)] + place - 1
        path[ended] = best[n_active:].argmax(axis=1)
        if not n_active:
            break
        rows = first[:n_active] + place
        ways = best[:n_active, :, None] + log_transition[episodes.actions[rows - 1]]
        origin[rows] = ways.argmax(axis=1)
        best = ways.max(axis=1) + log_density[rows]
    for place in range(int(length[0]) - 1, 0, -1):
        rows = first[: int(np.searchsorted(-length, -place, side="left"))] + place
        path[rows - 1] = origin[rows, path[rows]]
    return path
