"""The default agent as a whole, in small worlds."""

import gc

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.agent.model_file import read_model, write_model
from tgm.envs import load_maze, random_maze
from tgm.errors import RunError
from tgm.experiments.evaluation import evaluate
from tgm.experiments.structure import compare_structure
from tgm.files.arrays import ArrayReader
from tgm.inference.step_filter import StepPosterior
from tgm.learners.online import OnlineLearner
from tgm.learners.revising import REASSIGN
from tgm.learners.scale_search import OTHER_SCALE
from tgm.memory.step import Step, difference
from tgm.planning.exploration import STRATEGIES
from tgm.transition.sparse import START


def make_agent(maze: str = "8", seed: int = 0, **settings) -> tgm.TGMAgent:
    env = gym.make("tgm/Maze-v0", maze=maze)
    return tgm.TGMAgent(env, tgm.TGMConfig(**settings), seed=seed)


class Ring(gym.Env):
    """Places in a circle, two actions; `embed` says what is seen of a place.

    The goal is opposite to the start. The episode ends on arrival, or, as in the mazes, by action 0
    at the goal (`ends="there"`), or never.
    """

    action_space = gym.spaces.Discrete(2)

    def __init__(
        self, n_places: int, embed, n_features: int, noise: float = 0.02, ends: str = "there"
    ) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (n_features,), dtype=np.float64)
        self._n_places, self._embed, self._noise, self._ends = n_places, embed, noise, ends
        self._place = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._place = 0
        return self._see(), {}

    def step(self, action):
        goal = self._n_places // 2
        done = self._ends == "there" and self._place == goal and action == 0
        if not done:
            self._place = (self._place + (1, -1)[action]) % self._n_places
            done = self._ends == "on arrival" and self._place == goal
        return self._see(), float(done) - 0.1, done, False, {}

    def _see(self):
        place = np.asarray(self._embed(self._place), dtype=np.float64)
        return place + self._noise * self.np_random.normal(size=place.shape)


class Transformed(gym.ObservationWrapper):
    """Other units and another origin."""

    def __init__(self, env: gym.Env, factor: float, shift: float) -> None:
        super().__init__(env)
        box = env.observation_space
        low, high = box.low * factor + shift, box.high * factor + shift
        self.observation_space = gym.spaces.Box(low, high, dtype=np.float64)
        self._factor, self._shift = factor, shift

    def observation(self, observation):
        return observation * self._factor + self._shift


def assert_same_knowledge(one: tgm.TGMAgent, other: tgm.TGMAgent) -> None:
    for name in ("state_ids", "means", "covariances", "transition_counts"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.q_values([1.0, 1.0]), other.q_values([1.0, 1.0]))


def policy(agent: tgm.TGMAgent, points: np.ndarray) -> list[int]:
    return agent.predict(points, deterministic=True)[0].tolist()


@pytest.fixture(scope="module")
def trained():
    """An agent that knows maze 25, and everything that it said while learning."""
    told = []
    agent = make_agent("25", seed=0).learn(3000, callback=told.append)
    return agent, told


# --- what it learns ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_structure_is_exact_after_a_thousand_steps(seed):
    agent = make_agent("25", seed=seed).learn(1000)
    report = compare_structure(agent, load_maze("25"))
    assert report.is_exact
    assert agent.n_states == len(load_maze("25").cells)


def test_every_step_is_counted_once(trained):
    agent, _ = trained
    counts = agent.transition_counts
    assert (counts >= 0).all()
    assert 0.97 * 3000 < counts.sum() <= 3000 + 1e-6
    model = agent.learner.world.transitions
    # Rows, visits and starts tell the same.
    assert model.visits.sum() == pytest.approx(counts.sum())
    for (state, action), row in model.rows.items():
        if state != START:
            assert sum(row.values()) == pytest.approx(model.visits[state, action], abs=1e-6)
    starts = sum(sum(row.values()) for (s, _), row in model.rows.items() if s == START)
    assert 0.95 * agent.n_episodes < starts <= agent.n_episodes + 1e-6
    # Each step, and each start, is a point of some state as well.
    weight = agent.learner.world.states.weight.sum()
    assert 0.97 * (3000 + agent.n_episodes) < weight < 1.001 * (3000 + agent.n_episodes)


