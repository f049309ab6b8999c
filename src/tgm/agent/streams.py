"""Streams of the root seed: each purpose has its own, so that none disturbs another."""

from __future__ import annotations

import functools

import numpy as np

EPISODE_STREAM, EXPLORATION_STREAM, PREDICT_STREAM = range(3)

WORD = 1 << 32  # NumPy takes seeds as words of 32 bits,
LEAST_WORDS = 4  # and fills up the first part of a sequence if another follows; also its pool

# The constants of NumPy's SeedSequence.
HALF_WORD = 16
FIRST_KEY, HASH = 0x43B0D7E5, 0x931E8875
FIRST_OUTPUT_KEY, OUTPUT_HASH = 0x8B51F9DD, 0x58F38DED
MIX_POOL, MIX_VALUE = 0xCA01F9DD, 0x4973F715


def generator(seed: int, purpose: int) -> np.random.Generator:
    """The random numbers of one purpose."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def episode_seed(seed: int, episode: int) -> int:
    """The seed of the environment in an episode.

    That of SeedSequence(seed, spawn_key=(EPISODE_STREAM, episode)). Each episode needs one, so what
    the sequence does with the words before the episode is done once, and the last word is mixed in
    here, as NumPy does it.
    """
    if episode >= WORD:
        return int(_sequence(seed, *_words(episode)).generate_state(1)[0])
    pool, key = _before_episodes(seed)
    value = (episode ^ key) * (key * HASH % WORD) % WORD
    value ^= value >> HALF_WORD
    value = (MIX_POOL * pool - MIX_VALUE * value) % WORD
    value ^= value >> HALF_WORD
    value = (value ^ FIRST_OUTPUT_KEY) * (FIRST_OUTPUT_KEY * OUTPUT_HASH % WORD) % WORD
    return value ^ value >> HALF_WORD


@functools.lru_cache
def _before_episodes(seed: int) -> tuple[int, int]:
    """The first word of the pool of a sequence before the word of the episode, and the next key."""
    sequence = _sequence(seed)
    n_words = max(LEAST_WORDS, len(_words(seed))) + len(_words(EPISODE_STREAM))
    n_hashed = LEAST_WORDS**2 + LEAST_WORDS * (n_words - LEAST_WORDS)
    return int(sequence.pool[0]), FIRST_KEY * pow(HASH, n_hashed, WORD) % WORD


def _sequence(seed: int, *more: int) -> np.random.SeedSequence:
    """The sequence of the episodes' stream, given as one array of words."""
    first = _words(seed)
    first += [0] * (LEAST_WORDS - len(first))
    words = np.array([*first, *_words(EPISODE_STREAM), *more], dtype=np.uint32)
    return np.random.SeedSequence(words)


def _words(number: int) -> list[int]:
    """A whole number from 0 in words, the lowest first."""
    words = [number % WORD]
    while number := number // WORD:
        words.append(number % WORD)
    return words
