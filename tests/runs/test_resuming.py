"""Runs that stop within an episode, and what a resumed run refuses to change or to lose."""

import json
import shutil
import sys

import gymnasium as gym
import pytest
from campaigns.common.endless import RING
from campaigns.common.lives import SETTINGS, Life, files_of
from campaigns.resuming import check_history, killed_within, refusals, terminated

import tgm
from tgm.envs import EnvSpec, Maze, make_env
from tgm.envs.registry import registered_env
from tgm.errors import DataError, RunError
from tgm.runs import Run, RunRecorder, open_run, resume, timing
from tgm.runs.admission import packages_of
from tgm.runs.timing import CheckpointClock


def check(tally, tried: int) -> None:
    assert tally.tried == tried
    assert tally.lost == []


def test_killed_within_an_endless_episode(tmp_path):
    check(killed_within(4, 1, tmp_path), 4)


def test_asked_to_stop_within_an_endless_episode(tmp_path):
    # In the campaign within two seconds; here the machine may be busy. It would never end.
    check(terminated(2, 1, tmp_path, seconds=60.0), 2)


def test_nothing_recorded_is_changed_or_shortened(tmp_path):
    check(refusals(tmp_path), 18)


# --- checkpoints within an episode ----------------------------------------------------------------


def begin(folder, settings: str = "default", n_steps: int = 400) -> tuple:
    agent = tgm.TGMAgent(gym.make(RING), SETTINGS[settings], seed=3)
    return agent, RunRecorder.begin(agent, folder, n_steps)


def stopped(folder, settings: str = "default", at: int = 137) -> tgm.TGMAgent:
    """An agent that was asked to stop at once, within its first episode."""
    agent, recorder = begin(folder, settings)
    observed = agent.env.step

    def step(action):
        if agent.n_steps + 1 == at:
            recorder.request_stop(at_once=True)
        return observed(action)

    agent.env.step = step
    agent.learn(400, run_dir=recorder)
    agent.env.step = observed
    return agent


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_checkpoint_within_an_episode_has_all_that_was_learned(settings, tmp_path):
    """An agent goes on as the one does that was loaded from its checkpoint, to the bit."""
    agent = stopped(tmp_path / "same", settings)
    shutil.copytree(tmp_path / "same", tmp_path / "resumed")
    assert agent.n_steps == 137
    assert Run.open(tmp_path / "same").status().reason == "stopped within an episode"
    agent.learn(300, run_dir=tmp_path / "same")
    again, (told,) = resume(tmp_path / "resumed", gym.make(RING))
    assert "step 137 lies within episode 1" in told
    assert "a new episode begins there" in told
    again.learn(300, run_dir=tmp_path / "resumed")
    assert files_of(tmp_path / "same") == files_of(tmp_path / "resumed")
    check_history(Run.open(tmp_path / "resumed"), 437)
    broken = [line["broken_off"] for line in Run.open(tmp_path / "same").metrics()
              if "broken_off" in line]  # fmt: skip
    assert [[(told["episode"], told["step"], told["length"]) for told in one] for one in broken] \
        == [[(1, 137, 137)]]  # fmt: skip


def always_due(monkeypatch) -> None:
    monkeypatch.setattr(CheckpointClock, "is_due_within", lambda self: True)
    monkeypatch.setattr(timing, "LOOK_STEPS", 10)


@pytest.mark.parametrize("settings", ["default", "paper", "auto"])
def test_checkpoints_within_episodes_change_nothing_else(settings, tmp_path, monkeypatch):
    life = Life(settings, n_steps=300)
    life.agent().learn(300, run_dir=tmp_path / "without")
    always_due(monkeypatch)
    agent = life.agent()
    agent.learn(300, run_dir=tmp_path / "with")
    assert agent.n_steps - Run.open(tmp_path / "with").checkpoints()[0][0] < 40
    without, found = (files_of(tmp_path / name) for name in ("without", "with"))
    same = [name for name in without if not name.startswith("checkpoints")]
    assert [name for name in same if found[name] != without[name]] == []


def test_from_an_episode_end_a_run_is_exact_again(tmp_path, monkeypatch):
    life = Life(n_steps=300)
    life.live(tmp_path / "whole")
    always_due(monkeypatch)
    agent = life.agent()
    recorder = RunRecorder.begin(agent, tmp_path / "run", 300)
    ended, within = recorder.episode_ended, []

    def episode_ended(agent) -> bool:
        within.append(recorder._clock.newest_is_within)
        assert ended(agent)
        if agent.n_episodes == 3:
            raise DataError("as if it were killed")
        return True

    recorder.episode_ended = episode_ended
    with pytest.raises(DataError):
        agent.learn(300, run_dir=recorder)
    assert within == [True, True, True]  # checkpoints were within the episodes that had ended
    again, told = resume(tmp_path / "run")
    assert told == ()
    assert again.n_steps == agent.n_steps
    again.learn(300 - again.n_steps, run_dir=tmp_path / "run")
    whole, found = (files_of(tmp_path / name) for name in ("whole", "run"))
    same = [name for name in whole if not name.startswith("checkpoints")]
    assert [name for name in same if found[name] != whole[name]] == []