def test_what_is_kept_is_bounded(trained):
    agent, told = trained
    memory = agent.learner.world.memory
    kept = [len(memory.into(slot)) for slot in agent.learner.world.states.alive]
    assert max(kept) <= 20
    assert sum(kept) == told[-1].n_kept == len(memory) <= 20 * agent.n_states
    few = make_agent("8", kept_per_state=4).learn(600)
    memory = few.learner.world.memory
    assert all(len(memory.into(slot)) <= 4 for slot in few.learner.world.states.alive)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_each_kept_step_begins_where_the_one_before_led(seed):
    env = gym.make("tgm/Maze-v0", maze=random_maze("open", 4, 4, seed), noise=0.2)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(), seed=seed)
    agent.learn(500)
    steps = [step for step in agent.learner.world.memory.all() if step.kept_next is not None]
    assert len(steps) > 200
    assert max(difference(step.after, step.kept_next.before) for step in steps) < REASSIGN


def n_alive() -> int:
    gc.collect()
    return sum(isinstance(thing, Step) for thing in gc.get_objects())


def test_far_away_there_are_no_more_states_than_may_be():
    places = iter([0.0, 1.0, *np.arange(1e6, 1e9, 1e6)])
    before = n_alive()
    env = Ring(3, lambda _: [3.0 * next(places)], 1, ends="never")
    # The search for the scale is over then, and its rivals are gone.
    agent = tgm.TGMAgent(env, tgm.TGMConfig(max_states=2), seed=0).learn(520)
    assert agent.n_states == 2
    # What belongs to no state is not kept, and no kept step holds on to it.
    assert n_alive() - before <= len(agent.learner.world.memory) + 5


def test_no_more_steps_are_alive_than_are_kept():
    # The start is left for good, and its only step is kept: with all that ever followed.
    places = iter([0.0] + [1.0, 2.0] * 10_000)
    before = n_alive()
    env = Ring(3, lambda _: [3.0 * next(places)], 1, ends="never")
    agent = tgm.TGMAgent(env, tgm.TGMConfig(), seed=0).learn(1000)
    assert agent.n_states == 3
    assert n_alive() - before <= 2 * 20 * agent.n_states + 10


def test_ids_are_for_life_and_never_reused(trained):
    agent, told = trained
    born = [move.ids[0] for info in told for move in info.moves if move.kind == "birth"]
    born += [m.ids[1] for info in told for m in info.moves if m.kind == "split" and len(m.ids) == 2]
    assert len(set(born)) == len(born)
    assert set(agent.state_ids.tolist()) <= set(born)
    merged = {
        move.ids[1]
        for info in told
        for move in info.moves
        if move.kind == "merge" and move.accepted
    }
    assert not merged & set(agent.state_ids.tolist())


def test_ids_that_are_gone_do_not_come_back():
    agent = make_agent("10", seed=4)
    seen: set[int] = set()
    now: set[int] = set()

    def watch(_):
        nonlocal now
        ids = agent.state_ids.tolist()
        assert len(set(ids)) == len(ids)
        assert not (set(ids) - now) & seen
        now = set(ids)
        seen.update(ids)

    agent.learn(800, callback=watch)
    assert len(seen) >= agent.n_states


def test_every_move_has_a_cause_and_a_gain(trained):
    _, told = trained
    moves = [move for info in told for move in info.moves]
    kinds = {(move.kind, move.accepted) for move in moves}
    assert ("birth", True) in kinds
    assert ("merge", False) in kinds
    for move in moves:
        assert move.cause
        assert move.ids
        assert min(move.ids) >= 0
        if move.kind == "removal" or move.cause == OTHER_SCALE:
            continue  # nothing was left of it, or everything was learned again: nothing to weigh
        assert move.gain is not None
        assert np.isfinite(move.gain)
        if move.kind == "merge":  # with some margin
            assert move.gain > 0 if move.accepted else move.gain < 3
        if move.kind == "split" and move.accepted:
            assert move.gain > 0
    # Each is told once.
    births = sum(move.kind == "birth" for move in moves)
    assert len(load_maze("25").cells) <= births < 50
    assert sum(len(info.moves) > 0 for info in told) < len(told)


