"""What is recorded of a learner: all of it, a part, and nothing before the first observation."""

import gymnasium as gym
import numpy as np
import pytest
from tests.learners.worlds import two_places
from tests.oracles import polya_urn_log_probability

import tgm
from tgm.config import TGMConfig
from tgm.learners.mean_shift_learner import MeanShiftLearner
from tgm.learners.online import OnlineLearner
from tgm.learners.snapshot import MOST_RECORDED, Snapshot, is_recorded, recorded_features
from tgm.learners.world_tables import excerpt
from tgm.perception.coordinates import Coordinates
from tgm.perception.observation_model import StateId


@pytest.fixture(scope="module")
def lived() -> tgm.TGMAgent:
    config = tgm.TGMConfig(bandwidth=0.5)
    return tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), config, seed=0).learn(400)


def rows_of(changes) -> dict[tuple[int, int], tuple[list[float], dict[int, float]]]:
    """(state id, action) -> (tries, mean reward, probability of an end), tries of next states."""
    entries = iter(np.array(changes.next_states).reshape(-1, 2).tolist())
    found = {}
    for state, action, *numbers, n in np.array(changes.rows).reshape(-1, 6).tolist():
        reached = [next(entries) for _ in range(int(n))]
        found[int(state), int(action)] = numbers, {int(after): count for after, count in reached}
    assert next(entries, None) is None
    return found


def test_all_states_and_rows_are_told(lived):
    found, learner = lived.learner.snapshot(), lived.learner
    n = len(lived.state_ids)
    table = np.array(found.known.components).reshape(n, 3 + 2 + 4)
    assert table[:, 0].tolist() == learner.state_ids.tolist()
    np.testing.assert_allclose(table[:, 3:5], learner.means)
    np.testing.assert_allclose(table[:, 5:].reshape(n, 2, 2), learner.covariances)
    assert not table[:, 2].any()  # none is fixed
    rows, counts = rows_of(found.known), learner.transition_counts
    place = {name: index for index, name in enumerate(learner.state_ids.tolist())}
    told = np.zeros_like(counts)
    for (state, action), (numbers, row) in rows.items():
        assert numbers[0] == pytest.approx(sum(row.values()))
        for after, count in row.items():
            told[action, place[state], place[after]] = count
    np.testing.assert_allclose(told, counts)
    np.testing.assert_array_equal(found.q, learner.greedy_values())
    np.testing.assert_array_equal(found.prior_mean, learner.means)
    np.testing.assert_array_equal(found.prior_covariance[0], found.prior_covariance[-1])
    assert len(found.kept_points) == len(found.kept_states) == learner.n_kept
    near = ((learner.means[:, None] - found.kept_points) ** 2).sum(axis=-1).argmin(axis=0)
    assert (learner.state_ids[near] == found.kept_states).mean() > 0.95


@pytest.fixture(scope="module")
def toy() -> OnlineLearner:
    return two_places()


def test_rewards_and_ends_are_means_over_the_tries(toy):
    rows = rows_of(toy.snapshot().known)
    by_hand = {
        (0, 0): ([6.0, 1.0, 0.0], {1: 6.0}),
        (0, 1): ([6.0, 2.0, 0.5], {0: 6.0}),
        (1, 0): ([6.0, 2.0, 0.0], {0: 6.0}),
    }
    assert rows.keys() == by_hand.keys()
    for key, (numbers, counts) in by_hand.items():
        assert rows[key][0] == pytest.approx(numbers)
        assert rows[key][1] == pytest.approx(counts)


def test_the_free_energy_is_that_of_an_urn_for_each_row(toy):
    found, prior = toy.snapshot(), TGMConfig().row_prior
    # Of a base worth `prior` tries a third stays; the rest goes to the places there are.
    each = prior * 2 / 3 / 2  # there are two states
    expected = polya_urn_log_probability([0] * 6, np.array([prior / 3, prior * 2 / 3]))
    expected += 2 * polya_urn_log_probability([0] * 6, np.array([each, prior - each]))
    assert found.free_energy_terms["transitions"] == pytest.approx(-expected)
    assert found.free_energy_terms["observations"] == pytest.approx(-found.log_evidence.sum())


