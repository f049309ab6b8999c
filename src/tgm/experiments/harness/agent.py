"""What every agent of a study can do, and the adapter for agents that learn in pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from tgm.experiments.evaluation import Policy

OnStep = Callable[[int], object]
"""Called with the number of steps so far."""


class Agent(Policy, Protocol):
    """An agent that acts, and that can be evaluated while it learns."""

    @property
    def n_states(self) -> int | None:
        """Number of states found; None for an agent without states."""

    def learn(self, n_steps: int, callback: OnStep | None = None, at: Sequence[int] = ()) -> object:
        """Learn for `n_steps` more steps.

        Args:
            n_steps: environment steps.
            callback: called after each of the steps in `at`.
            at: rising numbers of steps, counted from the beginning of this call.
        """


class Learns(Policy, Protocol):
    """An agent for which ten calls of `learn(50)` are one of `learn(500)`."""

    def learn(self, n_steps: int) -> object:
        """Learn for so many more steps."""


class InPieces:
    """An Agent made of an agent that can stop and go on at any step."""

    def __init__(self, agent: Learns, count_states: Callable[[], int] | None = None) -> None:
        """Wrap `agent`; `count_states` returns the number of states that it has found."""
        self.agent = agent
        self.learn_piece: Callable[[int], object] = agent.learn
        self._count_states = count_states

    @property
    def n_states(self) -> int | None:
        """Number of states found; None for an agent without states."""
        return None if self._count_states is None else self._count_states()

    def learn(self, n_steps: int, callback: OnStep | None = None, at: Sequence[int] = ()) -> None:
        """Learn from one step of `at` to the next; see Agent."""
        done = 0
        stops = [step for step in at if step <= n_steps]
        for step in sorted({*stops, n_steps}):
            self.learn_piece(step - done)
            done = step
            if callback is not None and step in stops:
                callback(step)

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """The wrapped agent's answer."""
        return self.agent.predict(observation, state, episode_start, deterministic)
