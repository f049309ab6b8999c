"""A wall that moves while the agent lives: the change is noticed, and what was known is unlearned.

Run it as it is: `python examples/moving_wall.py`. The picture needs the extra `figures`.
"""

import gymnasium as gym
from matplotlib.figure import Figure

import tgm
from tgm.envs import parse_maze

OPEN = parse_maze(b"#######\n#.....#\n#S.#.G#\n#..#..#\n#######\n", name="open", source="here")
SHUT = parse_maze(b"#######\n#..#..#\n#S.#.G#\n#.....#\n#######\n", name="shut", source="here")


def main(n_steps: int = 1200, changes_at: int = 600) -> Figure:
    """Train through the change, and draw the length of the episodes over time."""
    env = gym.make("tgm/Maze-v0", maze=OPEN, changes=[(changes_at, SHUT)])
    episodes: list[tgm.agent.EpisodeInfo] = []
    changes: list[int] = []

    def follow(info: tgm.agent.LearningInfo) -> None:
        episodes.extend(info.episodes)
        changes.extend(info.step for move in info.moves if move.kind == "change" and move.accepted)

    agent = tgm.TGMAgent(env, seed=0).learn(n_steps, callback=follow)
    noticed = next((step for step in changes if step >= changes_at), None)
    print(f"{agent.n_states} states; the wall moved at step {changes_at}, noticed at {noticed}")
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.plot([one.step for one in episodes], [one.length for one in episodes], ".-", lw=0.8)
    axes.axvline(changes_at, color="grey", linestyle=":", label="the wall moves")
    if noticed is not None:
        axes.axvline(noticed, color="tab:red", linestyle=":", label="the agent notices")
    axes.axhline(len(OPEN.shortest_path), color="green", lw=0.8, label="shortest episode")
    axes.set(xlabel="step", ylabel="steps of the episode", title="a wall that moves")
    axes.legend()
    return figure


if __name__ == "__main__":
    main().savefig("moving_wall.png")
