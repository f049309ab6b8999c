"""Rewards and ends of the rows of a transition model, and what random rewards are worth."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.transition.planned_rows import Key, PlannedRows
from tgm.transition.reward_noise import (
    ENDS,
    RewardNoise,
    first_shares,
    is_other_reward,
    learn_noise,
    probability_of_noise,
)
from tgm.transition.rows import NO_COUNT, Row

SUMS = ("visits", "reward_sum", "reward_square", "reward_moves", "end_sum", "end_reward")
REWARD_MOVED = 0.1  # standard errors by which an expected reward must move to be planned with again
NOISY = 0.5  # probability of random rewards from which a row is planned with its posterior mean


class NoisyRows(PlannedRows):
    """Sums of the rewards and ends of rows.

    Where no outcome of a row ever brought two rewards, the expected reward of a row is the mean of
    its rewards; otherwise see `transition.reward_noise`.

    Attributes:
        visits, reward_sum, reward_square, end_sum, end_reward: (n_slots, n_actions) sums over the
            tries; the last is the reward of those that ended the episode.
        reward_moves: (n_slots, n_actions) tries whose reward was another one than at the last try
            with the same outcome.
        last_reward: the reward that each outcome of a row brought last.
        noise: what is known of random rewards; None where there are none.
        noise_shares: share of the rows with random rewards, by group.
    """

    def __init__(self, n_actions: int, gamma: float) -> None:
        """Know of no state."""
        super().__init__(n_actions, gamma)
        self.visits = np.zeros((0, n_actions))
        self.reward_sum = np.zeros((0, n_actions))
        self.reward_square = np.zeros((0, n_actions))
        self.reward_moves = np.zeros((0, n_actions))
        self.end_sum = np.zeros((0, n_actions))
        self.end_reward = np.zeros((0, n_actions))
        self.last_reward: dict[Key, Row] = {}
        self.noise: RewardNoise | None = None
        self.noise_shares = first_shares()

    def _note_reward(self, key: Key, outcome: int, reward: float) -> None:
        """Note what an outcome brought, and whether it was another reward than the last time."""
        rewards = self.last_reward.setdefault(key, {})
        if is_other_reward(reward, rewards.setdefault(outcome, reward)):
            self.reward_moves[key] += 1.0
            rewards[outcome] = reward

    def learn_noise(self) -> None:
        """Learn which rewards are random; rows whose expected reward follows are planned again."""
        if self.noise is None and not self.reward_moves.any():
            return
        ends, was_noisy = self._ends(), self._noisy()
        tries = np.where(self.is_random, 0.0, self.visits)  # chance has a bonus of its own
        chance, self.noise_shares = probability_of_noise(
            self.reward_moves, tries, ends, self.noise_shares
        )
        self.noise_chance = np.where(tries > NO_COUNT, chance, 0.0)
        noisy = self._noisy()
        total, square = self.reward_sum[noisy], self.reward_square[noisy]
        self.noise = learn_noise(tries[noisy], total, square, ends[noisy])
        if self.noise is None:
            self.noise_chance[:] = 0.0
        for key in zip(*(i.tolist() for i in (was_noisy & ~self._noisy()).nonzero()), strict=True):
            self._refresh(key)
        if self.noise is None:
            return
        mean, variance = self.noise.posterior(self.visits, self.reward_sum, ends)
        moved = noisy & (np.abs(mean - self.reward) > REWARD_MOVED * np.sqrt(variance))
        self.reward[moved] = mean[moved]
        self.changed.update(np.flatnonzero(moved.any(axis=1)).tolist())
        self.version += int(moved.any())

    def reward_error(self, n_slots: int) -> FloatArray | None:
        """(n_slots, n_actions) standard error of expected rewards; None where none is random.

        That of a row whose rewards may be random counts with that probability.
        """
        if self.noise is None:
            return None
        _, variance = self.noise.posterior(self.visits, self.reward_sum, self._ends())
        return np.asarray((self.noise_chance * np.sqrt(variance))[:n_slots])

    def range_of_rewards(self) -> tuple[float, float] | None:
        """The lowest and the highest reward that may be expected; None where none is random."""
        error, tried = self.reward_error(len(self.visits)), self.visits > NO_COUNT
        if error is None:
            return None
        return float((self.reward - error)[tried].min()), float((self.reward + error)[tried].max())

    @abstractmethod
    def _refresh(self, key: Key) -> None:
        """Bring the planner's arrays up to date with one row."""

    def _posterior_reward(self, key: Key) -> float | None:
        """Expected reward of a row whose rewards are random; None for others."""
        if self.noise is None or self.noise_chance[key] <= NOISY:
            return None
        ends = np.asarray(self.end_sum[key] > ENDS * self.visits[key])
        mean, _ = self.noise.posterior(self.visits[key], self.reward_sum[key], ends)
        return float(mean)

    def _noisy(self) -> BoolArray:
        """(n_slots, n_actions) rows whose rewards are taken for random."""
        return np.asarray(self.noise_chance > NOISY)

    def _ends(self) -> BoolArray:
        """(n_slots, n_actions) rows that end the episode."""
        return np.asarray(self.end_sum > ENDS * self.visits)
