"""The answer to "why this action?", in data and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray, IntArray

MOST_SHOWN = 8  # features in the words about a law
MOST_DIGITS = 9  # after the point
LEAST_SHOWN = 0.005  # probability of an end that is worth a word


@dataclass(frozen=True)
class Explanation:
    """Why an observation leads to an action.

    Attributes:
        action: the index of the greedy action.
        action_names: (n_actions,) what a person calls the actions.
        state_ids: (n_states,) names of the states.
        belief: (n_states,) probability of each state given the observation.
        q_values: (n_actions,) belief-weighted value of each action.
        expected_next: (n_actions, n_states) probability of each next state under each action.
        expected_end: (n_actions,) probability that the action ends the episode; with that of the
            next states it sums to one.
        evidence: (n_actions,) belief-weighted number of times each action was tried here; where
            there are laws, anywhere.
        feature_names: (n_features,) what a person calls the features.
        expected_observation: (n_actions, n_features) what the law of each action predicts to be
            observed next; None in a world of places, which has no laws.
        spread: (n_actions, n_features) standard deviation of what is observed next: the noise of
            the world, and the doubt about the law. None without laws, not a number if
            observations are too far apart to tell.
    """

    action: int
    action_names: tuple[str, ...]
    state_ids: IntArray
    belief: FloatArray
    q_values: FloatArray
    expected_next: FloatArray
    expected_end: FloatArray
    evidence: FloatArray
    feature_names: tuple[str, ...] = ()
    expected_observation: FloatArray | None = None
    spread: FloatArray | None = None

    def __str__(self) -> str:
        if len(self.state_ids) == 0:
            return "Nothing is learned yet: no state is known, so every action is as good."
        here = int(np.argmax(self.belief))
        lines = [f"I believe I am in state {self.state_ids[here]} ({self.belief[here]:.0%})."]
        if self.expected_observation is not None:
            lines = ["The world flows: a law for each action says what is observed next."]
        order = np.argsort(-self.q_values, kind="stable")
        best, *others = [int(action) for action in order]
        lines.append(
            f"The best action is '{self.action_names[best]}', worth {self.q_values[best]:.2f}: "
            f"{self._outlook(best)}."
        )
        lines += [
            f"  '{self.action_names[action]}' is worth {self.q_values[action]:.2f}: "
            f"{self._outlook(action)}."
            for action in others
        ]
        return "\n".join(lines)

    def _outlook(self, action: int) -> str:
        if self.evidence[action] < 0.5:
            return "never tried here" if self.expected_observation is None else "never tried"
        if self.expected_observation is not None and self.spread is not None:
            return self._law(self.expected_observation[action], self.spread[action], action)
        target = int(np.argmax(self.expected_next[action]))
        likely = float(self.expected_next[action, target])
        where = f"state {self.state_ids[target]}"
        if self.expected_end[action] > likely:
            where, likely = "the end of the episode", float(self.expected_end[action])
        return f"most likely to {where} ({likely:.0%}, tried {self.evidence[action]:.0f} times)"

    def _law(self, expected: FloatArray, spread: FloatArray, action: int) -> str:
        """What is observed next, with its standard deviation, and the end if it may come."""
        words = [
            f"{name} {_rounded(value, deviation)}"
            for name, value, deviation in zip(
                self.feature_names[:MOST_SHOWN], expected, spread, strict=False
            )
        ]
        if len(expected) > MOST_SHOWN:
            words.append(f"and {len(expected) - MOST_SHOWN} more")
        end = float(self.expected_end[action])
        ends = f", and the episode ends ({end:.0%})" if end >= LEAST_SHOWN else ""
        return f"to {', '.join(words)}{ends} (tried {self.evidence[action]:.0f} times)"


def _rounded(value: float, deviation: float) -> str:
    """A value and its deviation with two digits, the value no finer than that."""
    if not (math.isfinite(value) and math.isfinite(deviation)):
        return f"{value:.3g} (spread unknown)"
    size = max(deviation, 1e-3 * abs(value))
    digits = 1 - math.floor(math.log10(size)) if size > 0.0 else 0
    nearest = round(float(value), digits) + 0.0  # no minus zero
    return f"{nearest:.{min(max(digits, 0), MOST_DIGITS)}f} ± {deviation:.2g}"
