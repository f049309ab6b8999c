"""What a plan in a world that flows answers: states, rows and beliefs of a point that is pushed."""

import numpy as np
import pytest
from tests.learners.test_flow import drifting

from tgm.distributions.kalman import Gaussians
from tgm.learners.flow import FlowLearner
from tgm.learners.learner import Context

N_STEPS = 120


@pytest.fixture(scope="module")
def learner() -> FlowLearner:
    found = FlowLearner(1, 2, 0.9, next_id=40)
    events = drifting(N_STEPS)
    found.recall(events)
    return found


def test_before_the_first_plan_nothing_is_known():
    learner = FlowLearner(2, 3, 0.9)
    assert learner.state_ids.tolist() == []
    assert learner.means.shape == (0, 2)
    assert learner.covariances.shape == (0, 2, 2)
    assert learner.transition_matrix.shape == learner.transition_counts.shape == (3, 0, 0)
    assert learner.end_probabilities.shape == (3, 0)
    assert learner.belief(np.zeros((4, 2))).shape == (4, 0)
    assert learner.action_values(np.zeros((4, 0))).tolist() == [[0.0] * 3] * 4
    assert learner.values_of(np.zeros((4, 2)), np.zeros((4, 0))).tolist() == [[0.0] * 3] * 4
    assert learner.greedy_values().shape == (0, 3)
    assert learner.forecast(np.zeros((1, 2))) is None
    assert len(learner.snapshot().known.components) == 0
    changes = learner.excerpt([3], [(3, 0)])
    assert (list(changes.components), list(changes.rows), changes.removed) == ([], [], [3])
    assert (learner.n_kept, learner.n_fixed, learner.is_full) == (0, 0, False)


def test_states_are_support_points_with_new_ids(learner):
    n = len(learner.best.support.points)
    assert learner.state_ids.tolist() == list(range(40, 40 + n))
    assert learner.next_id == 40 + n
    np.testing.assert_allclose(
        learner.means, learner.best.units.observations(learner.best.support.points)
    )
    width = 0.5 * learner.best.support.spacing * learner.best.units.axes.item()
    np.testing.assert_allclose(learner.covariances.ravel(), width**2)
    assert learner.n_kept == N_STEPS


def test_no_feature_is_exact_and_no_state_a_place(learner):
    use = learner.feature_use
    assert use.relevant.tolist() == [True]
    assert use.is_exact.tolist() == [False]
    assert not use.are_places


def test_a_belief_is_an_average_that_has_the_observation_as_its_mean(learner):
    points = np.array([[-0.1], [0.05], [0.2]])
    belief = learner.belief(points)
    np.testing.assert_allclose(belief.sum(axis=1), 1.0)
    np.testing.assert_allclose(belief @ learner.means, points, atol=0.02)
    np.testing.assert_array_equal(learner.filtered_beliefs(points, [None] * 3), belief)


def test_rows_lead_where_holding_an_action_leads(learner):
    matrix, n = learner.transition_matrix, len(learner.state_ids)
    np.testing.assert_allclose(matrix.sum(axis=2), 1.0)
    reached = matrix @ learner.means[:, 0]
    arrival = learner.best.support.box.clip(learner.best.support.reach.arrival)
    arrival = learner.best.units.observations(arrival).reshape(2, n)
    inside = (arrival > learner.means.min()) & (arrival < learner.means.max())
    np.testing.assert_allclose(reached[inside], arrival[inside], atol=0.02)
    assert (reached[1] >= reached[0]).all()  # action 1 pushes up


def test_counts_are_the_kept_steps_from_each_state_and_one_at_least(learner):
    tries = learner.transition_counts.sum(axis=2)
    steps = learner.memory.steps()
    nearest = np.abs(steps.departure - learner.means[:, 0]).argmin(axis=1)
    counts = np.zeros_like(tries)
    np.add.at(counts, (steps.action, nearest), 1.0)
    np.testing.assert_allclose(tries, np.maximum(counts, 1.0))


def test_an_outlook_is_where_a_belief_leads_and_how_often_each_action_was_taken(learner):
    belief = learner.belief(np.array([[0.1]]))[0]
    next_states, ends, tries = learner.outlook(belief)
    np.testing.assert_allclose(next_states, belief @ learner.transition_matrix)
    assert ends.tolist() == [0.0, 0.0]
    taken = np.bincount(learner.memory.steps().action, minlength=2)
    assert tries.tolist() == taken.tolist()
    assert tries.sum() == N_STEPS


