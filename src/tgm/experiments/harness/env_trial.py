"""One trial in any environment: an agent is trained in it and evaluated on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

from tgm.agent import TGMAgent
from tgm.envs import EnvFacts, EnvSpec, facts_of_env, make_env
from tgm.envs.decision_table import DecisionTable
from tgm.envs.registry import registered_env
from tgm.experiments.baselines import make_agent
from tgm.experiments.baselines.recording import EpisodeRecorder
from tgm.experiments.evaluation import Evaluation, Policy, evaluate_copies
from tgm.experiments.harness.agent import Agent, InPieces
from tgm.experiments.harness.plain import as_folder
from tgm.experiments.harness.training import CHECK_STREAM, EPISODES, Look, train_and_look
from tgm.experiments.harness.trial import ONE_AT_A_TIME, TrialResult, in_record, result_of

CHECKS = 20  # of a trial, if the user does not say how far they are apart
AT_RANDOM = ("random",)  # agents whose greedy policy is no function of the state


@dataclass(frozen=True)
class EnvTrial:
    """What is to be run.

    Attributes:
        env: id of a registered environment.
        agent: its name, see `baselines.AGENTS`.
        seed: everything random follows from it.
        steps: steps of training.
        options: arguments of the environment, as JSON.
        module: the module that registers it, as the user named it; "" if none.
        check_every: steps between checks; None: twenty checks.
        solved_return: mean return from which on it counts as solved; None: what the environment
            itself says.
    """

    env: str
    agent: str
    seed: int
    steps: int
    options: str = "{}"
    module: str = ""
    check_every: int | None = None
    solved_return: float | None = None

    @classmethod
    def of(cls, spec: EnvSpec, agent: str, seed: int, steps: int, **more: Any) -> EnvTrial:
        """A trial in the environment of a spec; `more`: check_every, solved_return."""
        options = json.dumps(spec.options, sort_keys=True)
        return cls(spec.id, agent, seed, steps, options, spec.module, **more)

    @property
    def world(self) -> str:
        """The environment with its arguments."""
        return world_name(self.env, json.loads(self.options))

    @property
    def name(self) -> str:
        """For people: environment, agent, seed."""
        return f"{self.world}, {self.agent}, seed {self.seed}"

    @property
    def folder_name(self) -> str:
        """Environment, agent, seed and steps as the name of a folder."""
        return f"{as_folder(self.world)}-{self.agent}-seed-{self.seed}-steps-{self.steps}"

    @property
    def spec(self) -> EnvSpec:
        """The environment as the user named it."""
        named = f"{self.module}:{self.env}" if self.module else self.env
        return registered_env(named, json.loads(self.options))

    def checks(self) -> list[int]:
        """The steps at which the agent is evaluated; the last step is always one of them."""
        every = max(1, self.steps // CHECKS) if self.check_every is None else self.check_every
        return sorted({*range(every, self.steps + 1, every), self.steps})


def world_name(env_id: str, options: dict[str, Any]) -> str:
    """An environment with its arguments, for people.

    >>> world_name("FrozenLake-v1", {"map_name": "8x8", "is_slippery": False})
    'FrozenLake-v1 map_name=8x8 is_slippery=false'
    """
    words = (
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in options.items()
    )
    return " ".join([env_id, *words])


@dataclass(frozen=True)
class EnvResult(TrialResult):
    """The measures of a trial in any environment.

    Attributes:
        optimal_return: best return of an episode, where the environment's rules are open.
        solved_return: mean return that counts as solved; None: nothing is known.
        max_episode_steps: steps after which an episode is cut off; None: never.
        true_states: states in which something is to be chosen, where the rules are open.
    """

    optimal_return: float | None = None
    solved_return: float | None = None
    max_episode_steps: int | None = None
    true_states: int | None = None


def run_env_trial(trial: EnvTrial, record: Path | None = None) -> EnvResult:
    """Run one trial; the result depends on nothing but the trial, its seconds apart.

    Args:
        trial: what to run.
        record: a folder in which to leave a run directory; its cost is part of the seconds.
    """
    with ONE_AT_A_TIME:
        return _run(trial, record)


def _run(trial: EnvTrial, folder: Path | None) -> EnvResult:
    spec = trial.spec
    env = make_env(spec)
    facts = facts_of_env(env)
    if trial.solved_return is not None:
        facts = replace(facts, solved_return=trial.solved_return)
    recorder = EpisodeRecorder(env, trial.seed)

    def make_copy() -> gym.Env[Any, Any]:
        return EpisodeRecorder(make_env(spec), trial.seed, recorder)

    agent = make_agent(trial.agent, recorder, trial.seed, make_copy=make_copy)
    look = judge_of(facts, lambda: make_env(spec), trial.seed, exactly=trial.agent not in AT_RANDOM)
    world = EnvSpec.of(env, spec.module)

    def live(after_check: Callable[[int], object]) -> TrialResult:
        run = train_and_look(agent, look, trial.checks(), after_check)
        return result_of(run, agent, recorder)

    result = in_record(folder, trial, agent, recorder, world, live, facts.optimal_return)
    return EnvResult(
        **{**vars(result), "is_exact": _is_exact(agent, facts.table)},
        optimal_return=facts.optimal_return,
        solved_return=facts.solved_return,
        max_episode_steps=None if env.spec is None else env.spec.max_episode_steps,
        true_states=None if facts.table is None else len(facts.table.lived_in),
    )


def judge_of(
    facts: EnvFacts, make: Callable[[], gym.Env[Any, Any]], seed: int, *, exactly: bool = True
) -> Look:
    """The look at a check: from an agent to its mean greedy return, and whether that solves it.

    Where the rules are open and a policy is a function of the state, the return is exact.
    Otherwise it is the mean of 20 episodes, each check with new ones, the same for every agent.
    """
    copies: list[gym.Env[Any, Any]] = []
    n_checks = 0

    def look(agent: Agent) -> tuple[float, bool]:
        nonlocal n_checks
        n_checks += 1
        if facts.table is not None and exactly:
            judged = facts.table.judge(_greedy(agent))
            ends: tuple[bool, ...] = (judged.always_ends,)
            return judged.mean_return, bool(facts.is_solved(judged.mean_return, ends))
        if not copies:
            copies.extend(make() for _ in range(EPISODES))
        seeds = np.random.SeedSequence(seed, spawn_key=(CHECK_STREAM, n_checks)).spawn(EPISODES)
        found: Evaluation = evaluate_copies(agent, copies, seeds)
        return found.mean_return, bool(facts.is_solved(found.mean_return, found.terminated))

    return look


def _greedy(policy: Policy) -> Callable[[Any], Any]:
    return lambda states: policy.predict(states, deterministic=True)[0]


def _is_exact(agent: Agent, table: DecisionTable | None) -> bool | None:
    """Whether each true state has a state of its own, and there are no others; None: not known."""
    is_ours = isinstance(agent, InPieces) and isinstance(agent.agent, TGMAgent)
    if table is None or not is_ours:
        return None
    assert isinstance(agent, InPieces)
    learned = agent.agent
    assert isinstance(learned, TGMAgent)
    if learned.n_states != len(table.lived_in):
        return False
    owners = {int(learned.belief(state).argmax()) for state in table.lived_in.tolist()}
    return len(owners) == len(table.lived_in)
