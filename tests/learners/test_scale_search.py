"""The search for the scale, as a learner lives through it."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.agent.model_file import read_model, write_model
from tgm.envs import load_maze
from tgm.errors import RunError
from tgm.learners import scale_search
from tgm.learners.events import Event
from tgm.learners.scale_search import (
    MEASURE_AT,
    OTHER_SCALE,
    RIVALS_AT,
    WATCHED,
    ScaleSearchLearner,
)
from tgm.perception.coordinates import Coordinates
from tgm.structure.scale_choice import ScaleChoice

AUTO = tgm.TGMConfig(bandwidth="auto")


class Seen(gym.ObservationWrapper):
    """A maze seen through `look`, a function of the observation and a generator."""

    def __init__(self, look, n_features: int, maze: str = "27") -> None:
        noise = 0.0 if look is as_codes else 0.15  # codes have a noise of their own
        super().__init__(gym.make("tgm/Maze-v0", maze=maze, noise=noise))
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (n_features,), np.float64)
        self._look, self._rng = look, np.random.default_rng(0)

    def observation(self, observation):
        return self._look(observation, self._rng)


CELLS = load_maze("27").cells
CODES = dict(zip(CELLS, np.random.default_rng(5).normal(size=(len(CELLS), 16)), strict=True))


def with_noise(point, rng):
    return np.concatenate([point, rng.normal(size=4)])


def as_codes(point, rng):
    return CODES[tuple(np.rint(point).astype(int))] + 0.15 * rng.normal(size=16)


def with_outliers(point, rng):
    return point + 2.0 * rng.normal(size=2) * (rng.random() < 0.05)


@pytest.mark.parametrize(
    ("look", "n_features", "most"),
    [(with_noise, 6, 1.0), (with_outliers, 2, 1.2), (as_codes, 16, 1.0)],
    ids=["distractors", "outliers", "codes"],
)
def test_there_is_one_state_for_each_cell(look, n_features, most):
    env = Seen(look, n_features)
    agent = tgm.TGMAgent(env, AUTO, seed=0).learn(900)
    assert len(CELLS) <= agent.n_states <= most * len(CELLS)
    learner = agent.learner.inner
    assert learner.is_over
    if look is with_noise:
        assert learner.coordinates.relevant.tolist() == [True] * 2 + [False] * 4
        assert agent.means.shape == (agent.n_states, 6)
        assert np.abs(agent.means[:, 2:] - learner.coordinates.common_mean[2:]).max() == 0


def with_other_axes(point, rng):
    return np.rint(point) + rng.normal(size=2) * (0.3, 0.02)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_shape_of_the_noise_is_learned_where_neighbours_overlap(seed):
    cells = load_maze("25").cells
    agent = tgm.TGMAgent(Seen(with_other_axes, 2, "25"), AUTO, seed=seed).learn(2000)
    assert len(cells) - 1 <= agent.n_states <= len(cells) + 1
    learned = np.sqrt(np.diag(agent.learner.world.states.prior_covariance))
    np.testing.assert_allclose(learned, (0.3, 0.02), rtol=0.25)


@pytest.mark.parametrize("factor", [1e3, 1e-3])
def test_units_do_not_matter(factor):
    agents, actions = [], []
    for unit in (1.0, factor):
        done: list[int] = []
        env = Seen(lambda point, rng, unit=unit: unit * point, 2)
        agent = tgm.TGMAgent(env, AUTO, seed=1)
        step = env.env.step
        env.env.step = lambda action, step=step, done=done: done.append(int(action)) or step(action)
        agents.append(agent.learn(400))
        actions.append(done)
    assert agents[0].n_states == agents[1].n_states
    assert len(actions[0]) == 400
    assert actions[0] == actions[1]


def walked(n_steps: int, look=lambda point, rng: point, n_features: int = 2, seed: int = 0):
    """A learner that has seen a random walk, and what it told."""
    env, rng = Seen(look, n_features), np.random.default_rng(seed)
    learner, told = ScaleSearchLearner(n_features, 5, AUTO), []
    told.append(learner.begin(env.reset(seed=seed)[0]))
    for _ in range(n_steps):
        action = int(rng.integers(5))
        seen, reward, ended, cut, _ = env.step(action)
        told.append(learner.observe(action, float(reward), seen, terminated=ended))
        if ended or cut:
            told.append(learner.begin(env.reset()[0]))
    return learner, told


def test_the_scale_is_chosen_at_a_few_steps_and_then_no_more():
    learner, told = walked(200)
    steps = [info for info in told if info is not None]
    changed = [n for n, info in enumerate(steps) if info.changed_all and n <= MEASURE_AT[-1]]
    assert changed[0] == 1
    assert learner.is_over
    assert learner.coordinates.chosen is None
    np.testing.assert_allclose(learner.choice.deviation, 0.15, rtol=0.5)
    assert learner.to_arrays()["event.point"].shape == (0, 2)


@pytest.mark.parametrize("seed", range(6))
def test_ids_follow_from_one_scale_to_the_next_and_none_is_given_twice(seed):
    learner = ScaleSearchLearner(2, 5, AUTO)
    env, rng = Seen(lambda point, rng: point, 2, maze="25"), np.random.default_rng(seed)
    learner.begin(env.reset(seed=seed)[0])
    now, gone = set(learner.state_ids.tolist()), set()
    for _ in range(80):
        action = int(rng.integers(4))
        seen, reward, ended, cut, _ = env.step(action)
        info = learner.observe(action, float(reward), seen, terminated=ended)
        ids = set(learner.state_ids.tolist())
        assert len(ids) == learner.world.states.n_alive
        assert not ids & gone
        if info.changed_all:
            moves = [move for move in info.moves if move.cause == OTHER_SCALE]
            told = {
                kind: {m.ids[0] for m in moves if m.kind == kind} for kind in ("birth", "removal")
            }
            born_now = {m.ids[0] for m in info.moves if m.kind == "birth"}
            assert ids - now <= born_now
            assert told["removal"].isdisjoint(ids)
        gone |= now - ids
        now = ids
        if ended or cut:
            learner.begin(env.reset()[0])


def test_the_scale_is_chosen_again_when_the_steps_have_doubled():
    assert MEASURE_AT == (1, 3, 7, 15, 31, 63)
    learner = ScaleSearchLearner(1, 2, AUTO)
    learner.begin(np.zeros(1))
    assert learner.choice is None
    learner.observe(0, 0.0, np.ones(1), terminated=False)
    assert learner.choice is not None


def test_where_nothing_changes_there_is_nothing_to_search():
    learner = ScaleSearchLearner(1, 2, AUTO)
    learner.begin(np.ones(1))
    for _ in range(MEASURE_AT[-1]):
        assert not learner.is_over
        learner.observe(0, 0.0, np.ones(1), terminated=False)
    assert learner.is_over
    assert learner.choice is None
    assert learner.world.states.n_alive == 1


@pytest.mark.parametrize(("moves_at", "seen_by"), [(40, 62), (150, WATCHED + 5)])
def test_a_feature_that_was_left_out_and_begins_to_move_is_taken_up(moves_at, seen_by):
    """Also between two of the steps at which the scale is measured."""

    class Door:
        n = 0

    def look(point, rng):
        Door.n += 1
        doors = 0.15 * rng.normal(size=4)
        doors[0] += 4.0 * (Door.n > moves_at and Door.n // 20 % 2)
        return np.concatenate([point, doors])

    learner, _ = walked(moves_at - 5, look, 6)
    assert learner.coordinates.relevant.tolist() == [True, True] + [False] * 4
    assert not learner.is_over
    Door.n = 0
    learner, _ = walked(seen_by, look, 6)
    assert learner.coordinates.relevant.tolist() == [True, True, True] + [False] * 3
    assert learner.is_over == (seen_by > WATCHED)


SAVED_AFTER = (10, 40, 100, 300)  # steps
GOES_ON = 150  # steps after each save


@pytest.fixture(
    scope="module",
    params=[(with_noise, 6), (as_codes, 16), (with_other_axes, 2)],
    ids=["distractors", "codes", "axes"],
)
def lived(request, tmp_path_factory):
    """One life: files at the first ends of episodes after some steps, and what is known later."""
    env, folder = Seen(*request.param), tmp_path_factory.mktemp("life")
    agent, files, known = tgm.TGMAgent(env, AUTO, seed=2), {}, {}
    while len(known) < len(SAVED_AFTER):
        agent.learn(1)
        due = [n for n in SAVED_AFTER if n <= agent.n_steps and n not in files]
        if due and agent.is_between_episodes:
            agent.save(folder / f"{due[0]}.tgm")
            files[due[0]] = folder / f"{due[0]}.tgm", env._rng.bit_generator.state, agent.n_steps
        for n, (_, _, saved_at) in files.items():
            if n not in known and agent.n_steps == saved_at + GOES_ON:
                known[n] = {k: array.copy() for k, array in agent.learner.to_arrays().items()}
    return request.param, files, known


@pytest.mark.parametrize("n_steps", SAVED_AFTER)
def test_the_search_goes_on_to_the_bit_after_a_file(lived, n_steps):
    looks, files, known = lived
    path, noise, saved_at = files[n_steps]
    env = Seen(*looks)
    env._rng.bit_generator.state = noise
    copy = tgm.TGMAgent.load(path, env)
    assert copy.n_steps == saved_at
    copy.learn(GOES_ON)
    ours, theirs = known[n_steps], copy.learner.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The arrays and facts of an agent that is still searching."""
    path = tmp_path_factory.mktemp("model") / "agent.tgm"
    tgm.TGMAgent(Seen(with_noise, 6), AUTO, seed=2).learn(100).save(path)
    return read_model(path)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("event.point", lambda array: array[:, :2]),
        ("event.point", lambda array: np.full_like(array, np.inf)),
        ("event.action", lambda array: array + 9),
        ("event.reward", lambda array: array[:-1]),
        ("event.state", lambda array: array - 9),
        ("event.state", lambda array: array[:-1]),
        ("event.terminated", lambda array: array[:-1]),
        ("n_steps", lambda array: -array),
        ("is_over", lambda array: np.concatenate([array, array])),
        ("strained", lambda array: array[:-1]),
        ("came_back", lambda array: array[:-1]),
        ("choice.deviation", lambda array: -array),
        ("choice.typical_step", lambda array: 0.0 * array),
        ("choice.relevant", lambda array: ~array),
        ("choice.gain", lambda array: array * np.nan),
        ("learner.coordinates.relevant", lambda array: ~array),
        ("learner.coordinates.origin", lambda array: np.concatenate([array, array])),
    ],
)
def test_files_are_checked(model, name, change, tmp_path):
    path, (arrays, facts) = tmp_path / "agent.tgm", model
    assert arrays[name].size
    write_model(path, arrays | {name: change(arrays[name])}, facts)
    with pytest.raises(RunError, match="agent"):
        tgm.TGMAgent.load(path)


