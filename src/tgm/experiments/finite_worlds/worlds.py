"""The worlds of the study as data: the environment, how it is seen, and what is wanted there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.distributions import FloatArray
from tgm.envs import Maze, default_limit, load_maze
from tgm.envs.maze_env import DEFAULT_NOISE
from tgm.experiments.finite_worlds.environments import DeepSea, OneState
from tgm.experiments.finite_worlds.rules import (
    BLACKJACK_SHAPE,
    table_of_blackjack,
    table_of_deep_sea,
    table_of_maze,
    table_of_one_state,
    table_of_toy_text,
)
from tgm.experiments.finite_worlds.views import Digits, Noisy, Numbers, OneHot, Seen, View
from tgm.experiments.finite_worlds.wanted import Wanted
from tgm.experiments.finite_worlds.world import Scene, World
from tgm.experiments.harness.training import check_steps

UNLIMITED = 1000  # steps of a greedy episode in a world without a time limit
LAKE_LIMIT = 100  # steps of an episode in FrozenLake
MAZE_STEPS = 5000  # of training, in mazes
SLIPPERY_SHARE = 0.02  # of the best return, that a policy may lack where the mouse slips
MANY_EPISODES = 200  # sampled episodes of a check where chance makes the returns differ
OUTLIER_EPISODES = 100  # the same where there are outliers
OUTLIER_NOISE = 10.0 * DEFAULT_NOISE
R_MAX_EPISODES = {10: 34, 20: 66, 30: 101}  # of R-max that observes the cell
R_MAX_PER_ROW = 3.37  # episodes for each row of the picture: its mean, for other sizes
NOISE_ACTIONS = 4

LAVA_27 = Maze(
    "27 with lava",
    ("#######", "#....G#", "#.L...#", "#..L..#", "#...L.#", "#S....#", "#######"),
)

ViewOf = Callable[[Maze, np.random.Generator], View]


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


def _every(step: int, last: int) -> tuple[int, ...]:
    return tuple(range(step, last + 1, step))


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
    few, many = _every(500, 4000), _every(2500, 50_000)
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
        "cliff": World("CliffWalking, Discrete", cliff, _every(50, 1000), minus_13),
        "cliff-one-hot": World(
            "CliffWalking, one-hot", partial(cliff, view=OneHot((48,))), _every(50, 1000), minus_13
        ),
        "cliff-slippery": World(
            "CliffWalking, slippery, Discrete",
            partial(_toy_text, id="CliffWalkingSlippery-v1", limit=UNLIMITED),
            _every(1000, 20_000),
            Wanted(),
            solved_gap=0.0,
            solved_share=0.05,
        ),
        "taxi": World(
            "Taxi, Discrete",
            partial(_toy_text, id="Taxi-v4", limit=200),
            _every(500, 6000),
            taxi,
            solved_gap=0.43,
        ),
        "blackjack": World(
            "Blackjack, Tuple", _blackjack, _every(2500, 50_000), Wanted(), solved_gap=0.02
        ),
    }


# --- mazes ----------------------------------------------------------------------------------------


def _maze(seed: int, *, maze: Maze, slip: float, view_of: ViewOf) -> Scene:
    """A maze through a view that is drawn from the seed."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    index = {cell: number for number, cell in enumerate(maze.moves)}
    view = view_of(maze, rng)
    env = gym.make("tgm/Maze-v0", maze=maze, slip=slip)
    seen = Seen(env, view, lambda _, info: index[info["cell"]])
    return Scene(seen, table_of_maze(maze, slip, default_limit(maze)), view)


def _positions(
    maze: Maze,
    rng: np.random.Generator,
    *,
    noise: tuple[float, float] = (DEFAULT_NOISE, DEFAULT_NOISE),
    distractors: int = 0,
    outliers: float = 0.0,
) -> View:
    means = np.array(list(maze.moves), dtype=np.float64)
    view = Noisy(means, np.array(noise), outliers, OUTLIER_NOISE)
    return view.with_distractors(distractors)


def _codes(maze: Maze, rng: np.random.Generator, *, n_features: int, noise: float) -> View:
    means = rng.standard_normal((len(maze.moves), n_features))
    return Noisy(means, np.full(n_features, noise))


def _one_hot(
    maze: Maze, rng: np.random.Generator, *, noise: float = 0.05, distractors: int = 0
) -> View:
    n = len(maze.moves)
    return Noisy(np.eye(n), np.full(n, noise)).with_distractors(distractors)


