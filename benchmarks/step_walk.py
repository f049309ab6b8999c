"""The way of one step through the code: from the answer of the environment to the next action.

Prints how many calls a step of the default agent makes, in how many files, and how often it goes
from one file to another: the median of ordinary steps, the walk of one of them, and the median of
the steps after which the structure is checked (every fifth). Run with
`python -m benchmarks.step_walk`; docs/architecture.md shows its figures.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import gymnasium as gym

import tgm
from tgm.agent.agent import TGMAgent
from tgm.learners.revising import Reviser

PACKAGE = Path(tgm.__file__).parent
CHECK = Reviser.revise.__qualname__
LEARNED, WATCHED = 1500, 500  # steps before, and of which the walks are counted


class Watch:
    """Notes each call of a function of the package while it is on, by the file it is in."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.calls: list[str] = []
        self.is_on = False

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if not self.is_on or event not in ("call", "return"):
            return
        place = self._place(frame.f_code)
        if place is None:
            return
        if event == "call":
            self.calls.append(f"{place}: {frame.f_code.co_qualname}")
            self._visit(place)
            return
        caller: FrameType | None = frame.f_back
        while caller is not None and (back := self._place(caller.f_code)) is None:
            caller = caller.f_back
        if caller is not None and back is not None:
            self._visit(back)

    def _visit(self, place: str) -> None:
        if not self.files or self.files[-1] != place:
            self.files.append(place)

    @staticmethod
    def _place(code: CodeType) -> str | None:
        path = Path(code.co_filename)
        if PACKAGE not in path.parents or "envs" in path.parts:
            return None
        return str(path.relative_to(PACKAGE))


class Watched(gym.Wrapper):  # type: ignore[type-arg]
    """Begins a walk when the environment has answered, and ends it when it is asked again."""

    def __init__(self, env: gym.Env[Any, Any], watch: Watch) -> None:
        super().__init__(env)
        self.watch = watch
        self.walks: list[tuple[list[str], list[str]]] = []

    def step(self, action: Any) -> Any:
        """Take a step; its answer begins the next walk, unless it ends the episode."""
        if self.watch.is_on:
            self.walks.append((self.watch.files, self.watch.calls))
        self.watch.is_on = False
        answer = self.env.step(action)
        if not answer[2] and not answer[3]:
            self.watch.files, self.watch.calls = ["agent/agent.py"], []
            self.watch.is_on = True
        return answer


def main() -> None:
    """Print the walk of a median step."""
    watch = Watch()
    env = Watched(gym.make("tgm/Maze-v0", maze="27"), watch)
    agent = TGMAgent(env, seed=0).learn(LEARNED)
    env.walks.clear()
    sys.setprofile(watch)
    agent.learn(WATCHED)
    sys.setprofile(None)
    checks = [any(call.endswith(CHECK) for call in calls) for _, calls in env.walks]
    ordinary = [walk for walk, is_check in zip(env.walks, checks, strict=True) if not is_check]
    _report("an ordinary step", ordinary)
    _report(
        "a step with a check of the structure",
        [walk for walk, is_check in zip(env.walks, checks, strict=True) if is_check],
    )
    ordinary.sort(key=lambda walk: len(walk[0]))
    print("the walk of a median ordinary step:")
    for line in ordinary[len(ordinary) // 2][1]:
        print(f"  {line}")


def _report(kind: str, walks: list[tuple[list[str], list[str]]]) -> None:
    print(f"{kind} ({len(walks)} of them):")
    changes = [len(files) - 1 for files, _ in walks]
    kinds = [len(set(files)) for files, _ in walks]
    calls = [len(made) for _, made in walks]
    for name, numbers in (("calls", calls), ("changes of file", changes), ("files", kinds)):
        print(f"  {name}: median {statistics.median(numbers):g}, most {max(numbers)}")


if __name__ == "__main__":
    main()