def with_features_left_out(n_events: int = 4) -> ScaleSearchLearner:
    """A learner that tells states apart by the first of five features; the others are noise."""
    learner = ScaleSearchLearner(5, 1, AUTO)
    learner.begin(np.zeros(5))
    learner.choice = ScaleChoice(np.ones(5), np.ones(5), np.arange(5) == 0, np.zeros(5))
    learner._events = [Event(np.zeros(5)) for _ in range(n_events)]
    learner._names = [0] * n_events
    every = np.ones(5, dtype=bool)
    learner.coordinates = Coordinates(np.zeros(5), every, np.zeros(5), np.full(5, 4.0))
    return learner


@pytest.mark.parametrize(
    ("deviations", "n_features", "needed"),
    [(4.9, 1, None), (5.1, 1, 0.0), (5.1, 2, 0.0), (5.1, 3, 6.0)],
)
def test_one_or_two_features_that_surprise_need_no_more_than_to_be_better_than_chance(
    deviations, n_features, needed, monkeypatch
):
    learner, asked = with_features_left_out(200), []

    def noted(choice, steps, features, least):
        asked.append((len(steps.points), features.tolist(), least))
        return choice

    monkeypatch.setattr(ScaleChoice, "with_features", noted)
    point = 2.0 * deviations * (np.arange(5) >= 5 - n_features)
    assert learner._watched(Event(point)) is None
    features = list(range(5 - n_features, 5))
    # The last 128 events decide.
    assert asked == ([] if needed is None else [(128, features, needed)])


