"""Knowledge is addition: what a reader adds up is what the learner knew, at every step."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.runs import Run
from tgm.runs.chunk import Chunk
from tgm.runs.replay import with_all_frames
from tgm.transition.sparse import START

N_STEPS = 600
LOOK_EVERY = 6  # learning steps; what is once wrong stays so for a while

WORLDS = {
    "plain": ({}, {}),
    "noise": ({"noise": 0.4}, {}),
    "noise without filtering": ({"noise": 0.4}, {"filtering": False}),
    "fading": ({"noise": 0.25}, {"half_life": 200.0}),
    "several steps at once": ({"noise": 0.3}, {"learn_every": 3}),
    "a scale that is searched": ({"noise": 0.2}, {"bandwidth": "auto"}),
    "a search, several steps at once": ({"noise": 0.2}, {"bandwidth": "auto", "learn_every": 4}),
    "wide states": ({"noise": 0.3}, {"bandwidth": 1.0}),
    "few states": ({"noise": 0.3}, {"max_states": 6}),
    "no reassigned steps": ({"noise": 0.3}, {"reassign_steps": False}),
}


def known_now(agent: tgm.TGMAgent):
    """Weights, means, covariances by id; and of each row tries, mean reward, end, successors."""
    world = agent.learner.world
    components, rows, ids = world.states, world.transitions, world.states.ids
    order = np.argsort(agent.state_ids)
    table = {}
    for (state, action), row in rows.rows.items():
        if state != START and row:
            sums = rows.visits, rows.reward_sum, rows.end_sum
            tries, reward, end = (float(numbers[state, action]) for numbers in sums)
            after = {int(ids[reached]): count for reached, count in row.items()}
            table[int(ids[state]), action] = tries, reward / tries, end / tries, after
    weights = components.weight[components.alive].copy()
    parts = (agent.state_ids, weights, agent.means, agent.covariances)
    return [part[order] for part in parts], table


def check(frame, known) -> None:
    (ids, weights, means, covariances), rows = known
    np.testing.assert_array_equal(frame.ids, ids)
    np.testing.assert_allclose(frame.weight, weights, rtol=1e-9)
    np.testing.assert_allclose(frame.mean, means, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(frame.covariance, covariances, rtol=1e-9, atol=1e-12)
    assert frame.rows.keys() == rows.keys()
    for key, (visits, reward, end, after) in rows.items():
        row = frame.rows[key]
        told = row.visits, row.reward, row.end
        np.testing.assert_allclose(told, (visits, reward, end), rtol=1e-9, atol=1e-9)
        assert row.next.keys() == after.keys()
        np.testing.assert_allclose(list(row.next.values()), [after[name] for name in row.next])


@pytest.mark.parametrize("name", WORLDS)
def test_the_model_can_be_followed_from_step_to_step(name, tmp_path, monkeypatch):
    monkeypatch.setattr("tgm.runs.history.CHUNK_STEPS", 150)
    options, settings = WORLDS[name]
    env = gym.make("tgm/Maze-v0", maze="26", max_episode_steps=60, **options)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(**settings), seed=1)
    known, kinds = {}, set()

    def look(info) -> None:
        known[info.step] = known_now(agent)
        kinds.update(move.kind for move in info.moves if move.accepted)

    agent.learn(N_STEPS, callback=look, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    firsts = run.chunk_steps()
    assert len(firsts) > 1
    assert "birth" in kinds
    if name in ("noise", "noise without filtering"):
        assert kinds >= {"merge", "split"}
    chunks = {first: run.chunk(first) for first in firsts}
    for step, wanted in list(known.items())[::LOOK_EVERY]:
        frame = chunks[max(first for first in firsts if first <= step)].frame_at(step)
        check(frame, wanted)
    if name == "noise":
        shares = np.concatenate([chunk.arrays["obs.share"] for chunk in chunks.values()])
        assert ((shares > 0) & (shares < 1)).any()  # the case that is easily got wrong


def test_huge_numbers_of_a_damaged_file_give_frames_without_a_warning(tmp_path):
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0)
    agent.learn(60, run_dir=tmp_path / "run")
    chunk = Run.open(tmp_path / "run").chunk_file(0)
    huge = np.full_like(chunk.arrays["component.covariance"], 1e300)
    weight = np.full_like(chunk.arrays["component.weight"], 1e300)
    damaged = chunk.arrays | {"component.covariance": huge, "component.weight": weight}
    frames = with_all_frames(Chunk(0, damaged)).arrays["frame.step"]
    assert len(frames) > len(chunk.arrays["frame.step"])


def test_an_environment_may_use_its_arrays_again(tmp_path):
    class OneArray(gym.Wrapper):
        """Every observation is the same array, overwritten."""

        held = np.zeros(2)

        def reset(self, **kwargs):
            self.held[:], info = self.env.reset(**kwargs)
            return self.held, info

        def step(self, action):
            self.held[:], *rest = self.env.step(action)
            return self.held, *rest

    points = []
    for index, wrap in enumerate((OneArray, lambda env: env)):
        agent = tgm.TGMAgent(wrap(gym.make("tgm/Maze-v0", maze="8")), seed=0)
        agent.learn(60, run_dir=tmp_path / str(index))
        points.append(Run.open(tmp_path / str(index)).chunk(0).arrays["obs.point"])
    np.testing.assert_array_equal(*points)
    assert len(np.unique(points[0], axis=0)) > 50