def test_the_way_to_the_goal_is_found(trained):
    agent, _ = trained
    maze = load_maze("25")
    cell, steps = maze.start, 0
    while cell != maze.goal and steps < 50:
        action, _ = agent.predict(np.array(cell, dtype=float), deterministic=True)
        cell = maze.next_cell(cell, int(action))
        steps += 1
    assert cell == maze.goal
    assert policy(agent, np.array([maze.goal], dtype=float)) == [4]


# --- always the same ---------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}])
def test_learning_in_pieces_is_learning_at_once(settings):
    whole, pieces = (make_agent(seed=5, **settings) for _ in range(2))
    whole.learn(250)
    for n_steps in (1, 6, 43, 100, 100):
        pieces.learn(n_steps)
    assert_same_knowledge(whole, pieces)


def test_the_same_seed_gives_the_same_agent_and_another_does_not():
    first, second, other = (make_agent(seed=seed).learn(200) for seed in (1, 1, 2))
    assert_same_knowledge(first, second)
    assert not np.array_equal(first.means[0], other.means[0])


def test_asking_changes_nothing():
    asked, silent = make_agent(seed=6), make_agent(seed=6)
    for _ in range(10):
        asked.learn(20)
        asked.q_values([2.0, 1.0])
        asked.predict(np.ones((3, 2)), deterministic=True)
        print(asked.explain([1.0, 1.0]))
    silent.learn(200)
    assert_same_knowledge(asked, silent)


@pytest.fixture(scope="module")
def auto():
    return make_agent("8", seed=3, bandwidth="auto").learn(600)


@pytest.mark.parametrize(("factor", "shift"), [(1000.0, 0.0), (0.001, 0.0), (1.0, 10_000.0)])
def test_units_and_origin_do_not_matter(auto, factor, shift):
    env = Transformed(gym.make("tgm/Maze-v0", maze="8"), factor, shift)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth="auto"), seed=3).learn(600)
    assert agent.n_states == auto.n_states == 8
    np.testing.assert_allclose((agent.means - shift) / factor, auto.means, atol=1e-6)
    cells = np.array(load_maze("8").cells, dtype=float)
    assert policy(agent, cells * factor + shift) == policy(auto, cells)


def test_the_scale_is_found(auto):
    deviations = np.sqrt(np.diagonal(auto.covariances, axis1=1, axis2=2))
    np.testing.assert_allclose(deviations, 0.15, atol=0.06)


# --- files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"bandwidth": "auto"}, {"half_life": 2000.0}])
def test_a_loaded_agent_knows_the_same_and_goes_on(settings, tmp_path):
    agent = make_agent("8", seed=1, **settings).learn(500)
    path = tmp_path / "agent.tgm"
    agent.save(path)
    loaded = tgm.TGMAgent.load(path, env=gym.make("tgm/Maze-v0", maze="8"))
    for name in ("state_ids", "means", "covariances", "transition_counts", "transition_matrix"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(agent, name))
    for cell in load_maze("8").cells:
        np.testing.assert_array_equal(loaded.belief(cell), agent.belief(cell))
        np.testing.assert_array_equal(loaded.q_values(cell), agent.q_values(cell))
    loaded.learn(300)
    assert loaded.n_steps == 800
    assert loaded.n_states == 8


def between_episodes(agent: tgm.TGMAgent, n_steps: int) -> tgm.TGMAgent:
    """The agent at the first end of an episode after so many steps."""
    ended = []
    agent.learn(n_steps)
    agent.learn(100, callback=lambda info: ended.append(bool(info.episodes)) or not ended[-1])
    assert ended[-1]
    return agent


EXACT = [{"exploration": name} for name in STRATEGIES]
EXACT += [{"bandwidth": "auto"}, {"half_life": 300.0}, {"max_states": 9}, {"filtering": False}]


@pytest.mark.parametrize("settings", EXACT)
@pytest.mark.parametrize("n_steps", [15, 150])
def test_saved_between_episodes_it_goes_on_to_the_bit(settings, n_steps, tmp_path):
    agent = between_episodes(make_agent("27", seed=4, **settings), n_steps)
    agent.save(tmp_path / "then.tgm")
    loaded = tgm.TGMAgent.load(tmp_path / "then.tgm", env=gym.make("tgm/Maze-v0", maze="27"))
    loaded.learn(120).save(tmp_path / "loaded.tgm")
    agent.learn(120).save(tmp_path / "agent.tgm")
    assert (tmp_path / "loaded.tgm").read_bytes() == (tmp_path / "agent.tgm").read_bytes()
    assert (tmp_path / "loaded.tgm").read_bytes() != (tmp_path / "then.tgm").read_bytes()


