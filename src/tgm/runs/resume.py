"""Going on with a run that was stopped, as if it had never been."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym

from tgm.agent import EpisodeInfo, TGMAgent, TGMConfig
from tgm.agent.model_file import read_model
from tgm.envs import EnvSpec, make_env
from tgm.errors import RunError, TGMError
from tgm.files.reading import Identity, identity
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
from tgm.runs.unrecorded import UnrecordedChanges

OURS = ("tgm", "tgm-paper")
NO_CHECKPOINT = "has no checkpoint; it begins again at step 0"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint as it was read: what a recorder needs to go on from it, besides the agent.

    Attributes:
        notes: those of the recorder that wrote it.
        chunk: of the history, as it was then.
        files: the files that this was read from, each with its identity before it was read.
    """

    notes: dict[str, Any]
    chunk: Chunk
    files: dict[Path, Identity]


@dataclass(frozen=True, eq=False)
class Resumed:
    """What `resume` read of a run. `open_run` uses it, so that no file is read twice.

    Attributes:
        run: the run.
        checkpoint: where the agent comes from; None if the run begins again at step 0.
        n_steps, n_episodes: of the agent then.
    """

    run: Run
    checkpoint: Checkpoint | None
    n_steps: int
    n_episodes: int

    def is_current(self, agent: TGMAgent, folder: Path) -> bool:
        """Whether agent and files are still as they were, and `folder` is the run."""
        files = {} if self.checkpoint is None else self.checkpoint.files
        return (
            (agent.n_steps, agent.n_episodes) == (self.n_steps, self.n_episodes)
            and self.run.folder.resolve() == folder.resolve()
            and self.run.is_current
            and all(identity(path) == before for path, before in files.items())
        )


_resumed: weakref.WeakKeyDictionary[TGMAgent, Resumed] = weakref.WeakKeyDictionary()


