"""The worlds of the study as data: the environment, how it is seen, and what is wanted there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray
from tgm.experiments.finite_worlds.environments import DeepSea, OneState
from tgm.experiments.finite_worlds.mazes import MANY_EPISODES, MAZES
from tgm.experiments.finite_worlds.rules import (
    BLACKJACK_SHAPE,
    table_of_blackjack,
    table_of_deep_sea,
    table_of_one_state,
    table_of_toy_text,
)
from tgm.experiments.finite_worlds.views import Digits, Noisy, Numbers, OneHot, Seen, View
from tgm.experiments.finite_worlds.wanted import Wanted
from tgm.experiments.finite_worlds.world import Scene, World, every

UNLIMITED = 1000  # steps of a greedy episode in a world without a time limit
LAKE_LIMIT = 100  # steps of an episode in FrozenLake
R_MAX_EPISODES = {10: 34, 20: 66, 30: 101}  # of R-max that observes the cell
R_MAX_PER_ROW = 3.37  # episodes for each row of the picture: its mean, for other sizes
NOISE_ACTIONS = 4


# --- toy text -------------------------------------------------------------------------------------


def _state_of_toy_text(env: gym.Env[Any, Any], info: dict[str, Any]) -> int:
    inner: Any = env.unwrapped
    return int(inner.s)


def _toy_text(seed: int, *, id: str, limit: int, view: View | None = None, **options: Any) -> Scene:
    """A toy text as it is, or through a view."""
    env = gym.make(id, **options)
    table = table_of_toy_text(env, limit)
    if view is None:
        return Scene(env, table, Numbers(len(table.starts)))
    return Scene(Seen(env, view, _state_of_toy_text), table, view)


def _blackjack(seed: int) -> Scene:
    return Scene(gym.make("Blackjack-v1"), table_of_blackjack(), Digits(BLACKJACK_SHAPE))


def _grid_means(n: int) -> FloatArray:
    """(n * n, 2) row and column of each state of a square lake."""
    return np.array([(row, column) for row in range(n) for column in range(n)], dtype=np.float64)


def _lakes() -> dict[str, World]:
    def lake(size: int, title: str, checks: Sequence[int], wanted: Wanted, **more: Any) -> World:
        make = partial(
            _toy_text,
            id="FrozenLake-v1",
            limit=LAKE_LIMIT,
            map_name=f"{size}x{size}",
            is_slippery=True,
            max_episode_steps=LAKE_LIMIT,
            **more,
        )
        name = f"FrozenLake {size}x{size}, slippery, {title}"
        return World(name, make, tuple(checks), wanted, solved_gap=0.0, solved_share=0.055)

    small = Wanted(returns=((4000, 0.70),))
    large = Wanted(returns=((20_000, 0.58), (50_000, 0.61)))
    few, many = every(500, 4000), every(2500, 50_000)
    noisy = Noisy(_grid_means(4), np.full(2, 0.1))
    return {
        "lake-4x4": lake(4, "Discrete", few, small),
        "lake-4x4-one-hot": lake(4, "one-hot", few, small, view=OneHot((16,))),
        "lake-4x4-position": replace(
            lake(4, "row and column, noise 0.1", few, small, view=noisy), episodes=MANY_EPISODES
        ),
        "lake-8x8": lake(8, "Discrete", many, large),
        "lake-8x8-one-hot": lake(8, "one-hot", many, large, view=OneHot((64,))),
    }


def _other_toy_texts() -> dict[str, World]:
    cliff = partial(_toy_text, id="CliffWalking-v1", limit=UNLIMITED)
    minus_13 = Wanted(returns=((1000, -13.0),))
    taxi = Wanted(returns=((6000, 7.5),), microseconds=500.0)
    return {
        "cliff": World("CliffWalking, Discrete", cliff, every(50, 1000), minus_13),
        "cliff-one-hot": World(
            "CliffWalking, one-hot", partial(cliff, view=OneHot((48,))), every(50, 1000), minus_13
        ),
        "cliff-slippery": World(
            "CliffWalking, slippery, Discrete",
            partial(_toy_text, id="CliffWalkingSlippery-v1", limit=UNLIMITED),
            every(1000, 20_000),
            Wanted(),
            solved_gap=0.0,
            solved_share=0.05,
        ),
        "taxi": World(
            "Taxi, Discrete",
            partial(_toy_text, id="Taxi-v4", limit=200),
            every(500, 6000),
            taxi,
            solved_gap=0.43,
        ),
        "blackjack": World(
            "Blackjack, Tuple", _blackjack, every(2500, 50_000), Wanted(), solved_gap=0.02
        ),
    }


# --- deep sea and noise ---------------------------------------------------------------------------


def _deep_sea(seed: int, *, n: int) -> Scene:
    env = DeepSea(n, mapping_seed=seed)
    return Scene(env, table_of_deep_sea(env.right), OneHot((n, n)))


def _deep_seas() -> dict[str, World]:
    worlds = {}
    for n in range(10, 51, 2):
        r_max = R_MAX_EPISODES.get(n, round(R_MAX_PER_ROW * n))
        worlds[f"deep-sea-{n}"] = World(
            f"deep sea {n} x {n}",
            partial(_deep_sea, n=n),
            every(n, 3 * r_max * n),
            Wanted(solved_by=2 * r_max * n, solved_by_text=f"{2 * r_max} episodes"),
            solved_gap=0.005,
            must_end=True,
            episode_length=n,
            is_extra=n not in R_MAX_EPISODES,
        )
    return worlds


def _noise(seed: int, *, n_features: int) -> Scene:
    view = Noisy(np.zeros((1, n_features)), np.ones(n_features))
    env = gym.wrappers.TimeLimit(OneState(NOISE_ACTIONS), LAKE_LIMIT)
    table = table_of_one_state(NOISE_ACTIONS, LAKE_LIMIT)
    return Scene(Seen(env, view, lambda *_: 0), table, view)


def _noises() -> dict[str, World]:
    return {
        f"noise-{n}{name}": World(
            f"N(0, 1) in {n} dimensions, {steps:,} steps",
            partial(_noise, n_features=n),
            every(steps // 20, steps),
            Wanted(is_bounded=True),
            solved_gap=None,
            episodes=1,
            is_extra=bool(name),
        )
        for name, steps in (("", 20_000), ("-long", 100_000))
        for n in (1, 2, 8)
    }


WORLDS: dict[str, World] = {
    **_lakes(),
    **_other_toy_texts(),
    **MAZES,
    **_deep_seas(),
    **_noises(),
}
"""Every world of the study by its name."""
