"""Streams of the root seed."""

import numpy as np
import pytest

from tgm.agent.streams import EPISODE_STREAM, episode_seed, generator


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**64 - 1, 2**128 + 5, 3**100])
@pytest.mark.parametrize("episode", [0, 1, 1000, 2**32, 2**33 + 1])
def test_the_seed_of_an_episode_is_that_of_a_spawned_sequence(seed, episode):
    sequence = np.random.SeedSequence(seed, spawn_key=(EPISODE_STREAM, episode))
    assert episode_seed(seed, episode) == int(sequence.generate_state(1)[0])


def test_streams_differ_and_repeat():
    first, other, again = (generator(3, purpose).random() for purpose in (1, 2, 1))
    assert first == again != other
