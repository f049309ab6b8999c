"""A run directory holds what was learned, and says what is wrong with it when it does not."""

import json
import shutil
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from campaigns.common.endless import RING
from tests.runs.failing import FailsAt

import tgm
from tgm.agent import EpisodeInfo
from tgm.envs import EnvSpec, load_maze, make_env
from tgm.errors import DataError, RunError
from tgm.files import read_arrays
from tgm.runs import Run, RunFolder, RunRecorder, find_runs, open_run, resume
from tgm.runs.history import FORMAT, HistoryWriter

PRESETS = ["default", "paper"]


def make_agent(preset: str = "default", maze: str = "8", seed: int = 0, **settings) -> tgm.TGMAgent:
    config = replace(tgm.TGMConfig.preset(preset), **settings)
    return tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), config, seed=seed)


@pytest.fixture(scope="module", params=PRESETS)
def recorded(request, tmp_path_factory):
    """A short run on maze 8, its agent, and what the agent told at each step."""
    told = []
    folder = tmp_path_factory.mktemp(request.param) / "run"
    agent = make_agent(request.param)
    agent.learn(700, callback=told.append, run_dir=folder)
    return Run.open(folder), agent, told


@pytest.fixture
def run(recorded, tmp_path):
    """A copy of a run that may be broken."""
    shutil.copytree(recorded[0].folder, tmp_path / "copy")
    return Run.open(tmp_path / "copy")


# --- the writer ---------------------------------------------------------------------------------


def test_a_history_goes_on_after_a_write_that_failed(tmp_path, monkeypatch):
    writer = HistoryWriter(tmp_path, n_features=1, n_actions=2, n_episodes=0)
    start = writer.pack(-1, 0.0, 0, -1, 0.0, 0.0, 0.0, np.array([0.5]).tobytes())
    step = writer.pack(1, -1.0, 0, -1, 0.0, 0.0, 0.0, np.array([1.5]).tobytes())

    def full(path, arrays, *_, **__):
        raise RunError("no space left")

    writer.observations.append(start)
    with monkeypatch.context() as patch:
        patch.setattr("tgm.runs.history.write_arrays", full)
        with pytest.raises(RunError) as failure:
            writer.write()
    writer.observations.append(step)
    writer.write()  # while the traceback still holds what was to be written
    assert failure.tb is not None
    arrays, _ = read_arrays(tmp_path / "0000000000.safetensors", FORMAT)
    assert arrays["obs.point"].tolist() == [[0.5], [1.5]]
    assert arrays["obs.step"].tolist() == [0, 1]


# --- what is in it -----------------------------------------------------------------------------


def test_recording_changes_nothing(recorded, tmp_path):
    stored, agent, _ = recorded
    alone = make_agent(stored.metadata["agent"].removeprefix("tgm-").replace("tgm", "default"))
    alone.learn(700).save(tmp_path / "alone.tgm")
    agent.save(tmp_path / "recorded.tgm")
    ours, theirs = (
        {
            name: getattr(tgm.TGMAgent.load(tmp_path / file), name)
            for name in ("means", "covariances", "transition_counts", "state_ids", "n_episodes")
        }
        for file in ("alone.tgm", "recorded.tgm")
    )
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name])


def test_the_final_agent_is_the_trained_one(recorded):
    stored, agent, _ = recorded
    np.testing.assert_array_equal(stored.agent().means, agent.means)
    np.testing.assert_array_equal(stored.agent().transition_matrix, agent.transition_matrix)
    assert stored.status().state == "finished"
    assert stored.status().result["states"] == agent.n_states


def test_the_metrics_tell_what_the_agent_told(recorded):
    stored, _, told = recorded
    records = list(stored.metrics())
    episodes = [episode for record in records for episode in record["episodes"]]
    wanted = [episode for info in told for episode in info.episodes]
    assert [e["total_reward"] for e in episodes] == [e.total_reward for e in wanted]
    assert [e["step"] for e in episodes] == [e.step for e in wanted]
    moves = [move for record in records for move in record["moves"]]
    last = records[-1]["step"]
    made = [(info.step, move) for info in told for move in info.moves if info.step <= last]
    assert [(m["step"], m["kind"], tuple(m["ids"]), m["cause"], m["gain"]) for m in moves] == [
        (step, move.kind, move.ids, move.cause, move.gain) for step, move in made
    ]
    assert sum(r["n_forgotten"] for r in records) == sum(
        info.n_forgotten for info in told if info.step <= last
    )
    by_step = {info.step: info for info in told}
    for record in records:
        assert record["n_states"] == by_step[record["step"]].n_states
        assert record["free_energy"] == by_step[record["step"]].free_energy


