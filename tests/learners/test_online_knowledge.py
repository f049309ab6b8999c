"""What a learner answers when it is asked, of a life that can be counted by hand."""

import numpy as np
import pytest
from tests.learners.worlds import HERE, THERE, two_places

from tgm.config import TGMConfig
from tgm.files.arrays import ArrayReader
from tgm.learners.learner import Context
from tgm.learners.online import OnlineLearner
from tgm.perception.coordinates import Coordinates
from tgm.structure.scale import Scale
from tgm.transition.sparse import START, START_ACTION

PRIOR = TGMConfig().row_prior


@pytest.fixture(scope="module")
def lived() -> OnlineLearner:
    return two_places()


def test_counts_ends_and_probabilities_by_hand(lived):
    np.testing.assert_allclose(lived.transition_counts[0], [[0, 6], [6, 0]], atol=1e-9)
    np.testing.assert_allclose(lived.transition_counts[1], [[6, 0], [0, 0]], atol=1e-9)
    np.testing.assert_allclose(lived.end_probabilities, [[0, 0], [0.5, 0]], atol=1e-9)
    each = PRIOR / 2
    went_on = np.array([3 + each, each]) / (3 + PRIOR)  # half of six tries ended the episode
    np.testing.assert_allclose(lived.transition_matrix[1], [went_on, [0.5, 0.5]])
    np.testing.assert_allclose(
        lived.transition_matrix[0, 0], [each / (6 + PRIOR), (6 + each) / (6 + PRIOR)]
    )


@pytest.mark.parametrize(("ends", "probability"), [(-1e-9, 0.0), (6.0 + 1e-9, 1.0)])
def test_rounding_makes_no_probability_of_an_end_impossible(ends, probability):
    learner = two_places()
    learner.world.transitions.end_sum[0, 1] = ends
    assert learner.end_probabilities[1, 0] == probability


def test_where_episodes_begin_is_counted(lived):
    assert lived.world.transitions.row(START, START_ACTION) == pytest.approx({0: 6.0})


@pytest.mark.parametrize("belief", [[1.0, 0.0], [0.0, 1.0], [0.3, 0.7]])
def test_the_outlook_is_the_matrix_weighed_by_the_belief(lived, belief):
    next_states, ends, tries = lived.outlook(np.array(belief))
    goes_on = 1.0 - lived.end_probabilities
    expected = np.einsum("s,as,ast->at", belief, goes_on, lived.transition_matrix)
    np.testing.assert_allclose(next_states, expected)
    np.testing.assert_allclose(ends, lived.end_probabilities @ belief)
    np.testing.assert_allclose(next_states.sum(axis=1) + ends, 1.0)
    np.testing.assert_allclose(tries, lived.transition_counts.sum(axis=2) @ belief)


def test_beliefs_are_probabilities_of_the_places(lived):
    found = lived.belief(np.array([HERE, THERE, [2.5, 1.0]]))
    np.testing.assert_allclose(found[:2], np.eye(2), atol=1e-6)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_how_much_is_known(lived):
    assert lived.n_fixed == 0
    assert 2 <= lived.n_kept <= 24
    assert not lived.is_full
    assert lived.feature_use.relevant.all()
    assert not lived.feature_use.is_exact.any()
    assert lived.feature_use.varies
    newborn = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    assert newborn.means.shape == (0, 2)
    assert newborn.action_values(np.zeros((3, 0))).tolist() == [[0, 0]] * 3
    assert newborn.excerpt([], []).removed == []


def test_the_free_energy_is_what_all_observations_were_not_expected():
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    rng = np.random.default_rng(0)
    infos = [learner.begin(HERE)]
    for _ in range(30):
        infos.append(learner.observe(0, 0.0, rng.normal(0, 0.1, 2), terminated=False))
    told = learner.learn((), 3)
    assert told.free_energy == pytest.approx(-sum(info.log_density for info in infos))
    assert told.n_forgotten == 3
    assert told.moves == ()


def test_one_place_is_said_not_to_vary():
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    learner.begin(HERE)
    for _ in range(5):
        learner.observe(0, 0.0, HERE, terminated=False)
    assert not learner.feature_use.varies
    learner.observe(0, 0.0, HERE + 0.01, terminated=False)
    assert len(learner.state_ids) == 1
    assert learner.feature_use.varies