def test_a_regular_run_has_no_checkpoint_within_an_episode(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("tgm.runs.timing.time.monotonic", lambda: now[0])
    clock = CheckpointClock(2.0, 0)
    for _ in range(100):  # episodes of three seconds
        for _ in range(3):
            now[0] += 1.0
            assert not clock.is_due_within()
        assert clock.is_due_between()
        clock.wrote(now[0], within=False)
    now[0] += 10.5
    assert clock.is_due_within()
    clock.wrote(now[0], within=True)
    now[0] += 1.5
    assert not clock.is_due_within()
    assert clock.is_due_between()  # an end is always better
    now[0] += 1.0
    assert clock.is_due_within()  # it is a long episode: as often as between episodes


def test_a_slow_world_is_looked_at_after_every_step(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("tgm.runs.timing.time.monotonic", lambda: now[0])
    clock = CheckpointClock(2.0, 0)
    for step, seconds, wanted in ((1, 5.0, 2), (2, 5.0, 3), (1002, 0.1, 1103), (1012, 10.0, 1013)):
        now[0] += seconds
        assert clock.next_look(step) == wanted


def test_the_first_ctrl_c_lets_an_episode_end_that_is_near(tmp_path, monkeypatch):
    for seconds, where in ((60.0, "between two episodes"), (0.0, "within an episode")):
        monkeypatch.setattr("tgm.runs.recorder.STOP_SECONDS", seconds)
        agent = Life(maze="10").agent()  # its episodes take 50 steps
        recorder = RunRecorder.begin(agent, tmp_path / where, 400)

        def ask(info, recorder=recorder) -> None:
            if info.step == 20:
                recorder.request_stop()

        agent.learn(400, callback=ask, run_dir=recorder)
        assert Run.open(tmp_path / where).status().reason == f"stopped {where}"
        assert agent.n_steps == (50 if seconds else 20)


def test_asked_to_stop_at_the_last_step_it_keeps_that_too(tmp_path):
    agent, recorder = begin(tmp_path / "run", n_steps=100)
    agent.learn(100, callback=lambda info: recorder.request_stop(), run_dir=recorder)
    assert Run.open(tmp_path / "run").status().reason == "stopped within an episode"
    assert resume(tmp_path / "run", gym.make(RING))[0].n_steps == 100


def test_a_finished_run_without_an_episode_end_is_made_longer(tmp_path):
    agent, recorder = begin(tmp_path / "run")
    agent.learn(400, run_dir=recorder)
    again, (told,) = resume(tmp_path / "run", gym.make(RING))
    assert again.n_steps == 400
    assert "step 400 lies within episode 1" in told
    again.learn(100, run_dir=tmp_path / "run")
    check_history(Run.open(tmp_path / "run"), 500)


def test_a_run_without_a_checkpoint_says_that_it_begins_again(tmp_path):
    life = Life(n_steps=100)
    agent, recorder = life.begin(tmp_path / "run")
    agent.learn(100, run_dir=recorder)
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    again, (told,) = resume(tmp_path / "run")
    assert again.n_steps == 0
    assert "has no checkpoint" in told
    assert "begins again at step 0" in told


def test_what_a_killed_run_recorded_counts_too(tmp_path):
    life = Life(n_steps=325)
    agent, recorder = life.begin(tmp_path / "run")
    agent.learn(325, run_dir=recorder)
    assert not agent.is_between_episodes
    run = Run.open(tmp_path / "run")
    for name in ("result.json", "model.safetensors"):
        (run.folder / name).unlink()  # as if it had been killed
    assert run.status().last["step"] == 325
    again, _ = resume(run.folder)
    assert again.n_steps < 324
    with pytest.raises(RunError, match=r"has 325 steps.* at least 325, not 324"):
        open_run(again, run.folder, 324)
    again.learn(325 - again.n_steps, run_dir=run.folder)
    assert run.status().state == "finished"


# --- the world ------------------------------------------------------------------------------------


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """A module of the user that registers an environment when it is imported."""
    (tmp_path / "our_worlds.py").write_text(
        "import gymnasium as gym\n"
        "from campaigns.common.endless import Ring\n"
        "__version__ = '4.5'\n"
        "class Own(Ring):\n"
        "    pass\n"
        "gym.register('Own-v0', entry_point=Own)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "our_worlds"
    forget_module()


def forget_module() -> None:
    """As in a new process."""
    sys.modules.pop("our_worlds", None)
    gym.registry.pop("Own-v0", None)


def test_the_module_of_an_environment_is_recorded_and_not_imported(own_module, tmp_path):
    named = registered_env("our_worlds:Own-v0", {"n_places": 5})
    env = make_env(named)
    world = EnvSpec.of(env, named.module)
    agent = tgm.TGMAgent(env, seed=0)
    agent.learn(60, run_dir=RunRecorder.begin(agent, tmp_path / "run", 60, world))
    forget_module()
    run = Run.open(tmp_path / "run")
    assert run.world == world
    assert (run.world.module, run.world.options) == ("our_worlds", {"n_places": 5})
    assert run.metadata["versions"]["our_worlds"] == "4.5"
    assert len(run.world.digest) == 64
    for work in (lambda: make_env(run.world), lambda: resume(tmp_path / "run")):
        with pytest.raises(RunError, match="--env our_worlds:Own-v0 --env-args n_places=5"):
            work()
    assert "our_worlds" not in sys.modules
    again, _ = resume(
        tmp_path / "run", make_env(registered_env("our_worlds:Own-v0", {"n_places": 5}))
    )
    assert again.n_steps == 60
    # The module is there now; its options are still not used on a file's word.
    with pytest.raises(RunError, match="made with options"):
        make_env(run.world)


def test_wrappers_and_versions_are_told(tmp_path, monkeypatch):
    Life(n_steps=100).live(tmp_path / "run")
    wrapped = gym.wrappers.RecordEpisodeStatistics(gym.make("tgm/Maze-v0", maze="8"))
    assert (
        "wrappers of the environment are RecordEpisodeStatistics, not none"
        in (resume(tmp_path / "run", wrapped)[1][0])
    )
    monkeypatch.setattr("numpy.__version__", "99.0")
    (told,) = resume(tmp_path / "run")[1]
    assert "not exact to the bit: numpy 99.0 (was " in told


def test_packages_of_an_environment_are_found():
    assert packages_of(gym.make("CartPole-v1")) == {}
    assert packages_of(gym.make("CartPole-v1"), "pytest.fixtures") == {"pytest": pytest.__version__}


def test_a_short_finished_run_can_be_made_longer_in_python(tmp_path):
    # It was too short for a checkpoint: it is lived again from its first step, to the same bits.
    def agent():
        return tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="27"), seed=0)

    begun = agent()
    recorder = open_run(begun, tmp_path / "run", 130, checkpoint_seconds=1e6)  # however slow it is
    begun.learn(130, run_dir=recorder)
    assert Run.open(str(tmp_path / "run")).checkpoints() == []
    with pytest.raises(RunError, match="exists already"):
        agent().learn(230, run_dir=tmp_path / "run")  # nobody asked for that
    again, (told,) = resume(tmp_path / "run")
    assert "begins again at step 0" in told
    with pytest.raises(RunError, match="the run has 130 steps"):
        again.learn(129, run_dir=tmp_path / "run")
    again.learn(230, run_dir=tmp_path / "run")
    agent().learn(230, run_dir=tmp_path / "whole")
    model = "model.safetensors"
    assert (tmp_path / "run" / model).read_bytes() == (tmp_path / "whole" / model).read_bytes()


def test_absurd_numbers_of_recorded_steps_are_not_counted(tmp_path):
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0)
    agent.learn(40, run_dir=tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    told = json.loads(path.read_text())
    for steps in (10**400, -3, float("nan"), "many"):
        path.write_text(json.dumps(told | {"steps": steps}))
        assert Run.open(tmp_path / "run").recorded_steps() == 40


def test_a_checkpoint_under_the_name_of_another_step_is_passed_over(tmp_path):
    run = tmp_path / "run"
    Life(n_steps=200).live(run)
    step, newest = Run.open(run).checkpoints()[-1]
    shutil.copy(newest, newest.with_name(f"{step + 5:010d}.safetensors"))
    agent, (told,) = resume(run)
    assert agent.n_steps == step
    assert f"holds an agent at step {step}, not {step + 5}; going on from an earlier" in told
    agent.learn(50, run_dir=run)
    assert Run.open(run).status().result["steps"] == step + 50


def test_a_schedule_of_walls_is_part_of_the_world(tmp_path):
    def walled(gap: int) -> Maze:
        wall = "".join("." if x == gap else "#" for x in range(1, 4))
        return Maze(f"gap {gap}", ("#####", "#..G#", f"#{wall}#", "#S..#", "#####"))

    def make(*changes) -> gym.Env:
        return gym.make("tgm/Maze-v0", maze=walled(1), changes=changes)

    folder = tmp_path / "run"
    tgm.TGMAgent(make((50, walled(3))), seed=0).learn(200, run_dir=folder)
    for other in (make(), make((50, walled(2))), make((60, walled(3)))):
        with pytest.raises(RunError, match="changes is"):
            resume(folder, other)
    _, troubles = resume(folder, make((50, walled(3))))
    assert any("move on schedule" in trouble for trouble in troubles)
