"""Changing a strategy: a way to explore of your own, beside those that come with tgm.

Run it as it is: `python examples/own_strategy.py`. The picture needs the extra `figures`.
"""

import gymnasium as gym
from matplotlib.figure import Figure

import tgm
from tgm.planning.exploration import STRATEGIES, ExplorationStrategy, register


class Curious(ExplorationStrategy):
    """A coin decides between the best action that is known and any action."""

    def choose(self, values, n_steps, rng):
        return int(values.argmax() if rng.random() < 0.5 else rng.integers(len(values)))


def returns_of(exploration: str, n_steps: int) -> list[tuple[int, float]]:
    """(step, return) of the episodes of an agent that explores in this way."""
    episodes: list[tgm.agent.EpisodeInfo] = []
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="26"), exploration=exploration, seed=0)
    agent.learn(n_steps, callback=lambda info: episodes.extend(info.episodes))
    print(f"{exploration:>18}: {agent.n_states:2} states of 16, {len(episodes):3} episodes")
    return [(one.step, one.total_reward) for one in episodes]


def main(n_steps: int = 1000) -> Figure:
    """Train with each strategy and draw the sum of rewards."""
    if "curious" not in STRATEGIES:
        register("curious", Curious)
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for name in ("optimism", "posterior_sampling", "epsilon_greedy", "curious"):
        total, curve = 0.0, []
        for step, reward in returns_of(name, n_steps):
            total += reward
            curve.append((step, total))
        axes.plot(*zip(*curve, strict=True), label=name)
    axes.set(xlabel="step", ylabel="sum of returns", title="ways to explore maze 26")
    axes.legend()
    return figure


if __name__ == "__main__":
    main().savefig("own_strategy.png")
