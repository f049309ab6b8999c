"""MountainCar: no place is ever seen twice, so that laws of displacement are learned.

Run it as it is: `python examples/mountain_car.py`. The picture needs the extra `figures`.
"""

import numpy as np
from matplotlib.figure import Figure

import tgm
from tgm.experiments.evaluation import evaluate

ACTIONS = ("left", "nothing", "right")


def main(n_steps: int = 1500, n_episodes: int = 20, n_grid: int = 60) -> Figure:
    """Train, play greedy episodes, and draw the action for every position and speed."""
    agent = tgm.TGMAgent("MountainCar-v0", seed=0).learn(n_steps)
    outcome = evaluate(agent, agent.env, n_episodes, seed=1)
    print(f"mean return {outcome.mean_return:.0f} after {n_steps} steps; -110 counts as solved")
    position, speed = np.linspace(-1.2, 0.5, n_grid), np.linspace(-0.07, 0.07, n_grid)
    points = np.stack(np.meshgrid(position, speed), axis=-1).reshape(-1, 2).astype(np.float32)
    actions, _ = agent.predict(points, deterministic=True)
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    shown = axes.pcolormesh(position, speed, actions.reshape(n_grid, n_grid), cmap="coolwarm")
    bar = figure.colorbar(shown, ticks=range(3), label="push")
    bar.ax.set_yticklabels(ACTIONS)
    title = f"after {n_steps} steps: mean return {outcome.mean_return:.0f}"
    axes.set(xlabel="position", ylabel="speed", title=title)
    return figure


if __name__ == "__main__":
    main().savefig("mountain_car.png")
