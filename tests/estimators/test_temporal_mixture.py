"""TemporalMixture as a user meets it."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit

import tgm
from tgm.errors import ConfigError, DataError, NotFittedError

MEANS = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0]])


def walk(rng, n_rows, n_states=4):
    """A hidden Markov model whose states stay, or go on to the next one."""
    states = np.zeros(n_rows, dtype=int)
    for row in range(1, n_rows):
        states[row] = (states[row - 1] + (rng.uniform() < 0.3)) % n_states
    return MEANS[states] + rng.normal(size=(n_rows, 2)), states


def agreement(truth, found):
    """Share of rows for which each found state stands for its most frequent true one."""
    pairs = pd.crosstab(np.asarray(truth), np.asarray(found)).to_numpy()
    return pairs.max(axis=0).sum() / pairs.sum()


@pytest.fixture(scope="module")
def fitted():
    points, states = walk(np.random.default_rng(0), 600)
    return tgm.TemporalMixture(random_state=0).fit(points), points, states


def test_it_finds_states_and_transitions(fitted):
    model, points, states = fitted
    assert model.n_states_ == 4
    assert agreement(states, model.decode(points)) > 0.99
    order = [int(np.linalg.norm(model.means_ - mean, axis=1).argmin()) for mean in MEANS]
    np.testing.assert_allclose(model.means_[order], MEANS, atol=0.3)
    matrix = model.transitions_[np.ix_(order, order)]
    assert matrix.shape == (4, 4)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.diag(matrix), 0.7, atol=0.1)
    assert order[0] == 0  # states are numbered in the order in which the log comes to them
    assert model.weights_.sum() == pytest.approx(1.0)
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["x0", "x1"]


def test_every_seed_gives_the_same_bits(fitted):
    model, points, _ = fitted
    other = tgm.TemporalMixture(random_state=12345).fit(points)
    assert other.means_.tobytes() == model.means_.tobytes()
    assert other.transitions_.tobytes() == model.transitions_.tobytes()


def test_units_do_not_matter(fitted):
    model, points, _ = fitted
    other = tgm.TemporalMixture().fit(points * [1e-6, 1e6] + [1e3, -1e9])
    assert other.n_states_ == 4
    assert (other.decode(points * [1e-6, 1e6] + [1e3, -1e9]) == model.decode(points)).mean() > 0.999


def test_score_and_smooth_are_sums_over_all_paths(fitted):
    model, points, _ = fitted
    rows = points[100:105].copy()
    rows[2, 0] = np.nan
    rows[3] = np.nan
    densities = np.ones((5, 4))
    for row, state in itertools.product(range(5), range(4)):
        seen = ~np.isnan(rows[row])
        if seen.any():
            mean, covariance = model.means_[state], model.covariances_[state]
            part = stats.multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)])
            densities[row, state] = part.pdf(rows[row, seen])
    total, marginals, best = 0.0, np.zeros((5, 4)), (0.0, ())
    for path in itertools.product(range(4), repeat=5):
        weight = model.start_[path[0]] * np.prod([densities[t, s] for t, s in enumerate(path)])
        weight *= np.prod([model.transitions_[a, b] for a, b in itertools.pairwise(path)])
        total += weight
        marginals[range(5), path] += weight
        best = max(best, (weight, path))
    assert model.score(rows) == pytest.approx(np.log(total) / 5, rel=1e-9)
    np.testing.assert_allclose(model.smooth(rows), marginals / total, atol=1e-9)
    assert model.decode(rows).tolist() == list(best[1])


def test_missing_values_cost_little(fitted):
    _, points, states = fitted
    holed = points.copy()
    holed[np.random.default_rng(1).uniform(size=points.shape) < 0.1] = np.nan
    model = tgm.TemporalMixture().fit(holed)
    assert model.n_states_ == 4
    assert agreement(states, model.decode(holed)) > 0.97


def test_what_is_drawn_is_learned_again(fitted):
    model, _, _ = fitted
    points, states = model.sample(500, random_state=3)
    again = tgm.TemporalMixture().fit(points)
    assert again.n_states_ == 4
    assert agreement(states, again.decode(points)) > 0.99
    first, second = (model.sample(5)[0] for _ in range(2))  # the seed of the model
    assert first.tobytes() == second.tobytes()


def test_batches_come_to_what_a_fit_finds(fitted):
    _, points, states = fitted
    online = tgm.TemporalMixture()
    for batch in np.array_split(points, 6):
        online.partial_fit(batch)
    assert online.n_states_ == 4
    assert online.n_rows_ == 600
    assert agreement(states, online.decode(points)) > 0.99


def test_a_batch_with_a_new_state_adds_it(fitted):
    _, points, states = fitted
    model = tgm.TemporalMixture().partial_fit(points[states < 3][:150])
    assert model.n_states_ == 3
    before = model.means_.copy()
    model.partial_fit(points[200:400])
    assert model.n_states_ == 4
    np.testing.assert_allclose(model.means_[:3], before, atol=0.4)


def test_a_batch_may_have_further_actions():
    rng = np.random.default_rng(0)
    model = tgm.TemporalMixture().partial_fit(rng.normal(size=(20, 1)), [0, 2] * 10)
    model.partial_fit(rng.normal(size=(20, 1)), [1, 2] * 10)
    assert model.actions_.tolist() == [0, 1, 2]
    assert model.tries_.sum(axis=1) == pytest.approx([10.0, 10.0, 20.0])
    with pytest.raises(DataError, match="are of another kind"):
        model.partial_fit([[0.0], [1.0]], ["a", "b"])


def test_states_that_look_alike_are_told_apart_by_what_follows():
    """Two of three states have the same density; only the order of time tells."""
    rng = np.random.default_rng(5)
    states = np.tile([0, 1, 2, 2], 200)  # 2 stands for two hidden states: the first and the last
    points = np.array([0.0, 5.0, 10.0])[states][:, None] + 0.3 * rng.normal(size=(800, 1))
    model = tgm.TemporalMixture().fit(points)
    assert model.n_states_ == 4
    assert (np.sort(model.transitions_, axis=1)[:, -1] > 0.95).all()  # nothing is left to chance


def corridor(rng, n_episodes):
    """Five places in a row; "left" and "right"; a reward at the right end."""
    episodes, actions, rewards, ends = [], [], [], []
    for _ in range(n_episodes):
        place, rows, taken, gained, ended = 2, [], [], [], False
        for _ in range(20):
            rows.append([place + 0.1 * rng.normal()])
            taken.append(str(rng.choice(["left", "right"])))
            place = int(np.clip(place + (1 if taken[-1] == "right" else -1), 0, 4))
            ended = place == 4
            gained.append(1.0 if ended else 0.0)
            if ended:
                break
        rows.append([place + 0.1 * rng.normal()])
        episodes.append(np.array(rows))
        actions.append(taken)
        rewards.append(gained)
        ends.append(ended)
    return episodes, actions, rewards, ends


def test_a_world_model_plans():
    episodes, actions, rewards, ends = corridor(np.random.default_rng(6), 40)
    model = tgm.TemporalMixture().fit(episodes, actions, rewards=rewards, terminated=ends)
    assert model.n_states_ == 5
    assert model.actions_.tolist() == ["left", "right"]
    assert model.transitions_.shape == (2, 5, 5)
    order = np.argsort(model.means_[:, 0])
    right = model.transitions_[1][np.ix_(order, order)]
    assert (right.argmax(axis=1)[:4] == [1, 2, 3, 4]).all()
    assert model.end_probabilities_[1, order[3]] == pytest.approx(1.0)
    policy = model.policy(gamma=0.9)
    assert [policy.actions[state] for state in order[:4]] == ["right"] * 4
    np.testing.assert_allclose(policy.values[order[:4]], 0.9 ** np.arange(3, -1, -1), atol=0.02)
    paths = model.decode(episodes, actions)
    assert [len(path) for path in paths] == [len(one) for one in episodes]
    points, _ = model.sample(4, actions=["right", "right", "right"], random_state=0)
    assert points.shape == (4, 1)


def test_interleaved_episodes_come_back_in_their_own_order(fitted):
    model, points, _ = fitted
    ids = np.arange(600) % 2
    apart = [points[::2], points[1::2]]
    mixed = model.decode(points, episode_ids=ids)
    assert mixed[::2].tolist() == model.decode(apart)[0].tolist()
    assert mixed[1::2].tolist() == model.decode(apart)[1].tolist()


def test_awkward_input_is_named():
    model = tgm.TemporalMixture()
    with pytest.raises(NotFittedError, match="call fit first"):
        model.decode([[1.0]])
    for bad, message in [
        ([], "no rows|shape"),
        (np.zeros((3, 2, 2)), r"shape \(3, 2, 2\)"),
        ([[1.0, np.inf]], "row 0 .*column 'x1': inf"),
        ([[1.0], ["a"]], "row 1 .*column 'x0': 'a'"),
        ([[np.nan, 1.0], [np.nan, 2.0]], "column 'x0': all 2 values are missing"),
    ]:
        with pytest.raises(DataError, match=message):
            model.fit(bad)
    with pytest.raises(DataError, match=r"actions.*has 2 rows, and 'observations' has 3"):
        model.fit(np.zeros((3, 1)), actions=[0, 1])
    with pytest.raises(ConfigError, match="max_states is 0"):
        tgm.TemporalMixture(max_states=0).fit([[1.0]])
    model.fit(np.random.default_rng(0).normal(size=(30, 2)))
    with pytest.raises(DataError, match="has 3 features; the model was learned from 2"):
        model.decode(np.zeros((4, 3)))
    with pytest.raises(DataError, match="has actions; the model was learned without"):
        model.decode(np.zeros((2, 2)), actions=[0, 1])
    with pytest.raises(ConfigError, match="needs a log with actions and rewards"):
        model.policy()
    with pytest.raises(ConfigError, match="n_steps is 0"):
        model.sample(0)
    for gamma in (1.0, np.nan, "a", None):
        with pytest.raises(ConfigError, match="gamma is"):
            model.policy(gamma)


def test_features_come_in_the_order_of_the_fit(fitted):
    _, points, _ = fitted
    frame = pd.DataFrame(points, columns=["a", "b"])
    model = tgm.TemporalMixture(4).fit(frame)
    assert model.score(points) == model.score(frame)  # an array has no names
    for other in (frame[["b", "a"]], frame.rename(columns={"a": "c"})):
        with pytest.raises(DataError, match="the model was learned from a, b, in this order"):
            model.decode(other)
    with pytest.raises(DataError, match="episode 1 has the features 'b', 'a', and episode 0"):
        model.decode([frame, frame[["b", "a"]]])
    with pytest.raises(ConfigError, match="leave out actions"):
        tgm.TemporalMixture().fit(tgm.data.from_arrays(points), actions=np.zeros(len(points)))


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((1, 1)),
        np.zeros((50, 3)),
        np.full((20, 1), 1e50),
        np.repeat([[0.0], [1.0]], 20, axis=0),
        np.array([[1.0], [np.nan], [3.0]]),
        np.linspace(0.0, 1.0, 60),
        np.repeat(np.random.default_rng(0).normal(size=(30, 1)), 3, axis=1),
        np.random.default_rng(0).normal(size=(5, 12)),
    ],
)
def test_few_or_odd_rows_are_learned_from(points):
    model = tgm.TemporalMixture(max_states=10).fit(points)
    assert 1 <= model.n_states_ <= 10
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.score(points))
    assert np.isfinite(model.sample(3)[0]).all()


def test_it_is_an_estimator(fitted):
    model, points, _ = fitted
    copy = clone(model)
    assert copy.get_params() == {"max_states": 100, "random_state": 0}
    assert copy.set_params(max_states=2).fit(points[:100]).n_states_ <= 2
    with pytest.raises(ConfigError, match="no setting 'k'"):
        copy.set_params(k=1)
    assert repr(copy) == "TemporalMixture(max_states=2, random_state=0)"
    assert model.predict(points).tolist() == model.decode(points).tolist()
    frame = pd.DataFrame(points, columns=["east", "north"])
    assert copy.fit(frame[:100]).feature_names_in_.tolist() == ["east", "north"]


def test_a_grid_search_of_scikit_learn_chooses_the_states_that_explain_new_rows(fitted):
    _, points, _ = fitted
    search = GridSearchCV(tgm.TemporalMixture(), {"max_states": [1, 6]}, cv=TimeSeriesSplit(2))
    assert search.fit(points[:240]).best_params_ == {"max_states": 6}


@pytest.mark.parametrize("n_features", [1, 4])
def test_noise_is_one_state(n_features):
    for n_rows in (20, 300):
        points = np.random.default_rng(n_rows).normal(size=(n_rows, n_features))
        assert tgm.TemporalMixture().fit(points).n_states_ == 1


def test_a_few_rows_that_alternate_are_two_states():
    model = tgm.TemporalMixture().fit([[0.0], [5.0]] * 10)
    assert model.n_states_ == 2
    assert model.transitions_[0, 1] > 0.9


@pytest.mark.parametrize(
    "more",
    [
        lambda rng, points: np.ones((len(points), 1)),
        lambda rng, points: np.full((len(points), 2), 7.0),
        lambda rng, points: points,
        lambda rng, points: points.sum(axis=1, keepdims=True),
        lambda rng, points: rng.normal(size=(len(points), 2)),
    ],
    ids=["constant", "two constants", "the same again", "a sum", "noise"],
)
def test_columns_that_tell_nothing_hide_no_state(more):
    rng = np.random.default_rng(0)
    states = np.repeat([0, 1, 2, 1], 25).repeat(3)
    points = np.array([[0, 0], [4, 0], [4, 4]])[states] + rng.normal(size=(300, 2))
    points = np.c_[points, more(rng, points)]
    model = tgm.TemporalMixture().fit(points)
    assert model.n_states_ == 3
    assert agreement(states, model.decode(points)) > 0.95