def test_an_agent_that_knows_nothing_can_be_saved(tmp_path):
    path = tmp_path / "agent.tgm"
    make_agent().save(path)
    loaded = tgm.TGMAgent.load(path, env=gym.make("tgm/Maze-v0", maze="8"))
    assert loaded.n_states == 0
    assert loaded.q_values([1.0, 1.0]).tolist() == [0] * 5
    assert loaded.learn(50).n_states > 1


def broken(name: str):
    """What can be wrong with an array of that name."""

    def change(arrays):
        array = arrays[name]
        return {
            "below zero": (array.astype(np.float64) - 1000).astype(array.dtype),
            "too long": np.concatenate([array, array]),
            "too short": array[:1],
            "not finite": np.full(array.shape, np.nan),
        }

    return change


BREAKS = [
    ("world.component.weight", "below zero"),
    ("world.component.mean", "too long"),
    ("world.component.mean", "not finite"),
    ("world.component.scatter", "too long"),
    ("world.component.scatter", "not finite"),
    ("world.component.next_id", "too long"),
    ("world.component.theta", "too long"),
    ("world.component.ids", "below zero"),
    ("world.transition.visits", "below zero"),
    ("world.transition.visits", "too short"),
    ("world.transition.end_sum", "below zero"),
    ("world.transition.next.count", "below zero"),
    ("world.transition.row.n_next", "too long"),
    ("world.transition.successor", "below zero"),
    ("world.transition.probability", "below zero"),
    ("world.displacement.weight", "below zero"),
    ("world.displacement.typical_square", "below zero"),
    ("prior.radius", "below zero"),
    ("prior.covariance", "below zero"),
    ("prior.dof", "below zero"),
    ("world.memory.step.arrival", "too long"),
    ("world.memory.step.next", "below zero"),
    ("world.memory.step.before.state", "below zero"),
    ("world.memory.home.count", "too long"),
    ("world.memory.naming.step", "too long"),
    ("planner.sweep.q", "too long"),
    ("planner.sweep.value", "too short"),
    ("exploration.retry_at", "too long"),
    ("structure.checked", "too short"),
    ("coordinates.origin", "too long"),
    ("coordinates.relevant", "too long"),
    ("coordinates.common_mean", "not finite"),
    ("coordinates.common_variance", "below zero"),
    ("world.background.counts", "too short"),
    ("world.background.counts", "below zero"),
    ("world.born", "too long"),
    ("n_steps", "too long"),
]


@pytest.fixture(scope="module", params=[0.5, "auto"])
def saved(request, tmp_path_factory):
    """The arrays of an agent, by their names in its learner, and facts; and what comes before."""
    path = tmp_path_factory.mktemp("saved") / "agent.tgm"
    make_agent("27", seed=6, bandwidth=request.param).learn(150).save(path)
    arrays, facts = read_model(path)
    prefix = "learner." if request.param == "auto" else ""
    return {name.removeprefix(prefix): array for name, array in arrays.items()}, arrays, facts


def load_with(saved, path, name, array) -> tgm.TGMAgent:
    _, arrays, facts = saved
    changed = dict(arrays)
    name = name if name in arrays and f"learner.{name}" not in arrays else f"learner.{name}"
    if array is None:
        del changed[name]
    else:
        changed[name] = array
    write_model(path, changed, facts)  # with a checksum that fits
    return tgm.TGMAgent.load(path)


@pytest.mark.parametrize(("name", "how"), BREAKS)
def test_broken_arrays_are_refused(saved, tmp_path, name, how):
    assert saved[0][name].size, "nothing there to break"
    assert load_with(saved, tmp_path / "whole.tgm", name, saved[0][name]).n_states > 1
    array = broken(name)(saved[0])[how]
    with pytest.raises(RunError, match="agent"):
        load_with(saved, tmp_path / "agent.tgm", name, array)


