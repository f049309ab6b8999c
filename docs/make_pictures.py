"""Makes the pictures of the README: `.venv/bin/python docs/make_pictures.py`."""

import sys
from pathlib import Path

import gymnasium as gym
import matplotlib
import numpy as np

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import Ellipse

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.looks_alike import SeenByWalls

import tgm
from tgm.experiments.evaluation import MazeWorld, evaluate_side_by_side

IMAGES = Path(__file__).parent / "images"
MOVES = {0: (0, -1), 1: (0, 1), 2: (-1, 0), 3: (1, 0)}
STEPS = 200


def draw_seen(axes, maze, points):
    """All that the agent ever gets to see: noisy points."""
    draw_walls(axes, maze)
    axes.plot(*maze.start, marker="o", ms=5, color="#b4552d")
    axes.plot(*maze.goal, marker="D", ms=7, color="#e2a434")
    axes.scatter(*points.T, s=9, color="#56687a", alpha=0.65, linewidths=0)
    axes.set_title(f"what it sees: {len(points)} noisy observations", fontsize=11)


def draw_learned(axes, maze, agent):
    """The states it found, and what it would do in each."""
    draw_walls(axes, maze)
    values = np.array([agent.q_values(mean).max() for mean in agent.means])
    shades = plt.cm.YlGn(0.15 + 0.6 * (values - values.min()) / np.ptp(values))
    for mean, covariance, shade in zip(agent.means, agent.covariances, shades, strict=True):
        lengths, axes_of = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(axes_of[1, 1], axes_of[0, 1]))
        size = 4 * np.sqrt(lengths)
        axes.add_patch(
            Ellipse(mean, size[1], size[0], angle=angle, facecolor=shade, edgecolor="#2b6b50")
        )
        action = int(agent.predict(mean, deterministic=True)[0])
        if action in MOVES:
            step = 0.3 * np.array(MOVES[action])
            axes.annotate(
                "",
                xy=mean + step,
                xytext=mean - step,
                arrowprops={"arrowstyle": "-|>", "color": "#1c2a35", "lw": 1.4},
            )
        else:
            axes.text(*mean, "eat", ha="center", va="center", fontsize=9, weight="bold")
    axes.set_title(f"what it knows: {agent.n_states} states, and the way", fontsize=11)


def draw_walls(axes, maze):
    for line, row in enumerate(maze.grid):
        for x, glyph in enumerate(row):
            if glyph == "#":
                y = maze.height - 1 - line
                axes.add_patch(plt.Rectangle((x - 0.5, y - 0.5), 1, 1, color="#dfe4e8", lw=0))
    axes.set(xlim=(-0.5, maze.width - 0.5), ylim=(-0.5, maze.height - 0.5), aspect="equal")
    axes.axis("off")


def draw_alike(axes):
    """The places of a room that look alike have the same colour; each is a state of its own."""
    env = SeenByWalls("26")
    agent = tgm.TGMAgent(env, seed=0).learn(1500)
    maze = env.unwrapped.maze
    draw_walls(axes, maze)
    looks = [tuple(env.seen(cell)) for cell in maze.cells]
    kinds = sorted(set(looks))
    colours = [kinds.index(look) for look in looks]
    axes.scatter(*np.array(maze.cells).T, s=620, marker="s", c=colours, cmap="Set3")
    axes.plot(*maze.start, marker="o", ms=6, color="#b4552d")
    axes.plot(*maze.goal, marker="D", ms=8, color="#e2a434")
    axes.set_title(
        f"a room seen by its walls: {len(maze.cells)} places\nlook like {len(kinds)} (colours), "
        f"{agent.n_states} states found",
        fontsize=11,
    )


def draw_car(axes, n_grid=80):
    """The greedy action for each position and speed."""
    agent = tgm.TGMAgent("MountainCar-v0", seed=0).learn(1500)
    position, speed = np.linspace(-1.2, 0.5, n_grid), np.linspace(-0.07, 0.07, n_grid)
    points = np.stack(np.meshgrid(position, speed), axis=-1).reshape(-1, 2).astype(np.float32)
    actions, _ = agent.predict(points, deterministic=True)
    colours = matplotlib.colors.ListedColormap(["#8fb8de", "#f2f2f2", "#e8a27c"])
    axes.pcolormesh(position, speed, actions.reshape(n_grid, n_grid), cmap=colours, vmin=0, vmax=2)
    axes.text(-0.15, -0.045, "push left", ha="center")
    axes.text(-0.75, 0.035, "push right", ha="center")
    axes.set(xlabel="position", ylabel="speed")
    axes.set_title("MountainCar after 1,500 steps:\nthe greedy action", fontsize=11)


def three_worlds() -> None:
    """The picture at the top of the README."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13.2, 4.4), layout="constrained")
    env = gym.make("tgm/Maze-v0", maze="27")
    agent = tgm.TGMAgent(env, seed=0).learn(STEPS)
    draw_learned(left, env.unwrapped.maze, agent)
    left.set_title(
        f"a maze after {STEPS} steps:\n{agent.n_states} states, and the way", fontsize=11
    )
    draw_alike(middle)
    draw_car(right)
    figure.savefig(IMAGES / "three-worlds.png", dpi=80)


def main() -> None:
    env = gym.make("tgm/Maze-v0", maze="27")
    seen = []
    recorded = gym.wrappers.TransformObservation(
        env, lambda x: seen.append(np.array(x)) or x, env.observation_space
    )
    agent = tgm.TGMAgent(recorded, tgm.TGMConfig(), seed=0).learn(STEPS)
    maze = env.unwrapped.maze
    outcome = evaluate_side_by_side(agent, MazeWorld(maze), 20, np.random.default_rng(0))
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 4.7))
    draw_seen(left, maze, np.array(seen))
    draw_learned(right, maze, agent)
    figure.suptitle(
        f"Maze 27 after {STEPS} steps: mean return {outcome.mean_return:.1f}, "
        f"the best is {maze.optimal_return:g}",
        fontsize=12,
    )
    figure.tight_layout()
    IMAGES.mkdir(exist_ok=True)
    figure.savefig(IMAGES / "maze-27.png", dpi=110)
    three_worlds()


if __name__ == "__main__":
    main()
