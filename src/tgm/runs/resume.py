"""Going on with a run that was stopped, as if it had never been."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import gymnasium as gym

from tgm.agent import EpisodeInfo, TGMAgent, TGMConfig
from tgm.agent.model_file import MODEL_FORMAT, read_arrays
from tgm.envs import EnvSpec, make_env
from tgm.errors import RunError, TGMError
from tgm.runs.admission import (
    check_is_free,
    check_is_new,
    check_steps,
    check_world,
    other_versions,
    setting_differences,
)
from tgm.runs.chunk import Chunk
from tgm.runs.reader import Run
from tgm.runs.recorder import RunRecorder
from tgm.runs.timing import CHECKPOINT_SECONDS

OURS = ("tgm", "tgm-paper")
# Agents that `resume` made for a run that was too short for a checkpoint, and those runs.
_begins_again: weakref.WeakKeyDictionary[TGMAgent, Path] = weakref.WeakKeyDictionary()

NO_CHECKPOINT = "has no checkpoint; it begins again at step 0"


def resume(
    folder: str | Path, env: gym.Env[Any, Any] | None = None
) -> tuple[TGMAgent, tuple[str, ...]]:
    """The agent of a run as it was at the newest checkpoint that can be read.

    `agent.learn(n_steps, run_dir=folder)` goes on with the run from there, to the bit.

    Args:
        folder: the run.
        env: its environment; made as it was if not given.

    Returns:
        the agent, and a line for each thing to know: a checkpoint that had to be passed over or
        lies within an episode, that there is none, other versions of packages. If there are
        checkpoints and none can be read, a RunError says why.
    """
    run = Run.open(Path(folder))
    if run.facts["agent"] not in OURS:
        raise RunError(f"{folder}: a run of '{run.facts['agent']}' cannot be resumed")
    check_is_free(run)
    env = make_env(run.world) if env is None else env
    troubles = check_world(run, EnvSpec.of(env)) + other_versions(run, env)
    unread: list[str] = []
    for _, path in reversed(run.checkpoints()):
        try:
            agent = TGMAgent.load(path, env=env)
            notes = _notes(path, agent)
            _chunk_of(run, notes)
            troubles += [f"{reason}; going on from an earlier checkpoint" for reason in unread]
            return agent, (*troubles, *_broken_off(run, notes, agent))
        except TGMError as error:
            unread.append(f"{error}")
    if unread:  # nothing that is recorded is given up for a new beginning
        raise RunError(f"no checkpoint can be read ({'; '.join(unread)}); begin a new run")
    troubles.append(f"{folder}: {NO_CHECKPOINT}")
    try:
        config = TGMConfig.from_dict(run.facts["config"])
        agent = TGMAgent(env, config, seed=run.facts["seed"])
        _begins_again[agent] = run.folder.resolve()
        return agent, tuple(troubles)
    except (TGMError, TypeError) as error:
        raise RunError(f"{folder}: its settings do not fit this version ({error})") from None


def open_run(
    agent: TGMAgent,
    folder: Path,
    n_steps: int,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    *,
    may_begin_again: bool = False,
) -> RunRecorder:
    """A recorder for the next steps of an agent: of a new run, or of one it was resumed from.

    Args:
        agent: who will learn.
        folder: the run.
        n_steps: how many steps are planned in all; not fewer than are recorded.
        checkpoint_seconds: least time between two checkpoints.
        may_begin_again: whether a finished run without a checkpoint, being too short for one, may
            be done again from its first step.
    """
    if not folder.exists():
        return RunRecorder.begin(agent, folder, n_steps, checkpoint_seconds=checkpoint_seconds)
    try:
        run = Run.open(folder)
    except RunError:
        raise RunError(f"{folder}: exists already; choose another directory") from None
    check_is_free(run)
    other = setting_differences(run, agent.seed, agent.config.to_dict())
    if other:
        raise RunError(
            f"{folder}: is the run of another agent ({'; '.join(other)}); choose another directory"
        )
    if agent.env is not None:
        check_world(run, EnvSpec.of(agent.env))
    if agent.n_steps == 0 and not run.checkpoints():
        is_asked_to = may_begin_again or _begins_again.get(agent) == folder.resolve()
        if run.status().state == "finished" and not is_asked_to:
            raise RunError(f"{folder}: exists already; choose another directory")
        check_is_new(agent, folder)
        check_steps(run, n_steps)
        return RunRecorder.resume(agent, folder, None, None, checkpoint_seconds)
    for step, path in run.checkpoints():
        if step == agent.n_steps and agent.is_between_episodes:
            notes = _notes(path, agent)
            chunk = _chunk_of(run, notes)
            check_steps(run, n_steps)
            for later, file in run.checkpoints():
                if later > step:  # it was found unreadable, or it would not have been passed over
                    _remove(file)
            return RunRecorder.resume(agent, folder, notes, chunk, checkpoint_seconds)
    raise RunError(
        f"{folder}: exists already, and the agent at step {agent.n_steps} does not come from one "
        "of its checkpoints; tgm.runs.resume(folder) gives one that does"
    )


COUNTS = ("metrics_bytes", "chunk", "n_observations", "n_frames", "n_forgotten", "recorded_at")
NOTES: dict[str, Any] = {
    "moves": list,
    "episodes": list,
    "terms": dict,
    "returns": list,
    "all_told": bool,
    "untold": dict | None,
}
LESSON: dict[str, Any] = {
    "n_forgotten": int,
    "free_energy": int | float,
    "free_energy_terms": dict,
    "free_energy_path": list,
    "moves": list,
}


def _notes(path: Path, agent: TGMAgent) -> dict[str, Any]:
    """What a checkpoint of the agent tells the recorder, checked."""
    facts = read_arrays(path, MODEL_FORMAT)[1]
    notes = facts.get("notes")
    if facts.get("n_episodes") != agent.n_episodes:
        raise RunError(
            f"{path.parent.parent}: the agent has begun {agent.n_episodes} episodes, its newest "
            f"checkpoint {facts.get('n_episodes')}: one was broken off in between; "
            "tgm.runs.resume(folder) gives an agent that can go on"
        )
    if not isinstance(notes, dict):
        raise RunError(f"{path}: not a checkpoint")
    for name in COUNTS:
        value = notes.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise RunError(f"{path}: its note '{name}' is {value!r}")
    _check_kinds(path, notes, NOTES)
    if not all(isinstance(value, int | float) for value in notes["returns"]):
        raise RunError(f"{path}: its note 'returns' holds more than numbers")
    try:
        _ = [EpisodeInfo.from_dict(told) for told in notes["episodes"]]
        _ = [EpisodeInfo.from_dict(told) for told in notes.get("broken_off", [])]
    except TGMError as error:
        raise RunError(f"{path}: {error}") from None
    untold = notes["untold"]
    if untold is not None:
        _check_kinds(path, untold, LESSON)
        if untold.keys() != LESSON.keys() or untold["moves"]:
            raise RunError(f"{path}: its note 'untold' is no lesson")
    return notes


def _check_kinds(path: Path, notes: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, kind in wanted.items():
        if not isinstance(notes.get(name), kind):
            raise RunError(f"{path}: its note '{name}' is {notes.get(name)!r:.100}")


def _broken_off(run: Run, notes: dict[str, Any], agent: TGMAgent) -> list[str]:
    """A line if the checkpoint lies within an episode."""
    episodes = [told["episode"] for told in notes.get("broken_off", [])]
    if agent.n_episodes not in episodes:
        return []
    return [
        f"{run.folder}: the checkpoint of step {agent.n_steps} lies within episode "
        f"{agent.n_episodes}; the state of an environment cannot be saved, so a new episode "
        "begins there"
    ]


def _chunk_of(run: Run, notes: dict[str, Any]) -> Chunk:
    return run.chunk_file(notes["chunk"]).cut(notes["n_observations"], notes["n_frames"])


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{file}: cannot be removed ({error.strerror})") from None
