"""Kinds of features are found out from the first observations, and nothing learned is lost."""

import gymnasium as gym
import numpy as np
import pytest
from tests.finite_worlds import DeepSea, Grid, Rooms, one_hot
from tests.learners.test_clone_knowledge import Inner
from tests.learners.test_clone_life import cued_life

import tgm
from tgm.agent.model_file import read_model, write_model
from tgm.errors import RunError, SpaceError
from tgm.learners import alias_watch
from tgm.learners.alias_watch import AliasWatch
from tgm.learners.clones import CloneLearner
from tgm.learners.coded import CodedLearner
from tgm.learners.kind_search import KINDS_AT, KindSearchLearner
from tgm.learners.make import make_learner
from tgm.learners.online import OnlineLearner
from tgm.learners.scale_search import WATCHED, ScaleSearchLearner
from tgm.memory.symbol_history import MOST_HISTORY_STEPS


def numbers(*values) -> np.ndarray:
    return np.array(values, dtype=float)


def noise(env, n: int = 2, deviation: float = 0.05) -> np.ndarray:
    return env.np_random.normal(0.0, deviation, n)


EXACT = {
    "rows and columns": lambda: Grid(5, lambda env: numbers(env.row, env.column), 2),
    "quarters": lambda: Grid(5, lambda env: numbers(env.row / 4, env.column / 4), 2),
    "tenths": lambda: Grid(11, lambda env: numbers(env.row / 10, env.column / 10), 2),
    "a number": lambda: Grid(5, lambda env: numbers(5 * env.row + env.column), 1),
    "a constant": lambda: Grid(5, lambda env: numbers(0.3), 1),
    "one bit of many": lambda: Grid(
        5, lambda env: np.eye(25)[5 * env.row + env.column], gym.spaces.Box(0.0, 1.0, (25,))
    ),
    "cliff": lambda: one_hot(gym.make("CliffWalking")),
    "lake": lambda: one_hot(gym.make("FrozenLake-v1")),
    "pictures": lambda: DeepSea(8),
}
CONTINUOUS = {
    "maze": lambda: gym.make("tgm/Maze-v0"),
    "noise": lambda: Grid(5, lambda env: numbers(env.row, env.column) + noise(env), 2),
    "bits with noise": lambda: Grid(
        3, lambda env: np.eye(9)[3 * env.row + env.column] + noise(env, 9), 9
    ),
    "clipped": lambda: Grid(
        5, lambda env: np.clip(numbers(env.row, env.column) - 2 + noise(env), -1, 1), 2
    ),
    "CartPole": lambda: gym.make("CartPole-v1"),
    "MountainCar": lambda: gym.make("MountainCar-v0"),
    "Pendulum": lambda: gym.wrappers.TransformAction(
        gym.make("Pendulum-v1"), lambda a: [2.0 * a - 2.0], gym.spaces.Discrete(3)
    ),
}


@pytest.mark.parametrize(("n_features", "n_made"), [(50, 1), (51, 0)])
def test_of_many_features_no_covariance_is_made_before_the_first_observation(n_features, n_made):
    made, config = [], tgm.TGMConfig()
    KindSearchLearner(
        np.zeros(n_features, dtype=bool),
        2,
        config,
        lambda: made.append(ScaleSearchLearner(n_features, 2, config)) or made[-1],
    )
    assert len(made) == n_made


def test_observations_are_watched_while_one_feature_may_turn_out_to_be_no_whole_number():
    config = tgm.TGMConfig()
    is_categorical = np.array([True, False, False])
    learner = KindSearchLearner(is_categorical, 2, config, lambda: ScaleSearchLearner(3, 2, config))
    learner.is_exact, learner.is_over = np.ones(3, dtype=bool), True
    learner._trial = learner._exact_trial = learner._aliases = None
    assert learner._may_change()
    learner._was_whole[:2] = False
    assert learner._may_change()
    learner._was_whole[2] = False
    assert not learner._may_change()


@pytest.mark.parametrize("make", EXACT.values(), ids=list(EXACT))
def test_values_that_repeat_are_symbols(make):
    agent = tgm.TGMAgent(make(), seed=0).learn(300)
    assert isinstance(agent.learner, KindSearchLearner)
    assert agent.learner.is_over
    assert agent.learner.is_exact.all()
    assert not agent.covariances.any()


@pytest.mark.parametrize(("offset", "is_exact"), [(0.0, True), (0.37, False)])
def test_at_first_all_features_must_be_whole_numbers_to_be_symbols(offset, is_exact):
    env = Grid(5, lambda env: numbers(env.row, env.column + offset), 2)
    agent = tgm.TGMAgent(env, seed=0).learn(1)
    assert agent.learner.is_exact.tolist() == [is_exact, is_exact]


