"""A maze that looks the same in many places: the mouse sees the walls around it, and nothing else.

Which place it is can only be told by what happened before and what happens next.
Run it as it is: `python examples/looks_alike.py`. The picture needs the extra `figures`.
"""

import gymnasium as gym
import numpy as np
from matplotlib.figure import Figure

import tgm

NOISE = 0.1


class SeenByWalls(gym.Wrapper):
    """A maze of which the mouse sees four walls, whether the cheese is here, and noise."""

    feature_names = ("wall below", "wall above", "wall left", "wall right", "cheese")

    def __init__(self, maze: str) -> None:
        super().__init__(gym.make("tgm/Maze-v0", maze=maze))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,))
        self.noise = np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        _, info = self.env.reset(seed=seed)
        self.noise = np.random.default_rng([seed or 0, 1])
        return self.seen(info["cell"]) + NOISE * self.noise.standard_normal(5), info

    def step(self, action):
        _, reward, terminated, truncated, info = self.env.step(action)
        seen = self.seen(info["cell"]) + NOISE * self.noise.standard_normal(5)
        return seen, reward, terminated, truncated, info

    def seen(self, cell):
        maze = self.env.unwrapped.maze
        walls = [float(maze.moves[cell][action] == cell) for action in range(4)]
        return np.array([*walls, float(cell == maze.goal)])


def main(n_steps: int = 1500) -> Figure:
    """Train, and draw which places look alike and how the returns grow."""
    env = SeenByWalls("26")
    episodes: list[tgm.agent.EpisodeInfo] = []
    agent = tgm.TGMAgent(env, seed=0)
    agent.learn(n_steps, callback=lambda info: episodes.extend(info.episodes))
    maze = env.unwrapped.maze
    looks = [tuple(env.seen(cell)) for cell in maze.cells]
    kinds = sorted(set(looks))
    print(f"{len(maze.cells)} places that look like {len(kinds)}: {agent.n_states} states found")
    figure = Figure(figsize=(8.0, 3.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 2))
    places = np.array(maze.cells)
    left.scatter(
        *places.T, s=260, marker="s", c=[kinds.index(look) for look in looks], cmap="tab10"
    )
    left.set(xticks=[], yticks=[], aspect="equal", title="same colour: looks the same")
    left.margins(0.2)
    right.plot([one.step for one in episodes], [one.total_reward for one in episodes], ".-", lw=0.8)
    right.axhline(maze.optimal_return, color="green", linestyle=":", label="the best")
    right.set(xlabel="step", title="return of an episode")
    right.legend()
    return figure


if __name__ == "__main__":
    main().savefig("looks_alike.png")