def test_an_excerpt_is_a_part_of_it(lived):
    whole = lived.learner.snapshot().known
    ids = lived.state_ids.tolist()
    table = np.array(whole.components).reshape(len(ids), -1)
    (state, action), row = sorted(rows_of(whole).items())[3]
    gone = max(ids) + 7
    part = lived.learner.excerpt([ids[2], gone, ids[0]], [(state, action), (gone, 0)])
    np.testing.assert_array_equal(np.array(part.components).reshape(2, -1), table[[0, 2]])
    assert rows_of(part) == {(state, action): row}
    assert part.removed == [gone]


def test_a_row_that_was_never_tried_is_told_as_nothing(toy):
    (there,) = toy.state_ids[1:].tolist()
    assert rows_of(toy.excerpt([], [(there, 1)])) == {(there, 1): ([0.0, 0.0, 0.0], {})}


@pytest.mark.parametrize("n_features", [3, MOST_RECORDED, MOST_RECORDED + 1])
def test_before_the_first_observation_there_is_nothing(n_features):
    width = n_features if n_features <= MOST_RECORDED else 1
    paper = MeanShiftLearner(n_features, 2, TGMConfig.paper())
    for learner in (OnlineLearner(n_features, 2, TGMConfig(bandwidth=0.5)), paper):
        found = learner.snapshot()
        assert found.q.shape == (0, 2)
        assert found.prior_mean.shape == found.kept_points.shape == (0, width)
        assert found.prior_covariance.shape == (0, width, width)
        assert found.log_evidence.shape == found.kept_states.shape == (0,)
        assert [len(part) for part in found.known] == [0, 0, 0, 0]


def test_points_without_a_state_are_told():
    points = np.arange(6.0).reshape(2, 3)
    found = Snapshot.empty(3, 4, points)
    assert found.kept_points is points
    assert found.kept_states.tolist() == [-1, -1]
    wide = Snapshot.empty(MOST_RECORDED + 1, 4, np.zeros((2, MOST_RECORDED + 1)))
    assert wide.kept_points.tolist() == [[-1], [-1]]  # ids in the place of observations


def test_up_to_64_features_are_recorded_as_they_are():
    assert [recorded_features(n) for n in (1, 64, 65, 5000)] == [1, 64, 1, 1]
    assert is_recorded(64)
    assert not is_recorded(65)


def test_features_that_were_left_out_look_the_same_everywhere():
    learner = two_places()
    world = learner.world
    relevant = np.array([True, False, True])
    coordinates = Coordinates(
        np.array([5.0, 6.0, 7.0]), relevant, np.array([0.0, 60.0, 0.0]), np.array([0.0, 9.0, 0.0])
    )
    found = excerpt(world, coordinates, [StateId(0)], [])
    (row,) = np.reshape(found.components, (-1, 3 + 3 + 9)).tolist()
    means = coordinates.observations(world.states.mean[:1])[0].tolist()
    covariance = coordinates.covariances(world.states.covariances(np.array([0])))[0]
    assert row[:3] == [0.0, world.states.weight[0], 0.0]
    assert row[3:6] == pytest.approx(means)
    assert row[6:] == pytest.approx(covariance.ravel().tolist())


def test_states_of_wide_observations_are_recorded_by_their_names():
    world = two_places().world
    found = excerpt(world, Coordinates.about(np.zeros(65)), [StateId(0), StateId(1)], [])
    weights = world.states.weight[:2].tolist()
    rows = np.reshape(found.components, (-1, 5)).tolist()
    assert rows == [[0.0, weights[0], 0.0, 0.0, 0.0], [1.0, weights[1], 0.0, 1.0, 0.0]]
