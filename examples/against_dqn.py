"""Beside DQN of Stable-Baselines3: one maze, as many steps, greedy episodes now and then.

Run it as it is: `python examples/against_dqn.py`. Needs the extras `baselines` and `figures`.
`tgm compare` does this with several seeds, other agents and statistics.
"""

import warnings

import gymnasium as gym
from matplotlib.figure import Figure
from stable_baselines3 import DQN
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.evaluation import evaluate_policy

import tgm

# As "dqn-tuned" of `tgm compare`; the first layer sees the maze on a scale of about one.
TUNED = {"learning_rate": 1e-3, "learning_starts": 50, "batch_size": 128, "train_freq": 2}
TUNED |= {"target_update_interval": 250, "exploration_fraction": 0.6, "gamma": 0.97}


class Follow(BaseCallback):
    """Greedy returns of DQN every so many steps."""

    def __init__(self, env: gym.Env, every: int, n_episodes: int) -> None:
        super().__init__()
        self.env, self.every, self.n_episodes, self.returns = env, every, n_episodes, []

    def _on_step(self) -> bool:
        if self.num_timesteps % self.every == 0:
            self.returns.append(evaluate_policy(self.model, self.env, self.n_episodes)[0])
        return True


def make_env(*, rescaled: bool = False) -> gym.Env:
    """Maze 25, for DQN with observations from -1 to 1."""
    env = gym.make("tgm/Maze-v0", maze="25")
    return gym.wrappers.RescaleObservation(env, -1.0, 1.0) if rescaled else env


def main(n_steps: int = 3000, every: int = 250, n_episodes: int = 10) -> Figure:
    """Train both and draw their greedy returns."""
    warnings.filterwarnings("ignore", message="Evaluation environment is not wrapped")
    agent, of_tgm = tgm.TGMAgent(make_env(), seed=0), []
    for _ in range(n_steps // every):
        agent.learn(total_timesteps=every)
        of_tgm.append(evaluate_policy(agent, make_env(), n_eval_episodes=n_episodes)[0])
    deep = DQN("MlpPolicy", make_env(rescaled=True), seed=0, device="cpu", **TUNED)
    follow = Follow(make_env(rescaled=True), every, n_episodes)
    deep.learn(total_timesteps=n_steps, callback=follow)
    figure = Figure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    for name, returns in (("tgm", of_tgm), ("DQN, tuned", follow.returns)):
        steps = [every * (index + 1) for index in range(len(returns))]
        near = next((at for at, one in zip(steps, returns, strict=True) if one > -3.5), None)
        print(f"{name}: greedy return {returns[-1]:.1f} at the end, near the best from step {near}")
        axes.plot(steps, returns, ".-", label=name)
    best = agent.env.unwrapped.maze.optimal_return
    axes.axhline(best, color="grey", linestyle=":", label="the best")
    axes.set(xlabel="step", ylabel="greedy return", title="maze 25, one seed")
    axes.legend()
    return figure


if __name__ == "__main__":
    main().savefig("against_dqn.png")
