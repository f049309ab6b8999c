"""The answer to "why this action?", in data and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tgm.distributions import FloatArray, IntArray


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
        evidence: (n_actions,) belief-weighted number of times each action was tried here.
    """

    action: int
    action_names: tuple[str, ...]
    state_ids: IntArray
    belief: FloatArray
    q_values: FloatArray
    expected_next: FloatArray
    expected_end: FloatArray
    evidence: FloatArray

    def __str__(self) -> str:
        if len(self.state_ids) == 0:
            return "Nothing is learned yet: no state is known, so every action is as good."
        here = int(np.argmax(self.belief))
        lines = [f"I believe I am in state {self.state_ids[here]} ({self.belief[here]:.0%})."]
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
            return "never tried here"
        target = int(np.argmax(self.expected_next[action]))
        likely = float(self.expected_next[action, target])
        where = f"state {self.state_ids[target]}"
        if self.expected_end[action] > likely:
            where, likely = "the end of the episode", float(self.expected_end[action])
        return f"most likely to {where} ({likely:.0%}, tried {self.evidence[action]:.0f} times)"