def test_lines_of_metrics_grow_apart_with_the_run(tmp_path):
    make_agent().learn(2600, run_dir=tmp_path / "run")
    steps = [record["step"] for record in Run.open(tmp_path / "run").metrics()]
    gaps = dict(zip(steps, np.diff([0, *steps]).tolist(), strict=True))
    assert [gaps[step] for step in steps if step <= 80] == [20] * 4
    assert all(gap <= max(20, step / 4) for step, gap in gaps.items())
    assert gaps[2600] <= 250
    assert steps[-2] - steps[-3] == 250
    assert len(steps) < 25


def test_the_terms_of_the_energy_are_told_where_a_full_frame_is(tmp_path):
    # A scale that is learned changes everything now and then: bandwidth 0.5 has few full frames.
    make_agent(bandwidth=0.5).learn(700, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    (step,) = run.chunk_steps()
    arrays = run.chunk_file(step).arrays
    is_full = arrays["frame.is_full"]
    full_at = arrays["frame.step"][is_full].tolist()
    sizes = arrays["frame.n_components"][is_full]
    evidence = np.split(arrays["full.log_evidence"], np.cumsum(sizes)[:-1])
    assert full_at == [1, 500, 700]
    told = [line for line in run.metrics() if line["free_energy_terms"]]
    # The last frame is for viewers, after the last line.
    for at, parts, line in zip(full_at[:-1], evidence[:-1], told, strict=True):
        terms = line["free_energy_terms"]
        assert set(terms) == {"observations", "transitions"}
        assert 0 <= line["step"] - at < 250
        assert terms["observations"] == pytest.approx(-parts.sum())


def test_the_paper_tells_of_every_fit(tmp_path):
    make_agent("paper").learn(1500, run_dir=tmp_path / "run")
    records = list(Run.open(tmp_path / "run").metrics())
    assert [record["step"] for record in records] == list(range(100, 1501, 100))
    assert all(record["free_energy_path"] for record in records)


@pytest.mark.parametrize("reward", [-7.0, 1e-300, 0.1 + 0.2, float("inf")])
def test_an_episode_is_the_same_in_json(reward):
    episode = EpisodeInfo(3, 40, reward, 9, terminated=reward < 0)
    assert json.loads(episode.to_json()) == episode.to_dict()


@pytest.mark.parametrize(
    ("name", "value"),
    [("episode", True), ("total_reward", True), ("total_reward", 10**400), ("terminated", 1)],
)
def test_an_episode_that_is_none_is_refused(name, value):
    told = EpisodeInfo(3, 40, -7.0, 9, terminated=True).to_dict()
    assert EpisodeInfo.from_dict(told).total_reward == -7.0
    with pytest.raises(DataError, match=name):
        EpisodeInfo.from_dict(told | {name: value})


@pytest.mark.parametrize("preset", PRESETS)
def test_frames_are_the_agent_at_each_learning_step(preset, tmp_path, monkeypatch):
    monkeypatch.setattr("tgm.runs.history.CHUNK_STEPS", 400)
    agent = make_agent(preset, "20", seed=3)
    seen = {}

    def look(info) -> None:
        if info.step % 7 == 0 or preset == "paper":
            counts = agent.transition_counts
            seen[info.step] = (agent.state_ids, agent.means, agent.covariances, counts)

    agent.learn(1300, callback=look, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    assert len(run.chunk_steps()) >= 2
    chunk, file = run.chunk(0).arrays, run.chunk_file(0).arrays
    if preset == "default":  # most frames are not in the file: they follow from what was seen
        assert len(chunk["frame.step"]) > 2 * len(file["frame.step"])
    assert len(seen) >= 13
    for step, (ids, means, covariances, counts) in seen.items():
        frame = run.frame_at(step)
        order = np.argsort(ids)
        np.testing.assert_array_equal(frame.ids, ids[order])
        np.testing.assert_allclose(frame.mean, means[order], rtol=1e-12)
        np.testing.assert_allclose(frame.covariance, covariances[order], atol=1e-12)
        wanted = counts[:, order][:, :, order]
        np.testing.assert_allclose(frame.transition_counts, wanted, atol=1.1e-4)
    # `frames` walks through the same ones.
    for step, frame in run.frames(350):
        np.testing.assert_array_equal(frame.ids, run.frame_at(step).ids)


def test_observations_are_those_of_the_environment(tmp_path, monkeypatch):
    rows = []

    class Spy(gym.Wrapper):
        n_steps = n_episodes = 0

        def reset(self, **kwargs):
            point, info = self.env.reset(**kwargs)
            self.n_episodes += 1
            rows.append((point.tolist(), -1, 0.0, 0, self.n_steps, self.n_episodes))
            return point, info

        def step(self, action):
            point, reward, terminated, truncated, info = self.env.step(action)
            self.n_steps += 1
            end = 2 * truncated or +terminated
            when = self.n_steps, self.n_episodes
            rows.append((point.tolist(), int(action), reward, end, *when))
            return point, reward, terminated, truncated, info

    env = Spy(gym.make("tgm/Maze-v0", maze="8"))
    monkeypatch.setattr("tgm.runs.history.CHUNK_STEPS", 300)
    config = tgm.TGMConfig(bandwidth=0.5)  # the evidence of a scale begins again with another
    agent = tgm.TGMAgent(env, config, seed=2).learn(1200, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    arrays = [run.chunk(first).arrays for first in run.chunk_steps()]

    def column(name):
        return np.concatenate([chunk[name] for chunk in arrays]).tolist()

    assert len(arrays) >= 2
    names = ("obs.point", "obs.action", "obs.reward", "obs.end", "obs.step", "obs.episode")
    assert list(zip(*map(column, names), strict=True)) == rows
    assert rows[-1][4:] == (1200, agent.n_episodes)
    # The evidence is the sum of what each observation added to it.
    total = -list(run.metrics())[-1]["free_energy"]
    assert list(run.metrics())[-1]["step"] == 1200
    assert sum(column("obs.log_density")) == pytest.approx(total)


def test_full_frames_have_kept_points_values_and_evidence(tmp_path):
    agent = make_agent("default", "20", seed=1, bandwidth=0.5)
    told = {}

    def look(info) -> None:
        if info.step == 1:
            told["q"] = agent.learner.greedy_values()

    agent.learn(60, callback=look, run_dir=tmp_path / "run")
    arrays = Run.open(tmp_path / "run").chunk(0).arrays
    # The first one, and the one at the end.
    n_frames, n_first = len(arrays["frame.step"]), arrays["frame.n_components"][0]
    assert np.flatnonzero(arrays["frame.is_full"]).tolist() == [0, n_frames - 1]
    np.testing.assert_array_equal(arrays["full.q"][:n_first], told["q"])
    np.testing.assert_array_equal(arrays["full.q"][n_first:], agent.learner.greedy_values())
    # After one step two observations are kept: the start and where the step led.
    first = arrays["kept.frame"] == 0
    np.testing.assert_allclose(arrays["kept.point"][first], arrays["obs.point"][:2])
    assert (~first).sum() == len(agent.learner.world.memory)
    assert set(arrays["kept.state"]) <= set(arrays["component.id"])
    assert arrays["full.prior_covariance"].shape == (n_first + agent.n_states, 2, 2)
    assert np.isfinite(arrays["full.log_evidence"]).all()


def test_the_world_is_kept_whole(recorded):
    stored, _, _ = recorded
    assert stored.world.maze.grid == load_maze("8").grid
    assert make_env(stored.world).unwrapped.maze.optimal_return == -5


def test_an_environment_that_cannot_be_made_again_says_so(tmp_path):
    env = gym.make(RING, n_places=5)
    world = EnvSpec.from_dict(EnvSpec.of(env).to_dict())
    with pytest.raises(RunError, match="give it as env"):
        make_env(world)
    agent = tgm.TGMAgent(env, seed=0)
    agent.learn(100, run_dir=tmp_path / "run")
    with pytest.raises(RunError, match="give it as env"):
        resume(tmp_path / "run")
    again, _ = resume(tmp_path / "run", env=env)
    assert again.n_steps <= 100
    assert make_env(EnvSpec.of(gym.make("CartPole-v1"))).spec.id == "CartPole-v1"
    assert not EnvSpec.of(gym.wrappers.ClipReward(gym.make("CartPole-v1"), 0, 1)).is_whole


def test_an_environment_is_made_again_with_the_arguments_in_the_run(tmp_path):
    env = gym.make("CartPole-v1", sutton_barto_reward=True)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=0.2), seed=0)
    agent.learn(100, run_dir=tmp_path / "run")
    again, _ = resume(tmp_path / "run")
    assert again.env.spec.kwargs == {"sutton_barto_reward": True}


def test_other_agents_can_be_recorded(tmp_path):
    world = EnvSpec.of_maze(load_maze("8"))
    folder = RunFolder.create(
        tmp_path / "dqn", agent="dqn", world=world, seed=1, steps=50, config={"lr": 0.1}
    )
    folder.append({"step": 50, "episode": 1}, [])
    folder.finish("finished", {"steps": 50, "mean_return": float("nan")})
    run = Run.open(tmp_path / "dqn")
    assert run.status().state == "finished"
    assert run.status().result["mean_return"] is None
    assert list(run.metrics()) == [{"step": 50, "episode": 1, "episodes": []}]
    with pytest.raises(RunError, match="cannot be resumed"):
        resume(run.folder)
    assert find_runs(tmp_path) == [tmp_path / "dqn"]


# --- one writer, many readers --------------------------------------------------------------------


def test_a_second_writer_is_refused(tmp_path):
    agent = make_agent()
    recorder = RunRecorder.begin(agent, tmp_path / "run", 100)
    assert Run.open(tmp_path / "run").status().state == "live"
    with pytest.raises(RunError, match="another process"):
        RunFolder(tmp_path / "run")
    with pytest.raises(RunError, match="another process"):
        resume(tmp_path / "run")
    recorder.close("interrupted", "had enough")
    status = Run.open(tmp_path / "run").status()
    assert (status.state, status.reason) == ("interrupted", "had enough")


def test_a_reader_never_sees_half_a_record(tmp_path):
    agent = make_agent("default", "20")
    polls = 0

    def read(info) -> None:
        nonlocal polls
        stored = Run.open(tmp_path / "run")
        assert stored.status().state == "live"
        steps = [record["step"] for record in stored.metrics()]
        assert steps == sorted(steps)
        for first in stored.chunk_steps():
            stored.chunk(first)
        polls += 1

    agent.learn(300, callback=read, run_dir=tmp_path / "run")
    assert polls == 300


def test_a_half_written_last_line_is_not_read(run):
    steps = [record["step"] for record in run.metrics()]
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 99999')
    assert [record["step"] for record in run.metrics()] == steps
    assert run.status().last["step"] == steps[-1]


@pytest.mark.parametrize(
    "line", ["{step}", "[]", "null", '{"step": NaN}', '{"step": "1"}', "[" * 9999]
)
def test_a_broken_line_is_named(run, line):
    n = len(list(run.metrics()))
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(RunError, match=rf"metrics.jsonl:{n + 1}: "):
        list(run.metrics())
    assert run.status().state == "broken"


def test_a_run_is_never_overwritten(run, tmp_path):
    for agent in (make_agent(), make_agent(seed=9)):
        with pytest.raises(RunError, match=r"exists already|another agent"):
            agent.learn(10, run_dir=run.folder)
    (tmp_path / "other").mkdir()
    with pytest.raises(RunError, match="exists already"):
        make_agent().learn(10, run_dir=tmp_path / "other")
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="exists already"):
        make_agent().learn(10, run_dir=tmp_path / "file")
    with pytest.raises(RunError, match="this one has 10"):
        make_agent().learn(10).learn(10, run_dir=tmp_path / "new")
    assert run.status().state == "finished"


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="not a run"):
        Run.open(tmp_path)
    for text, why in (
        ("{", "cannot be read"),
        ("[]", "no JSON object"),
        ("[" * 100_000, "cannot be read"),
        (json.dumps({"format": 5}), "a run of format 5; this version reads 4"),
        (json.dumps({"format": 4, "agent": 3}), "'agent' is 3"),
    ):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(RunError, match=why):
            Run.open(tmp_path)