def resume(
    folder: str | Path | Run, env: gym.Env[Any, Any] | None = None
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
    run = folder if isinstance(folder, Run) else Run.open(folder)
    if run.metadata["agent"] not in OURS:
        raise RunError(f"{run.folder}: a run of '{run.metadata['agent']}' cannot be resumed")
    check_is_free(run)
    env = make_env(run.world) if env is None else env
    troubles = check_world(run, EnvSpec.of(env)) + other_versions(run, env)
    unread: list[str] = []
    for step, path in reversed(run.checkpoints()):
        try:
            agent, checkpoint = _load(run, step, path, env)
        except TGMError as error:
            unread.append(f"{error}")
            continue
        _resumed[agent] = Resumed(run, checkpoint, agent.n_steps, agent.n_episodes)
        troubles += [f"{reason}; going on from an earlier checkpoint" for reason in unread]
        return agent, (*troubles, *_broken_off(run, checkpoint.notes, agent))
    if unread:  # nothing that is recorded is given up for a new beginning
        raise RunError(f"no checkpoint can be read ({'; '.join(unread)}); begin a new run")
    agent = _new_agent(run, env)
    _resumed[agent] = Resumed(run, None, agent.n_steps, agent.n_episodes)
    return agent, (*troubles, f"{run.folder}: {NO_CHECKPOINT}")


def _load(run: Run, step: int, path: Path, env: gym.Env[Any, Any]) -> tuple[TGMAgent, Checkpoint]:
    before = identity(path)
    agent, notes = TGMAgent.load_with_notes(path, env)
    if agent.n_steps != step:
        raise RunError(f"{path}: holds an agent at step {str(agent.n_steps)[:40]}, not {step}")
    return agent, _with_chunk(run, path, before, notes)


def _new_agent(run: Run, env: gym.Env[Any, Any]) -> TGMAgent:
    try:
        config = TGMConfig.from_dict(run.metadata["config"])
        return TGMAgent(env, config, seed=run.metadata["seed"])
    except (TGMError, TypeError) as error:
        raise RunError(f"{run.folder}: its settings do not fit this version ({error})") from None


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
        agent: the one that will learn.
        folder: the run.
        n_steps: how many steps are planned in all; not fewer than are recorded.
        checkpoint_seconds: least time between two checkpoints.
        may_begin_again: whether a finished run without a checkpoint, being too short for one, may
            be done again from its first step.
    """
    if not folder.exists():
        return RunRecorder.begin(agent, folder, n_steps, checkpoint_seconds=checkpoint_seconds)
    resumed = _resumed.get(agent)
    if resumed is not None and not resumed.is_current(agent, folder):
        resumed = None
    run = _opened(folder) if resumed is None else resumed.run
    check_is_free(run)
    _check_is_run_of(run, agent)
    if agent.n_steps == 0 and not run.checkpoints():
        if run.status().state == "finished" and not (may_begin_again or resumed is not None):
            raise _exists(folder)
        check_is_new(agent, folder)
        checkpoint = None
    elif resumed is not None and resumed.checkpoint is not None:
        checkpoint = resumed.checkpoint
    else:
        checkpoint = _checkpoint_of(run, agent)
    check_steps(run, n_steps)
    for step, file in run.checkpoints():
        if step > agent.n_steps:  # it was found unreadable, or it would not have been passed over
            _remove(file)
    notes, chunk = (None, None) if checkpoint is None else (checkpoint.notes, checkpoint.chunk)
    recorder = RunRecorder.resume(agent, folder, notes, chunk, checkpoint_seconds)
    _resumed.pop(agent, None)  # the agent will live on, and the chunk takes memory
    return recorder


def _opened(folder: Path) -> Run:
    try:
        return Run.open(folder)
    except RunError:
        raise _exists(folder) from None


def _exists(folder: Path) -> RunError:
    return RunError(f"{folder}: exists already; choose another directory")


def _check_is_run_of(run: Run, agent: TGMAgent) -> None:
    """RunError if the run has another seed, other settings or another world than the agent."""
    other = setting_differences(run, agent.seed, agent.config.to_dict())
    if other:
        raise RunError(
            f"{run.folder}: is the run of another agent ({'; '.join(other)}); choose another "
            "directory"
        )
    if agent.env is not None:
        check_world(run, EnvSpec.of(agent.env))


def _checkpoint_of(run: Run, agent: TGMAgent) -> Checkpoint:
    """The checkpoint that an agent comes from, which was not made by `resume`."""
    for step, path in run.checkpoints():
        if step == agent.n_steps and agent.is_between_episodes:
            before = identity(path)
            metadata = read_model(path)[1]
            if metadata.get("n_episodes") != agent.n_episodes:
                raise RunError(
                    f"{run.folder}: the agent has begun {agent.n_episodes} episodes, its newest "
                    f"checkpoint {metadata.get('n_episodes')}: one was broken off in between; "
                    "tgm.runs.resume(folder) gives an agent that can go on"
                )
            return _with_chunk(run, path, before, metadata.get("notes"))
    raise RunError(
        f"{run.folder}: exists already, and the agent at step {agent.n_steps} does not come from "
        "one of its checkpoints; tgm.runs.resume(folder) gives one that does"
    )


def _with_chunk(run: Run, path: Path, before: Identity, notes: object) -> Checkpoint:
    """The checkpoint at `path` with the chunk that its notes name; both are checked."""
    checked = _checked_notes(path, notes)
    chunk_path = run.chunk_path(checked["chunk"])
    files = {path: before, chunk_path: identity(chunk_path)}
    chunk = run.chunk_file(checked["chunk"])
    return Checkpoint(checked, chunk.cut(checked["n_observations"], checked["n_frames"]), files)


COUNTS = ("metrics_bytes", "chunk", "n_observations", "n_frames", "n_forgotten", "recorded_at")
NOTES: dict[str, Any] = {
    "moves": list,
    "episodes": list,
    "terms": dict,
    "returns": list,
    "unrecorded": dict,
    "not_in_metrics": dict | None,
}
LEARN_INFO: dict[str, Any] = {
    "n_forgotten": int,
    "free_energy": int | float,
    "free_energy_terms": dict,
    "free_energy_path": list,
    "moves": list,
}


def _checked_notes(path: Path, notes: object) -> dict[str, Any]:
    """The notes of a recorder in a checkpoint, checked."""
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
        _ = [EpisodeInfo.from_dict(saved) for saved in notes["episodes"]]
        _ = [EpisodeInfo.from_dict(saved) for saved in notes.get("broken_off", [])]
        UnrecordedChanges.from_dict(notes["unrecorded"])
    except (TGMError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{path}: its notes do not fit ({error})") from None
    learn_info = notes["not_in_metrics"]
    if learn_info is not None:
        _check_kinds(path, learn_info, LEARN_INFO)
        if learn_info.keys() != LEARN_INFO.keys() or learn_info["moves"]:
            raise RunError(f"{path}: its note 'not_in_metrics' is no record of a learning step")
    return notes


def _check_kinds(path: Path, notes: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name, kind in wanted.items():
        if not isinstance(notes.get(name), kind):
            raise RunError(f"{path}: its note '{name}' is {notes.get(name)!r:.100}")


def _broken_off(run: Run, notes: dict[str, Any], agent: TGMAgent) -> list[str]:
    """A line if the checkpoint lies within an episode."""
    episodes = [saved["episode"] for saved in notes.get("broken_off", [])]
    if agent.n_episodes not in episodes:
        return []
    return [
        f"{run.folder}: the checkpoint of step {agent.n_steps} lies within episode "
        f"{agent.n_episodes}; the state of an environment cannot be saved, so a new episode "
        "begins there"
    ]


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{file}: cannot be removed ({error.strerror})") from None
