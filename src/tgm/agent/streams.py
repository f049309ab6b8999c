"""Streams of the root seed: each purpose has its own, so that none disturbs another."""

from __future__ import annotations

import numpy as np

EPISODE_STREAM, EXPLORATION_STREAM, PREDICT_STREAM = range(3)

WORD = 1 << 32  # NumPy takes seeds as words of 32 bits,
LEAST_WORDS = 4  # and fills up the first part of a sequence if another follows


def generator(seed: int, purpose: int) -> np.random.Generator:
    """The random numbers of one purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def episode_seed(seed: int, episode: int) -> int:
    """The seed of the environment in an episode.

    That of SeedSequence(seed, spawn_key=(EPISODE_STREAM, episode)), to which the same words are
    given as one array: that takes half the time, and each episode needs one.
    """
    first = _words(seed)
    first += [0] * (LEAST_WORDS - len(first))
    words = np.array([*first, *_words(EPISODE_STREAM), *_words(episode)], dtype=np.uint32)
    return int(np.random.SeedSequence(words).generate_state(1)[0])


def _words(number: int) -> list[int]:
    """A whole number from 0 in words, the lowest first."""
    words = [number % WORD]
    while number := number // WORD:
        words.append(number % WORD)
    return words