# --- going on ------------------------------------------------------------------------------------


def files_of(run: Run) -> dict[str, bytes]:
    history = {path.name: path.read_bytes() for path in (run.folder / "history").iterdir()}
    names = ("metrics.jsonl", "model.safetensors")
    return history | {name: (run.folder / name).read_bytes() for name in names}


CONFIGS = {
    "default": tgm.TGMConfig(),
    "paper": tgm.TGMConfig.paper(),
    "auto": tgm.TGMConfig(bandwidth="auto"),
    "sampling": tgm.TGMConfig(exploration="posterior_sampling"),
    "seldom": tgm.TGMConfig(learn_every=7, exploration="softmax"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_stopped_and_resumed_is_never_stopped(name, tmp_path, monkeypatch):
    """Stop at several episode ends, each time in a run of its own, and go on."""
    monkeypatch.setattr("tgm.runs.history.CHUNK_STEPS", 200)

    def fresh() -> tgm.TGMAgent:
        return tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), CONFIGS[name], seed=7)

    n_steps = 800
    fresh().learn(n_steps, run_dir=tmp_path / "whole")
    whole = Run.open(tmp_path / "whole")
    for stop_after in (1, 4, 9, 15):
        folder = tmp_path / f"stopped-{stop_after}"
        agent = fresh()
        recorder = RunRecorder.begin(agent, folder, n_steps, checkpoint_seconds=0)
        stop_at_episode(recorder, stop_after)
        agent.learn(n_steps, run_dir=recorder)
        stopped = Run.open(folder)
        assert stopped.status().state == "interrupted"
        again, troubles = resume(folder)
        assert again.n_steps == agent.n_steps < n_steps
        assert troubles == ()
        again.learn(n_steps - again.n_steps, run_dir=open_run(again, folder, n_steps))
        assert files_of(stopped) == files_of(whole)
        assert stopped.status().state == "finished"