@pytest.mark.parametrize(
    ("following", "why"), [("itself", "circle"), ("each other", "circle"), ("one", "follow two")]
)
def test_steps_that_follow_in_no_order_are_refused(saved, tmp_path, following, why):
    name = "world.memory.step.next"
    actions, wrong = saved[0]["world.memory.step.action"], saved[0][name].copy()
    one, other, third = np.flatnonzero(actions >= 0)[:3]
    wrong[np.isin(wrong, (one, other, third))] = -1
    if following == "itself":
        wrong[one] = one
    elif following == "each other":
        wrong[one], wrong[other] = other, one
    else:
        wrong[one] = wrong[other] = third
    with pytest.raises(RunError, match=why):
        load_with(saved, tmp_path / "agent.tgm", name, wrong)


def test_rows_that_lead_nowhere_are_refused(saved, tmp_path):
    name = "world.transition.row.key"
    for column, wrong in ((0, -2), (0, 999), (1, 5), (1, -1)):
        changed = saved[0][name].copy()
        changed[0, column] = wrong
        with pytest.raises(RunError, match=r"row\.key"):
            load_with(saved, tmp_path / "agent.tgm", name, changed)
    for wrong in (-1, 999):
        changed = saved[0]["world.transition.next.state"].copy()
        changed[0] = wrong
        with pytest.raises(RunError, match=r"next\.state"):
            load_with(saved, tmp_path / "agent.tgm", "world.transition.next.state", changed)


def test_missing_arrays_are_refused(saved, tmp_path):
    _, arrays, facts = saved
    for name in arrays:
        write_model(tmp_path / "agent.tgm", {n: a for n, a in arrays.items() if n != name}, facts)
        with pytest.raises(RunError, match="agent"):
            tgm.TGMAgent.load(tmp_path / "agent.tgm")


@pytest.mark.parametrize("name", ["world.component.scatter", "world.displacement.scatter"])
def test_a_scatter_that_is_none_is_refused(saved, tmp_path, name):
    array = np.zeros_like(saved[0][name]) - 1e3 * np.eye(2)
    with pytest.raises(RunError, match="scatter"):
        load_with(saved, tmp_path / "agent.tgm", name, array)


@pytest.mark.parametrize("name", ["world.component.ids", "world.component.next_id"])
def test_ids_must_be_names(saved, tmp_path, name):
    with pytest.raises(RunError, match="id"):
        load_with(saved, tmp_path / "agent.tgm", name, np.zeros_like(saved[0][name]))


# --- settings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("exploration", [name for name in STRATEGIES if name != "greedy"])
def test_every_exploration_learns(exploration):
    settings = {"exploration": exploration, "epsilon_decay": 500.0, "temperature": 30.0}
    agent = make_agent("8", seed=1, **settings).learn(1000)
    assert agent.n_states == 8
    maze = load_maze("8")
    cell = maze.start
    for _ in range(30):
        action, _ = agent.predict(np.array(cell, dtype=float), deterministic=True)
        if cell == maze.goal:
            assert action == 4
            break
        cell = maze.next_cell(cell, int(action))
    assert cell == maze.goal


def test_greedy_exploration_takes_the_best_known():
    agent = make_agent("8", seed=0, exploration="greedy").learn(100)
    world = agent.learner.world
    expected = agent.learner.planner.greedy_values(world.states.alive)[world.belief[0][0]]
    best = np.flatnonzero(expected == expected.max())
    chosen = {agent.learner.choose(100, np.random.default_rng(seed)) for seed in range(20)}
    assert chosen == set(best.tolist())


def test_without_filtering_the_observations_are_enough_here():
    agent = make_agent("8", seed=0, filtering=False).learn(700)
    assert compare_structure(agent, load_maze("8")).is_exact


@pytest.mark.parametrize("half_life", [50.0, 400.0])
def test_with_a_half_life_the_past_counts_less(half_life, tmp_path):
    agent = make_agent("8", seed=0, half_life=half_life).learn(1500)
    assert agent.n_states == 8
    # The steps of the last while, each half as much after a half-life.
    remembered = 1 / (1 - 0.5 ** (1 / half_life))
    assert agent.transition_counts.sum() == pytest.approx(remembered, rel=0.1)
    assert (agent.learner.world.transitions.visits >= -1e-6).all()
    agent.save(tmp_path / "agent.tgm")
    assert tgm.TGMAgent.load(tmp_path / "agent.tgm").n_states == 8


