"""Places that look alike: told apart by what happens next, by evidence, and only where needed."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.envs import Maze
from tgm.experiments.hidden_worlds.environments import ColourRoom, room
from tgm.experiments.hidden_worlds.sweep import walk
from tgm.inspector.payload import summary
from tgm.learners import clone_knowledge
from tgm.learners.alias_watch import IDLE, LEAST_IDLE, QUIET, AliasWatch
from tgm.learners.clone_life import CloneLife
from tgm.learners.clones import CloneLearner
from tgm.learners.events import Event
from tgm.learners.step_info import StepInfo
from tgm.memory import symbol_history
from tgm.memory.symbol_history import SymbolHistory
from tgm.perception.observation_model import StateId
from tgm.runs import Run, RunRecorder, resume
from tgm.structure import reckoned_map
from tgm.transition.automaton import END, Outcome


class Corridor(gym.Env):
    """A cue, some steps that look alike, and a choice that only the cue can tell."""

    action_space = gym.spaces.Discrete(3)
    observation_space = gym.spaces.Discrete(4)

    def __init__(self, lag: int) -> None:
        self.lag = lag

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cue, self.place, self.time = int(self.np_random.integers(2)), 0, 0
        return self.seen(), {}

    def seen(self) -> int:
        if self.place == 0:
            return self.cue
        return 3 if self.place == self.lag + 1 else 2

    def step(self, action):
        self.time += 1
        if self.place == self.lag + 1 and action:
            return self.seen(), 1.0 if action - 1 == self.cue else -1.0, True, False, {}
        if self.place <= self.lag and not action:
            self.place += 1
        return self.seen(), -0.05, False, self.time >= 4 * self.lag + 20, {}


class Fork(gym.Env):
    """A start between a sign and a fork; the sign says which choice at the fork is right."""

    action_space = gym.spaces.Discrete(4)
    observation_space = gym.spaces.Discrete(4)
    moves = (1, -1, 0, 0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.right, self.place, self.time = int(self.np_random.integers(2)), 0, 0
        return 0, {}

    def step(self, action):
        self.time += 1
        if self.place == 1 and action > 1:
            return 3, 1.0 if action - 2 == self.right else -1.0, True, False, {}
        self.place = min(1, max(-1, self.place + self.moves[action]))
        look = (1 + self.right, 0, 3)[self.place + 1]
        return look, -0.02, False, self.time >= 40, {}


class SeenByWalls(gym.Wrapper):
    """A maze of which only the walls around the mouse are seen, and whether the cheese is there."""

    def __init__(self, maze: str | Maze) -> None:
        super().__init__(gym.make("tgm/Maze-v0", maze=maze))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (5,))
        self.noise = np.random.default_rng(0)

    def reset(self, *, seed=None, options=None):
        _, info = self.env.reset(seed=seed)
        self.noise = np.random.default_rng([seed or 0, 1])
        return self.seen(info), info

    def step(self, action):
        _, *rest, info = self.env.step(action)
        return self.seen(info), *rest, info

    def seen(self, info):
        maze, cell = self.env.unwrapped.maze, info["cell"]
        walls = [float(maze.moves[cell][action] == cell) for action in range(4)]
        return np.array([*walls, float(cell == maze.goal)]) + 0.1 * self.noise.standard_normal(5)


def mean_return(agent: tgm.TGMAgent, env: gym.Env, n_episodes: int = 6) -> float:
    total = 0.0
    for episode in range(n_episodes):
        observation, _ = env.reset(seed=1000 + episode)
        state, start, is_over = None, True, False
        while not is_over:
            action, state = agent.predict(
                observation, state, episode_start=np.array([start]), deterministic=True
            )
            observation, reward, terminated, truncated, _ = env.step(action)
            total, start, is_over = total + reward, False, terminated or truncated
    return total / n_episodes


@pytest.fixture(scope="module")
def remembering() -> tgm.TGMAgent:
    return tgm.TGMAgent(Corridor(5), seed=0).learn(700)


def test_a_cue_is_remembered(remembering):
    assert isinstance(remembering.learner.inner, CloneLearner)
    assert remembering.n_states == 14  # of four symbols: for each cue six places and the cue itself
    assert mean_return(remembering, Corridor(5)) == pytest.approx(0.7)


def return_when_put_down(agent: tgm.TGMAgent, seed: int) -> float:
    """Of an episode in the fork whose beginning the agent does not know to be one."""
    env, state, total, is_over = Fork(), None, 0.0, False
    observation, _ = env.reset(seed=seed)
    while not is_over:
        action, state = agent.predict(observation, state, deterministic=True)
        observation, reward, terminated, truncated, _ = env.step(int(action))
        total, is_over = total + reward, terminated or truncated
    return total


def test_put_down_somewhere_it_looks_before_it_leaps(monkeypatch):
    """At the start it may have seen the sign, or not: whatever it said, the fork would be next."""
    agent = tgm.TGMAgent(Fork(), seed=2).learn(800)
    assert [return_when_put_down(agent, seed) for seed in range(4)] == pytest.approx([0.94] * 4)
    monkeypatch.setattr(clone_knowledge, "is_doubt", lambda belief: False)
    # The mean of the values waits for a look that it never takes.
    assert [return_when_put_down(agent, seed) for seed in range(4)] == pytest.approx([-0.8] * 4)


def test_a_maze_seen_by_its_walls_has_one_clone_for_each_cell():
    agent = tgm.TGMAgent(SeenByWalls("8"), seed=1).learn(600)
    assert agent.n_states == 8
    assert agent.learner.world.states.n_alive == 7  # looks
    assert mean_return(agent, SeenByWalls("8")) == -5.0


def test_a_room_seen_by_its_walls_is_mapped_by_moves_and_goes_on_to_the_bit(tmp_path):
    agent = tgm.TGMAgent(SeenByWalls(room(6, 4)), seed=1).learn(700)
    folding = agent.learner.inner.life.folding
    assert folding.reckoning is not None
    assert sorted(axis for axis, _ in folding.reckoning.axes.values()) == [0, 0, 1, 1]
    assert agent.n_states == 6 * 4
    assert mean_return(agent, SeenByWalls(room(6, 4)), 3) == -7.0
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "model")
    again = tgm.TGMAgent.load(tmp_path / "model", SeenByWalls(room(6, 4)))
    copied = pickle.loads(pickle.dumps(agent))
    ours = agent.learn(100).learner.to_arrays()
    for other in (again, copied):
        theirs = other.learn(100).learner.to_arrays()
        assert ours.keys() == theirs.keys()
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.mark.parametrize(
    "make",
    [
        lambda: gym.make("tgm/Maze-v0", maze="8"),
        lambda: gym.make("tgm/Maze-v0", maze="27", slip=0.1),
        lambda: gym.make("FrozenLake-v1"),
    ],
    ids=["maze", "slip", "lake"],
)
def test_no_clone_where_none_is_needed_and_nothing_else_changes(make, monkeypatch):
    agent = tgm.TGMAgent(make(), seed=1).learn(1200)
    assert not isinstance(agent.learner.inner, CloneLearner)
    monkeypatch.setattr("tgm.learners.kind_search.may_alias", lambda config: False)
    plain = tgm.TGMAgent(make(), seed=1).learn(1200)
    ours, theirs = agent.learner.to_arrays(), plain.learner.to_arrays()
    for name, array in theirs.items():
        np.testing.assert_array_equal(array, ours[name], err_msg=name)


@pytest.mark.parametrize("n_steps", [100, 700], ids=["watched", "told apart"])
def test_a_saved_agent_goes_on_to_the_bit(n_steps, tmp_path):
    agent = tgm.TGMAgent(Corridor(5), seed=0).learn(n_steps)
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "model")
    again = tgm.TGMAgent.load(tmp_path / "model", Corridor(5))
    for one in (agent, again):
        one.learn(300)
    ours, theirs = agent.learner.to_arrays(), again.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def test_what_clones_know_has_the_shapes_that_are_promised(remembering):
    n = remembering.n_states
    assert remembering.means.shape == (n, 1)
    assert remembering.covariances.shape == (n, 1, 1)
    assert remembering.transition_matrix.shape == (3, n, n)
    np.testing.assert_allclose(remembering.transition_matrix.sum(axis=2), 1.0)
    assert len(set(remembering.state_ids.tolist())) == n
    belief = remembering.belief(2)
    assert belief.sum() == pytest.approx(1.0)
    assert (belief > 0.01).sum() == 10  # all that look like the corridor
    print(remembering.explain(2))


def test_a_run_is_recorded_and_resumed_to_the_bit(tmp_path):
    whole = tgm.TGMAgent(Corridor(5), seed=0).learn(500, run_dir=tmp_path / "whole")
    frame = Run.open(tmp_path / "whole").frame_at(500)
    assert sorted(frame.ids) == sorted(whole.state_ids.tolist())
    assert "look alike" in str(summary(Run.open(tmp_path / "whole"))["health"])
    half = tgm.TGMAgent(Corridor(5), seed=0)
    recorder = RunRecorder.begin(half, tmp_path / "half", 500)
    half.learn(300, run_dir=recorder)
    again, _ = resume(tmp_path / "half", Corridor(5))
    again.learn(500 - again.n_steps, run_dir=tmp_path / "half")
    ours, theirs = whole.learner.to_arrays(), again.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


class EndlessRing(gym.Env):
    """Six places in a circle, of which one looks different; no episode ends."""

    observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return 1, {}

    def step(self, action):
        self.place = (self.place + (1 if action else -1)) % 6
        return int(self.place == 0), float(self.place == 3), False, False, {}


def test_without_an_end_episodes_are_kept_in_pieces_and_places_are_still_told_apart(monkeypatch):
    monkeypatch.setattr(symbol_history, "LONGEST_EPISODE", 100)
    agent = tgm.TGMAgent(EndlessRing(), seed=1).learn(90)
    kind = agent._learner
    watched = kind._aliases.history if kind._aliases is not None else kind.inner.life.history
    assert len(watched.episodes) == 1
    agent.learn(1410)
    assert isinstance(kind.inner, CloneLearner)
    history = kind.inner.life.history
    assert max(len(episode) for episode in history.episodes) == 101
    assert len(history.episodes) == 16  # of 100 steps each; the last has just begun
    assert agent.n_states == 6


class ColouredRoom(gym.Env):
    """A room of 3 x 4 cells of which two colours are seen; no episode ends."""

    observation_space, action_space = gym.spaces.Discrete(2), gym.spaces.Discrete(4)
    colours = ((0, 1, 0, 1), (1, 1, 0, 0), (0, 0, 1, 1))
    moves = ((0, -1), (0, 1), (-1, 0), (1, 0))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.y = 0
        return self.colours[self.y][self.x], {}

    def step(self, action):
        x, y = self.x + self.moves[action][0], self.y + self.moves[action][1]
        if 0 <= x < 4 and 0 <= y < 3:
            self.x, self.y = x, y
        return self.colours[self.y][self.x], 0.0, False, False, {}


@pytest.mark.parametrize("is_reckoned", [True, False])
def test_a_room_without_resets_is_mapped_while_somebody_walks_at_random(
    tmp_path, monkeypatch, is_reckoned
):
    """By dead reckoning; or, where there is none, by surplus clones."""
    if not is_reckoned:
        monkeypatch.setattr(reckoned_map, "filtered_reckoning", lambda *_: None)
    env, rng = ColouredRoom(), np.random.default_rng(3)
    agent = tgm.TGMAgent(env, seed=0)
    agent.start_episode(env.reset()[0])
    for action in rng.integers(4, size=1600).tolist():
        observation, reward, *_ = env.step(action)
        agent.observe(action, reward, observation)
    assert agent.n_states == 12
    assert (agent.transition_matrix.max(axis=2) > 0.95).all()
    agent.save(tmp_path / "agent")
    again = tgm.TGMAgent.load(tmp_path / "agent")
    ours, theirs = agent._learner.inner.life, again._learner.inner.life
    assert theirs.is_searched == (not is_reckoned)
    assert (theirs.folding.reckoning is not None) == is_reckoned
    assert theirs.folding.reckoning == ours.folding.reckoning
    assert theirs.search_at == ours.search_at


@pytest.mark.parametrize(
    ("reward", "ends", "is_over"), [(-1.0, False, False), (-1.0, True, True), (0.0, False, True)]
)
def test_who_pays_for_going_in_circles_is_watched_on(reward, ends, is_over):
    watch, point = AliasWatch(1, 2, 0.9), np.zeros(1)
    info = StepInfo(StateId(0), 0.0)
    watch.add(Event(point), info, None)
    for _ in range(QUIET + 10):
        watch.add(Event(point, 0, reward, False), info, None)
        if ends:
            watch.add(Event(point, 1, reward, True), info, None)
            watch.add(Event(point), info, None)
    assert watch.is_over is is_over


def test_who_found_an_end_once_and_never_again_is_watched_on():
    watch, point, info = AliasWatch(1, 2, 0.9), np.zeros(1), StepInfo(StateId(0), 0.0)
    watch.add(Event(point), info, None)
    watch.add(Event(point, 1, 0.0, True), info, None)  # another reward, at the end alone
    watch.add(Event(point), info, None)
    for n_steps in range(2, 4 * QUIET):
        watch.add(Event(point, 0, -1.0, False), info, None)
        assert watch._leads_nowhere == (n_steps > IDLE * 2 + LEAST_IDLE)
        assert not watch.is_over
    watch.add(Event(point, 1, 0.0, True), info, None)
    assert watch.is_over


def test_where_there_are_many_rows_each_gets_time_to_be_tried_again():
    n_rows, point = 100, np.zeros(1)
    watch = AliasWatch(1, n_rows, 0.9)
    watch.add(Event(point), StepInfo(StateId(0), 0.0), None)
    for n_steps in range(1, 12 * n_rows):
        action = n_steps % n_rows  # in one state, each action does what it did before
        watch.add(Event(point, action, -1.0, False), StepInfo(StateId(0), 0.0), None)
        if n_steps > n_rows:
            assert watch._leads_nowhere == (n_steps > IDLE * n_rows + 4 * n_rows)


def test_a_clone_with_several_outcomes_makes_the_world_look_random():
    life = CloneLife(1, 0.9, SymbolHistory(1))
    for k in range(12):
        life.history.begin(0, np.zeros(1))
        life.begin()
        life.history.add(0, Outcome(END, float(k % 5 == 4), True), np.zeros(1))
        life.observe(0, life.history.newest)
    assert life.habits.sees_chance


@pytest.mark.parametrize("seed", [0, 1])
def test_a_room_of_three_colours_is_mapped_in_a_walk_without_resets(seed):
    env = ColourRoom(4, 5, 3, seed)
    agent = tgm.TGMAgent(env, seed=seed)
    walk(agent, env, 1200, np.random.default_rng(seed))
    assert env.is_mapped(agent.means[:, 0], agent.transition_matrix)
