"""Records a log beside the agent that was fitted to it, as a run that viewers open."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tgm.agent import EpisodeInfo, TGMAgent
from tgm.agent.recording import GOES_ON, NO_ACTION, TERMINATED, TRUNCATED
from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.learners.learner import LearnInfo
from tgm.learners.step_info import StepInfo
from tgm.perception.observation_model import StateId
from tgm.runs.recorder import RunRecorder


@dataclass(frozen=True, eq=False)
class LoggedRows:
    """Rows of a log, episode after episode.

    Attributes:
        points: (n_rows, n_features) observations without missing values.
        actions: (n_rows,) index of the action from each row; of the last of an episode not used.
        rewards: (n_rows,) of the step from each row, 0 where it is not known or none was taken.
        lengths: (n_episodes,) rows of each.
        terminated: (n_episodes,) whether each ended by itself.
        states: (n_rows,) index of the state of each row in the agent.
        log_densities: (n_rows,) of each row.
    """

    points: FloatArray
    actions: IntArray
    rewards: FloatArray
    lengths: IntArray
    terminated: BoolArray
    states: IntArray
    log_densities: FloatArray

    @property
    def n_steps(self) -> int:
        """Steps from row to row."""
        return int((self.lengths - 1).sum())


def record_log(agent: TGMAgent, rows: LoggedRows, path: Path, free_energy: float) -> None:
    """Write a run directory of an agent that was fitted to `rows`; it learns nothing more.

    The agent's counts of steps and episodes become those of the log.

    Args:
        agent: fitted, without steps of its own.
        rows: what it was fitted to.
        path: the directory; refused if it exists.
        free_energy: of the fit.
    """
    recorder = RunRecorder.begin(agent, path, max(1, rows.n_steps))
    agent.learn_info = LearnInfo(0, free_energy, {}, (), ())
    try:
        first = 0
        for episode, length in enumerate(rows.lengths.tolist()):
            _record_episode(agent, recorder, rows, episode, first, first + length)
            first += length
        agent.learn_info = (
            agent.learn_info._replace()
        )  # a new one, so that the last episodes are recorded
    except BaseException as error:
        recorder.close("failed", str(error))
        raise
    recorder.close("finished")


def _record_episode(
    agent: TGMAgent, recorder: RunRecorder, rows: LoggedRows, episode: int, first: int, stop: int
) -> None:
    ids, total = agent.state_ids.tolist(), 0.0
    has_ended = bool(rows.terminated[episode])
    agent.n_episodes += 1
    for row in range(first, stop):
        action, reward, end = NO_ACTION, 0.0, GOES_ON
        if row > first:
            action, reward = int(rows.actions[row - 1]), float(rows.rewards[row - 1])
            agent.n_steps += 1
            total += reward
            if row == stop - 1:
                end = TERMINATED if has_ended else TRUNCATED
        state = StateId(ids[int(rows.states[row])])
        info = StepInfo(state, float(rows.log_densities[row]), belief=((state, 1.0),))
        recorder.observed(np.ascontiguousarray(rows.points[row]), action, reward, end, info)
        if row == stop - 1 and stop - first > 1:
            total += float(rows.rewards[row])  # of a step of which is not known where it led
            ended = EpisodeInfo(agent.n_episodes, agent.n_steps, total, stop - first - 1, has_ended)
            recorder.episodes.append(ended)
        if row > first and agent.n_steps >= recorder.due_at:
            assert agent.learn_info is not None
            agent.learn_info = agent.learn_info._replace()
            recorder.learned(agent.learn_info, agent)
