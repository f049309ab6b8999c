"""Environments from flags, from runs and from modules, and what is said of wrong ones."""

import sys
from types import SimpleNamespace

import gymnasium as gym
import pytest

from tgm.envs import EnvRequest, EnvSpec, Maze, load_maze, make_env
from tgm.envs.registry import (
    argument_names,
    must_be_named,
    obstacle_of,
    parse_env_args,
    registered_env,
)
from tgm.errors import ConfigError, MazeError, RunError


@pytest.mark.parametrize("word", ["n", "=3", "a b=3", "render_mode=human", "id=x"])
def test_words_that_are_no_arguments_are_refused(word):
    with pytest.raises(ConfigError, match="wanted NAME=VALUE"):
        parse_env_args((word,))


def test_arguments_are_json_or_text():
    words = ("n=8", "p=0.5", "slow=true", "fast=False", "map_name=8x8", "rows=[1, 2]", "x=NaN")
    assert parse_env_args(words) == {
        "n": 8, "p": 0.5, "slow": True, "fast": False, "map_name": "8x8", "rows": [1, 2], "x": "NaN"
    }  # fmt: skip
    with pytest.raises(ConfigError, match="'n=9': n is given twice"):
        parse_env_args(("n=8", "n=9"))


def test_an_unknown_environment_is_refused_by_name():
    with pytest.raises(ConfigError, match="Nowhere-v0"):
        registered_env("Nowhere-v0")
    assert isinstance(make_env(registered_env("CartPole-v1")), gym.Env)


# --- wrong arguments, unknown ids, modules --------------------------------------------------------


@pytest.mark.parametrize(
    ("env_id", "options", "why"),
    [
        ("CartPole-v1", {"colour": "red"}, r"unexpected keyword 'colour'; it takes sutton_barto"),
        (
            "FrozenLake-v1",
            {"map_name": "9x9"},
            r"KeyError: '9x9'; it takes desc, map_name, is_slip",
        ),
        ("CartPole-v1", {"max_episode_steps": "few"}, r"it takes sutton_barto_reward, max_episode"),
    ],
)
def test_wrong_arguments_are_answered_with_those_it_takes(env_id, options, why):
    with pytest.raises(ConfigError, match=f"environment '{env_id}' cannot be made: .*{why}"):
        make_env(registered_env(env_id, options))


def test_arguments_that_cannot_be_told_are_not_guessed():
    gym.register("Any-v0", entry_point=lambda **options: gym.make("CartPole-v1"))
    try:
        assert argument_names("Any-v0") is None
        assert make_env(registered_env("Any-v0", {"colour": "red"})).spec is not None
    finally:
        gym.registry.pop("Any-v0")


def test_a_near_miss_of_an_id_is_named():
    with pytest.raises(ConfigError, match=r"environment 'CartPol-v1': .*CartPole"):
        registered_env("CartPol-v1")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "No module named 'their_worlds'; set PYTHONPATH to the folder that holds it"),
        ("import no_such_package", "No module named 'no_such_package'$"),
        ("1 / 0", "module 'their_worlds' raises ZeroDivisionError: division by zero"),
        ("x = 1", "their_worlds:Their-v0': .*Their"),
    ],
)
def test_a_module_that_does_not_register_the_environment(tmp_path, monkeypatch, text, why):
    monkeypatch.syspath_prepend(tmp_path)
    if text is not None:
        (tmp_path / "their_worlds.py").write_text(text)
    try:
        with pytest.raises(ConfigError, match=why):
            registered_env("their_worlds:Their-v0")
    finally:
        sys.modules.pop("their_worlds", None)


def test_the_maze_can_be_named_by_its_id():
    named = registered_env("tgm/Maze-v0", parse_env_args(("maze=8", "noise=0.2")))
    spec = EnvSpec.of(make_env(named))
    assert spec.maze == load_maze("8")
    assert spec.options == {"noise": 0.2, "max_episode_steps": 50}


# --- arguments in a run ---------------------------------------------------------------------------


def recorded(env_id: str, **options) -> EnvSpec:
    """As it is read from a run."""
    return EnvSpec.from_dict(EnvSpec(env_id, options=options).to_dict())