def test_with_a_half_life_rows_and_visits_stay_the_same_thing():
    agent = make_agent("10", seed=0, half_life=100.0)
    model = agent.learner.world.transitions

    def check(_):
        assert (model.visits >= -1e-6).all()
        for (state, action), row in model.rows.items():
            if state != START:
                assert sum(row.values()) == pytest.approx(model.visits[state, action], abs=1e-3)

    agent.learn(300, callback=check)


def test_with_a_half_life_what_is_saved_can_be_loaded(tmp_path):
    agent = make_agent("10", seed=0, half_life=100.0)
    for _ in range(30):
        agent.learn(20)
        agent.save(tmp_path / "agent.tgm")
        assert tgm.TGMAgent.load(tmp_path / "agent.tgm").n_states == agent.n_states


@pytest.mark.parametrize(
    "settings", [{"moves": False}, {"reassign_steps": False}, {"displacement_prior": False}]
)
def test_parts_can_be_left_out(settings):
    told = []
    agent = make_agent("8", seed=1, **settings).learn(400, callback=told.append)
    assert 7 <= agent.n_states <= 10
    if settings == {"moves": False}:
        kinds = {move.kind for info in told for move in info.moves}
        assert not kinds & {"merge", "split"}


@pytest.mark.parametrize("limit", [1, 3, 5])
def test_there_are_no_more_states_than_allowed(limit):
    agent = make_agent("8", seed=1, max_states=limit)
    most = 0

    def watch(info):
        nonlocal most
        most = max(most, info.n_states)

    agent.learn(400, callback=watch)
    assert most == limit


# --- outliers ----------------------------------------------------------------------------------


def two_places(n_steps: int = 300) -> OnlineLearner:
    """A learner that has gone to and fro between (0, 0) and (1, 0), by one action."""
    learner, rng = OnlineLearner(2, 2, tgm.TGMConfig(bandwidth=0.5)), np.random.default_rng(0)
    learner.begin(np.zeros(2))
    for step in range(n_steps):
        place = np.array([(step + 1) % 2, 0.0]) + 0.1 * rng.normal(size=2)
        learner.observe(0, -1.0, place, terminated=False)
    return learner


def test_nothing_is_learned_from_an_outlier_but_that_there_was_one():
    learner = two_places()
    world = learner.world
    weight, visits, kept = (
        world.states.weight.copy(),
        world.transitions.visits.copy(),
        len(world.memory),
    )
    before = world.belief[0][0]
    info = learner.observe(0, -1.0, np.array([0.5, 2.5]), terminated=False)
    assert world.newest.is_outlier
    assert world.background.n_outliers == 0  # the next observation will show it
    np.testing.assert_array_equal(world.states.weight, weight)
    np.testing.assert_array_equal(world.transitions.visits, visits)
    assert len(world.memory) == kept
    # It is believed to be where the action leads, and goes on from there.
    (expected,) = {s for s in world.states.alive.tolist() if s != before}
    assert world.belief[0][0] == expected
    assert info.state == world.states.ids[expected]
    learner.observe(0, -1.0, np.zeros(2), terminated=False)
    assert not world.newest.is_outlier
    assert world.belief[0][0] == before


def test_an_episode_that_ends_with_an_outlier_has_ended():
    learner = two_places()
    transitions = learner.world.transitions
    left, before = learner.world.belief[0][0], transitions.end_sum.sum()
    learner.observe(0, 5.0, np.array([0.5, 2.5]), terminated=True)
    assert transitions.end_sum.sum() == pytest.approx(before + 1)
    assert transitions.end_sum[left, 0] == pytest.approx(1)
    assert learner.world.background.n_outliers == 0


@pytest.mark.parametrize(
    ("newness", "outlier", "is_born"), [(0.66, 0.32, True), (0.64, 0.34, False), (0.5, 0.2, False)]
)
def test_a_state_is_born_if_it_is_twice_as_likely_as_an_outlier(newness, outlier, is_born):
    learner = two_places(40)
    world, here = learner.world, learner.world.belief[0][0]
    step = Step(np.zeros(2), [(here, 1.0)], 1, -1.0, 0.0, np.array([0.5, 2.0]))
    posterior = StepPosterior([], [], newness, [(here, newness)], 0.0, outlier)
    learner._assign(step, posterior, 41.0)
    assert not step.is_outlier
    assert world.states.n_alive == 2 + is_born
    assert bool(step.after) == is_born


