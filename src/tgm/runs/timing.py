"""When a line of metrics is wanted, and when a checkpoint: between episodes, or within one."""

from __future__ import annotations

import time

LINE_GAPS = 20, 250, 1000  # steps between two lines of metrics: at first, usually, at most
CHECKPOINT_SECONDS = 2.0
CHECKPOINT_SHARE = 50.0  # a checkpoint takes at most one part in so many of the time
PATIENCE = 4.0  # intervals to wait longer for an episode end before one within the episode
LOOK_SECONDS, LOOK_STEPS = 0.5, 100  # at most so long between two looks at the clock


def next_line(step: int) -> int:
    """The step at which another line of metrics is wanted after one at `step`.

    The gaps grow with the run: a quarter of its steps at first, a fiftieth later.
    """
    least, usual, most = LINE_GAPS
    gap = min(step // 4, usual) if step < 50 * usual else min(step // 50, most)
    return step + max(least, gap)


class CheckpointClock:
    """Says when the next checkpoint is due.

    They belong between episodes. Where none ends for five times `seconds` (ten seconds if that is
    0), one is written within the episode, and from then on as often as between episodes.

    Attributes:
        newest_is_within: whether the newest checkpoint was written within an episode.
    """

    def __init__(self, seconds: float, step: int) -> None:
        """Start at `step`, with at least `seconds` between checkpoints; 0: after each episode."""
        self._seconds = seconds
        self._interval = seconds or CHECKPOINT_SECONDS  # within an episode
        now = time.monotonic()
        self._between_at = now + seconds
        self._within_at = now + (1.0 + PATIENCE) * self._interval
        self._looked = now, step
        self.newest_is_within = False

    def is_due_between(self) -> bool:
        """Whether one is due now, between two episodes.

        After one within an episode always: a run that is resumed from here is exact again.
        """
        return self.newest_is_within or time.monotonic() >= self._between_at

    def is_due_within(self) -> bool:
        """Whether no episode end has come for so long that one is due within the episode."""
        return time.monotonic() >= self._within_at

    def wrote(self, began: float, *, within: bool) -> None:
        """A checkpoint was begun at the time `began`, and is written."""
        now = time.monotonic()
        least = CHECKPOINT_SHARE * (now - began)
        self._between_at = now + (max(self._seconds, least) if self._seconds > 0 else 0.0)
        patience = 0.0 if within else PATIENCE * self._interval
        self._within_at = now + max(self._interval, least) + patience
        self.newest_is_within = within

    def next_look(self, step: int) -> int:
        """The step at which to look at the clock again, after a look at `step`."""
        (before, first), self._looked = self._looked, (time.monotonic(), step)
        speed = (step - first) / max(self._looked[0] - before, 1e-9)
        return step + 1 + min(LOOK_STEPS, int(speed * LOOK_SECONDS))
