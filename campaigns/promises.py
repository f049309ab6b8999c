"""Promises 4, 6 and 7 at full length: scikit-learn agrees, units do not matter, NaN never enters.

Run from the root of the repository: python -m campaigns.promises
"""

import sys
from collections.abc import Callable

import gymnasium as gym
import numpy as np
from tests.agent.test_agent import Poisoned
from tests.perception.test_cluster_prior import test_same_answer_in_other_units
from tests.perception.test_variational import test_separable_problems_agree_with_scikit_learn

import tgm
from tgm.errors import DataError

IMPOSSIBLE = (np.nan, np.inf, -np.inf)


def nan_never_enters(seed: int) -> None:
    """One injection: an error that names step and field, and an agent that is as it was."""
    rng = np.random.default_rng(seed)
    config = tgm.TGMConfig() if seed % 2 else tgm.TGMConfig.paper(learn_every=20)
    at, value = int(rng.integers(2, 150)), float(rng.choice(IMPOSSIBLE))
    field = str(rng.choice(["observation", "reward"]))
    env = gym.make("tgm/Maze-v0", maze="8")
    agent = tgm.TGMAgent(Poisoned(env, at, field, value), config, seed=seed)
    healthy = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), config, seed=seed).learn(at - 1)
    if healthy.is_between_episodes:
        healthy._begin_episode()  # its first observation was sound, and is learned
    try:
        agent.learn(200)
    except DataError as error:
        message = str(error)
        assert message.startswith(f"step {at}: "), message
        assert field in message, message
    else:
        raise AssertionError(f"{value} in {field} at step {at} was not noticed")
    assert agent.n_steps == healthy.n_steps
    np.testing.assert_array_equal(agent.means, healthy.means)
    np.testing.assert_array_equal(agent.transition_counts, healthy.transition_counts)


TRIALS: tuple[tuple[str, Callable[[int], None], int], ...] = (
    (
        "4: means within 1e-6 of scikit-learn's",
        test_separable_problems_agree_with_scikit_learn,
        200,
    ),
    ("6: the same answer in other units", test_same_answer_in_other_units, 500),
    ("7: NaN and infinity never enter", nan_never_enters, 1000),
)


def main() -> int:
    """Print a table; 1 if anything was lost."""
    lost = 0
    print(f"{'promise':<42}{'tried':>8}{'held':>8}")
    for name, trial, n in TRIALS:
        held = 0
        for seed in range(n):
            try:
                trial(seed)
                held += 1
            except AssertionError as error:
                print(f"{name}, seed {seed}: {error}")
        lost += n - held
        print(f"{name:<42}{n:>8}{held:>8}", flush=True)
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main())
