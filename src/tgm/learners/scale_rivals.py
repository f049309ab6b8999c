"""Rival scales: where places overlap, whole learners compete by their evidence of all steps.

The small model of `structure.scale_evidence` assigns each observation once, for good. That is
enough where places lie far apart. Where they overlap it joins neighbours, and then finds them wide.
A learner revises its assignments: there, the learner that predicted the observations best wins.
States that were seen once count against it: a scale that is too narrow makes one of every far
observation, and in a large world, where few places were seen twice, that costs it too little else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tgm.distributions import BoolArray
from tgm.learners.online import OnlineLearner
from tgm.learners.world_kinds import MOST_FULL
from tgm.perception.observation_model import StateId
from tgm.perception.state_slots import SURELY_SEEN
from tgm.structure.scale_choice import ScaleChoice
from tgm.structure.scale_evidence import FirstSteps

STRAINED = 1.2  # times the first deviation: wider states have probably joined two places
NARROWER = (0.75, 0.5)  # times the deviation of strained features: the rivals
NO_OVERLAP = 0.2  # typical steps: places of a smaller deviation do not overlap, and are not joined
BETTER = 3.0  # nats by which a rival must be better


@dataclass(frozen=True, eq=False)
class Rival:
    """A scale, and a learner that has learned from all events with it.

    Attributes:
        choice: the scale.
        learner: its learner.
        names: the state of each event in it.
    """

    choice: ScaleChoice
    learner: OnlineLearner
    names: list[StateId]

    def log_evidence(self, steps: FirstSteps) -> float:
        """ln density of the steps, with that of the irrelevant features."""
        return self.learner.log_evidence + float(steps.log_common(~self.choice.relevant).sum())

    def score(self, steps: FirstSteps) -> float:
        """`log_evidence` without what was fitted to one observation.

        The mean of a state that was seen once is that observation: as many parameters as it has
        numbers, and a nat for each, as in the information criterion of Akaike.
        """
        states = self.learner.world.states
        n_seen_once = int((states.weight[states.alive] < SURELY_SEEN).sum())
        return self.log_evidence(steps) - n_seen_once * int(self.choice.relevant.sum())

    @property
    def strained(self) -> BoolArray:
        """(n_features,) the features in which states have become wider than their scale says.

        States that have joined neighbours widen what is learned of all states. None where there
        are many features: places differ in several of them, and are not joined.
        """
        relevant, found = self.choice.relevant, np.zeros(len(self.choice.relevant), dtype=bool)
        if relevant.sum() > MOST_FULL:
            return found
        first = self.choice.deviation[relevant]
        learned = np.diag(self.learner.world.states.prior_covariance)[-len(first) :]
        apart = self.choice.typical_step[relevant]
        found[relevant] = np.sqrt(learned) > np.maximum(STRAINED * first, NO_OVERLAP * apart)
        return found


def best_rival(
    now: Rival,
    proposed: Rival | None,
    features: BoolArray,
    steps: FirstSteps,
    learn: Callable[[ScaleChoice], Rival],
) -> Rival | None:
    """The learner with the highest score, if it is not the one that answers now.

    The proposed scale, and those that are narrower in the features given, as long as each is
    better than the one before.

    Args:
        now: the scale and the learner that answer now.
        proposed: those that the small model prefers, if they are others.
        features: (n_features,) those in which states are strained.
        steps: all events.
        learn: makes a learner that has learned from all events.
    """
    best = now if proposed is None else _better(now, proposed, steps)
    before = None
    while best is not before:
        before = best
        for factor in NARROWER:
            deviation = before.choice.deviation * np.where(features, factor, 1.0)
            best = _better(best, learn(replace(before.choice, deviation=deviation)), steps)
            if best is not before:
                break
    return None if best is now else best


def _better(best: Rival, other: Rival, steps: FirstSteps) -> Rival:
    """The second if it is clearly better."""
    return other if other.score(steps) > best.score(steps) + BETTER else best