@pytest.mark.parametrize("deviation", [0.7, 1.0])
def test_rounded_amounts_are_no_symbols_though_many_are_seen_again(deviation):
    """Steps that were taken before lead elsewhere now: that is noise."""
    env = Grid(
        4, lambda env: np.rint(100 * numbers(env.row, env.column) + noise(env, 2, deviation)), 2
    )
    agent = tgm.TGMAgent(env, seed=0).learn(KINDS_AT[-1])
    assert agent.learner.is_over
    assert not agent.learner.is_exact.any()


def test_the_kinds_are_judged_when_the_observations_have_doubled_until_256():
    assert KINDS_AT == (16, 32, 64, 128, 256)


@pytest.mark.parametrize("make", CONTINUOUS.values(), ids=list(CONTINUOUS))
def test_amounts_are_seen_at_the_first_look(make):
    # With some seeds, 0 is one, the agent stays where numbers are clipped, and they repeat.
    agent = tgm.TGMAgent(make(), seed=1).learn(KINDS_AT[0])
    learner = agent.learner
    if make is not CONTINUOUS["clipped"]:  # whose ends are whole numbers, and often seen
        assert isinstance(learner.inner, ScaleSearchLearner)
        assert learner.is_over
    agent.learn(310)  # at 320 laws and cells are compared for the last time but one
    assert learner.is_over
    assert learner._trial is None  # and nothing is looked at any more
    assert learner._events == []
    assert not learner.is_exact.any()


@pytest.mark.parametrize(
    ("bandwidth", "kind"), [(0.5, OnlineLearner), ("auto", ScaleSearchLearner)]
)
def test_the_search_changes_nothing_where_all_is_continuous(bandwidth, kind):
    env, config = gym.make("tgm/Maze-v0", maze="20"), tgm.TGMConfig(bandwidth=bandwidth)
    agent = tgm.TGMAgent(env, config, seed=3)
    plain = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="20"), config, seed=3)
    plain._learner = kind(2, 5, config)
    agent.learn(200)
    plain.learn(200)
    ours, theirs = agent.learner.to_arrays(), plain.learner.to_arrays()
    watched = {name for name in ours if name.startswith("aliases.")}  # do places look alike?
    assert ours.keys() - watched == theirs.keys()
    for name, array in theirs.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def test_exact_and_continuous_features_of_one_box():
    env = Grid(4, lambda env: numbers(env.row, *(numbers(env.column) + noise(env, 1))), 2)
    agent = tgm.TGMAgent(env, seed=0).learn(400)
    assert agent.learner.is_exact.tolist() == [True, False]
    assert agent.n_states == 15  # and the goal, where nothing is done
    assert (
        sorted(np.rint(agent.means).tolist())
        == [[row, column] for row in range(4) for column in range(4)][:15]
    )


def test_rounded_noise_becomes_continuous_while_the_events_are_at_hand():
    def look(env):
        return np.rint(100 * numbers(env.row, env.column) + noise(env, 2, 10.0))

    agent = tgm.TGMAgent(Grid(5, look, 2), tgm.TGMConfig(bandwidth="auto"), seed=0).learn(600)
    assert not agent.learner.is_exact.any()
    assert agent.n_states == 24


@pytest.mark.parametrize("refuted_at", [3, 40, 400])
def test_a_number_that_is_not_whole_refutes_symbols_at_any_time(refuted_at):
    config = tgm.TGMConfig(bandwidth=0.5)
    learner = tgm.TGMAgent(EXACT["rows and columns"](), config, seed=0).learner
    rng, place = np.random.default_rng(0), np.zeros(2)
    learner.begin(place)
    ids = set()
    for step in range(refuted_at + 30):
        place = np.clip(place + rng.integers(-1, 2, 2), 0, 3).astype(float)
        seen = place + (rng.normal(0, 0.1, 2) if step >= refuted_at else 0.0)
        info = learner.observe(int(rng.integers(4)), -1.0, seen, terminated=False)
        if step == refuted_at:
            assert info.changed_all
            assert not ids & set(learner.state_ids.tolist())  # no id is given anew
        ids |= set(learner.state_ids.tolist())
    assert not learner.is_exact.any()
    assert len(learner.state_ids) <= 16
    if refuted_at <= KINDS_AT[-1]:  # all that was seen is learned from again
        assert learner.inner.n_steps == refuted_at + 30


def test_a_categorical_feature_is_exact_whatever_its_values():
    agent = tgm.TGMAgent(Rooms(), seed=0).learn(300)
    assert agent.learner.is_exact.tolist() == [False, False, True]
    assert agent.n_states == 11


def test_more_continuous_features_than_can_be_weighed_are_refused_by_number():
    env = Grid(3, lambda env: noise(env, 1200), 1200)
    agent = tgm.TGMAgent(env, seed=0)
    with pytest.raises(SpaceError, match="1200 features of an observation vary"):
        agent.learn(1)


