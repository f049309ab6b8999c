"""What a run keeps of its environment, and what is refused in a file from others."""

import json
import shlex

import gymnasium as gym
import pytest

from tgm.envs import EnvSpec, load_maze, make_env, random_maze
from tgm.envs.env_spec import value_of_word
from tgm.envs.maze import Maze
from tgm.errors import RunError, TGMError


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"module": "os; import x"}, "the module of the run's environment"),
        ({"module": 3}, "the module of the run's environment"),
        ({"settings": []}, "the settings of the run's environment"),
        ({"digest": "0" * 64}, "the digest of the run's environment"),
        ({"settings": {"max_episode_steps": 7}}, "the digest of the run's environment"),
    ],
)
def test_a_spec_that_contradicts_itself_is_refused(change, why):
    values = EnvSpec.of(gym.make("CartPole-v1")).to_dict()
    assert EnvSpec.from_dict(values).settings["max_episode_steps"] == 500
    with pytest.raises(RunError, match=why):
        EnvSpec.from_dict(values | change)


def test_the_digest_covers_id_maze_and_settings():
    def digest(**options) -> str:
        return EnvSpec.of(gym.make("tgm/Maze-v0", **options)).digest

    assert digest(maze="8") == digest(maze="8", noise=0.15)
    others = [
        digest(maze="8", noise=0.3),
        digest(maze="8", max_episode_steps=60),
        digest(maze="10"),
    ]
    assert len({digest(maze="8"), *others}) == 4


def test_registered_options_are_not_options_of_the_user():
    env = gym.make("FrozenLake-v1")
    world = EnvSpec.from_dict(EnvSpec.of(env).to_dict())
    assert world.options == {}
    assert make_env(world).spec.kwargs == env.spec.kwargs
    other = EnvSpec.of(gym.make("FrozenLake-v1", is_slippery=False))
    assert world.differences(other) == ["is_slippery is false, not null"]


def test_options_of_a_maze_are_kept():
    env = gym.make("tgm/Maze-v0", maze="10", noise=0.3, max_episode_steps=77)
    world = EnvSpec.from_dict(json.loads(json.dumps(EnvSpec.of(env).to_dict())))
    again = make_env(world)
    assert again.spec.max_episode_steps == 77
    assert again.unwrapped._noise == 0.3
    assert again.unwrapped.maze.grid == load_maze("10").grid


@pytest.mark.parametrize(("given", "kept"), [({}, 1128), ({"max_episode_steps": 50}, 50)])
def test_a_run_keeps_the_limit_it_was_made_with(given, kept):
    env = gym.make("tgm/Maze-v0", maze=random_maze("perfect", 20, 20, 3), **given)
    for world in (EnvSpec.of(env), EnvSpec.of_maze(env.unwrapped.maze, **given)):
        facts = json.loads(json.dumps(world.to_dict()))
        assert facts["options"]["max_episode_steps"] == kept
        again = EnvSpec.from_dict(facts)
        assert again.episode_limit == kept
        assert make_env(again).spec.max_episode_steps == kept


def test_a_run_of_an_older_version_goes_on_with_fifty_steps():
    facts = EnvSpec.of_maze(random_maze("perfect", 20, 20, 3)).to_dict() | {"options": {}}
    world = EnvSpec.from_dict(facts)
    assert world.episode_limit == make_env(world).spec.max_episode_steps == 50


def test_a_run_without_a_limit_stays_without_one():
    world = EnvSpec.of(gym.make("tgm/Maze-v0", maze="8", max_episode_steps=-1))
    again = EnvSpec.from_dict(json.loads(json.dumps(world.to_dict())))
    assert again.episode_limit is None
    assert make_env(again).spec.max_episode_steps is None


@pytest.mark.parametrize("limit", [0, -2, 10**400, 1.5, "50", None])
def test_a_limit_that_is_none_is_refused(limit):
    facts = EnvSpec.of_maze(load_maze("8")).to_dict() | {"options": {"max_episode_steps": limit}}
    with pytest.raises(RunError, match="max_episode_steps = "):
        EnvSpec.from_dict(facts)


def test_a_limit_of_another_environment_is_not_read():
    facts = {"id": "CartPole-v1", "options": {"max_episode_steps": "hostile"}, "is_whole": True}
    assert EnvSpec.from_dict(facts).episode_limit is None


def test_an_id_in_a_file_imports_no_module():
    with pytest.raises(RunError, match="names a module to import"):
        EnvSpec.from_dict({"id": "antigravity:Maze-v0"})


@pytest.mark.parametrize(
    "values",
    [
        None,
        {},
        {"id": 3},
        {"id": "tgm/Maze-v0", "maze": "8"},
        {"id": "tgm/Maze-v0", "maze": {"name": "x", "grid": [1]}},
        {"id": "tgm/Maze-v0", "options": []},
        {"id": "x", "maze": {"name": "x", "grid": ["#"]}},
        {"id": "x", "maze": {"name": "x", "grid": ["SG"]}, "options": {"render_mode": "human"}},
    ],
)
def test_a_broken_spec_is_refused(values):
    with pytest.raises(TGMError):
        EnvSpec.from_dict(values)


def test_a_maze_that_changed_names_the_first_other_row():
    then = EnvSpec.of_maze(Maze("mine", ("######", "#S..G#", "######")))
    now = EnvSpec.of_maze(Maze("mine", ("######", "#S.G.#", "######")))
    (found,) = then.differences(now)
    assert found.endswith("not those of the run's maze (row 2 is '#S.G.#', not '#S..G#')")
    taller = EnvSpec.of_maze(Maze("mine", ("######", "#S..G#", "######", "######")))
    (found,) = then.differences(taller)
    assert found.endswith("(4 rows, not 3)")


@pytest.mark.parametrize(
    "value", [8, 0.5, True, None, "8x8", "8", "true", "None", "two words", [1]]
)
def test_flags_give_the_same_arguments_again(value):
    words = shlex.split(EnvSpec("FrozenLake-v1", options={"x": value}).flags)
    assert words[:3] == ["--env", "FrozenLake-v1", "--env-args"]
    name, _, word = words[3].partition("=")
    assert (name, value_of_word(word), len(words)) == ("x", value, 4)