@pytest.mark.parametrize(
    ("n_steps", "came_back", "asked"),
    [(511, [2, 3], [2, 3]), (510, [2, 3], None), (511, [], None)],
)
def test_features_that_came_back_are_weighed_by_all_events_at_the_end(
    n_steps, came_back, asked, monkeypatch
):
    learner, found = with_features_left_out(300), []

    def noted(choice, steps, features):
        found.append((len(steps.points), features.tolist()))
        return choice

    monkeypatch.setattr(ScaleChoice, "without_features", noted)
    learner._came_back[came_back] = True
    learner._n_steps = n_steps
    learner._rival(Event(np.zeros(5), 0))
    assert found == ([] if asked is None else [(300, asked)])


def test_a_feature_that_surprises_has_come_back_until_the_scale_is_measured(monkeypatch):
    learner = with_features_left_out(200)
    with_two = ScaleChoice(np.ones(5), np.ones(5), np.arange(5) < 2, np.zeros(5))
    monkeypatch.setattr(ScaleChoice, "with_features", lambda *_: with_two)
    assert learner._watched(Event(10.5 * (np.arange(5) == 1))) is with_two
    assert learner._came_back.tolist() == [False, True, False, False, False]
    learner._events[5] = Event(np.ones(5), 0)  # something has moved
    monkeypatch.setattr(scale_search, "choose_scale", lambda *_: with_two)
    learner._measured()
    assert not learner._came_back.any()


