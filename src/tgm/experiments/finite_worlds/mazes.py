"""Maze 27 seen in many ways: with slip, features of noise, codes, outliers, and mixtures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import gymnasium as gym
import numpy as np

from tgm.envs import Maze, default_limit, load_maze
from tgm.envs.maze_env import DEFAULT_NOISE
from tgm.experiments.finite_worlds.rules import table_of_maze
from tgm.experiments.finite_worlds.views import Noisy, Seen, View
from tgm.experiments.finite_worlds.wanted import Wanted
from tgm.experiments.finite_worlds.world import Scene, World, every
from tgm.experiments.harness.training import check_steps

MAZE_STEPS = 5000  # of training, in mazes
SLIPPERY_SHARE = 0.02  # of the best return, that a policy may lack where the mouse slips
MANY_EPISODES = 200  # sampled episodes of a check where chance makes the returns differ
OUTLIER_EPISODES = 100  # the same where there are outliers
OUTLIER_NOISE = 10.0 * DEFAULT_NOISE

LAVA_27 = Maze(
    "27 with lava",
    ("#######", "#....G#", "#.L...#", "#..L..#", "#...L.#", "#S....#", "#######"),
)

ViewOf = Callable[[Maze, np.random.Generator], View]


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
    unit: float = 1.0,
) -> View:
    means = np.array(list(maze.moves), dtype=np.float64)
    view = Noisy(means, np.array(noise), outliers, OUTLIER_NOISE)
    return view.with_distractors(distractors).in_unit(unit)


def _codes(maze: Maze, rng: np.random.Generator, *, n_features: int, noise: float) -> View:
    means = rng.standard_normal((len(maze.moves), n_features))
    return Noisy(means, np.full(n_features, noise))


def _one_hot(
    maze: Maze,
    rng: np.random.Generator,
    *,
    noise: float = 0.05,
    distractors: int = 0,
    outliers: float = 0.0,
) -> View:
    n = len(maze.moves)
    view = Noisy(np.eye(n), np.full(n, noise), outliers, OUTLIER_NOISE)
    return view.with_distractors(distractors)


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
        every(250, MAZE_STEPS) if is_slippery else tuple(check_steps(MAZE_STEPS)),
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
    return _slippery_mixtures() | {
        "mix-one-hot-distractors": _maze_world(
            "one-hot, noise 0.05, 8 features of noise",
            EXACT_SOON,
            partial(_one_hot, distractors=8),
        ),
        "mix-one-hot-outliers": _maze_world(
            "one-hot, noise 0.05, 2% outliers",
            FEW_STATES,
            partial(_one_hot, outliers=0.02),
            episodes=OUTLIER_EPISODES,
        ),
        "mix-axes-outliers": _maze_world(
            "noise 0.3 in x, 0.02 in y, 2% outliers",
            FEW_STATES,
            partial(_positions, noise=(0.3, 0.02), outliers=0.02),
            reference="maze-axes",
            episodes=OUTLIER_EPISODES,
        ),
    }


def _slippery_mixtures() -> dict[str, World]:
    few_near = Wanted(near=(MAZE_STEPS, SLIPPERY_SHARE), states_per_true=1.2)
    three = partial(_positions, distractors=4, outliers=0.02)
    return {
        "mix-slip-distractors-outliers": _maze_world(
            "slip 0.1, 4 features of noise, 2% outliers",
            few_near,
            three,
            slip=0.1,
            reference="maze-slip-0.1",
        ),
        "mix-unit-1000": _maze_world(
            "slip 0.1, 4 features of noise, 2% outliers, all times 1000",
            few_near,
            partial(three, unit=1000.0),
            slip=0.1,
            reference="maze-slip-0.1",
        ),
        "mix-hard": _maze_world(
            "slip 0.2, 8 features of noise, 5% outliers",
            few_near,
            partial(_positions, distractors=8, outliers=0.05),
            slip=0.2,
            reference="maze-slip-0.2",
        ),
        "mix-lava-distractors": _maze_world(
            "slip 0.1, lava, 8 features of noise",
            few_near,
            partial(_positions, distractors=8),
            maze=LAVA_27,
            slip=0.1,
            reference="maze-slip-0.1-lava",
        ),
        "mix-codes-slip": _maze_world(
            "codes of 16 features, noise 0.15, slip 0.1",
            Wanted(near=(MAZE_STEPS, SLIPPERY_SHARE), is_exact=True),
            partial(_codes, n_features=16, noise=0.15),
            slip=0.1,
            reference="maze-slip-0.1",
        ),
    }


MAZES: dict[str, World] = {**_slippery_mazes(), **_views_of_mazes(), **_mixtures()}
"""Every world of this module by its name."""
