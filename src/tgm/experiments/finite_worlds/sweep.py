"""Every world with every seed, and one run of the default agent in one of them."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tgm.agent import TGMAgent, TGMConfig
from tgm.distributions import IntArray
from tgm.envs.decision_table import DecisionTable, Judged
from tgm.errors import ConfigError
from tgm.experiments.finite_worlds.views import View
from tgm.experiments.finite_worlds.wanted import Check, WorldResult
from tgm.experiments.finite_worlds.world import Scene, World
from tgm.experiments.finite_worlds.worlds import WORLDS
from tgm.experiments.harness.study import Sweep
from tgm.experiments.harness.training import check_rng, solved_from

MOST_SECONDS = 600.0  # processor time of learning; a run that needs more is stopped
LOOKS = 25  # noisy observations of each true state, to see which state of the agent it is
FINAL_EPISODES = 200  # sampled at the last check, at least


@dataclass(frozen=True)
class FiniteTrial:
    """One run: the name of a world, and the seed of agent, environment and view."""

    world: str
    seed: int

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.world}, seed {self.seed}"


@dataclass(frozen=True, kw_only=True)
class FiniteSweep(Sweep[FiniteTrial]):
    """The default agent in finite worlds of every kind."""

    worlds: tuple[str, ...] = ()
    """Names of worlds, or patterns such as 'maze-*'; all by default. With names, the table is
    printed and no page is written."""

    extra: bool = False
    """Also run all sizes of deep sea (10, 12, ... 50) and 100,000 steps of noise."""

    update: bool = False
    """Change the page that is there: rows of the worlds that are run are written, others stay."""

    seeds: int = 10
    """Number of seeds."""

    first_seed: int = 0
    """The first of them."""

    page: Path = Path("docs/worlds.md")
    """The page to write."""

    def trials(self) -> list[FiniteTrial]:
        """Every world, and those that it is compared to, with every seed."""
        chosen = set(self._chosen())
        chosen |= {WORLDS[name].reference for name in chosen} - {""}
        return [
            FiniteTrial(name, seed)
            for name in WORLDS
            if name in chosen
            for seed in range(self.first_seed, self.first_seed + self.seeds)
        ]

    def _chosen(self) -> Iterator[str]:
        if not self.worlds:
            yield from (name for name, world in WORLDS.items() if self.extra or not world.is_extra)
        for pattern in self.worlds:
            found = fnmatch.filter(WORLDS, pattern)
            if not found:
                raise ConfigError(f"unknown world '{pattern}'; there are {', '.join(WORLDS)}")
            is_name = pattern in WORLDS
            yield from (
                name for name in found if is_name or self.extra or not WORLDS[name].is_extra
            )


def run(trial: FiniteTrial) -> WorldResult:
    """One run of the default agent; an exception becomes part of the result."""
    world = WORLDS[trial.world]
    scene = world.make(trial.seed)
    try:
        return live(world, scene, trial.seed)
    except Exception as error:
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return WorldResult(scene.table.best_return, len(scene.table.lived_in), error=text[:200])


def live(world: World, scene: Scene, seed: int) -> WorldResult:
    """Learn from check to check, and judge the greedy policy at each."""
    table, rng = scene.table, check_rng(seed)
    agent = TGMAgent(scene.env, TGMConfig(), seed=seed)
    enough = world.enough_return(table.best_return)
    checks: list[Check] = []
    seconds = 0.0
    for step in world.checks:
        began = time.process_time()
        agent.learn(step - agent.n_steps)
        seconds += time.process_time() - began
        is_last = step == world.checks[-1]
        episodes = max(world.episodes, FINAL_EPISODES) if is_last else world.episodes
        judged = judge(agent, table, scene.view, episodes, rng)
        has_ended = judged.always_ends or not world.must_end
        is_solved = has_ended and judged.mean_return >= enough
        checks.append(Check(step, judged.mean_return, is_solved, agent.n_states, round(seconds, 4)))
        if seconds > MOST_SECONDS:
            break
    is_whole = checks[-1].step == world.checks[-1]
    verdicts = [(check.step, check.is_solved) for check in checks]
    return WorldResult(
        table.best_return,
        len(table.lived_in),
        solved_from(verdicts) if is_whole else None,
        is_exact(agent, table, scene.view, rng),
        tuple(checks),
    )


def judge(
    agent: TGMAgent,
    table: DecisionTable,
    view: View,
    n_episodes: int,
    rng: np.random.Generator,
) -> Judged:
    """The greedy policy: exactly where each state is seen in one way, else by episodes."""
    if not view.is_noisy:
        return table.judge(lambda states: _greedy(agent, view.observe(states, rng), None)[0])
    contexts: dict[int, Any] = {}  # of the episodes that go on

    def choose(states: IntArray, playing: IntArray) -> IntArray:
        nonlocal contexts
        before = [contexts[number] for number in playing.tolist()] if contexts else None
        actions, after = _greedy(agent, view.observe(states, rng), before)
        contexts = dict(zip(playing.tolist(), after, strict=True))
        return np.asarray(actions)

    return table.sample(choose, n_episodes, rng)


def is_exact(agent: TGMAgent, table: DecisionTable, view: View, rng: np.random.Generator) -> bool:
    """Whether each true state has a state of its own, and there are no others.

    The state of a true state is the one that most observations of it are taken for.
    """
    if agent.n_states != len(table.lived_in):
        return False
    looks = LOOKS if view.is_noisy else 1
    owners = set()
    for state in table.lived_in.tolist():
        batch = view.observe(np.full(looks, state), rng)
        taken = [int(agent.belief(_row(batch, look)).argmax()) for look in range(looks)]
        owners.add(int(np.bincount(taken).argmax()))
    return len(owners) == len(table.lived_in)


def _greedy(agent: TGMAgent, observations: Any, memory: Any) -> tuple[Any, Any]:
    return agent.predict(observations, memory, deterministic=True)


def _row(batch: Any, index: int) -> Any:
    """One observation of a batch."""
    return tuple(part[index] for part in batch) if isinstance(batch, tuple) else batch[index]
