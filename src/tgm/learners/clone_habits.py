"""Repeated paths and walks at random, in a world whose places look alike.

A repetition tests chance: a random outcome differs when the same actions are done again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from tgm.files.arrays import ANY, ArrayReader, Arrays, number
from tgm.structure.folding import Folding
from tgm.transition.automaton import Episode, Outcome

MOST_FAILURES = 2  # repetitions with another return, after which a path is not repeated again
REPETITIONS = 2  # repetitions with the same return: then parts of it are left out
REPEATS = 0.8  # share of episodes that repeat a path
KEEPS_GOING = 0.6  # probability that a walk goes on with the same action
LEAST_WALK, MOST_WALK = 5, 25  # steps of a walk
RESTLESS = 0.1  # probability of a walk at each step where nothing is unknown, at first
CALM_AFTER = 1000  # steps after a surprise in which that probability falls by half
BELIEVED_AFTER = 1.25  # times the steps at which rows last looked random, until they do not
LEAST_RESTLESS = 0.1  # share of RESTLESS that the probability never falls below


class Habits:
    """The best episode so far, its repetitions, and walks at random.

    Attributes:
        sees_chance: whether rows of clones look random: only then is a path worth repeating.
        surprised_at: the step of the last contradiction.
        chance_at: the last step at which rows looked random.
    """

    def __init__(self) -> None:
        """Nothing to repeat."""
        self.sees_chance = False
        self.surprised_at = self.chance_at = 0
        self._rewards: Counter[float] = Counter()
        self._best: list[int] = []  # the actions of the best episode that ended well
        self._best_return = -np.inf
        self._n_confirmed = self._n_failed = 0
        self._acts: list[int] = []
        self._return = 0.0
        self._script: list[int] | None = None  # None: not chosen yet
        self._walk_left = self._walk_action = 0

    @classmethod
    def of(cls, episodes: Iterable[Episode]) -> Habits:
        """Those that come from episodes."""
        habits = cls()
        for episode in episodes:
            habits.begin()
            for action, outcome in episode[1:]:
                habits.see(action, outcome)
        return habits

    # --- what happened ----------------------------------------------------------------------------

    def begin(self) -> None:
        """An episode begins."""
        self._acts, self._return, self._script = [], 0.0, None

    def see(self, action: int, outcome: Outcome, n_steps: int = 0) -> None:
        """A step was taken, the last of so many."""
        if self.sees_chance:
            self.chance_at = n_steps
        self._rewards[outcome.reward] += 1
        self._acts.append(action)
        self._return += outcome.reward
        if outcome.ended:
            self._end(outcome.reward)

    def _end(self, reward: float) -> None:
        is_repeated = self._acts == self._best
        if is_repeated and abs(self._return - self._best_return) > 1e-6:
            self._n_failed += 1
            self._n_confirmed = 0
        elif reward > self._usual and self._return > self._best_return + 1e-9:
            self._best, self._best_return = list(self._acts), self._return
            self._n_confirmed = 1
        elif is_repeated:
            self._n_confirmed += 1

    @property
    def _usual(self) -> float:
        return self._rewards.most_common(1)[0][0] if self._rewards else 0.0

    @property
    def has_gained(self) -> bool:
        """Whether a step was ever better than usual."""
        return bool(self._rewards) and max(self._rewards) > self._usual

    @property
    def only_pays(self) -> bool:
        """Whether each step so far cost the same."""
        return len(self._rewards) == 1 and self._usual < 0.0

    @property
    def kept(self) -> tuple[int, ...]:
        """The actions of the best episode if it is as good as it was whenever it is repeated."""
        is_sure = self.may_repeat and self._n_confirmed >= REPETITIONS
        return tuple(self._best) if is_sure else ()

    def doubts(self, folding: Folding, n_steps: int) -> bool:
        """Whether rows look random; or did a short while ago, by a folding that now denies it."""
        is_late = n_steps >= BELIEVED_AFTER * self.chance_at
        return self.sees_chance or not (is_late or folding.is_labelled)

    @property
    def may_repeat(self) -> bool:
        """Whether there is a best episode, and repetition has not shown that it was chance."""
        return len(self._best) > 0 and self._n_failed < MOST_FAILURES

    # --- repetition -------------------------------------------------------------------------------

    def repeated(self, rng: np.random.Generator) -> int | None:
        """The next action of a path that is repeated in this episode; None if none is."""
        if self._script is None:
            self._script = self._chosen_script(rng)
        return self._script.pop(0) if self._script else None

    def _chosen_script(self, rng: np.random.Generator) -> list[int]:
        """The actions of the best path; once it is confirmed, some are left out first."""
        best = self._best
        if not (self.sees_chance and self.may_repeat) or rng.random() >= REPEATS:
            return []
        if self._n_confirmed < REPETITIONS or len(best) < 3:
            return list(best)
        n = len(best)
        if rng.random() < 0.5:
            length = min(n - 1, 1 + int(rng.exponential(max(1.0, n / 4))))
            first = int(rng.integers(n - length))
            left_out = set(range(first, first + length))
        else:
            left_out = set(rng.choice(n - 1, min(n - 2, int(rng.integers(1, 4))), False).tolist())
        return [action for i, action in enumerate(best) if i not in left_out] + best

    # --- walks ------------------------------------------------------------------------------------

    @property
    def is_walking(self) -> bool:
        """Whether a walk at random is under way."""
        return self._walk_left > 0

    @property
    def restlessness_below(self) -> float:
        """Probability of a walk where clones cannot be told apart and nothing is unknown."""
        return RESTLESS

    def restlessness(self, n_steps: int) -> float:
        """Probability of a walk where nothing is unknown, after so many steps of life."""
        if not self.has_gained:
            return 1.0
        calm = 1.0 / (1.0 + (n_steps - self.surprised_at) / CALM_AFTER)
        return RESTLESS * max(LEAST_RESTLESS, calm)

    def start_walk(self, rng: np.random.Generator, n_actions: int) -> None:
        """Walk at random for some steps."""
        self._walk_left = int(rng.integers(LEAST_WALK, MOST_WALK))
        self._walk_action = int(rng.integers(n_actions))

    def walk(self, rng: np.random.Generator, n_actions: int) -> int:
        """The next action of a walk."""
        self._walk_left -= 1
        if rng.random() > KEEPS_GOING:
            self._walk_action = int(rng.integers(n_actions))
        return self._walk_action

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """All that matters between two episodes."""
        return {
            "sees_chance": np.array([self.sees_chance]),
            "rewards": np.array(list(self._rewards), dtype=np.float64),
            "n_rewards": np.array(list(self._rewards.values()), dtype=np.intp),
            "best": np.array(self._best, dtype=np.intp),
            "best_return": number(self._best_return),
            "counts": np.array([
                self.surprised_at, self.chance_at, self._n_confirmed, self._n_failed,
                self._walk_left, self._walk_action,
            ]),
        }  # fmt: skip

    def restore(self, saved: ArrayReader, n_actions: int) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.sees_chance = bool(saved.flags("sees_chance", 1)[0])
        rewards = saved.floats("rewards", ANY).tolist()
        n_rewards = saved.whole("n_rewards", len(rewards), low=1).tolist()
        self._rewards = Counter(dict(zip(rewards, n_rewards, strict=True)))
        self._best = saved.whole("best", ANY, high=n_actions - 1).tolist()
        self._best_return = saved.number("best_return", infinite=-np.inf)
        self.surprised_at, self.chance_at, *counts = saved.whole("counts", 6).tolist()
        self._n_confirmed, self._n_failed, *walk = counts
        self._walk_left, self._walk_action = walk[0], min(walk[1], n_actions - 1)