def test_values_of_a_point_are_those_of_where_it_leads(learner):
    points = learner.means[:3]
    greedy = learner.greedy_values()
    np.testing.assert_allclose(learner.values_of(points, learner.belief(points)), greedy[:3])
    belief = np.eye(len(greedy))[:2]
    np.testing.assert_allclose(learner.action_values(belief), greedy[:2])


def test_a_snapshot_lists_all_states_and_rows(learner):
    snapshot, n = learner.snapshot(), len(learner.state_ids)
    table = np.array(snapshot.known.components).reshape(n, 3 + 1 + 1)
    assert table[:, 0].tolist() == learner.state_ids.tolist()
    n_visited = learner.best.support.n_visited
    assert (table[:n_visited, 1] >= 1.0).all()
    assert table[:, 1].sum() >= N_STEPS
    np.testing.assert_allclose(table[:, 3:4], learner.means)
    rows = np.array(snapshot.known.rows).reshape(-1, 6)
    assert len(rows) == 2 * n
    assert set(map(tuple, rows[:, :2].tolist())) == {
        (name, action) for name in learner.state_ids.tolist() for action in (0, 1)
    }
    np.testing.assert_allclose(rows[:, 3], -1.0, atol=1e-6)  # each step costs one
    np.testing.assert_allclose(rows[:, 4], 0.0)
    following = np.array(snapshot.known.next_states).reshape(-1, 2)
    assert len(following) == rows[:, 5].sum()
    ends = np.cumsum(rows[:, 5]).astype(int)
    for row, first, last in zip(rows, [0, *ends[:-1]], ends, strict=True):
        weights = following[first:last, 1]
        assert weights.sum() == pytest.approx(row[2])
        assert (weights >= 0.05 * row[2] - 1e-9).all()  # smaller ones are left out
    assert len(snapshot.kept_points) == len(snapshot.kept_states) == N_STEPS


def test_an_excerpt_has_some_states_and_rows_and_names_those_that_are_gone(learner):
    changes = learner.excerpt([41, 40, 3, 10**6], [(41, 1), (3, 0), (10**6, 1)])
    table = np.array(changes.components).reshape(-1, 5)
    assert table[:, 0].tolist() == [40.0, 41.0]
    assert np.array(changes.rows).reshape(-1, 6)[:, :2].tolist() == [[41.0, 1.0]]
    assert changes.removed == [3, 10**6]
    assert len(learner.excerpt([], []).rows) == 0


def test_a_forecast_is_made_again_when_the_plan_or_the_steps_are_others(learner):
    points = np.array([[0.05], [0.1]])
    first = learner.forecast(points)
    assert first.expected.shape == (2, 2, 1)
    local = learner.best.units.local(points)
    for action in (0, 1):
        arrival = learner.best.model.advance(local, np.full(2, action))[0]
        np.testing.assert_allclose(
            first.expected[:, action], learner.best.units.observations(arrival)
        )
    made = learner._forecaster
    learner.forecast(points)
    assert learner._forecaster is made
    learner._forecast_from = 0
    learner.forecast(points)
    assert learner._forecaster is not made


class Doubling:
    """A filter whose belief after a step is twice the belief before, and the action as width."""

    def begin(self, observations):
        return Gaussians(observations, np.ones((len(observations), 1, 1)))

    def step(self, before, actions, observations):
        width = before.covariance + actions[:, None, None]
        return Gaussians(2.0 * before.mean + observations, width), np.zeros(len(actions))


def test_observations_are_placed_by_what_came_before(learner, monkeypatch):
    assert learner.placed(np.array([[1.0]]), [None]) is None  # there is no noise
    monkeypatch.setattr(learner, "filter", Doubling())
    observations = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    contexts = [
        None,
        Context((), 7, (10.0,), (5.0,)),
        Context((), None, (10.0,)),
        Context((), 8, (20.0,)),
        Context((), 8, None),
    ]
    mean, covariance = learner.placed(observations, contexts)
    assert mean.ravel().tolist() == [1.0, 2.0 + 20.0, 3.0, 4.0 + 40.0, 5.0]
    assert covariance.ravel().tolist() == [1.0, 5.0 + 7.0, 1.0, 1.0 + 8.0, 1.0]
    mean, _ = learner.placed(observations[:1], [None])
    assert mean.tolist() == [[1.0]]
