"""What an agent learned, drawn over the maze for the terminal."""

from __future__ import annotations

from rich.text import Text

from tgm.agent import TGMAgent
from tgm.envs import Maze
from tgm.envs.maze import WALL
from tgm.experiments.structure import StructureReport

ARROWS = ("↓", "↑", "←", "→", "●")
"""The actions of the maze: down, up, left, right, eat."""

COLOURS = {"learned": "green", "duplicated": "yellow", "fused": "dark_orange", "missing": "red"}
MARKS = {"learned": " ", "duplicated": "+", "fused": "~", "missing": "?"}

LEGEND = (
    "arrows: greedy action in each cell, ● eat;\n"
    "+ several states in one cell, ~ fused with a neighbour, ? not learned"
)


def draw_learned(maze: Maze, agent: TGMAgent, report: StructureReport) -> Text:
    """The maze with the greedy action of every cell, coloured and marked by the verdict on it."""
    picture = Text()
    for line, row in enumerate(maze.grid):
        for x, glyph in enumerate(row):
            cell = (x, maze.height - 1 - line)
            if cell in report.cells:
                verdict = report.cells[cell]
                action, _ = agent.predict([float(x), float(cell[1])], deterministic=True)
                arrow = " " if verdict == "missing" else ARROWS[int(action)]
                picture.append(f"{arrow}{MARKS[verdict]}", style=COLOURS[verdict])
            else:
                picture.append("██" if glyph == WALL else "  ", style="dim")
        picture.append("\n")
    return picture