@pytest.mark.parametrize("steps", [1, 10, 20, 100, 300])
@pytest.mark.parametrize("kind", ["quarters", "one bit of many", "noise", "clipped"])
def test_the_search_goes_on_to_the_bit_after_a_file(kind, steps, tmp_path):
    make = (EXACT | CONTINUOUS)[kind]
    agent = tgm.TGMAgent(make(), seed=1).learn(steps)
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", make())
    agent.learn(150)
    copy.learn(150)
    ours, theirs = agent.learner.to_arrays(), copy.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("kind.is_exact", np.zeros(25, dtype=bool)),
        ("kind.is_exact", np.ones(3, dtype=bool)),
        ("kind.is_over", np.array([True])),
        ("kind.event.action", lambda array: array + 9),
        ("kind.event.point", lambda array: array[:, :2]),
        ("kind.book.index", lambda array: array + 99),
        ("kind.was_whole", None),
    ],
)
def test_files_are_checked(name, change, tmp_path):
    path = tmp_path / "agent.tgm"
    tgm.TGMAgent(EXACT["one bit of many"](), seed=1).learn(20).save(path)
    arrays, facts = read_model(path)
    if change is None:
        del arrays[name]
    else:
        arrays[name] = change(arrays[name]) if callable(change) else change
    write_model(path, arrays, facts)
    with pytest.raises(RunError):
        tgm.TGMAgent.load(path)


def test_a_learner_of_codes_answers_through_the_search():
    agent = tgm.TGMAgent(EXACT["quarters"](), seed=0).learn(300)
    assert isinstance(agent.learner.inner, CodedLearner)
    assert agent.learner.greedy_values().shape == (24, 4)
    assert agent.learner.planner is agent.learner.inner.inner.planner


def test_clones_can_lose_while_kinds_may_still_change(monkeypatch):
    """The next observation may refute whole numbers, for ever: clones may lose all the same."""
    learner = make_learner(1, 2, tgm.TGMConfig())
    clones = CloneLearner(Inner(), cued_life())
    learner.inner, learner._is_watching = clones, True
    monkeypatch.setattr(learner, "_watch", lambda event: None)
    monkeypatch.setattr(clones, "has_lost", lambda: False)
    learner.begin(numbers(1))
    assert learner.inner is clones
    monkeypatch.setattr(clones, "has_lost", lambda: True)
    learner.begin(numbers(2))
    assert learner.inner is clones.inner


def test_when_clones_have_lost_the_watch_begins_again(monkeypatch):
    learner = make_learner(1, 2, tgm.TGMConfig())
    clones = CloneLearner(Inner(), cued_life())
    learner.inner, learner._is_watching, before = clones, False, learner._aliases
    has_lost, watched = [False], []
    monkeypatch.setattr(clones, "has_lost", lambda: has_lost[0])
    monkeypatch.setattr(learner, "_watch", watched.append)
    assert learner.active is learner  # clones may lose
    learner.begin(numbers(1))
    assert learner.inner is clones
    assert watched == []
    has_lost[0] = True
    learner.begin(numbers(2))
    assert learner.inner is clones.inner
    assert learner._aliases is not before
    assert learner._aliases.history is clones.life.history
    assert [event.point.tolist() for event in watched] == [[2.0]]
    assert learner._is_watching


def test_clones_wait_while_states_may_have_joined_places(monkeypatch):
    learner = make_learner(2, 5, tgm.TGMConfig())
    asked = []
    monkeypatch.setattr(AliasWatch, "won", lambda _, reader, **__: asked.append(reader))
    rng = np.random.default_rng(0)
    learner.begin(rng.normal(size=2))
    for step in range(20):
        learner.observe(step % 5, -1.0, rng.normal(size=2), terminated=False)
    learner._trial = None  # laws have lost
    for is_strained in (True, False):
        learner.inner._strained[0] = is_strained
        assert learner.inner.is_strained == is_strained
        learner.observe(0, -1.0, rng.normal(size=2), terminated=False)
        assert len(asked) == int(not is_strained)
    learner.inner._strained[0] = learner.inner.is_over = True
    assert not learner.inner.is_strained  # nothing narrower competes any more


@pytest.mark.parametrize(("is_surprised", "is_over"), [(True, False), (False, False), (True, True)])
def test_while_rows_differ_features_that_were_left_out_may_come_back_for_longer(
    is_surprised, is_over
):
    config = tgm.TGMConfig()
    learner, watch = ScaleSearchLearner(2, 2, config), AliasWatch(2, 2, 0.9)
    watch._is_surprised, watch.is_over = is_surprised, is_over
    alias_watch.look_longer(learner, watch)
    is_doubtful = is_surprised and not is_over
    assert learner.watched == (MOST_HISTORY_STEPS if is_doubtful else WATCHED)
    alias_watch.look_longer(learner, None)
    assert learner.watched == WATCHED
