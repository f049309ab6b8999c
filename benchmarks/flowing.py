"""Worlds that flow: the greedy mean of the default agent at given steps, and the time of a step.

python -m benchmarks.flowing CartPole-v1 --seeds 0 1 2; all three worlds by default. --scale 1000
multiplies the observations, --rotate turns them by a random orthogonal matrix of each seed.
--noise 0.05 adds Gaussian noise to each feature, of 5 % of the range that it has in RANDOM_STEPS
steps of a random policy. --without closure leaves a part of the agent out (PARTS).
"""

import argparse
import functools
import time

import gymnasium as gym
import numpy as np

import tgm
from tgm.distributions import FloatArray
from tgm.learners import kind_search
from tgm.planning import flow_planner, flow_support

CHECKS = {
    "CartPole-v1": (1000, 2000, 4000),
    "MountainCar-v0": (1500, 3000, 6000),
    "Acrobot-v1": (5000, 10_000, 20_000),
}
"""Steps at which each world is looked at: by which it is to be learned, twice and four times."""

RANDOM_STEPS = 5000

PARTS = {
    "laws": (kind_search, "may_flow", lambda *_: False),
    "holding": (flow_support, "hold", functools.partial(flow_support.hold, most=1)),
    "closure": (flow_support, "LIVELY", np.inf),
    "optimism": (flow_planner, "CLEARLY", np.inf),
}
"""Parts that can be left out: laws (cells learn alone), actions held until a cell is left, support
points that were only imagined, hope. Each is a name in a module and what takes its place."""


class Noisy(gym.ObservationWrapper):
    """A world whose observations have Gaussian noise.

    Args:
        env: the world.
        deviation: (n_features,) of the noise.
        seed: of the noise.
    """

    def __init__(self, env: gym.Env, deviation: FloatArray, seed: int) -> None:
        super().__init__(env)
        self._deviation, self._rng = deviation, np.random.default_rng(seed)
        bound = np.full(len(deviation), np.inf)
        self.observation_space = gym.spaces.Box(-bound, bound, dtype=np.float64)

    def observation(self, observation: FloatArray) -> FloatArray:
        """The observation with fresh noise."""
        return observation + self._deviation * self._rng.normal(size=len(self._deviation))


@functools.cache
def ranges(world: str) -> FloatArray:
    """(n_features,) highest less lowest value of each feature under a random policy."""
    env = gym.make(world)
    env.action_space.seed(0)
    seen = [env.reset(seed=0)[0]]
    for _ in range(RANDOM_STEPS):
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        seen.append(observation)
        if terminated or truncated:
            seen.append(env.reset()[0])
    return np.ptp(np.array(seen, dtype=np.float64), axis=0)


def changed(world: str, change: FloatArray | None, noise: float = 0.0, seed: int = 0) -> gym.Env:
    """A world whose observations have noise, and are multiplied by a matrix.

    Args:
        world: its id.
        change: (n_features, n_features) the matrix, if there is one.
        noise: deviation of the noise, as a share of the range of each feature.
        seed: of the noise.
    """
    env: gym.Env = gym.make(world)
    if noise:
        env = Noisy(env, noise * ranges(world), seed)
    if change is None:
        return env
    bound = np.full(len(change), np.inf)
    return gym.wrappers.TransformObservation(
        env, lambda x: change @ x, gym.spaces.Box(-bound, bound, dtype=np.float64)
    )


def matrix(world: str, scale: float, rotation: int | None) -> FloatArray | None:
    """Of a scale and a random rotation of that seed; None if nothing changes."""
    if scale == 1.0 and rotation is None:
        return None
    n_features = gym.make(world).observation_space.shape[0]
    turn = np.eye(n_features)
    if rotation is not None:
        rng = np.random.default_rng(rotation)
        turn = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    return scale * turn


def greedy_mean(
    agent: tgm.TGMAgent, world: str, change: FloatArray | None, n_episodes: int, noise: float
) -> float:
    """Mean return of greedy episodes, all at once; the agent learns nothing from them."""
    envs = [changed(world, change, noise, 98_000 + index) for index in range(n_episodes)]
    seen = np.array([env.reset(seed=99_000 + index)[0] for index, env in enumerate(envs)])
    total, goes_on = np.zeros(n_episodes), np.ones(n_episodes, dtype=bool)
    states: list = [None] * n_episodes
    while goes_on.any():
        left = np.flatnonzero(goes_on)
        before = None if states[left[0]] is None else [states[index] for index in left]
        actions, after = agent.predict(seen[left], before, deterministic=True)
        for index, action, state in zip(left.tolist(), actions, after, strict=True):
            states[index] = state
            seen[index], reward, terminated, truncated, _ = envs[index].step(action)
            total[index] += float(reward)
            goes_on[index] = not (terminated or truncated)
    return float(total.mean())


def main() -> None:
    """Print one line for each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", default=list(CHECKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--checks", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--rotate", action="store_true")
    parser.add_argument("--noise", type=float, default=0.0)
    parser.add_argument("--without", choices=list(PARTS))
    given = parser.parse_args()
    if given.without:
        setattr(*PARTS[given.without])
    for world in given.worlds:
        for seed in given.seeds:
            change = matrix(world, given.scale, seed if given.rotate else None)
            agent, spent = tgm.TGMAgent(changed(world, change, given.noise, seed), seed=seed), 0.0
            found = []
            for steps in CHECKS[world][: given.checks]:
                begun = time.process_time()
                agent.learn(steps - agent.n_steps)
                spent += time.process_time() - begun
                mean = greedy_mean(agent, world, change, given.episodes, given.noise)
                found.append(f"{steps}: {mean:.1f} ({1e3 * spent / steps:.2f} ms a step)")
            print(world, seed, ", ".join(found), f"{agent.n_states} points", flush=True)


if __name__ == "__main__":
    main()
