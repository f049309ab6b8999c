"""The published learner in a world of two places, small enough to count by hand."""

import numpy as np
import pytest

import tgm
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.learners.mean_shift_learner import MeanShiftLearner
from tgm.memory.trajectories import NO_ACTION

LEFT, RIGHT = np.array([0.0, 0.0]), np.array([10.0, 0.0])


def lived(n_rounds: int = 6, **settings) -> MeanShiftLearner:
    """Action 0 leads from left to right, action 1 back: one trial of 2 n_rounds steps."""
    rng = np.random.default_rng(0)
    learner = MeanShiftLearner(2, 2, tgm.TGMConfig.paper(**settings))
    learner.begin(LEFT + 0.1 * rng.normal(size=2))
    for _ in range(n_rounds):
        learner.observe(0, -1.0, RIGHT + 0.1 * rng.normal(size=2), terminated=False)
        learner.observe(1, -1.0, LEFT + 0.1 * rng.normal(size=2), terminated=False)
    return learner


@pytest.fixture(scope="module")
def known() -> MeanShiftLearner:
    learner = lived(forget=False)
    learner.learn((), 0)
    return learner


def sides(learner: MeanShiftLearner) -> tuple[int, int]:
    """The places of left and right among the states."""
    left = int(learner.means[:, 0].argmin())
    return left, 1 - left


def test_two_places_are_two_states(known):
    left, right = sides(known)
    assert known.state_ids.tolist() == [0, 1]
    np.testing.assert_allclose(known.means[[left, right]], [LEFT, RIGHT], atol=0.5)
    assert known.covariances.shape == (2, 2, 2)
    assert (np.linalg.eigvalsh(known.covariances) > 0).all()
    assert (known.n_kept, known.n_fixed, known.is_full) == (13, 0, False)
    assert known.active is known


def test_beliefs_are_of_each_observation_alone(known):
    left, right = sides(known)
    belief = known.belief(np.array([LEFT, RIGHT]))
    np.testing.assert_allclose(belief[[0, 1], [left, right]], 1.0, atol=1e-6)
    np.testing.assert_allclose(belief.sum(axis=1), 1.0)
    filtered = known.filtered_beliefs(np.array([LEFT, RIGHT]), [None, None])
    np.testing.assert_array_equal(filtered, belief)
    assert known.placed(LEFT[None], [None]) is None
    assert known.forecast(LEFT[None]) is None


def test_steps_are_counted_from_place_to_place(known):
    left, right = sides(known)
    counts = known.transition_counts
    assert counts.shape == (2, 2, 2)
    assert counts[0, left, right] == pytest.approx(6.0, abs=1e-3)
    assert counts[1, right, left] == pytest.approx(6.0, abs=1e-3)
    assert counts.sum() == pytest.approx(12.0, abs=1e-3)
    np.testing.assert_array_equal(known.end_probabilities, np.zeros((2, 2)))
    belief = np.zeros(2)
    belief[left] = 1.0
    after, end, tries = known.outlook(belief)
    np.testing.assert_allclose(after, known.transition_matrix[:, left])
    np.testing.assert_array_equal(end, np.zeros(2))
    np.testing.assert_allclose(tries, [6.0, 0.0], atol=1e-3)


def test_values_are_weighed_by_the_belief(known):
    known.planner.q = np.array([[1.0, 2.0], [30.0, 40.0]])  # by action and state
    np.testing.assert_allclose(known.action_values(np.array([0.25, 0.75])), [1.75, 37.5])
    beliefs = np.array([[1.0, 0.0], [0.5, 0.5]])
    np.testing.assert_allclose(known.values_of(np.zeros((2, 2)), beliefs), [[1, 30], [1.5, 35]])


def test_the_report_has_the_terms_of_the_free_energy():
    learner = lived(forget=False)
    info = learner.learn((), 0)
    assert info.n_forgotten == 0
    assert info.free_energy == pytest.approx(info.free_energy_path[-1])
    signs = {name: 1 if name.startswith("log_q_") else -1 for name in info.free_energy_terms}
    total = sum(signs[name] * value for name, value in info.free_energy_terms.items())
    assert total == pytest.approx(info.free_energy)
    assert sorted(move.kind for move in info.moves) == ["birth", "birth"]
    snapshot = learner.snapshot()
    assert -snapshot.log_evidence.sum() == pytest.approx(info.free_energy)


def test_a_snapshot_has_all_that_is_known(known):
    left, right = sides(known)
    snapshot = known.snapshot()
    columns = np.reshape(snapshot.known.components, (2, 9))
    assert columns[:, 0].tolist() == [0.0, 1.0]
    assert columns[left, 1] > columns[right, 1] > 6.0  # seven points and six, and the prior
    assert columns[:, 2].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(columns[:, 3:5], known.means)
    np.testing.assert_allclose(columns[:, 5:].reshape(2, 2, 2), known.covariances)
    rows = np.reshape(snapshot.known.rows, (-1, 6))
    # State, action, tries, no reward, no end, one next state.
    wanted = [[left, 0, 6, 0, 0, 1], [right, 1, 6, 0, 0, 1]]
    np.testing.assert_allclose(rows, wanted, atol=1e-3)
    following = np.reshape(snapshot.known.next_states, (-1, 2))
    np.testing.assert_allclose(following, [[right, 6], [left, 6]], atol=1e-3)
    np.testing.assert_array_equal(snapshot.q, known.planner.q.T)
    np.testing.assert_array_equal(snapshot.kept_points, known.memory.points)
    assert snapshot.kept_states.tolist() == [left, right] * 6 + [left]
    assert snapshot.prior_mean.shape == (2, 2)
    assert snapshot.prior_covariance.shape == (2, 2, 2)


