"""Runs in worlds of symbols: recorded, resumed, read and shown."""

import numpy as np
import pytest
from tests.agent.test_finite_worlds import every_world
from tests.finite_worlds import DeepSea, Rooms

import tgm
from tgm.inspector import payload
from tgm.learners.snapshot import MOST_RECORDED, recorded_features
from tgm.runs import Run


@every_world
def test_a_run_shows_the_model_as_it_is(make, tmp_path):
    agent = tgm.TGMAgent(make(), seed=0).learn(700, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    summary = payload.summary(run)
    assert [found for found in summary["health"] if found["level"] == "problem"] == []
    first = summary["chunks"][-1]
    payload.chunk_bytes(run, first)
    frame = run.chunk(first).frame_at(700)
    order = np.argsort(agent.state_ids)  # a frame is in the order of names
    assert frame.ids.tolist() == agent.state_ids[order].tolist()
    counts = agent.transition_counts[:, order][:, :, order]
    np.testing.assert_allclose(frame.transition_counts, counts)
    if agent.interface.n_features <= MOST_RECORDED:
        np.testing.assert_allclose(frame.mean, agent.means[order], atol=1e-9)
    else:
        assert frame.mean.tolist() == [[name] for name in frame.ids.tolist()]


def test_a_wide_run_costs_little(tmp_path):
    agent = tgm.TGMAgent(DeepSea(30), seed=0).learn(900, run_dir=tmp_path / "run")
    assert agent.interface.n_features == 900
    assert recorded_features(900) == 1
    history = (tmp_path / "run" / "history").iterdir()
    assert sum(file.stat().st_size for file in history) < 1_500_000


@pytest.mark.parametrize("make", [Rooms, lambda: DeepSea(9)])
def test_a_resumed_run_ends_the_same(make, tmp_path):
    whole = tgm.TGMAgent(make(), seed=0).learn(450, run_dir=tmp_path / "whole")
    agent = tgm.TGMAgent(make(), seed=0).learn(300, run_dir=tmp_path / "parts")
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", make())
    copy.learn(450 - copy.n_steps)
    assert copy.state_ids.tolist() == whole.state_ids.tolist()
    np.testing.assert_array_equal(copy.transition_counts, whole.transition_counts)
