"""The choice of a scale: how wide states are, and which features tell them apart."""

from dataclasses import replace

import numpy as np
import pytest

from tgm.envs import load_maze
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.feature_kinds import EPISODE_START
from tgm.structure import scale_choice
from tgm.structure.scale_choice import RATIOS, ScaleChoice, choose_scale, says_more
from tgm.structure.scale_evidence import FirstSteps, evidence_of_each

Looks = np.ndarray


def walk(seed: int, n: int, maze: str = "27", episode: int = 50) -> tuple[Looks, np.ndarray]:
    """The true cells (n, 2) of a random walk in a maze, and the actions before each."""
    rng, maze = np.random.default_rng(seed), load_maze(maze)
    cell, cells, actions = maze.start, [maze.start], [EPISODE_START]
    for step in range(1, n):
        if step % episode == 0:
            cell, action = maze.start, EPISODE_START
        else:
            action = int(rng.integers(4))
            cell = maze.next_cell(cell, action)
        cells.append(cell)
        actions.append(action)
    return np.array(cells, dtype=float), np.array(actions)


def chosen(points: Looks, actions: np.ndarray) -> ScaleChoice:
    """The last of the choices that a learner makes, each with the one before as a candidate."""
    choice = None
    for n in (2, 4, 8, 16, 32, 64):
        steps = FirstSteps(points[:n], actions[:n])
        labels = np.arange(n) if choice is None else nearest(points[:n], choice)
        choice = choose_scale(steps, choice, labels)
    return choice


def nearest(points: Looks, choice: ScaleChoice) -> np.ndarray:
    """(n,) states as a learner with that scale would see them: what lies within four deviations."""
    labels, means = [], []
    for point in points[:, choice.relevant] / choice.deviation[choice.relevant]:
        distances = [float(np.linalg.norm(point - mean)) for mean in means]
        if not distances or min(distances) > 4.0:
            means.append(point)
            distances.append(0.0)
        labels.append(int(np.argmin(distances)))
    return np.array(labels)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [0.05, 0.15])
def test_the_noise_of_a_maze_is_found(seed, noise):
    cells, actions = walk(seed, 64)
    points = cells + noise * np.random.default_rng(seed).normal(size=cells.shape)
    choice = chosen(points, actions)
    assert choice.relevant.all()
    np.testing.assert_allclose(choice.deviation, noise, rtol=0.4)


@pytest.mark.parametrize("seed", range(3))
def test_each_axis_has_its_own_width(seed):
    cells, actions = walk(seed, 64, maze="25")
    noise = np.array([0.04, 0.16])
    points = cells + noise * np.random.default_rng(seed).normal(size=cells.shape)
    choice = chosen(points, actions)
    np.testing.assert_allclose(choice.deviation, noise, rtol=0.5)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_is_that_of_the_observations(factor):
    cells, actions = walk(0, 64)
    points = cells + 0.15 * np.random.default_rng(0).normal(size=cells.shape)
    one, other = chosen(points, actions), chosen(points * factor, actions)
    np.testing.assert_allclose(other.deviation / factor, one.deviation, rtol=1e-9)
    np.testing.assert_array_equal(other.relevant, one.relevant)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width", [0.1, 1.0, 10.0])
def test_features_of_noise_are_left_out_and_the_others_kept(seed, width):
    rng, (cells, actions) = np.random.default_rng(seed), walk(seed, 64)
    points = cells + 0.15 * rng.normal(size=cells.shape)
    noise = width * rng.normal(size=(len(points), 4))
    choice = chosen(np.column_stack([noise[:, :2], points, noise[:, 2:]]), actions)
    assert choice.relevant.tolist() == [False, False, True, True, False, False]
    np.testing.assert_allclose(choice.deviation[2:4], 0.15, rtol=0.5)


def test_with_few_steps_no_feature_is_left_out():
    rng, (cells, actions) = np.random.default_rng(0), walk(0, 31)
    points = np.column_stack([cells + 0.15 * rng.normal(size=cells.shape), rng.normal(size=31)])
    choice = None
    for n in (2, 4, 8, 16, 31):
        choice = choose_scale(FirstSteps(points[:n], actions[:n]), choice, np.zeros(n, np.intp))
        assert choice.relevant.all()


