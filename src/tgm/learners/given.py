"""A learner that starts from states and transitions that were found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray, Moments
from tgm.errors import ConfigError
from tgm.files.arrays import Arrays
from tgm.learners.online import OnlineLearner
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.perception.coordinates import Coordinates
from tgm.structure.scale_choice import ScaleChoice
from tgm.transition.sparse import START, START_ACTION

LEAST_COUNT = 1e-3  # of a transition that is kept


@dataclass(frozen=True, eq=False)
class GivenWorld:
    """States and transitions of a world, as they were found in a log.

    Attributes:
        moments: of the points of each of n_states states, in units of observations.
        transitions: (n_actions, n_states, n_states) counts.
        starts: (n_states,) counts.
        tries: (n_actions, n_states) with those of which it is not known where they led.
        rewards: (n_actions, n_states) mean.
        ends: (n_actions, n_states) share of the tries that ended the episode.
        deviation: (n_features,) standard deviation of observations within a state.
        typical_step: (n_features,) root mean square change of an observation in a step.
        n_steps: that were learned from.
    """

    moments: Moments
    transitions: FloatArray
    starts: FloatArray
    tries: FloatArray
    rewards: FloatArray
    ends: FloatArray
    deviation: FloatArray
    typical_step: FloatArray
    n_steps: int


def arrays_of(given: GivenWorld, config: TGMConfig) -> Arrays:
    """What the default learner saves that has learned this world; `Learner.restore` takes it."""
    if config.structure != "evidence" or config.bandwidth != "auto":
        raise ConfigError(
            "an agent starts from a fitted model with structure 'evidence' and bandwidth 'auto' "
            f"only; the settings say '{config.structure}' and {config.bandwidth!r}"
        )
    n_actions, n_features = len(given.transitions), given.moments.n_features
    outer = ScaleSearchLearner(n_features, n_actions, config)
    everything = np.ones(n_features, dtype=bool)
    outer.take_over(
        ScaleChoice(given.deviation, given.typical_step, everything, np.zeros(n_features)),
        lambda learner: _fill(learner, given),
    )
    return outer.to_arrays()


def _fill(learner: OnlineLearner, given: GivenWorld) -> None:
    """Let a learner that knows nothing know a world."""
    world, planner = learner.world, learner.planner
    learner.coordinates = Coordinates.about(given.moments.mean[0].copy())
    local = given.moments.shifted(-learner.coordinates.origin)
    for rewards in given.rewards[given.tries > LEAST_COUNT].tolist():
        planner.see_reward(rewards)
    for state in range(len(given.starts)):
        slot = learner.edit.add_state(0.0)
        assert slot == state
        world.states.set_moments(slot, local[state])
    add = world.transitions.add
    for state in np.flatnonzero(given.starts > LEAST_COUNT).tolist():
        add(START, START_ACTION, state, float(given.starts[state]), 0.0, 0.0)
    n_actions, n_states = given.tries.shape
    for action in range(n_actions):
        for state in range(n_states):
            reward, end = float(given.rewards[action, state]), float(given.ends[action, state])
            row = given.transitions[action, state]
            for after in np.flatnonzero(row > LEAST_COUNT).tolist():
                for weight, ended in ((row[after] * (1.0 - end), 0.0), (row[after] * end, 1.0)):
                    if weight > LEAST_COUNT:
                        add(state, action, after, float(weight), reward, ended)
            # Nothing is known of where an episode ended: such a step counts as if it had stayed.
            unseen = float((given.tries[action, state] - row.sum()) * end)
            if unseen > LEAST_COUNT:
                add(state, action, state, unseen, reward, 1.0)
    world.background.n_points = float(given.moments.weight.sum())
    learner.n_steps = given.n_steps