def test_a_stop_between_two_learning_steps_changes_nothing(tmp_path):
    """While scales are compared: the best one changes, and so does the prior of states."""
    config = tgm.TGMConfig(bandwidth="auto", learn_every=7)

    def fresh() -> tgm.TGMAgent:
        env = gym.make("tgm/Maze-v0", maze="8", noise=0.3, max_episode_steps=5)
        return tgm.TGMAgent(env, config, seed=0)

    n_steps = 80
    fresh().learn(n_steps, run_dir=tmp_path / "whole")
    whole = files_of(Run.open(tmp_path / "whole"))
    for stop_after in range(1, 16):
        folder = tmp_path / f"stopped-{stop_after}"
        agent = fresh()
        recorder = RunRecorder.begin(agent, folder, n_steps, checkpoint_seconds=0)
        stop_at_episode(recorder, stop_after)
        agent.learn(n_steps, run_dir=recorder)
        again, _ = resume(folder)
        assert again.n_steps == 5 * stop_after
        again.learn(n_steps - again.n_steps, run_dir=open_run(again, folder, n_steps))
        assert files_of(Run.open(folder)) == whole


def stop_at_episode(recorder: RunRecorder, number: int) -> None:
    ended = recorder.episode_ended
    count = iter(range(1, 10**6))

    def stop(agent) -> bool:
        if next(count) == number:
            recorder.request_stop()
        return ended(agent)

    recorder.episode_ended = stop