def test_a_feature_that_begins_to_move_is_taken_up():
    rng, n = np.random.default_rng(0), 128
    cells, actions = walk(0, n, maze="25")
    points = cells + 0.15 * rng.normal(size=cells.shape)
    still = 0.15 * rng.normal(size=(n, 4))  # doors that are never opened
    first = chosen(np.column_stack([points, still])[:64], actions[:64])
    assert first.relevant.tolist() == [True, True, False, False, False, False]
    opened = np.column_stack([points, still])
    opened[:, 2] += 4.0 * (np.arange(n) // 20 % 2)
    again = first.with_features(FirstSteps(opened, actions), np.array([2, 3]))
    assert again.relevant.tolist() == [True, True, True, False, False, False]
    assert 0.05 < again.deviation[2] < 0.5
    np.testing.assert_array_equal(again.deviation[:2], first.deviation[:2])
    # While it does not, nothing changes.
    same = first.with_features(FirstSteps(np.column_stack([points, still]), actions), np.array([2]))
    assert not same.relevant[2]
    assert not same.differs(first, 0.25)


def test_of_some_features_those_that_look_the_same_in_every_state_are_left_out():
    rng, (cells, actions) = np.random.default_rng(2), walk(2, 200)
    points = np.column_stack([cells + 0.15 * rng.normal(size=cells.shape), rng.normal(size=200)])
    faulty = points + 10.0 * rng.normal(size=points.shape) * (rng.random((200, 1)) < 0.05)
    every = np.ones(3, dtype=bool)
    choice = ScaleChoice(np.array([0.15, 0.15, 1.0]), np.ones(3), every, np.zeros(3))
    for seen in (points, faulty):
        steps = FirstSteps(seen, actions)
        found = choice.without_features(steps, np.array([1, 2]))
        assert found.relevant.tolist() == [True, True, False]
        assert found.gain[1] > 6.0
        assert found.gain[2] <= 0.0
        np.testing.assert_array_equal(found.deviation, choice.deviation)
        assert choice.without_features(steps, np.array([0, 1])).relevant.all()


def test_a_feature_that_never_changed_is_not_looked_at():
    cells, actions = walk(0, 64)
    first = chosen(cells + 0.15 * np.random.default_rng(0).normal(size=cells.shape), actions)
    constant = FirstSteps(np.ones((20, 2)), actions[:20])
    assert first.with_features(constant, np.array([0])) is first


def test_what_makes_a_difference():
    def choice(deviation, relevant=(True, True)):
        return ScaleChoice(np.array(deviation), np.ones(2), np.array(relevant), np.zeros(2))

    one = choice([0.1, 1.0])
    assert not one.differs(choice([0.11, 1.0]), 0.25)
    assert one.differs(choice([0.1, 1.4]), 0.25)
    assert one.differs(choice([0.1, 1.0], (True, False)), 0.25)
    # The width of what is left out does not matter.
    assert not choice([0.1, 1.0], (True, False)).differs(choice([0.1, 9.0], (True, False)), 0.25)


@pytest.mark.parametrize("name", ["deviation", "typical_step", "relevant"])
def test_a_learner_learns_the_same_if_all_that_it_is_made_of_is_the_same(name):
    one = ScaleChoice(np.ones(2), np.ones(2), np.ones(2, bool), np.zeros(2))
    assert one.is_like(ScaleChoice(np.ones(2), np.ones(2), np.ones(2, bool), np.ones(2)))
    value = np.array([True, False]) if name == "relevant" else np.array([1.0, 1.0 + 1e-15])
    assert not one.is_like(replace(one, **{name: value}))


def test_the_width_is_that_of_the_widest_relevant_feature_in_typical_steps():
    deviation, step = np.array([0.2, 3.0, 40.0]), np.array([1.0, 10.0, 10.0])
    choice = ScaleChoice(deviation, step, np.array([True, True, False]), np.zeros(3))
    assert choice.width == pytest.approx(0.3)
    assert replace(choice, relevant=np.array([True, False, False])).width == pytest.approx(0.2)
    assert replace(choice, relevant=np.ones(3, bool)).width == pytest.approx(4.0)


def test_the_deviation_within_states_by_hand():
    points = np.array([[0.0, 1.0], [2.0, 1.0], [9.0, 5.0], [9.0, 7.0], [4.0, 0.0]])
    steps = FirstSteps(points, np.array([EPISODE_START, 0, 0, 1, 0]))
    labels = np.array([0, 0, 2, 2, 3])  # no point has label 1
    # Two degrees of freedom are left, and eight more of the guess: a quarter of a typical step.
    expected = [
        np.sqrt((found + 8 * (0.25 * step) ** 2) / (2 + 8))
        for found, step in zip((2.0, 2.0), steps.typical_step, strict=True)
    ]
    np.testing.assert_allclose(scale_choice.within_states(steps, labels), expected)


@pytest.mark.parametrize(("nats", "tells"), [(-0.01, False), (0.01, True)])
def test_a_feature_tells_states_apart_by_the_information_criterion(nats, tells):
    points = np.random.default_rng(0).normal(size=(40, 1))
    steps = FirstSteps(points, np.array([EPISODE_START] + [0] * 39))
    labels = np.arange(40) % 3
    gain = scale_choice.FEATURE_GAIN + nats
    within = points.std(axis=0) * np.exp(-(gain + 0.5 * 2 * np.log(40)) / 40)
    assert scale_choice._tells_apart(steps, within, labels).tolist() == [tells]


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_which_features_tell_states_apart_does_not_depend_on_the_unit(unit):
    places = np.arange(40) % 2
    noise = np.random.default_rng(0).normal(size=40)
    points = unit * np.column_stack([places + 0.1 * noise, noise])
    steps = FirstSteps(points, np.array([EPISODE_START] + [0] * 39))
    found = scale_choice._tells_apart(steps, unit * np.array([0.1, 1.0]), places)
    assert found.tolist() == [True, False]


@pytest.mark.parametrize(("nats", "ratio"), [(0.0, 0.4), (3.0, 1.0)])
def test_the_first_choice_is_as_wide_as_may_be(nats, ratio, monkeypatch):
    """One step says how far a step leads, and hardly more: all widths are about as likely."""
    assert scale_choice.ABOUT_AS_LIKELY == 3.0
    monkeypatch.setattr(scale_choice, "ABOUT_AS_LIKELY", nats)
    steps = FirstSteps(np.array([[0.0], [3.0]]), np.array([EPISODE_START, 0]))
    deviation = float(choose_scale(steps).deviation[0])
    assert deviation == 3.0 * RATIOS[np.abs(np.log(RATIOS / ratio)).argmin()]


def test_of_scales_that_are_about_as_likely_the_widest_is_chosen(monkeypatch):
    cells, actions = walk(0, 200)
    points = cells + 0.15 * np.random.default_rng(0).normal(size=cells.shape)
    steps = FirstSteps(points, actions)
    deviations = np.array([[0.10, 0.10], [0.15, 0.15], [0.2, 0.2], [0.6, 0.6]])
    evidence = scale_choice.evidence_of(steps, deviations, np.ones(2, bool)).log_evidence
    evidence = evidence + scale_choice._log_prior(deviations / steps.typical_step)
    best = int(evidence.argmax())
    for behind in np.delete(evidence.max() - evidence, best) + 0.01:
        monkeypatch.setattr(scale_choice, "ABOUT_AS_LIKELY", behind)
        likely = deviations[evidence >= evidence.max() - behind]
        chosen = scale_choice._best(steps, deviations, np.ones(2, bool))
        np.testing.assert_array_equal(chosen.deviation, likely.max(axis=0))
        assert chosen.log_evidence == evidence.max()


def test_a_scale_in_a_file_is_checked():
    choice = ScaleChoice(np.array([0.1, 1.0]), np.ones(2), np.array([True, False]), np.zeros(2))
    arrays = choice.to_arrays()
    again = ScaleChoice.from_arrays(ArrayReader(arrays), 2)
    for name, array in arrays.items():
        np.testing.assert_array_equal(again.to_arrays()[name], array)
    for name, wrong in {
        "deviation": np.array([0.0, 1.0]),
        "typical_step": np.array([-1.0, 1.0]),
        "relevant": np.array([False, False]),
        "gain": np.array([np.nan, 0.0]),
    }.items():
        with pytest.raises(DataError, match="deviation|" + name):
            ScaleChoice.from_arrays(ArrayReader(arrays | {name: wrong}), 2)
        with pytest.raises(DataError, match=name):
            ScaleChoice.from_arrays(ArrayReader(arrays | {name: arrays[name][:1]}), 2)


def test_the_gain_of_a_feature_is_its_evidence_with_the_prior_of_its_width():
    cells, actions = walk(3, 60)
    noise = 0.03 * np.random.default_rng(3).normal(size=cells.shape)
    steps = FirstSteps(cells + noise, actions)
    before = ScaleChoice(np.ones(2), steps.typical_step, np.array([True, False]), np.zeros(2))
    found = before.with_features(steps, np.array([1]))
    alone = FirstSteps(steps.points[:, 1:], steps.actions)
    # A deviation is a quarter of a typical step, give or take a factor of e.
    log_prior = -0.5 * np.log(RATIOS / 0.25) ** 2
    weighed = evidence_of_each(alone, RATIOS)[0][0] + log_prior
    assert log_prior[weighed.argmax()] < -0.5  # it is narrower than is usual
    assert found.gain[1] == pytest.approx(weighed.max())
    assert found.gain[0] == 0.0
    assert found.deviation[1] == pytest.approx(
        RATIOS[weighed.argmax()] * alone.typical_step[0] if found.relevant[1] else 1.0
    )


@pytest.mark.parametrize("seed", range(2))
def test_a_feature_that_says_little_alone_is_kept_where_the_states_of_others_explain_it(seed):
    rng, n = np.random.default_rng(seed), 64
    place, actions = np.zeros(n, dtype=int), rng.integers(2, size=n)
    actions[0] = EPISODE_START
    for step in range(1, n):
        place[step] = np.clip(place[step - 1] + 2 * actions[step] - 1, 0, 5)
    shown = place + 0.1 * rng.normal(size=n)
    given = 0.3 * (2.5 * (place % 3 == 0) + rng.normal(size=n))  # two and a half deviations apart
    nothing = 0.3 * rng.normal(size=(n, 5))
    choice = chosen(np.column_stack([shown, given, nothing]), actions)
    assert choice.gain[1] < 6.0  # not enough by itself
    assert choice.relevant.tolist() == [True, True] + [False] * 5


def test_features_differ_in_width_by_a_third_unless_the_evidence_is_against_it():
    alike, apart = np.full(2, 0.25), 0.25 * np.exp([0.3, -0.3])
    wide = alike * np.exp(1.0)
    found = scale_choice._log_prior(np.array([alike, apart, wide]))
    np.testing.assert_allclose(found, [0.0, -1.0, -0.5], atol=1e-12)


@pytest.mark.parametrize(("n", "are_alike"), [(7, True), (8, False)])
def test_with_fewer_than_eight_points_all_features_are_as_wide_in_typical_steps(
    n, are_alike, monkeypatch
):
    monkeypatch.setattr(scale_choice, "ABOUT_AS_LIKELY", 0.0)
    cells, actions = walk(0, n, maze="25")
    points = cells + [0.003, 0.3] * np.random.default_rng(0).normal(size=cells.shape)
    steps = FirstSteps(points, actions)
    before = ScaleChoice(np.array([0.003, 0.3]), steps.typical_step, np.ones(2, bool), np.zeros(2))
    ratio = choose_scale(steps, before, nearest(points, before)).deviation / steps.typical_step
    assert (ratio[0] == pytest.approx(ratio[1])) == are_alike


@pytest.mark.parametrize(("nats", "are_dropped"), [(9.9, False), (10.1, True)])
def test_features_are_left_out_if_that_is_better_by_ten_nats(nats, are_dropped, monkeypatch):
    rng, (cells, actions) = np.random.default_rng(0), walk(0, 64)
    points = np.column_stack([cells + 0.15 * rng.normal(size=cells.shape), rng.normal(size=64)])
    with_all, best, fewer = [], scale_choice._best, scale_choice._with_fewer

    def noted(steps, deviations, relevant):
        candidate = best(steps, deviations, relevant)
        if relevant.all():
            with_all.append(candidate.log_evidence)
        return candidate

    def better_by(*args):
        return replace(fewer(*args), log_evidence=max(with_all) + nats)

    monkeypatch.setattr(scale_choice, "_best", noted)
    monkeypatch.setattr(scale_choice, "_with_fewer", better_by)
    steps = FirstSteps(points, actions)
    before = ScaleChoice(np.full(3, 0.15), steps.typical_step, np.ones(3, bool), np.zeros(3))
    choice = choose_scale(steps, before, nearest(points, before))
    assert choice.relevant.tolist() == [True, True, not are_dropped]


def test_a_feature_that_others_tell_exactly_says_nothing_more():
    """By the rank of the features up to each one, with a column of ones."""
    rng = np.random.default_rng(3)
    x, y, z = rng.normal(size=(3, 40)) * [[1.0], [1e-4], [1e6]]
    columns = [x, 1.8 * x + 32.0, y, np.full(40, 7.0), x + 1e4 * y, z, y + 1e-3 * z, z + 1e-5 * x]
    points = np.column_stack(columns)
    scaled = (points - points.mean(axis=0)) / np.maximum(points.std(axis=0), 1e-12)
    ranks = [np.linalg.matrix_rank(scaled[:, : k + 1], tol=1e-5) for k in range(len(columns))]
    more = np.diff([0, *ranks]) > 0
    more[3] = True  # it may vary later
    assert says_more(points).tolist() == more.tolist()
    assert more.tolist() == [True, False, True, True, False, True, False, False]
    assert says_more(points[:31]).all()  # too few to leave any out
    noisy = np.column_stack([x, x + 1e-5 * rng.normal(size=40)])
    assert says_more(noisy).all()
    assert not says_more(np.column_stack([x, x + 1e-8 * rng.normal(size=40)])).all()


def test_many_features_need_twice_as_many_observations():
    points = np.random.default_rng(0).normal(size=(80, 40))
    points[:, 39] = points[:, 0]
    assert says_more(points[:79]).all()
    assert np.flatnonzero(~says_more(points)).tolist() == [39]