@pytest.mark.parametrize(
    ("newness", "outlier", "stays"),
    [(0.05, 0.1, False), (0.5, 0.3, False), (0.6, 0.31, True), (0.95, 0.0, True), (0.1, 0.6, True)],
)
def test_an_end_that_no_known_state_explains_is_counted_as_if_it_had_stayed(
    newness, outlier, stays
):
    learner = two_places(40)
    world, (here, there) = learner.world, learner.world.states.alive.tolist()
    weight = world.states.weight[: world.states.n_slots].copy()
    step = Step(np.zeros(2), [(here, 0.75), (there, 0.25)], 1, -1.0, 1.0, np.array([0.9, 0.0]))
    known = 1.0 - newness - outlier
    posterior = StepPosterior(
        [(here, there, known)], [(there, known)], newness, [(here, newness)], 0.0, outlier
    )
    learner._assign(step, posterior, 41.0)
    assert not step.is_outlier  # that the episode ended is known
    assert world.states.n_alive == 2
    assert step.after == [(there, known)]
    expected = [(here, here, 0.75), (there, there, 0.25)] if stays else [(here, there, known)]
    assert step.entries == expected
    assert world.states.weight[there] == pytest.approx(weight[there] + known)
    assert there in learner._search.touched


def test_a_new_state_is_entered_from_all_that_may_have_been_left():
    learner = two_places(40)
    here, there = learner.world.states.alive.tolist()
    step = Step(np.zeros(2), [(here, 0.5), (there, 0.3)], 1, -1.0, 0.0, np.array([0.5, 3.0]))
    entries = [(here, there, 0.05)]
    new_from = [(here, 0.45), (there, 0.5)]
    learner._assign(step, StepPosterior(entries, [(there, 0.05)], 0.95, new_from, 0.0, 0.0), 41.0)
    (born,) = set(learner.world.states.alive.tolist()) - {here, there}
    assert learner.world.born[born] == 41.0
    assert step.after == [(born, 1.0)]
    # Half of it each, of the 0.8 that was believed.
    assert step.entries == [(here, born, pytest.approx(0.4)), (there, born, pytest.approx(0.4))]
    assert learner.world.states.weight[born] == 1.0
    assert learner._log.moves[-1].gain == pytest.approx(np.log(0.95 / 0.05))


def test_outliers_that_fall_together_are_no_state():
    learner, rng = two_places(200), np.random.default_rng(1)
    for round_ in range(60):
        # Every tenth observation is faulty in the same way; the state there is never left alone.
        for step in range(9):
            place = np.array([(step + 1) % 2, 0.0]) + 0.1 * rng.normal(size=2)
            learner.observe(0, -1.0, place, terminated=False)
        if round_ % 6 == 0:
            faulty = np.array([0.5, 3.0]) + 0.1 * rng.normal(size=2)
            learner.observe(0, -1.0, faulty, terminated=False)
            learner.observe(0, -1.0, np.array([0.0, 0.0]), terminated=False)
        else:
            learner.observe(0, -1.0, np.array([0.0, 0.0]), terminated=False)
    assert learner.world.states.n_alive == 2
    assert learner.world.background.n_outliers >= 9


def test_a_state_of_outliers_is_dissolved_and_what_followed_is_counted_for_what_was_expected(
    monkeypatch,
):
    learner = two_places(40)
    world, left, right = learner.world, np.zeros(2), np.array([1.0, 0.0])
    known = set(world.states.alive.tolist())
    # The other action was never tried: from both places it seems to lead to a third one.
    for there in (right, left):
        learner.observe(1, -1.0, np.array([0.5, 2.0]), terminated=False)
        learner.observe(0, -1.0, there, terminated=False)
    (third,) = set(world.states.alive.tolist()) - known
    for here in (left, right):  # then it does nothing
        learner.observe(1, -1.0, here, terminated=False)
        learner.observe(0, -1.0, left + right - here, terminated=False)
    assert len(world.memory.into(third)) == 2
    monkeypatch.setattr(
        learner._outliers, "log_odds", lambda state, _: 1.0 if state == third else -1.0
    )
    for there in (right, left) * 5:
        learner.observe(0, -1.0, there, terminated=False)
    assert set(world.states.alive.tolist()) == known
    assert world.background.n_outliers == 2
    for state in known:  # one outcome of each action: what came after the outliers is no other one
        assert len(world.transitions.row(state, 0)) == len(world.transitions.row(state, 1)) == 1
    copy = OnlineLearner(2, 2, tgm.TGMConfig(bandwidth=0.5))
    copy.restore(ArrayReader(learner.to_arrays()))


