"""FrozenLake, where actions slip: the learned policy and the chance of an end.

Run it as it is: `python examples/frozen_lake.py`. The picture needs the extra `figures`.
"""

import numpy as np
from matplotlib.figure import Figure

import tgm
from tgm.experiments.evaluation import evaluate

ARROWS = "←↓→↑"


def main(n_steps: int = 4000, n_episodes: int = 200) -> Figure:
    """Train, play greedy episodes, and draw the map with the action in each cell."""
    agent = tgm.TGMAgent("FrozenLake-v1", seed=0).learn(n_steps)
    outcome = evaluate(agent, agent.env, n_episodes, seed=1)
    print(f"{agent.n_states} states; {outcome.mean_return:.2f} of the episodes reach the goal")
    figure = Figure(figsize=(4.2, 4.2), layout="constrained")
    axes = figure.subplots()
    cells = agent.env.unwrapped.desc.astype(str)
    values = np.full(cells.shape, np.nan)
    for cell in np.ndindex(cells.shape):
        if cells[cell] in "SF":
            number = int(np.ravel_multi_index(cell, cells.shape))
            values[cell] = agent.q_values(number).max()
            action, _ = agent.predict(number, deterministic=True)
            axes.text(cell[1], cell[0], ARROWS[action], ha="center", va="center", size=18)
        else:
            name = "goal" if cells[cell] == "G" else "hole"
            axes.text(cell[1], cell[0], name, ha="center", va="center")
    axes.imshow(values, cmap="YlGn", alpha=0.8)
    axes.set(xticks=[], yticks=[], title=f"goal reached in {outcome.mean_return:.0%} of episodes")
    return figure


if __name__ == "__main__":
    main().savefig("frozen_lake.png")