def test_plain_arguments_of_gymnasium_are_taken_from_the_run():
    spec = recorded("FrozenLake-v1", map_name="8x8", is_slippery=False, max_episode_steps=77)
    assert not must_be_named(spec)
    env = make_env(spec)
    assert env.observation_space.n == 64
    assert env.spec.max_episode_steps == 77
    assert EnvSpec.of(env).options == spec.options


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("FrozenLake-v1", {"desc": ["SF", "FG"]}),  # size in memory is not bounded by its text
        ("FrozenLake-v1", {"map_name": "8" * 101}),
        ("FrozenLake-v1", {"colour": "red"}),
        ("CartPole-v1", {"render_mode": "human"}),  # would open a window
        ("CartPole-v1", {"disable_env_checker": True}),
        ("Pendulum-v1", {"g": 10**400}),
        ("Pendulum-v1", {"g": float("nan")}),
        ("HalfCheetah-v5", {"xml_file": "/etc/passwd"}),  # would open a file
        ("Mine-v0", {"n_places": 5}),
    ],
)
def test_other_arguments_of_a_run_have_to_be_named_again(env_id, options):
    gym.register("Mine-v0", entry_point=lambda n_places: pytest.fail("was made"))
    try:
        spec = recorded(env_id, **options)
        assert must_be_named(spec)
        with pytest.raises(RunError, match=f"made with options.*name it again with --env {env_id}"):
            make_env(spec)
        # The same values are no obstacle where the user named them.
        assert obstacle_of(EnvSpec(env_id, options=options)) == ""
    finally:
        gym.registry.pop("Mine-v0")


def test_a_package_with_a_name_like_gymnasiums_is_not_trusted(monkeypatch):
    module = SimpleNamespace(Like=lambda n: pytest.fail("was made"))
    monkeypatch.setitem(sys.modules, "gymnasium.envs.toy_texts", module)
    gym.register("Like-v0", entry_point="gymnasium.envs.toy_texts:Like")
    try:
        assert argument_names("Like-v0") == ("n", "max_episode_steps")
        assert must_be_named(recorded("Like-v0", n=3))
    finally:
        gym.registry.pop("Like-v0")


# --- requests -------------------------------------------------------------------------------------


def test_a_request_without_flags_is_maze_27():
    assert EnvRequest().spec() == EnvSpec.of_maze(load_maze("27"))


def test_a_request_has_the_flags_of_its_maze():
    spec = EnvRequest(maze="8", noise=0.3, max_episode_steps=9).spec()
    assert spec == EnvSpec.of_maze(load_maze("8"), noise=0.3, max_episode_steps=9)
    env = make_env(spec)
    assert (env.unwrapped.noise, env.spec.max_episode_steps) == (0.3, 9)


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (EnvRequest(maze="8", env="CartPole-v1"), "--maze and --env exclude each other"),
        (EnvRequest(env="CartPole-v1", noise=0.1), "--env does not take --noise: only a maze"),
        (EnvRequest(env_args=("a=1",)), "--env-args are the options of --env; give both"),
        (EnvRequest(noise=float("nan")), "--noise is nan; it must be from 0"),
        (EnvRequest(max_episode_steps=0), "--max-episode-steps is 0; it must be from 1"),
    ],
)
def test_requests_that_contradict_themselves(request_, why):
    run = EnvSpec.of_maze(load_maze("8"))
    for ask in (request_.spec, lambda: request_.spec_in(run)):
        with pytest.raises(ConfigError, match=why):
            ask()


def test_in_a_run_the_rest_is_taken_from_the_run():
    run = EnvSpec.of_maze(load_maze("8"), noise=0.3, max_episode_steps=9)
    assert EnvRequest().spec_in(run) is None
    assert EnvRequest(noise=0.3).spec_in(run) == run
    assert EnvRequest(maze="8").spec_in(run) == run
    other = EnvRequest(maze="10", max_episode_steps=8).spec_in(run)
    assert other == EnvSpec.of_maze(load_maze("10"), noise=0.3, max_episode_steps=8)


def test_flags_of_a_maze_do_not_fit_another_run():
    with pytest.raises(ConfigError, match="not in a maze; leave out --maze and --noise"):
        EnvRequest(maze="8", noise=0.1).spec_in(EnvSpec("CartPole-v1"))


def test_a_run_needs_no_maze_file(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text(Maze("mine", ("#####", "#S.G#", "#####")).to_text())
    run = EnvSpec.from_dict(EnvRequest(maze=str(file)).spec().to_dict())
    file.rename(tmp_path / "moved.txt")
    assert make_env(run).unwrapped.maze.optimal_return == -1
    with pytest.raises(MazeError, match=r"mine\.txt: there is no such file"):
        EnvRequest(maze=str(file)).spec_in(run)
    assert run.differences(EnvRequest(maze=str(tmp_path / "moved.txt")).spec_in(run)) == []