@pytest.mark.parametrize(("change", "is_another"), [(0.24, False), (-0.24, False), (0.26, True)])
def test_a_scale_that_differs_by_less_than_a_quarter_is_the_same(change, is_another, monkeypatch):
    learner = with_features_left_out()
    other = replace(learner.choice, deviation=np.exp(change) * learner.choice.deviation)
    monkeypatch.setattr("tgm.learners.scale_search.choose_scale", lambda *_: other)
    learner._events[-1] = Event(np.ones(5), 0)
    assert learner._measured() is (other if is_another else None)


def test_a_rival_that_lost_and_goes_on_is_one_that_learns_from_all_events_again():
    learner = tgm.TGMAgent("tgm/Maze-v0", AUTO, seed=0).learn(126).learner.inner
    before = [rival.learner for rival in learner._rivals]
    choices = [replace(learner.choice, deviation=one) for one in narrower(learner)]
    rivals = [learner._learned(choice) for choice in choices]
    assert all(rival.learner in before for rival in rivals)
    learner._rivals = []
    fresh = [learner._learned(choice) for choice in choices]
    for one, other in zip(rivals, fresh, strict=True):
        assert one.names == other.names
        ours, theirs = one.learner.to_arrays(), other.learner.to_arrays()
        assert ours.keys() == theirs.keys()
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def narrower(learner):
    """The deviations of the rivals of the scale that a learner has, whose states are strained."""
    assert learner.is_strained
    return [learner.choice.deviation * np.where(learner._strained, f, 1.0) for f in (0.75, 0.5)]


def test_a_rival_is_as_wide_as_what_was_seen_within_the_states():
    rng = np.random.default_rng(3)
    learner = ScaleSearchLearner(1, 1, AUTO)
    points = 0.15 * rng.normal(size=(60, 1))
    learner.begin(points[0])
    for point in points[1:]:
        learner.observe(0, 0.0, point, terminated=False)
    assert len(set(learner._names)) == 1
    steps, expected = learner._first_steps(learner._events), np.std(points, ddof=1)
    narrow = replace(learner.choice, deviation=np.array([0.7 * expected]))
    found = learner._as_wide_as_found(narrow, steps)
    assert found.choice.deviation == pytest.approx(expected, rel=0.1)
    assert len(found.names) == 60
    about_right = replace(learner.choice, deviation=np.array([0.9 * expected]))
    assert learner._as_wide_as_found(about_right, steps) is None


def test_after_the_last_competition_no_narrower_states_are_waited_for():
    learner = ScaleSearchLearner(2, 2, AUTO)
    learner._strained[:] = True
    learner._n_steps = RIVALS_AT[-1] - 1
    assert learner.is_strained
    learner._n_steps = RIVALS_AT[-1]
    assert not learner.is_strained
