"""What every agent of a comparison can do, and the adapter for agents that learn in pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tgm.experiments.evaluation import Policy

Look = Callable[[int], object]
"""Called with the number of steps so far, to look at the agent as it is then."""


class Agent(Policy, Protocol):
    """An agent by the measure of the comparison: it learns while it is looked at, and it acts."""

    @property
    def n_states(self) -> int | None:
        """States it has found; None for an agent that knows of none."""

    def learn(self, n_steps: int, callback: Look | None = None, at: Sequence[int] = ()) -> object:
        """Live for `n_steps` more steps.

        Args:
            n_steps: environment steps.
            callback: called after each of the steps in `at`.
            at: rising numbers of steps, counted from the beginning of this call.
        """


class Learns(Policy, Protocol):
    """An agent for which ten calls of `learn(50)` are one of `learn(500)`."""

    def learn(self, n_steps: int) -> object:
        """Live for so many more steps."""


class InPieces:
    """An Agent made of an agent that can stop and go on at any step."""

    def __init__(self, agent: Learns, count_states: Callable[[], int] | None = None) -> None:
        """Wrap `agent`; `count_states` tells how many states it has found."""
        self.agent = agent
        self.learn_piece: Callable[[int], object] = agent.learn
        self._count_states = count_states

    @property
    def n_states(self) -> int | None:
        """States it has found; None for an agent that knows of none."""
        return None if self._count_states is None else self._count_states()

    def learn(self, n_steps: int, callback: Look | None = None, at: Sequence[int] = ()) -> None:
        """Learn from one look to the next; see Agent."""
        done = 0
        looks = [step for step in at if step <= n_steps]
        for step in sorted({*looks, n_steps}):
            self.learn_piece(step - done)
            done = step
            if callback is not None and step in looks:
                callback(step)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The agent's own answer."""
        return self.agent.predict(observation, state, episode_start, deterministic)
