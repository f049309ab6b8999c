"""Training that is stopped and goes on, and the list of runs, as a user sees them."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium as gym
import pytest

from tgm.cli.main import main
from tgm.envs import EnvSpec
from tgm.files.format import FORMAT
from tgm.runs import Run, RunFolder


def tell(capsys, *arguments: str) -> dict:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_is_named_and_listed(here, capsys):
    trained = tell(capsys, "train", "--maze", "8", "--steps", "300", "--seed", "4")
    name = trained["run"].removeprefix("runs/")
    assert name.endswith("maze-8-seed-4")
    assert (here / "runs" / "latest").resolve() == (here / "runs" / name)
    (listed,) = tell(capsys, "runs")["runs"]
    assert listed["name"] == name
    assert listed["state"] == "finished"
    assert listed["world"] == "maze 8"
    assert (listed["steps"], listed["planned"]) == (300, 300)
    assert listed["states"] == trained["states"] == 8
    assert listed["solved"] is trained["solved"]
    assert listed["mean_return"] == trained["mean_return"]
    assert main(["runs"]) == 0
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == [
        "run", "state", "agent", "world", "steps", "states", "solved", "return", "remark"
    ]  # fmt: skip
    assert line.split()[:3] == [name, "finished", "tgm"]


def test_every_state_of_a_run_is_told(here, capsys):
    tell(capsys, "train", "--maze", "8", "--steps", "100", "--out", "runs/good")
    for name in ("killed", "broken", "half", "future"):
        shutil.copytree("runs/good", f"runs/{name}")
    (here / "runs/killed/result.json").unlink()
    (here / "runs/broken/run.json").write_text("{")
    (here / "runs/half/model.safetensors").unlink()
    (here / "runs/future/run.json").write_text(f'{{"format": {FORMAT + 1}}}')
    (here / "runs/not-a-run").mkdir()
    live = RunFolder.create(
        here / "runs/live", agent="dqn", world=EnvSpec("CartPole-v1"), seed=0, steps=9, config={}
    )
    listed = {run["name"]: run for run in tell(capsys, "runs")["runs"]}
    live.release()
    assert {name: run["state"] for name, run in listed.items()} == {
        "good": "finished",
        "killed": "interrupted",
        "broken": "broken",
        "half": "broken",
        "future": "broken",
        "live": "live",
    }
    assert f"format {FORMAT + 1}" in listed["future"]["reason"]
    assert "model is missing" in listed["half"]["reason"]
    assert listed["live"]["world"] == "CartPole-v1"


def test_no_runs_is_no_table(here, capsys):
    assert main(["runs"]) == 2
    assert "there is no such directory" in capsys.readouterr().err
    (here / "runs").mkdir()
    assert main(["runs"]) == 0
    assert "no runs under runs" in capsys.readouterr().out


@pytest.mark.parametrize("inside", [False, True])
def test_a_run_itself_is_listed_alone(here, capsys, monkeypatch, inside):
    for name in ("one", "two"):
        tell(capsys, "train", "--maze", "8", "--steps", "20", "--out", f"runs/{name}")
    if inside:
        monkeypatch.chdir(here / "runs" / "one")
    listed = tell(capsys, "runs", "." if inside else "runs/one")["runs"]
    assert [(run["name"], run["state"], run["steps"]) for run in listed] == [
        ("one", "finished", 20)
    ]


def test_a_run_is_made_longer(here, capsys):
    tell(capsys, "train", "--maze", "8", "--steps", "500", "--out", "long")
    tell(capsys, "train", "--maze", "8", "--steps", "250", "--out", "short")
    longer = tell(capsys, "train", "--resume", "short", "--steps", "500")
    assert longer["steps"] == 500
    for name in ("model.safetensors", "metrics.jsonl", "result.json"):
        assert (here / "short" / name).read_bytes() == (here / "long" / name).read_bytes()
    # Nothing is left to do: it tells the same again.
    assert tell(capsys, "train", "--resume", "short", "--steps", "500")["steps"] == 500


def test_a_run_that_goes_on_tells_how_long_that_took(here, capsys):
    often = "--checkpoint-seconds", "0"
    tell(capsys, "train", "--maze", "8", "--steps", "400", "--out", "run", *often)
    assert main(["train", "--resume", "run", "--steps", "500"]) == 0
    since = re.search(r"500 steps, (\d+) of them now, in \d", capsys.readouterr().out)
    assert since is not None
    assert 100 <= int(since[1]) < 300  # from the last end of an episode before step 400


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--resume", "nowhere"], "not a run"),
        (["--resume", "run", "--maze", "10"], "rows of maze '10' are not those of the run's"),
        (["--resume", "run", "--env", "CartPole-v1"], "is 'CartPole-v1', not 'tgm/Maze-v0'"),
        (["--resume", "run", "--env-args", "noise=1"], "the options of --env"),
        (["--resume", "run", "--out", "x"], "do not give --out"),
        (
            ["--resume", "run", "--steps", "5"],
            "the run has 60 steps; the total",
        ),
        (["--resume", "run", "--steps", "59"], "must be at least 60, not 59"),
        (["--resume", "run", "--seed", "3"], "seed is 3, not 0"),
        (["--resume", "run", "--gamma", "0.1"], "gamma is 0.1, not 0.9"),
        (["--resume=run", "--gamma", "0.8", "--kept-per-state", "3"], "; kept_per_state is 3, not"),
        (["--resume", "run", "--preset", "paper"], "structure is 'mean_shift', not 'evidence'"),
        (["--out", "run"], "exists already"),
        (["--checkpoint-seconds", "-1"], "must be 0 or more"),
        (["--checkpoint-seconds", "nan"], "must be 0 or more"),
    ],
)
def test_what_cannot_be_resumed_is_refused_in_one_line(here, capsys, arguments, why):
    begin = ("train", "--maze", "8", "--steps", "60", "--checkpoint-seconds", "0", "--out", "run")
    tell(capsys, *begin)
    assert main(["train", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line


def test_a_broken_checkpoint_is_told_and_passed_over(here, capsys):
    arguments = ("train", "--maze", "8", "--steps", "300", "--checkpoint-seconds", "0")
    tell(capsys, *arguments, "--out", "run")
    run = Run.open(here / "run")
    whole = (here / "run/model.safetensors").read_bytes()
    (here / "run/model.safetensors").unlink()
    run.checkpoints()[-1][1].write_bytes(b"broken")
    assert main(["evaluate", "run"]) == 0
    assert "taking an earlier one" in capsys.readouterr().err
    assert main(["train", "--resume", "run", "--json"]) == 0
    assert "going on from an earlier checkpoint" in capsys.readouterr().err
    assert (here / "run/model.safetensors").read_bytes() == whole


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_the_run(here, sign):
    """Interrupted between two episodes, with 130; then it goes on to the end."""
    command = [sys.executable, "-m", "tgm.cli.main", "train"]
    process = subprocess.Popen(
        [*command, "--maze", "10", "--steps", "1000000", "--out", "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (here / "run" / "metrics.jsonl").exists() or not list(
        Run.open(here / "run").metrics()
    ):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(sign)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert error.splitlines()[-1] == "tgm: interrupted; tgm train --resume run"
    run = Run.open(here / "run")
    assert run.status().state == "interrupted"
    steps = run.checkpoints()[-1][0]
    assert run.status().result["steps"] == steps
    assert main(["train", "--resume", "run", "--steps", str(steps + 100), "--json"]) == 0
    assert run.status().state == "finished"


@pytest.fixture
def own_world(here, monkeypatch):
    """A module of the user beside the runs, with an endless environment."""
    (here / "own_world.py").write_text(
        "import gymnasium as gym\n"
        "from campaigns.common.endless import Ring\n"
        "class Own(Ring):\n"
        "    pass\n"
        "gym.register('Own-v0', entry_point=Own)\n"
    )
    monkeypatch.syspath_prepend(here)
    yield
    forget_own_world()


def forget_own_world() -> None:
    """As in a new process."""
    sys.modules.pop("own_world", None)
    gym.registry.pop("Own-v0", None)


def test_a_world_of_the_users_own_module(own_world, capsys, monkeypatch):
    monkeypatch.setattr("tgm.experiments.evaluation.LONGEST", 30)  # steps; otherwise 1,000
    named = ("--env", "own_world:Own-v0")
    begun = tell(capsys, "train", *named, "--steps", "200", "--out", "runs/own")
    assert begun["cut_off"] == 20  # greedy episodes do not end either
    for command in (["evaluate", "runs/own"], ["train", "--resume", "runs/own", "--steps", "250"]):
        forget_own_world()
        (listed,) = tell(capsys, "runs")["runs"]
        assert (listed["state"], listed["world"]) == ("finished", "own_world:Own-v0")
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        words = command[:2] if command[0] == "evaluate" else command[:3]
        assert line.endswith(f"; run: tgm {' '.join(words)} --env own_world:Own-v0")
        assert "own_world" not in sys.modules
        assert main([*command, *named]) == 0
        assert "mean return" in capsys.readouterr().out
    assert Run.open(Path("runs/own")).agent().n_steps == 250


def test_arguments_of_an_environment_are_kept_and_used_again(here, capsys):
    lake = ("--env", "FrozenLake-v1", "--env-args", "map_name=8x8")
    assert tell(capsys, "train", *lake, "--steps", "50", "--out", "lake")["states"] > 3
    assert Run.open(here / "lake").world.options == {"map_name": "8x8"}
    assert len(tell(capsys, "evaluate", "lake")["returns"]) == 20
    cart = ("--env", "CartPole-v1", "--env-args", "sutton_barto_reward=true")
    tell(capsys, "train", *cart, "--steps", "100", "--bandwidth", "0.2", "--out", "run")
    assert Run.open(here / "run").world.options == {"sutton_barto_reward": True}
    evaluated = tell(capsys, "evaluate", "run")
    assert set(evaluated["returns"]) <= {-1.0, 0.0}  # of Sutton and Barto, not one for each step
    assert evaluated == tell(capsys, "evaluate", "run", *cart)
    assert tell(capsys, "train", "--resume", "run", "--steps", "110")["steps"] == 110
    assert main(["evaluate", "run", *cart[:2]]) == 2
    assert "sutton_barto_reward is null, not true" in capsys.readouterr().err
    assert main(["train", "--resume", "run", *cart, "--steps", "120"]) == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("CartPole-v1", "--env-args", "colour=red"), "it takes sutton_barto_reward, max_episode"),
        (("CartPol-v1",), "environment 'CartPol-v1': "),
        (("CartPole-v77",), "environment 'CartPole-v77': "),
        (("no_such_module:Own-v0",), "No module named 'no_such_module'; set PYTHONPATH"),
        (("own_world:Other-v0",), "environment 'own_world:Other-v0': "),
        (("own_world:Own-v0", "--env-args", "places=3"), "it takes n_places, seconds, max_episode"),
        (("CartPole-v1", "--env-args", "sutton_barto_reward"), "wanted NAME=VALUE"),
    ],
)
def test_a_wrong_environment_is_refused_in_one_line(own_world, capsys, arguments, why):
    assert main(["train", "--env", *arguments, "--steps", "5", "--out", "run"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert why in line
    assert not Path("run").exists()


def test_a_run_goes_on_without_its_maze_file(here, capsys):
    Path("mine.txt").write_text("######\n#S..G#\n######\n")
    tell(capsys, "train", "--maze", "mine.txt", "--steps", "60", "--out", "run")
    Path("mine.txt").rename("moved.txt")
    assert tell(capsys, "evaluate", "run")["optimal_return"] == -2
    assert tell(capsys, "train", "--resume", "run", "--steps", "80")["steps"] == 80
    longer = ["train", "--resume", "run", "--steps", "90", "--maze"]
    assert main([*longer, "mine.txt"]) == 2
    assert "mine.txt: there is no such file" in capsys.readouterr().err
    assert tell(capsys, *longer, "moved.txt")["steps"] == 90
    Path("moved.txt").write_text("######\n#S.G.#\n######\n")
    assert main([*longer, "moved.txt"]) == 2
    assert "(row 2 is '#S.G.#', not '#S..G#')" in capsys.readouterr().err


def test_tensorboard_gets_the_returns(here, capsys):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    tell(capsys, "train", "--maze", "8", "--steps", "200", "--out", "run", "--tensorboard", "logs")
    events = EventAccumulator("logs")
    events.Reload()
    seen = [(event.step, event.value) for event in events.Scalars("episode/return")]
    wanted = [
        (episode["step"], episode["total_reward"])
        for record in Run.open(here / "run").metrics()
        for episode in record["episodes"]
    ]
    assert seen == wanted
    assert events.Scalars("model/states")[-1].value == 8


def test_what_does_not_work_is_a_remark(here, capsys):
    tell(capsys, "train", "--maze", "8", "--steps", "100", "--out", "runs/odd")
    result = json.loads((here / "runs/odd/result.json").read_text())
    told = "one state explains all 101 observations. The observations look like noise"
    (here / "runs/odd/result.json").write_text(json.dumps(result | {"advice": [told]}))
    assert tell(capsys, "runs")["runs"][0]["advice"] == [told]
    assert main(["runs"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("one state explains all 101 observations")