@pytest.mark.parametrize(("learn_every", "more"), [(1, 70), (50, 70), (50, 20)])
def test_the_same_agent_goes_on_as_a_resumed_one_does(learn_every, more, tmp_path):
    def begin(folder) -> tgm.TGMAgent:
        env = gym.make("tgm/Maze-v0", maze="27", max_episode_steps=10)
        agent = tgm.TGMAgent(env, tgm.TGMConfig(learn_every=learn_every), seed=0)
        agent.learn(120, run_dir=folder)
        assert agent.is_between_episodes
        return agent

    begin(tmp_path / "same").learn(more, run_dir=tmp_path / "same")
    begin(tmp_path / "resumed")
    resume(tmp_path / "resumed")[0].learn(more, run_dir=tmp_path / "resumed")
    for name in ("metrics.jsonl", "history/0000000000.safetensors"):
        same, resumed = (tmp_path / folder / name for folder in ("same", "resumed"))
        assert same.read_bytes() == resumed.read_bytes()


def test_an_agent_that_broke_off_an_episode_does_not_go_on_with_its_run(tmp_path):
    env = FailsAt(101, ConnectionError("gone"), maze="27", max_episode_steps=10)
    agent = tgm.TGMAgent(env, seed=0).learn(100, run_dir=tmp_path / "run")
    with pytest.raises(ConnectionError):
        agent.learn(50, run_dir=tmp_path / "run")
    with pytest.raises(RunError, match=r"11 episodes.*checkpoint 10.*resume"):
        agent.learn(50, run_dir=tmp_path / "run")
    again, _ = resume(tmp_path / "run", env=env)
    again.learn(50, run_dir=tmp_path / "run")
    episodes = Run.open(tmp_path / "run").chunk(0).arrays["obs.episode"]
    assert episodes.tolist() == [1 + index // 11 for index in range(len(episodes))]


def test_a_slow_run_can_be_watched(tmp_path, monkeypatch):
    monkeypatch.setattr("tgm.runs.recorder.LIVE_SECONDS", 0.0)
    behind = []

    def look(info) -> None:
        if info.step > 300 and info.step % 23 == 0:
            behind.append(info.step - Run.open(tmp_path / "run").chunk(0).last_step)

    make_agent(maze="27").learn(700, callback=look, run_dir=tmp_path / "run")
    assert len(behind) > 10
    assert max(behind) == 0


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path):
    make_agent().learn(900, run_dir=tmp_path / "long")
    agent = make_agent()
    recorder = RunRecorder.begin(agent, tmp_path / "short", 400, checkpoint_seconds=0)
    agent.learn(400, run_dir=recorder)
    again, _ = resume(tmp_path / "short")
    again.learn(900 - again.n_steps, run_dir=tmp_path / "short")
    assert files_of(Run.open(tmp_path / "short")) == files_of(Run.open(tmp_path / "long"))