def test_the_list_of_states_that_were_doubted_is_part_of_the_file():
    learner = two_places(20)
    learner.observe(1, -1.0, np.array([0.0, 3.0]), terminated=False)
    (single,) = learner.world.states.alive[
        learner.world.states.weight[learner.world.states.alive] < 1.5
    ]
    learner._reviser._doubted = {int(single): 2.5}
    copy = OnlineLearner(2, 2, tgm.TGMConfig(bandwidth=0.5))
    copy.restore(ArrayReader(learner.to_arrays()))
    assert copy._reviser._doubted == {int(single): 2.5}


# --- strange worlds ----------------------------------------------------------------------------


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
@pytest.mark.parametrize("value", [0.0, 1e6])
def test_places_that_all_look_the_same_are_told_apart_by_what_happens_there(
    bandwidth, value, tmp_path
):
    def ring():
        return Ring(4, lambda _: [value, value], 2, noise=0.0)

    agent = tgm.TGMAgent(ring(), tgm.TGMConfig(bandwidth=bandwidth), seed=0).learn(300)
    # Some rows still look random: the best episode is kept as states of its own.
    assert evaluate(agent, ring(), 5, seed=1).mean_return == pytest.approx(0.7)
    agent.learn(900)
    assert agent.n_states == 4
    assert evaluate(agent, ring(), 5, seed=1).mean_return == pytest.approx(0.7)
    np.testing.assert_allclose(agent.means, value, rtol=1e-9, atol=1e-9)
    assert np.isfinite(agent.q_values([value, value])).all()
    agent.save(tmp_path / "agent.tgm")
    assert tgm.TGMAgent.load(tmp_path / "agent.tgm").n_states == 4


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_places_without_noise_are_states(bandwidth):
    env = Ring(5, lambda place: [2.0 * place, 1.0], 2, noise=0.0)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=bandwidth), seed=0).learn(500)
    assert agent.n_states == 5
    assert np.isfinite(agent.covariances).all()
    assert np.isfinite(agent.transition_matrix).all()


TO_THE_GOAL = [0, 0, 0, 0, 1, 1]  # from each of six places, by the shorter way; either at the start


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_one_dimension(bandwidth):
    env = Ring(6, lambda place: [2.0 * place], 1)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=bandwidth), seed=1).learn(500)
    assert agent.means.shape == (6, 1)
    np.testing.assert_allclose(np.sort(agent.means.ravel()), 2 * np.arange(6), atol=0.1)
    assert policy(agent, 2.0 * np.arange(6)[:, None])[1:] == TO_THE_GOAL[1:]


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_four_dimensions(bandwidth):
    corners = np.random.default_rng(0).normal(scale=2, size=(6, 4))
    env = Ring(6, lambda place: corners[place], 4)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=bandwidth), seed=1).learn(500)
    assert agent.means.shape == (6, 4)
    assert policy(agent, corners)[1:] == TO_THE_GOAL[1:]


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_an_end_in_a_place_that_is_seen_only_then_is_learned(bandwidth):
    env = Ring(6, lambda place: [2.0 * place], 1, ends="on arrival")
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=bandwidth), seed=1).learn(500)
    model = agent.learner.world.transitions
    assert model.end_sum.sum() > 0.9 * (agent.n_episodes - 1)
    places = np.array([1, 2, 4, 5])
    assert policy(agent, 2.0 * places[:, None]) == [0, 0, 1, 1]


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_cartpole_does_no_harm(bandwidth):
    env = gym.make("CartPole-v1")
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=bandwidth), seed=0).learn(200)
    assert agent.n_states >= 1
    assert np.isfinite(agent.means).all()
    assert np.isfinite(agent.q_values(np.zeros(4))).all()
    np.testing.assert_allclose(agent.transition_matrix.sum(axis=-1), 1)
