"""The memory of a world that flows: what it keeps when it is full."""

import numpy as np

from tgm.memory.flow_memory import FlowMemory


def test_the_starts_of_the_newest_64_episodes_are_kept():
    memory = FlowMemory(1)
    for episode in range(100):
        memory.begin(np.array([float(episode)]))
    assert [start.item() for start in memory.starts] == list(range(36, 100))


def test_a_full_memory_keeps_half_of_its_steps_and_not_only_ends():
    """Of 8000 steps every second ends an episode; 4000 are left, a quarter for the newest ends."""
    memory = FlowMemory(1)
    for step in range(8000):
        memory.add(np.array([float(step)]), 0, 0.0, np.zeros(1), ended=step % 2 == 0)
        if step == 7998:
            assert memory.all_learned() == 0
    assert memory.all_learned() == 4000
    kept = memory.steps()
    assert len(memory) == len(kept.action) == 4000
    times = kept.departure[:, 0]
    assert (np.diff(times) > 0.0).all()
    newest_ends = np.arange(6000, 8000, 2)  # a quarter of those that are left
    assert np.isin(newest_ends, times).all()
    assert 1500 < np.sum(~kept.ended) < 2000
    assert times[0] < 5.0  # the others are spread evenly over all time
    assert np.diff(times).max() < 10.0
