"""Drawing a maze: as text for a terminal, and as a picture with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tgm.envs.maze import FLOOR, GOAL, LAVA, OUTSIDE, START, WALL, Cell, Maze

Picture: TypeAlias = NDArray[np.float64]
"""Colours between 0 and 255: (height, width, 3)."""

Mask: TypeAlias = NDArray[np.float64]
"""How much of each pixel is covered, between 0 and 1: (height, width)."""

Colour: TypeAlias = tuple[int, int, int]
Points: TypeAlias = NDArray[np.float64]

Shape: TypeAlias = Callable[[Points, Points], NDArray[np.bool_]]
"""Which points (u to the right, v upwards, in cells from the middle of a cell) are inside."""

_TEXT = {WALL: "██", FLOOR: "  ", START: "  ", GOAL: "◆ ", LAVA: "≈≈", OUTSIDE: "  "}
_TEXT_MOUSE = "M "
_TEXT_TRACE = "· "

_PAPER = (255, 255, 255)
_FLOOR = (246, 241, 231)
_GRID = (232, 224, 209)
_WALL = (86, 104, 122)
_LAVA = (232, 104, 62)
_SHADE = (214, 204, 188)
_TRACE = (138, 184, 202)
_MOUSE = (118, 110, 116)
_MOUSE_EAR = (232, 178, 178)
_MOUSE_EYE = (34, 32, 36)
_CHEESE = (250, 212, 110)
_CHEESE_RIND = (226, 164, 52)
_CHEESE_HOLE = (190, 124, 28)

_CELL_PIXELS = 48
_MOST_PIXELS = 1000  # of the longer side: larger mazes get smaller cells
_LEAST_FOR_DETAIL = 12  # pixels of a cell: in smaller ones mouse and cheese are dots
_FINE = 4  # points per pixel and axis, for smooth edges


def draw_text(maze: Maze, mouse: Cell | None = None, trace: Iterable[Cell] = ()) -> str:
    """The maze with `██` walls, `M` the mouse, `◆` the cheese, `≈≈` lava, `·` the way.

    Two characters per cell, so that cells look square; each line ends with a line break.
    """
    rows = [[_TEXT[glyph] for glyph in row] for row in maze.grid]
    top = maze.height - 1
    for x, y in trace:
        if (x, y) != maze.goal:
            rows[top - y][x] = _TEXT_TRACE
    if mouse is not None:
        rows[top - mouse[1]][mouse[0]] = _TEXT_MOUSE
    return "".join("".join(row).rstrip() + "\n" for row in rows)


def draw_picture(
    maze: Maze, mouse: Cell | None = None, trace: Iterable[Cell] = ()
) -> NDArray[np.uint8]:
    """The maze with walls, cheese, mouse and the mouse's way: (height, width, 3).

    A cell has 48 x 48 pixels, fewer in mazes so large that a side would pass 1,000 pixels.
    """
    size = max(2, min(_CELL_PIXELS, _MOST_PIXELS // max(maze.width, maze.height)))
    picture = _draw_walls(maze, size)
    _blend(picture, _draw_trace(maze, size, trace), _TRACE)
    is_small = size < _LEAST_FOR_DETAIL
    _stamp(picture, maze, size, maze.goal, _CHEESE_DOT if is_small else _CHEESE_PARTS)
    if mouse is not None:
        _stamp(picture, maze, size, mouse, _MOUSE_DOT if is_small else _MOUSE_PARTS)
    return np.rint(picture).astype(np.uint8)


def _draw_walls(maze: Maze, size: int) -> Picture:
    """Floor with a fine grid, and walls as soft blocks that throw a little shade on it."""
    glyphs = np.array([list(row) for row in maze.grid])
    wall = np.kron(glyphs == WALL, np.ones((size, size)))
    floor = np.kron((glyphs != WALL) & (glyphs != OUTSIDE), np.ones((size, size)))
    picture = np.empty((*wall.shape, 3))
    picture[:] = _PAPER

    # Blurring and sharpening again leaves straight edges where they are and rounds the corners.
    radius = size // 8
    # Floor reaches under the walls, so that no paper shows where their corners are rounded.
    under_walls = np.clip(4 * _blur(floor, radius), 0, 1)
    _blend(picture, under_walls, _FLOOR)
    if size >= _LEAST_FOR_DETAIL:
        line = np.zeros_like(floor)
        line[::size] = line[:, ::size] = 1
        _blend(picture, line * floor, _GRID)
    if maze.lava:
        _blend(picture, np.kron(glyphs == LAVA, np.ones((size, size))), _LAVA)
    shade = np.roll(_blur(wall, radius), (size // 12, size // 24), axis=(0, 1))
    _blend(picture, shade * under_walls, _SHADE)
    _blend(picture, np.clip((_blur(wall, radius) - 0.5) * max(radius, 1) * 2 + 0.5, 0, 1), _WALL)
    return picture


def _draw_trace(maze: Maze, size: int, trace: Iterable[Cell]) -> Mask:
    """A line with round ends through the middles of the cells of `trace`."""
    mask = np.zeros((maze.height * size, maze.width * size))
    half_width = max(0.045, 0.5 / size)  # in cells, and never thinner than a pixel
    directions = ((0, -1), (0, 1), (-1, 0), (1, 0))
    arms = {direction: _cover(_arm(*direction, half_width), size) for direction in directions}
    for here, there in {step for a, b in pairwise(trace) for step in ((a, b), (b, a))}:
        arm = arms.get((there[0] - here[0], there[1] - here[1]))
        if arm is not None:
            window = mask[_pixels(maze, size, here)]
            np.maximum(window, arm, out=window)
    return mask


def _stamp(picture: Picture, maze: Maze, size: int, cell: Cell, parts: _Parts) -> None:
    for colour, shape in parts:
        _blend(picture[_pixels(maze, size, cell)], _cover(shape, size), colour)


def _pixels(maze: Maze, size: int, cell: Cell) -> tuple[slice, slice]:
    x, y = cell
    top = (maze.height - 1 - y) * size
    return slice(top, top + size), slice(x * size, (x + 1) * size)


def _blend(picture: Picture, mask: Mask, colour: Colour) -> None:
    """Lay `colour` over the picture, in place, as thick as `mask` says."""
    picture += mask[..., None] * (np.array(colour) - picture)


def _blur(mask: Mask, radius: int) -> Mask:
    """Twice the mean over a square of 2 * radius + 1 pixels; beyond the border lies nothing."""
    width = 2 * radius + 1
    for axis in (0, 1, 0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (radius + 1, radius)
        total = np.pad(mask, padding).cumsum(axis=axis)
        total = np.moveaxis(total, axis, 0)
        mask = np.moveaxis((total[width:] - total[:-width]) / width, 0, axis)
    return mask


def _cover(shape: Shape, size: int) -> Mask:
    """How much of each pixel of one cell lies inside `shape`: (size, size)."""
    points = (np.arange(size * _FINE) + 0.5) / (size * _FINE) - 0.5
    inside = shape(points[None, :], -points[:, None])
    cover: Mask = inside.reshape(size, _FINE, size, _FINE).mean(axis=(1, 3))
    return cover


def _arm(dx: int, dy: int, half_width: float) -> Shape:
    """A bar from the middle of a cell to its side in the direction (dx, dy)."""

    def inside(u: Points, v: Points) -> NDArray[np.bool_]:
        along, across = dx * u + dy * v, dx * v + dy * u
        return (np.hypot(u, v) <= half_width) | ((along >= 0) & (np.abs(across) <= half_width))

    return inside


def _ellipse(u0: float, v0: float, ru: float, rv: float) -> Shape:
    return lambda u, v: ((u - u0) / ru) ** 2 + ((v - v0) / rv) ** 2 <= 1


def _polygon(*corners: tuple[float, float]) -> Shape:
    """The convex polygon with these corners, named anticlockwise."""

    def inside(u: Points, v: Points) -> NDArray[np.bool_]:
        result = np.ones(np.broadcast_shapes(u.shape, v.shape), dtype=np.bool_)
        for (u0, v0), (u1, v1) in pairwise((*corners, corners[0])):
            result &= (u1 - u0) * (v - v0) >= (v1 - v0) * (u - u0)
        return result

    return inside


def _tail(u: Points, v: Points) -> NDArray[np.bool_]:
    curve = -0.14 + 0.08 * np.sin((u + 0.48) * 13)
    return (np.abs(v - curve) <= 0.024) & (u >= -0.48) & (u <= -0.15)


_Parts: TypeAlias = tuple[tuple[Colour, Shape], ...]

_CHEESE_PARTS: _Parts = (
    (_CHEESE_RIND, _polygon((-0.38, -0.28), (0.36, -0.28), (0.36, 0.02), (-0.38, 0.02))),
    (_CHEESE, _polygon((-0.38, 0.02), (0.36, 0.02), (0.18, 0.29))),
    (_CHEESE_HOLE, _ellipse(-0.18, -0.14, 0.08, 0.08)),
    (_CHEESE_HOLE, _ellipse(0.09, -0.07, 0.055, 0.055)),
    (_CHEESE_HOLE, _ellipse(0.22, -0.19, 0.045, 0.045)),
)
_CHEESE_DOT: _Parts = ((_CHEESE_RIND, _ellipse(0, 0, 0.7, 0.7)),)

_MOUSE_PARTS: _Parts = (
    (_MOUSE_EAR, _tail),
    (_MOUSE, _ellipse(-0.05, -0.09, 0.28, 0.2)),
    (_MOUSE, _ellipse(0.22, -0.08, 0.19, 0.135)),
    (_MOUSE, _ellipse(0.09, 0.12, 0.125, 0.125)),
    (_MOUSE_EAR, _ellipse(0.09, 0.12, 0.075, 0.075)),
    (_MOUSE_EYE, _ellipse(0.26, -0.035, 0.032, 0.032)),
    (_MOUSE_EAR, _ellipse(0.41, -0.1, 0.036, 0.036)),
)
_MOUSE_DOT: _Parts = ((_MOUSE_EYE, _ellipse(0, 0, 0.7, 0.7)),)