def test_what_is_left_out_does_vary():
    learner = OnlineLearner(1, 2, TGMConfig(bandwidth=0.5))
    relevant = np.array([True, False])
    learner.coordinates = Coordinates(np.zeros(2), relevant, np.zeros(2), np.ones(2))
    learner.begin(np.zeros(2))
    for value in range(5):
        learner.observe(0, 0.0, np.array([0.0, value]), terminated=False)
    assert len(learner.state_ids) == 1
    assert learner.feature_use.varies
    assert learner.feature_use.relevant.tolist() == [True, False]


@pytest.mark.parametrize(("limit", "is_full"), [(None, True), (2, False)])
def test_it_is_full_at_the_bound_that_nobody_asked_for(limit, is_full):
    learner = two_places(max_states=limit)
    assert not learner.is_full
    learner.most_states = 2
    assert learner.is_full == is_full


@pytest.mark.parametrize(("bandwidth", "is_learned"), [("auto", True), (0.5, False)])
def test_a_scale_that_was_not_given_follows_the_scatter_within_states(bandwidth, is_learned):
    config, rng = TGMConfig(bandwidth=bandwidth), np.random.default_rng(0)
    learner = OnlineLearner(2, 2, config, Scale.of_bandwidth(0.5, 2))
    first = learner.world.states.prior_covariance.copy()
    learner.begin(HERE)
    for step in range(1, 400):
        seen = (THERE if step % 2 else HERE) + rng.normal(0, 0.05, 2)
        learner.observe(0, 0.0, seen, terminated=False)
    learned = np.sqrt(np.diag(learner.world.states.prior_covariance))
    if is_learned:
        np.testing.assert_allclose(learned, 0.05, rtol=0.4)
    else:
        np.testing.assert_array_equal(learner.world.states.prior_covariance, first)


@pytest.mark.parametrize("place", [0.8, 0.9, 2.0])
def test_a_belief_after_an_action_is_that_of_the_step_among_known_states(lived, place):
    points, (here, there) = np.repeat([[place, 0.0]], 4, axis=0), lived.state_ids.tolist()
    contexts = [
        None,
        Context(((here, 0.6), (there, 0.4)), 0, tuple(HERE)),
        Context(((here, 0.6), (99, 0.4)), 1, tuple(HERE)),  # one of them is gone
        Context(),
    ]
    found = lived.filtered_beliefs(points, contexts)
    np.testing.assert_allclose(found[0], lived.belief(points)[0])
    origin = lived.coordinates.origin
    for row, before, action, departure in (
        (found[1], [(0, 0.6), (1, 0.4)], 0, HERE - origin),
        (found[2], [(0, 0.6)], 1, HERE - origin),
        (found[3], [], None, None),
    ):
        posterior = lived.filter.posterior(points[0] - origin, before, action, departure)
        after = dict(posterior.after)
        for slot, p in lived.filter.expected(before, action):
            after[slot] = after.get(slot, 0.0) + posterior.outlier * p
        total = sum(after.values())
        if total:
            np.testing.assert_allclose(row, [after.get(k, 0.0) / total for k in (0, 1)])
        else:
            np.testing.assert_allclose(row, found[0])


@pytest.mark.parametrize("action", [0, 1])
def test_after_an_outlier_what_was_expected_is_believed(action):
    """Action 0 leads from here to there and back, action 1 stays: a faulty reading looks alike."""
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    rng = np.random.default_rng(0)
    learner.begin(HERE)
    place = HERE
    for step in range(200):
        done = int(step % 3 == 0)
        place = place if done else (THERE if place is HERE else HERE)
        faulty = 3.0 * rng.normal(size=2) if step % 25 == 24 else 0.0
        learner.observe(done, 0.0, place + faulty + rng.normal(0, 0.05, 2), terminated=False)
    here = int(learner.belief(HERE[None])[0].argmax())
    there = int(learner.belief(THERE[None])[0].argmax())
    names = learner.state_ids.tolist()
    context = Context(((names[here], 1.0),), action, tuple(HERE))
    (found,) = learner.filtered_beliefs(np.array([[4.0, 5.0]]), [context])
    assert found[there if action == 0 else here] > 0.9
    assert found.sum() == pytest.approx(1.0)


def test_before_the_first_observation_nothing_is_believed_or_saved():
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    assert learner.filtered_beliefs(np.zeros((3, 2)), [None] * 3).shape == (3, 0)
    assert learner.to_arrays() == {}
    learner.restore(ArrayReader({}))
    assert learner.coordinates is None