@pytest.mark.parametrize(("count", "is_recorded"), [(0.9e-4, False), (1.1e-4, True)])
def test_counts_of_less_than_a_ten_thousandth_are_not_recorded(count, is_recorded):
    learner = lived(forget=False)
    learner.learn((), 0)
    counts = np.zeros((2, 2, 2))
    counts[0, 0, 0], counts[1, 1] = count, [3.0, count]
    learner.transitions.keep(counts)
    known = learner.snapshot().known
    rows = np.reshape(known.rows, (-1, 6))[:, :2].tolist()
    assert rows == [[0.0, 0.0]] * is_recorded + [[1.0, 1.0]]
    assert len(known.next_states) == 2 * (3 if is_recorded else 1)


def test_before_the_first_search_a_snapshot_has_points_alone():
    snapshot = lived().snapshot()
    assert snapshot.kept_points.shape == (13, 2)
    assert snapshot.kept_states.tolist() == [-1] * 13
    assert snapshot.q.shape == (0, 2)
    assert snapshot.known.components == []
    assert lived().belief(LEFT[None]).shape == (1, 0)
    assert lived().means.shape == (0, 2)
    assert lived().covariances.shape == (0, 2, 2)


def test_settled_points_are_forgotten_and_still_counted():
    learner = lived(fix_after=1)
    assert learner.learn((), 0).n_forgotten == learner.n_fixed == 0
    info = learner.learn((), 0)
    assert learner.n_fixed == 2
    assert sorted(move.kind for move in info.moves) == ["fixed", "fixed"]
    # The newest point waits for the step that leaves it, and so does the step that led there.
    assert info.n_forgotten == 12
    assert learner.memory.points.shape == (1, 2)
    assert learner.transition_counts.sum() == pytest.approx(12.0)
    assert learner.transitions.kept_evidence.sum() == pytest.approx(0.0)
    learner.observe(0, -1.0, RIGHT, terminated=False)
    assert learner.n_kept == 2
    learner.learn((), 0)
    assert learner.transition_counts.sum() == pytest.approx(13.0)


def test_a_value_is_learned_where_the_step_began():
    learner = lived(forget=False)
    learner.learn((), 0)
    left, right = sides(learner)
    learner.planner.q = np.zeros((2, 2))
    learner.observe(0, 100.0, RIGHT, terminated=True)
    q = learner.planner.q
    assert q[0, left] > 0.0
    assert q[0, right] == pytest.approx(0.0, abs=1e-6)
    assert not q[1].any()
    assert q[0, left] == pytest.approx(100.0 * tgm.TGMConfig.paper().learning_rate, rel=1e-6)


def test_what_is_restored_is_the_same(known):
    copy = MeanShiftLearner(2, 2, tgm.TGMConfig.paper(forget=False))
    copy.restore(ArrayReader(known.to_arrays()))
    ours, theirs = known.to_arrays(), copy.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(theirs[name], array, err_msg=name)
    np.testing.assert_array_equal(copy.transition_matrix, known.transition_matrix)
    np.testing.assert_array_equal(copy.belief(RIGHT[None]), known.belief(RIGHT[None]))
    empty = MeanShiftLearner(2, 2, tgm.TGMConfig.paper())
    empty.restore(ArrayReader(lived().to_arrays()))
    assert empty.components is None
    assert empty.n_kept == 13


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("memory.points", lambda array: array[:, :1]),
        ("memory.actions", lambda array: array + 2),
        ("memory.actions", lambda array: array - 1),
        ("ids", lambda array: np.zeros_like(array)),
        ("ids", lambda array: array + 1),
        ("persistence", lambda array: array[:1]),
        ("is_fixed", lambda array: array[:1]),
        ("transition.folded", lambda array: array[:1]),
        ("transition.kept", lambda array: array[:, :1]),
        ("q", lambda array: array[:1]),
        ("energy", lambda array: np.nan * array),
    ],
)
def test_files_are_checked(known, name, change):
    arrays = known.to_arrays()
    assert arrays["memory.actions"][-1] == NO_ACTION
    arrays[name] = change(arrays[name].copy())
    copy = MeanShiftLearner(2, 2, tgm.TGMConfig.paper())
    with pytest.raises(DataError, match=name):
        copy.restore(ArrayReader(arrays))


def test_a_greedy_learner_chooses_what_is_worth_most(known):
    learner = lived(forget=False, exploration="greedy")
    learner.learn((), 0)
    left, right = sides(learner)
    learner.planner.q = np.zeros((2, 2))
    learner.planner.q[0, left] = learner.planner.q[1, right] = 5.0
    rng = np.random.default_rng(0)
    for place, action in ((LEFT, 0), (RIGHT, 1)):
        info = learner.begin(place)
        assert info.state == (left if action == 0 else right)
        assert info.changed_all
        assert learner.choose(0, rng) == action
    with pytest.raises(NotImplementedError):
        learner.excerpt([], [])


def test_wide_observations_are_recorded_by_their_names():
    rng = np.random.default_rng(0)
    learner = MeanShiftLearner(65, 1, tgm.TGMConfig.paper(forget=False, bandwidth=50.0))
    learner.begin(rng.normal(size=65))
    for _ in range(5):
        learner.observe(0, 0.0, rng.normal(size=65), terminated=False)
    learner.learn((), 0)
    found = learner.snapshot()
    columns = np.reshape(found.known.components, (-1, 5))
    np.testing.assert_array_equal(columns[:, 3], columns[:, 0])
    np.testing.assert_array_equal(columns[:, 4], 0.0)
    np.testing.assert_array_equal(found.prior_mean, columns[:, :1])
    assert found.prior_covariance.shape == (len(columns), 1, 1)
    np.testing.assert_array_equal(found.kept_points[:, 0], found.kept_states)
