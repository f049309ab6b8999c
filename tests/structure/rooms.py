"""Walks through rooms of which colours or walls are seen, and episodes along a corridor."""

import numpy as np

from tgm.transition.automaton import BEGIN, END, Happening, Outcome

MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))


COLOURS = ((0, 1, 0, 1), (1, 1, 0, 0), (0, 0, 1, 1))  # of a room of 3 x 4 cells


def seen(symbol):
    return Outcome(symbol, 0.0, False)


def walk(n_steps, seed):
    """A walk at random through a room of which the colours are seen: an episode, and the cells."""
    rng = np.random.default_rng(seed)
    y, x = 0, 0
    episode, cells = [Happening(BEGIN, seen(COLOURS[y][x]))], [(y, x)]
    for _ in range(n_steps):
        action = int(rng.integers(4))
        dx, dy = MOVES[action]
        if 0 <= y + dy < len(COLOURS) and 0 <= x + dx < len(COLOURS[0]):
            y, x = y + dy, x + dx
        episode.append(Happening(action, seen(COLOURS[y][x])))
        cells.append((y, x))
    return episode, cells


def corridor(*symbols, ends: bool = False):
    steps = [Happening(BEGIN, seen(symbols[0]))]
    steps += [Happening(0, seen(symbol)) for symbol in symbols[1:]]
    return [*steps, Happening(1, Outcome(END, 1.0, True))] if ends else steps


def walls(cell, width, height):
    """What is seen of a cell of an empty room: a number for the walls around it."""
    x, y = cell
    return (y == 0) + 2 * (y == height - 1) + 4 * (x == 0) + 8 * (x == width - 1)


def walled(n_episodes, length, seed, width=4, height=4, looks=walls, actions=(0, 1, 2, 3)):
    """Episodes of a walk at random through an empty room from its corner, and their cells."""
    rng, episodes, paths = np.random.default_rng(seed), [], []
    for _ in range(n_episodes):
        x, y = 0, 0
        episode, cells = [Happening(BEGIN, seen(looks((x, y), width, height)))], [(x, y)]
        for action in rng.choice(actions, size=length).tolist():
            dx, dy = MOVES[action]
            x, y = min(max(x + dx, 0), width - 1), min(max(y + dy, 0), height - 1)
            episode.append(Happening(action, seen(looks((x, y), width, height))))
            cells.append((x, y))
        episodes.append(episode)
        paths.append(cells)
    return episodes, paths
