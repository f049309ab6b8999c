"""Learning from codes: what goes in and comes out is in the features of the observations."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.learners.coded import CodedLearner
from tgm.learners.learner import Context
from tgm.learners.limits import most_symbols


def lived(is_exact: list[bool], config: TGMConfig | None = None, n: int = 60) -> CodedLearner:
    """Three rooms in turn; the second feature is 2 in the middle one, the third is noise."""
    rng = np.random.default_rng(0)
    learner = CodedLearner(np.array(is_exact), 2, config or TGMConfig())
    for step in range(n):
        room = step % 3
        noise = 0.0 if all(is_exact) else rng.normal(0, 0.1)
        seen = np.array([room + 10.0, 2.0 * (room == 1), noise])
        if step == 0:
            learner.begin(seen)
        else:
            learner.observe(1, -1.0, seen, terminated=False)
    return learner


@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
@pytest.mark.parametrize("is_exact", [[True] * 3, [True, True, False]])
def test_states_look_as_they_were_seen(is_exact, bandwidth):
    learner = lived(is_exact, TGMConfig(bandwidth=bandwidth))
    assert sorted(map(tuple, learner.means[:, :2].tolist())) == [(10, 0), (11, 2), (12, 0)]
    assert learner.covariances.shape == (3, 3, 3)
    assert not learner.covariances[:, :2].any()
    assert (learner.covariances[:, 2, 2] > 0).all() == (not all(is_exact))
    belief = learner.belief(np.array([[11.0, 2.0, 0.0], [11.0, 0.0, 0.0]]))
    assert belief.shape == (2, 3)
    assert belief[0].max() == pytest.approx(1.0)
    assert belief[1] == pytest.approx([1 / 3] * 3)  # never seen: any state
    before = Context(((int(learner.state_ids[0]), 1.0),), 1, (10.0, 0.0, 0.0))
    after = learner.filtered_beliefs(np.array([[11.0, 2.0, 0.0]]), [before])
    assert learner.means[after[0].argmax(), 0] == 11.0


@pytest.mark.parametrize("is_exact", [[True] * 3, [True, True, False]])
def test_what_is_known_of_the_rooms(is_exact):
    learner = lived(is_exact, TGMConfig(bandwidth=0.5))
    rooms = learner.means[:, 0].tolist()
    next_room = {10.0: 11.0, 11.0: 12.0, 12.0: 10.0}
    for index, room in enumerate(rooms):
        after = rooms.index(next_room[room])
        assert learner.transition_counts[1, index].argmax() == after
        assert learner.transition_matrix[1, index, after] > 0.8
        assert learner.transition_matrix[0, index] == pytest.approx([1 / 3] * 3)  # untried
        going_on, ends, tries = learner.outlook(np.eye(3)[index])
        assert going_on[1] == pytest.approx(learner.transition_matrix[1, index])
        assert ends.tolist() == [0, 0]
        assert tries[0] == 0
        assert 18 < tries[1] < 21
    assert learner.transition_counts.sum() == pytest.approx(59, abs=0.5)
    assert not learner.end_probabilities.any()
    assert learner.end_probabilities.shape == (2, 3)
    values = learner.greedy_values()
    assert values[:, 1] == pytest.approx([values[0, 1]] * 3, rel=0.02)  # -1 for ever
    assert (values[:, 0] < values[:, 1]).all()
    assert learner.action_values(np.eye(3)) == pytest.approx(values, rel=1e-6)
    assert learner.planner.worst_reward == -1.0


@pytest.mark.parametrize("is_exact", [[True] * 3, [True, True, False]])
def test_how_much_is_known(is_exact):
    learner = lived(is_exact)
    assert learner.n_features == 3
    assert 3 <= learner.n_kept <= 60
    assert learner.n_fixed == 0
    assert learner.is_full is False
    use = learner.feature_use
    assert use.is_exact.tolist() == is_exact
    assert use.relevant[:2].all()
    assert use.varies
    assert learner.learn((), 7).n_forgotten == 7
    assert len(learner.world.states.alive) == len(learner.state_ids) == 3


def test_a_number_that_says_nothing_is_not_relevant():
    rng, learner = (
        np.random.default_rng(1),
        CodedLearner(np.array([True, False, False]), 2, TGMConfig()),
    )
    for step in range(200):
        left = (step // 2) % 2  # the second feature has two values, the third is noise only
        seen = np.array([step % 2, 5.0 * left + rng.normal(0, 0.1), rng.normal(0, 0.1)])
        if step == 0:
            learner.begin(seen)
        else:
            learner.observe(0, 0.0, seen, terminated=False)
    assert learner.feature_use.relevant.tolist() == [True, True, False]
    assert learner.means.shape == (4, 3)


def test_where_an_episode_ended_no_symbol_is_kept():
    learner = lived([True] * 3)
    learner.observe(0, 1.0, np.array([99.0, 0.0, 0.0]), terminated=True)
    assert len(learner.book) == 3
    learner.begin(np.array([10.0, 0.0, 0.0]))
    assert len(learner.state_ids) == 3


def test_no_more_symbols_than_may_be():
    config = TGMConfig(max_states=2)
    learner = lived([True] * 3, config)
    assert len(learner.state_ids) == len(learner.book) == 2
    assert most_symbols(1) == 100_000
    assert most_symbols(5000) * 5000 <= 500_000_000


@pytest.mark.parametrize("is_exact", [[True] * 3, [True, True, False]])
def test_records_are_in_the_features_of_the_observations(is_exact):
    learner = lived(is_exact)
    snapshot = learner.snapshot()
    table = np.array(snapshot.known.components).reshape(3, 3 + 3 + 9)
    np.testing.assert_array_equal(table[:, 3:6], learner.means)
    np.testing.assert_allclose(table[:, 6:].reshape(3, 3, 3), learner.covariances)
    assert snapshot.prior_mean.shape == (3, 3)
    assert snapshot.prior_covariance.shape == (3, 3, 3)
    assert set(snapshot.kept_points[:, 0].tolist()) == {10.0, 11.0, 12.0}
    one = learner.excerpt([learner.state_ids[1]], [])
    np.testing.assert_array_equal(np.array(one.components), table[1])
    assert len(learner.excerpt([], []).components) == 0


def test_of_wide_observations_the_id_is_recorded():
    learner = CodedLearner(np.ones(3000, dtype=bool), 2, TGMConfig())
    learner.begin(np.eye(3000)[5])
    learner.observe(0, 0.0, np.eye(3000)[7], terminated=False)
    snapshot = learner.snapshot()
    assert np.array(snapshot.known.components).reshape(2, 5).tolist() == [
        [0, 1, 0, 0, 0], [1, 1, 0, 1, 0],
    ]  # fmt: skip
    assert snapshot.prior_mean.tolist() == [[0], [1]]
    assert snapshot.kept_points.tolist() == [[0], [1]]
    assert learner.means.shape == (2, 3000)


@pytest.mark.parametrize(("n_amounts", "n_numbers"), [(63, 64 + 64**2), (64, 2)])
def test_an_excerpt_is_as_wide_as_the_snapshot(n_amounts, n_numbers):
    config = TGMConfig(bandwidth=0.5)
    learner = CodedLearner(np.array([True] + [False] * n_amounts), 2, config)
    learner.begin(np.array([3.0] + [0.25] * n_amounts))
    (state,) = learner.state_ids
    whole, some = learner.snapshot().known.components, learner.excerpt([state], []).components
    assert len(whole) == 3 + n_numbers
    np.testing.assert_array_equal(some, whole)


def test_a_book_that_does_not_fit_is_refused():
    arrays = lived([True] * 3).to_arrays()
    arrays["world.component.symbol"] = arrays["world.component.symbol"] + 1.0
    with pytest.raises(DataError, match="not in the book"):
        CodedLearner(np.ones(3, dtype=bool), 2, TGMConfig()).restore(ArrayReader(arrays))
