"""Beliefs in a chunk of history: written, checked, cut and gone on with."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files import read_arrays
from tgm.learners.snapshot import Changes, Snapshot
from tgm.runs.chunk import Chunk
from tgm.runs.history import FORMAT, HistoryWriter

BELIEFS = {1: [(4, 0.7), (2, 0.2)], 3: [(2, 0.5), (7, 0.5)], 4: [(7, 1.0 - 1e-9)]}
"""Index of an observation -> its belief; the others are certain."""
ONE_STATE = Snapshot(
    known=Changes([2.0, 1.0, 0.0, 0.5, 0.1], [], [], []),
    q=np.zeros((1, 2)),
    prior_mean=np.zeros((1, 1)),
    prior_covariance=np.ones((1, 1, 1)),
    log_evidence=np.zeros(1),
    prior_dof=1.0,
    kept_points=np.empty((0, 1)),
    kept_states=np.empty(0, dtype=np.intp),
)


def writer_with(folder, indices, beliefs=BELIEFS):
    """A chunk of one feature and two actions whose observations have these indices."""
    writer = HistoryWriter(folder, n_features=1, n_actions=2, n_episodes=0)
    writer.add_full(0, ONE_STATE)
    observe(writer, indices, beliefs)
    return writer


def observe(writer, indices, beliefs=BELIEFS):
    for index in indices:
        action = -1 if index == 0 else 1
        writer.observations.append(
            writer.pack(action, -1.0, 0, index, 0.0, 0.0, 0.0, np.float64(index).tobytes())
        )
        if index in beliefs:
            writer.note_belief(beliefs[index])


def read(writer):
    return Chunk.of(0, read_arrays(writer.path, FORMAT)[0], 1, 2)


def beliefs_of(chunk):
    a, found = chunk.arrays, {}
    columns = (a[f"belief.{name}"].tolist() for name in ("observation", "state", "probability"))
    for index, state, probability in zip(*columns, strict=True):
        found.setdefault(index, []).append((state, probability))
    return found


def test_a_belief_belongs_to_the_newest_observation(tmp_path):
    writer = writer_with(tmp_path, range(3))
    writer.gather()  # observations are packed together now and then; the index goes on
    observe(writer, range(3, 6))
    writer.write()
    assert beliefs_of(read(writer)) == BELIEFS


def test_a_belief_that_follows_a_write_is_written(tmp_path):
    writer = writer_with(tmp_path, range(1))
    writer.write()
    writer.note_belief([(3, 0.6)])
    writer.write()
    assert beliefs_of(read(writer)) == {0: [(3, 0.6)]}


def test_the_next_chunk_counts_its_observations_from_zero(tmp_path, monkeypatch):
    monkeypatch.setattr("tgm.runs.history.CHUNK_STEPS", 5)
    writer = writer_with(tmp_path, range(6))
    writer.begin_chunk(5, 1)
    writer.add_full(5, ONE_STATE)
    observe(writer, [1])
    writer.write()
    chunk = Chunk.of(5, read_arrays(writer.path, FORMAT)[0], 1, 2)
    assert beliefs_of(chunk) == {0: BELIEFS[1]}


@pytest.mark.parametrize("is_resumed", [False, True])
def test_a_chunk_of_many_numbers_is_closed_early(tmp_path, monkeypatch, is_resumed):
    writer = writer_with(tmp_path, range(6))
    writer.write()
    if is_resumed:
        chunk = read(writer)
        writer = HistoryWriter(tmp_path, n_features=1, n_actions=2, n_episodes=0)
        writer.resume(chunk, 0)
    writer.begin_chunk(6, 1)
    assert writer.first_step == 0
    monkeypatch.setattr("tgm.runs.history.CHUNK_NUMBERS", 5)  # one state has as many
    writer.begin_chunk(6, 1)
    assert writer.first_step == 6


@pytest.mark.parametrize("n_observations", range(7))
def test_a_chunk_that_is_gone_on_with_keeps_the_beliefs_before_the_cut(tmp_path, n_observations):
    writer_with(tmp_path, range(6)).write()
    chunk = Chunk.of(0, read_arrays(tmp_path / "0000000000.safetensors", FORMAT)[0], 1, 2)
    cut = chunk.cut(n_observations, 1)
    expected = {index: belief for index, belief in BELIEFS.items() if index < n_observations}
    assert beliefs_of(cut) == expected
    writer = HistoryWriter(tmp_path, n_features=1, n_actions=2, n_episodes=0)
    writer.resume(cut, 0)
    observe(writer, range(n_observations, 6))
    writer.write()
    assert beliefs_of(read(writer)) == BELIEFS


@pytest.mark.parametrize(
    ("name", "place", "value", "reason"),
    [
        ("observation", 4, 6, "belief.observation'"),
        ("observation", 0, -1, "belief.observation'"),
        ("observation", 0, 4, "belief.observation'.*order"),
        ("state", 1, -1, "belief.state'"),
        ("probability", 0, -0.1, "belief.probability'"),
        ("probability", 0, 1.5, "belief.probability'"),
        ("probability", 1, 0.31, "belief.probability'.*observation 1.*more than 1"),
        ("probability", 1, np.nan, "belief.probability'"),
    ],
)
def test_beliefs_that_cannot_be_are_refused(tmp_path, name, place, value, reason):
    writer_with(tmp_path, range(6)).write()
    arrays = dict(read_arrays(tmp_path / "0000000000.safetensors", FORMAT)[0])
    changed = arrays[f"belief.{name}"].copy()
    changed[place] = value
    with pytest.raises(DataError, match=reason):
        Chunk.of(0, arrays | {f"belief.{name}": changed}, 1, 2)


def test_columns_of_beliefs_are_of_one_length(tmp_path):
    writer_with(tmp_path, range(6)).write()
    arrays = dict(read_arrays(tmp_path / "0000000000.safetensors", FORMAT)[0])
    with pytest.raises(DataError, match=r"belief.state"):
        Chunk.of(0, arrays | {"belief.state": arrays["belief.state"][:-1]}, 1, 2)


def test_beliefs_without_an_observation_are_refused(tmp_path):
    writer = writer_with(tmp_path, [])
    writer.write()
    arrays = dict(read_arrays(writer.path, FORMAT)[0])
    alone = {
        "belief.observation": np.zeros(1, np.int64),
        "belief.state": np.zeros(1, np.int64),
        "belief.probability": np.ones(1),
    }
    with pytest.raises(DataError, match=r"belief.observation"):
        Chunk.of(0, arrays | alone, 1, 2)