def checkpointed(folder, n_steps: int = 300) -> Run:
    agent = make_agent()
    agent.learn(n_steps, run_dir=RunRecorder.begin(agent, folder, n_steps, checkpoint_seconds=0))
    return Run.open(folder)


def test_two_checkpoints_are_kept_and_a_broken_one_is_passed_over(tmp_path):
    run = checkpointed(tmp_path / "run")
    whole = files_of(run)
    (older, _), (newer, path) = run.checkpoints()
    assert older < newer <= 300
    path.write_bytes(path.read_bytes()[:-100])
    (run.folder / "model.safetensors").unlink()
    agent, troubles = resume(run.folder)
    assert agent.n_steps == older
    assert len(troubles) == 1
    assert str(path) in troubles[0]
    assert run.agent().n_steps == older
    agent.learn(300 - older, run_dir=run.folder)
    assert files_of(run) == whole


def test_what_came_after_the_checkpoint_is_cut_off(tmp_path):
    run = checkpointed(tmp_path / "run")
    whole = files_of(run)
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 99999}\n' * 1000)
    history = run.folder / "history"
    shutil.copy(history / "0000000000.safetensors", history / "0000099999.safetensors")
    agent, _ = resume(run.folder)
    assert agent.n_steps < 300
    agent.learn(300 - agent.n_steps, run_dir=run.folder)
    assert files_of(run) == whole
    assert 99999 not in [record["step"] for record in run.metrics()]
    assert run.chunk_steps() == [0]


def test_without_a_checkpoint_it_begins_again(tmp_path):
    run = checkpointed(tmp_path / "run")
    whole = files_of(run)
    for _, path in run.checkpoints():
        path.unlink()
    (run.folder / "model.safetensors").unlink()
    (run.folder / "result.json").unlink()
    assert run.status().state == "interrupted"
    agent, _ = resume(run.folder)
    assert agent.n_steps == 0
    agent.learn(300, run_dir=run.folder)
    assert files_of(run) == whole


def test_a_corrupt_final_model_is_passed_over(tmp_path):
    run = checkpointed(tmp_path / "run")
    (run.folder / "model.safetensors").write_bytes(b"\0" * 1000)
    agent, troubles = run.agent_and_troubles()
    assert agent.n_steps == run.checkpoints()[-1][0]
    assert "model.safetensors" in troubles[0]


def test_metrics_that_were_cut_are_named(tmp_path):
    run = checkpointed(tmp_path / "run")
    path = run.folder / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:50])
    agent, _ = resume(run.folder)
    with pytest.raises(RunError, match=r"metrics.jsonl: has 50 of the"):
        agent.learn(100, run_dir=run.folder)
    assert run.status().state != "live"


def test_an_error_of_the_environment_is_a_failed_run(tmp_path):
    agent = tgm.TGMAgent(FailsAt(120, OSError("the cable is out"), maze="8"), seed=0)
    with pytest.raises(OSError, match="cable"):
        agent.learn(500, run_dir=tmp_path / "run")
    status = Run.open(tmp_path / "run").status()
    assert status.state == "failed"
    assert "cable" in status.reason
    assert status.result["steps"] == 119