def _maze_world(
    title: str,
    wanted: Wanted,
    view_of: ViewOf = _positions,
    *,
    maze: Maze | None = None,
    slip: float = 0.0,
    reference: str = "maze",
    episodes: int = 20,
) -> World:
    """Maze 27; with slip, chance makes the returns differ and 2 % of the best one may lack."""
    maze = load_maze("27") if maze is None else maze
    is_slippery = slip > 0.0
    return World(
        f"maze 27, {title}",
        partial(_maze, maze=maze, slip=slip, view_of=view_of),
        _every(250, MAZE_STEPS) if is_slippery else tuple(check_steps(MAZE_STEPS)),
        wanted,
        solved_gap=0.0 if is_slippery else 0.5,
        solved_share=SLIPPERY_SHARE if is_slippery else 0.0,
        must_end=not is_slippery,
        episodes=MANY_EPISODES if is_slippery else episodes,
        reference=reference,
    )


NEAR_OPTIMUM = Wanted(near=(MAZE_STEPS, SLIPPERY_SHARE))
EXACT = Wanted(is_exact=True)
EXACT_SOON = Wanted(is_exact=True, times_reference=1.5)
EXACT_SOON_FAST = Wanted(is_exact=True, times_reference=1.5, microseconds=300.0)
FEW_STATES = Wanted(states_per_true=1.2, gap=0.3)


def _slippery_mazes() -> dict[str, World]:
    worlds = {}
    for slip in (0.1, 0.2, 0.3):
        worlds[f"maze-slip-{slip}"] = _maze_world(
            f"slip {slip}", NEAR_OPTIMUM, slip=slip, reference=""
        )
        worlds[f"maze-slip-{slip}-lava"] = _maze_world(
            f"slip {slip}, lava", NEAR_OPTIMUM, maze=LAVA_27, slip=slip, reference=""
        )
    return worlds


def _views_of_mazes() -> dict[str, World]:
    worlds = {"maze": _maze_world("as it is", EXACT, reference="")}
    for n in (2, 8, 20):
        worlds[f"maze-distractors-{n}"] = _maze_world(
            f"{n} features of noise", EXACT_SOON, partial(_positions, distractors=n)
        )
    for n in (16, 64):
        for noise in (0.15, 0.05):
            worlds[f"maze-codes-{n}-noise-{noise}"] = _maze_world(
                f"codes of {n} features, noise {noise}",
                EXACT_SOON_FAST,
                partial(_codes, n_features=n, noise=noise),
            )
    worlds["maze-one-hot"] = _maze_world("one-hot, noise 0.05", EXACT, _one_hot)
    for share in (0.01, 0.05):
        worlds[f"maze-outliers-{share}"] = _maze_world(
            f"{share:.0%} outliers",
            FEW_STATES,
            partial(_positions, outliers=share),
            episodes=OUTLIER_EPISODES,
        )
    worlds["maze-axes"] = _maze_world(
        "noise 0.3 in x, 0.02 in y", EXACT, partial(_positions, noise=(0.3, 0.02))
    )
    return worlds


def _mixtures() -> dict[str, World]:
    slippery = "maze-slip-0.1"
    return {
        "mix-slip-distractors-outliers": _maze_world(
            "slip 0.1, 4 features of noise, 2% outliers",
            Wanted(near=(MAZE_STEPS, SLIPPERY_SHARE), states_per_true=1.2),
            partial(_positions, distractors=4, outliers=0.02),
            slip=0.1,
            reference=slippery,
        ),
        "mix-codes-slip": _maze_world(
            "codes of 16 features, noise 0.15, slip 0.1",
            Wanted(near=(MAZE_STEPS, SLIPPERY_SHARE), is_exact=True),
            partial(_codes, n_features=16, noise=0.15),
            slip=0.1,
            reference=slippery,
        ),
        "mix-one-hot-distractors": _maze_world(
            "one-hot, noise 0.05, 8 features of noise",
            EXACT_SOON,
            partial(_one_hot, distractors=8),
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
            _every(n, 3 * r_max * n),
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
            _every(steps // 20, steps),
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
    **_slippery_mazes(),
    **_views_of_mazes(),
    **_mixtures(),
    **_deep_seas(),
    **_noises(),
}
"""Every world of the study by its name."""
