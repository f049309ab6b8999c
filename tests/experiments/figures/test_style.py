"""The shapes and files that all figures share."""

import matplotlib
import numpy as np
import pytest

from tgm.envs import load_maze
from tgm.experiments.figures import style


def test_an_ellipse_is_the_outline_at_two_standard_deviations():
    mean, covariance = np.array([1.0, -2.0]), np.array([[0.5, 0.3], [0.3, 0.4]])
    axes = style.new_figure(2, 2).subplots()
    patch = style.ellipse(axes, mean, covariance)
    outline = patch.get_patch_transform().transform(patch.get_path().vertices)
    # Bezier curves touch the ellipse at their ends, which are among the vertices.
    gaps = outline - mean
    distance = np.sqrt(np.einsum("ni,ij,nj->n", gaps, np.linalg.inv(covariance), gaps))
    assert distance.min() == pytest.approx(2.0, rel=1e-9)
    corners = patch.get_corners() - mean
    assert np.abs(corners).max() < 2 * np.sqrt(2) * np.sqrt(np.linalg.eigvalsh(covariance)[-1])


def test_walls_lie_where_the_maze_has_them():
    maze = load_maze("8")
    axes = style.new_figure(2, 2).subplots()
    style.draw_walls(axes, maze)
    drawn = {(patch.get_x() + 0.5, patch.get_y() + 0.5) for patch in axes.patches}
    wanted = {
        (x, maze.height - 1 - line)
        for line, row in enumerate(maze.grid)
        for x, glyph in enumerate(row)
        if glyph == "#"
    }
    assert drawn == wanted
    assert not drawn & set(maze.cells)


def test_the_readers_settings_come_back():
    before = dict(matplotlib.rcParams)
    with style.look():
        assert matplotlib.rcParams["svg.hashsalt"] == "tgm"
    assert dict(matplotlib.rcParams) == before


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    def draw(name):
        with style.look():
            figure = style.new_figure(3, 2)
            axes = figure.subplots()
            style.dots(axes, np.array([[0.0, 1.0], [2.0, 3.0]]), 9, color=style.BLUE)
            axes.grid()
            return style.save(figure, tmp_path / name, dpi=80)

    first, second = draw("first"), draw("second")
    assert [path.suffix for path in first] == [".png", ".svg"]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert b"<dc:date>" not in first[1].read_bytes()
