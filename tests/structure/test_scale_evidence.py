"""The evidence of scales, all candidates at once, against a loop over the points for each."""

import numpy as np
import pytest
from tests.oracles import common_log_densities, scale_evidence

from tgm.perception.feature_kinds import EPISODE_START
from tgm.structure.scale_evidence import FirstSteps, evidence_of, evidence_of_each


def random_walk(seed: int, n: int = 60, n_features: int = 2, noise: float = 0.1) -> FirstSteps:
    """A walk on a grid in uneven units, with faulty readings and a few starts."""
    rng = np.random.default_rng((seed, n_features))
    units = np.exp(rng.normal(size=n_features))
    place, points, actions = np.zeros(n_features), [], []
    for step in range(n):
        if step == 0 or rng.random() < 0.1:
            place, action = np.zeros(n_features), EPISODE_START
        else:
            action = int(rng.integers(2 * n_features))
            place = place.copy()
            place[action // 2] = np.clip(place[action // 2] + (1, -1)[action % 2], 0, 2)
        outlier = rng.normal(scale=3.0, size=n_features) * (rng.random() < 0.05)
        points.append((place + noise * rng.normal(size=n_features) + outlier) * units)
        actions.append(action)
    return FirstSteps(np.array(points), np.array(actions))


@pytest.mark.parametrize("n_features", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
def test_the_evidence_of_every_candidate_is_that_of_a_loop(seed, n_features):
    steps = random_walk(seed, n_features=n_features)
    ratios = np.array([0.05, 0.2, 0.5, 1.5])
    deviations = ratios[:, None] * steps.typical_step
    fit = evidence_of(steps, deviations, np.ones(n_features, dtype=bool))
    for index, deviation in enumerate(deviations):
        expected, labels = scale_evidence(
            steps.points, steps.actions.tolist(), deviation, steps.typical_step
        )
        assert fit.log_evidence[index] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert fit.labels[index].tolist() == labels
        assert fit.n_states[index] == len(set(labels))


def test_features_that_are_not_relevant_have_one_density():
    steps = random_walk(1, n_features=3)
    relevant = np.array([True, False, True])
    deviations = np.array([0.2, 0.4])[:, None] * steps.typical_step
    fit = evidence_of(steps, deviations, relevant)
    for index, deviation in enumerate(deviations):
        common = common_log_densities(steps.points, steps.typical_step)[1]
        expected, labels = scale_evidence(
            steps.points[:, relevant],
            steps.actions.tolist(),
            deviation[relevant],
            steps.typical_step[relevant],
            common,
        )
        assert fit.log_evidence[index] == pytest.approx(expected, rel=1e-9)
        assert fit.labels[index].tolist() == labels


def test_a_faulty_reading_counts_once_for_all_features_that_tell_no_states_apart():
    steps = random_walk(2, n_features=3)
    relevant = np.array([True, False, False])
    pairs = common_log_densities(steps.points, steps.typical_step)[1:]
    wanted = [
        np.logaddexp(a + c, np.log(0.01) + b + d) for (a, b), (c, d) in zip(*pairs, strict=True)
    ]
    np.testing.assert_allclose(steps.log_common(~relevant)[1:], wanted[1:], rtol=1e-9)
    assert steps.log_common(~relevant)[0] == 0.0
    assert not steps.log_common(np.zeros(3, dtype=bool)).any()


@pytest.mark.parametrize("place", [0, 1, 20])
def test_a_faulty_reading_teaches_nothing_wherever_it_is(place):
    values = np.random.default_rng(1).normal(size=(60, 1))
    values[place] = 15.0
    actions = np.zeros(60, dtype=np.intp)
    steps, without = (
        FirstSteps(values, actions),
        FirstSteps(np.delete(values, place, 0), actions[1:]),
    )
    later = slice(25, None)
    lost = without.common[later].sum() - steps.common[1:][later].sum()
    assert abs(lost) < 2.0  # the first guess is the typical step; learned from, it would cost 21


def test_one_feature_that_is_far_from_usual_alone_is_learned_from():
    """In a one-hot code each place is far from usual in its own feature."""
    values = 0.05 * np.random.default_rng(1).normal(size=(60, 30))
    values[:, 0] += 1.0
    values[20, 3] += 1.0
    actions = np.zeros(60, dtype=np.intp)
    code, alone = FirstSteps(values, actions), FirstSteps(values[:, [3]], actions)
    # Seen without the others it is faulty, and the common density stays narrow.
    assert alone.common[21:].sum() > code.common[21:, 3].sum() + 1.0


def test_each_feature_alone_is_as_if_there_were_no_other():
    steps = random_walk(2, n_features=3)
    ratios = np.array([0.1, 0.3, 1.0])
    gain, fit = evidence_of_each(steps, ratios)
    assert gain.shape == (3, 3)
    commons = common_log_densities(steps.points, steps.typical_step)
    for feature in range(3):
        points = steps.points[:, [feature]]
        common = sum(one for one, _ in commons[feature])
        for index, ratio in enumerate(ratios):
            step = steps.typical_step[[feature]]
            expected, labels = scale_evidence(points, steps.actions.tolist(), ratio * step, step)
            assert gain[feature, index] == pytest.approx(expected - common, abs=1e-8)
            assert fit.labels[3 * feature + index].tolist() == labels


def test_a_typical_step_is_the_change_within_an_episode():
    points = np.array([[0.0, 5.0], [3.0, 5.0], [100.0, 5.0], [101.0, 5.0]])
    actions = np.array([EPISODE_START, 0, EPISODE_START, 0])
    steps = FirstSteps(points, actions)
    assert steps.reach.tolist() == [pytest.approx(np.sqrt(5)), 0.0]
    assert steps.has_moved
    assert steps.typical_step.tolist() == pytest.approx([np.sqrt(5), 1e-6 * np.sqrt(5)])


@pytest.mark.parametrize("spike", [1e3, 1e30, 1e59])
def test_a_faulty_reading_does_not_make_a_typical_step(spike):
    steps = random_walk(0)
    points = steps.points.copy()
    points[20] += spike
    poisoned = FirstSteps(points, steps.actions).typical_step / steps.typical_step
    assert (poisoned < 5).all()


@pytest.mark.parametrize(("n_steps", "counts_as"), [(6, 100.0), (7, 10.0)])
def test_one_absurd_change_among_more_than_six_counts_as_ten_usual_ones(n_steps, counts_as):
    points = np.cumsum([0.0, 100.0, *[1.0] * (n_steps - 1)])[:, None]
    steps = FirstSteps(points, np.array([EPISODE_START] + [0] * n_steps))
    assert steps.reach == pytest.approx([np.sqrt((n_steps - 1 + counts_as**2) / n_steps)])


def test_a_feature_that_changes_rarely_is_typical_as_it_is():
    points = np.zeros((40, 1))
    points[20:] = 3.0
    actions = np.array([EPISODE_START] + [0] * 39)
    assert FirstSteps(points, actions).reach == pytest.approx([3 / np.sqrt(39)])


def test_where_nothing_changes_there_is_nothing_to_measure():
    assert not FirstSteps(np.ones((5, 2)), np.array([EPISODE_START, 0, 0, 1, 0])).has_moved
    assert not FirstSteps(np.eye(2), np.array([EPISODE_START, EPISODE_START])).has_moved
    assert not FirstSteps(np.ones((1, 2)), np.array([EPISODE_START])).has_moved
    assert not FirstSteps(1e-70 * np.eye(2), np.array([EPISODE_START, 0])).has_moved


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_change_the_evidence_by_the_jacobian_only(factor):
    steps = random_walk(3)
    other = FirstSteps(steps.points * factor, steps.actions)
    every = np.ones(2, dtype=bool)
    ours, theirs = (
        evidence_of(one, np.array([[0.2], [0.6]]) * one.typical_step, every)
        for one in (steps, other)
    )
    shift = (len(steps.points) - 1) * 2 * np.log(factor)
    np.testing.assert_allclose(theirs.log_evidence, ours.log_evidence - shift, rtol=1e-9)
    np.testing.assert_array_equal(ours.labels, theirs.labels)
