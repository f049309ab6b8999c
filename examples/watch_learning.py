"""What changes while an agent learns: every birth, merge and split, with its gain in nats.

Run it as it is: `python examples/watch_learning.py`. The picture needs the extra `figures`.
"""

import gymnasium as gym
from matplotlib.figure import Figure

import tgm


def report(info: tgm.agent.LearningInfo) -> None:
    """Called after every learning step."""
    for move in info.moves:
        if move.accepted:
            names = " and ".join(str(name) for name in move.ids)
            gain = "" if move.gain is None else f", {move.gain:+.1f} nats"
            print(f"step {info.step:4}: {move.kind} of {names}{gain}; {move.cause}")


def main(n_steps: int = 200) -> Figure:
    """Train with two callbacks, and draw the number of states over time."""
    env = gym.make("tgm/Maze-v0", maze="8")
    seen: list[tuple[int, int]] = []
    callbacks = [report, lambda info: seen.append((info.step, info.n_states))]
    agent = tgm.TGMAgent(env, seed=0).learn(n_steps, callback=callbacks)
    n_cells = len(env.unwrapped.maze.cells)
    print(f"{agent.n_states} states for {n_cells} cells")
    figure = Figure(figsize=(6.4, 3.0), layout="constrained")
    axes = figure.subplots()
    axes.step(*zip(*seen, strict=True), where="post", label="states found")
    axes.axhline(n_cells, color="grey", linestyle=":", label="cells of the maze")
    axes.set(xlabel="step", ylim=(0, n_cells + 2), title="states over time")
    axes.legend(loc="lower right")
    return figure


if __name__ == "__main__":
    main().savefig("watch_learning.png")
