"""A learner of clones: names, reports, when it gives up, and the answers from a small world."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.learners.test_clone_life import cued_life, seen

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.learners import clones as clones_module
from tgm.learners.clone_habits import Habits
from tgm.learners.clone_life import CloneLife
from tgm.learners.clones import CloneLearner
from tgm.learners.learner import Context
from tgm.learners.snapshot import Changes, Snapshot
from tgm.learners.step_info import StepInfo
from tgm.memory.symbol_history import SymbolHistory
from tgm.perception.observation_model import NO_STATE
from tgm.transition.automaton import Outcome


class Inner:
    """An ordinary learner of three symbols 0, 1 and 2: what is seen is the symbol."""

    def __init__(self) -> None:
        self.world = SimpleNamespace(states=SimpleNamespace(next_id=3))
        self.state_ids = np.arange(3)
        self.means = np.array([[0.0], [1.0], [2.0]])
        self.covariances = np.array([[[0.1]], [[0.2]], [[0.3]]])
        self.info = StepInfo()

    def belief(self, observations):
        return np.eye(3)[observations[:, 0].astype(int)]

    def begin(self, observation):
        return StepInfo(int(observation[0]))

    def observe(self, action, reward, observation, *, terminated):
        return StepInfo(int(observation[0]), -2.5, n_evicted=4, moves=self.info.moves,
                        changed_all=self.info.changed_all)  # fmt: skip

    def to_arrays(self):
        return {}


@pytest.fixture
def learner() -> CloneLearner:
    found = CloneLearner(Inner(), cued_life())
    found.take_over(StepInfo())
    return found


def look(symbol: int) -> np.ndarray:
    return np.array([float(symbol)])


# --- names ----------------------------------------------------------------------------------------


def test_each_clone_has_a_name_that_no_state_had(learner):
    ids = learner.state_ids.tolist()
    assert sorted(ids) == [3, 4, 5, 6]  # of the cues 0 and 1, and two of symbol 2
    assert learner.world.states.next_id == 7
    learner.life.fold_again()
    assert sorted(learner.state_ids.tolist()) == [3, 4, 5, 6]  # they keep them


@pytest.mark.parametrize("revision", [0, 1, 2])
def test_clones_are_named_after_any_number_of_revisions(revision):
    life = cued_life()
    life.revision = revision
    assert sorted(CloneLearner(Inner(), life).state_ids.tolist()) == [3, 4, 5, 6]


def test_clones_look_like_their_symbols(learner):
    symbols = learner.tables.symbols
    assert sorted(symbols.tolist()) == [0, 1, 2, 2]
    np.testing.assert_array_equal(learner.means[:, 0], symbols)
    np.testing.assert_allclose(learner.covariances[:, 0, 0], 0.1 * (symbols + 1))
    assert len(learner.means) == len(learner.state_ids) == 4


def test_names_that_were_never_given_or_twice_are_refused(learner):
    arrays = learner.to_arrays()
    names = arrays["clones.names"].copy()
    for given in (names[1, 2], 99):
        names[0, 2] = given
        other = CloneLearner(Inner(), cued_life())
        other.inner.world.states.next_id = 7
        with pytest.raises(DataError, match="name"):
            other.restore(ArrayReader(arrays | {"clones.names": names}))


# --- reports --------------------------------------------------------------------------------------


def test_new_clones_of_a_look_are_splits():
    learner = CloneLearner(Inner(), cued_life())
    info = learner.take_over(StepInfo(2, -1.5))
    assert info.changed_all
    assert info.log_density == -1.5
    (move,) = info.moves
    assert move.kind == "split"
    assert move.gain == learner.gain > 3.0
    alike = learner.state_ids[learner.tables.symbols == 2]
    assert set(move.ids) == set(alike.tolist())
    again = learner.take_over(StepInfo(2))
    assert (again.moves, again.changed_all) == ((), False)


def test_a_step_says_which_clone_and_which_row(learner):
    info = learner.begin(look(1))
    first = info.state
    assert info.belief == ((first, 1.0),)
    assert info.changed_rows == frozenset()
    assert info.changed_states == {first}
    info = learner.observe(0, 0.0, look(2), terminated=False)
    assert info.log_density == -2.5
    assert info.n_evicted == 4
    assert info.changed_rows == {(first, 0)}
    assert info.state in learner.state_ids[learner.tables.symbols == 2]
    assert info.changed_states == {info.state}
    ended = learner.observe(1, 1.0, look(2), terminated=True)
    assert ended.state == NO_STATE
    assert ended.belief == ()
    assert ended.changed_states == frozenset()


def test_after_other_names_all_points_are_read_again(learner):
    recalled = []
    learner.life.recall = lambda: recalled.append(1) or True
    learner.begin(look(0))
    assert recalled == []
    learner.inner.info = StepInfo(changed_all=True)
    # Points were zeros in the history: all of them are symbol 0 now.
    learner.observe(0, 0.0, look(2), terminated=False)
    assert recalled == [1]
    symbols = {o.symbol for e in learner.life.history.episodes[:-1] for _, o in e if not o.ended}
    assert symbols == {0}


# --- giving up ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_steps", "has_lost"), [(450, False), (451, True)])
def test_it_has_lost_after_half_as_many_steps_more_and_300(learner, monkeypatch, n_steps, has_lost):
    """40 nats behind since step 100: patience ends after 1.5 times as many steps and 300."""
    gain = [-41.0]
    monkeypatch.setattr(clones_module, "gain_of_clones", lambda *_: gain[0])
    learner.life.n_steps = 100
    learner._compare()
    assert not learner.has_lost()
    learner.life.n_steps = n_steps
    assert learner.has_lost() == has_lost
    gain[0] = -39.0  # it is compared once more before it gives up
    assert not learner.has_lost()
    if has_lost:
        gain[0] = -41.0
        assert not learner.has_lost()  # not behind any more: patience begins again


@pytest.mark.parametrize(
    ("rewards", "has_lost"), [([-1.0], False), ([-1.0, 0.0], True), ([0.0], True)]
)
def test_it_has_not_lost_while_each_step_costs_the_same(learner, monkeypatch, rewards, has_lost):
    """One state for each look would go in circles again."""
    monkeypatch.setattr(clones_module, "gain_of_clones", lambda *_: -50.0)
    learner.life.habits = Habits()
    learner._compare()
    learner.life.n_steps = 10_000
    for reward in rewards:
        learner.life.habits.see(0, Outcome(0, reward, False))
    assert learner.has_lost() == has_lost


@pytest.mark.parametrize(("gain", "has_lost"), [(-1.0, True), (1.0, False)])
def test_clones_that_are_not_needed_lose(learner, monkeypatch, gain, has_lost):
    """Nothing is better explained by one clone for each look: LOST nats are not asked for."""
    monkeypatch.setattr(clones_module, "gain_of_clones", lambda *_: gain)
    learner.life.n_steps = 100
    learner._compare()
    learner.life.n_steps = 451
    assert any(len(alike) > 1 for alike in learner.life.folding.by_symbol.values())
    assert not learner.has_lost()  # some look has two
    alone = {symbol: alike[:1] for symbol, alike in learner.life.folding.by_symbol.items()}
    monkeypatch.setattr(learner.life.folding, "by_symbol", alone)
    learner.life.n_steps = 100
    learner._compare()
    learner.life.n_steps = 451
    assert learner.has_lost() == has_lost


def test_no_evidence_for_a_fold_that_takes_too_long(learner, monkeypatch):
    monkeypatch.setattr(clones_module, "gain_of_clones", lambda *_: -np.inf)
    learner._compare()
    assert np.isfinite(learner.gain)


# --- answers --------------------------------------------------------------------------------------


def test_a_cue_says_where_the_next_step_leads(learner):
    ids, symbols = learner.state_ids, learner.tables.symbols
    choice = look(2)[None]
    alone = learner.belief(choice)[0]
    np.testing.assert_allclose(alone[symbols == 2], 0.5, atol=1e-6)
    for cue in (0, 1):
        at_cue = int(ids[symbols == cue][0])
        (after,) = learner.filtered_beliefs(choice, [Context(((at_cue, 1.0),), 0, None)])
        values = learner.action_values(after)
        assert values.argmax() == cue
        assert values.max() == pytest.approx(1.0, abs=0.05)
        assert after.max() > 0.98
    (first,) = learner.filtered_beliefs(look(0)[None], [Context((), None, None)])
    assert symbols[first.argmax()] == 0
    (unknown,) = learner.filtered_beliefs(choice, [Context(((10**6, 1.0),), 0, None)])
    np.testing.assert_allclose(unknown, alone)  # of a state that is gone nothing is known


def test_rows_and_ends_of_the_choice(learner):
    symbols = learner.tables.symbols
    ends = learner.end_probabilities
    assert (ends[:, symbols == 2] == 1.0).all()
    assert (ends[:, symbols != 2] == 0.0).all()
    matrix = learner.transition_matrix
    np.testing.assert_allclose(matrix.sum(axis=2), 1.0)
    at_cue = matrix[0][symbols < 2][:, symbols == 2]
    np.testing.assert_allclose(at_cue.max(axis=1), 1.0, atol=0.01)
    belief = (symbols == 2) / 2.0
    next_states, end, tries = learner.outlook(belief)
    np.testing.assert_allclose(end, 1.0)
    np.testing.assert_allclose(next_states, 0.0, atol=1e-12)
    np.testing.assert_allclose(tries, 6.0)  # each choice six times after each cue
    assert learner.n_kept == learner.life.history.n_steps == 48


def test_a_learner_of_clones_survives_a_file(learner):
    copy = CloneLearner(Inner(), cued_life(1))
    copy.inner.world.states.next_id = 7
    copy.restore(ArrayReader(learner.to_arrays()))
    assert copy.state_ids.tolist() == learner.state_ids.tolist()
    assert copy.gain == learner.gain
    for one in (learner, copy):
        one.begin(look(1))
    infos = [one.observe(0, 0.0, look(2), terminated=False) for one in (learner, copy)]
    assert infos[0] == infos[1]
    assert learner.life.history.newest == Outcome(2, 0.0, False) == seen(2)


# --- records --------------------------------------------------------------------------------------


def named(learner, symbol: int) -> list[int]:
    return learner.state_ids[learner.tables.symbols == symbol].tolist()


def test_an_excerpt_has_some_clones_and_rows_and_names_those_that_are_gone(learner):
    (cue,), choices = named(learner, 1), named(learner, 2)
    changes = learner.excerpt([cue, 99, cue, 2], [(cue, 1), (cue, 0), (99, 0)])
    # Name, weight, not fixed, mean and covariance of what it looks like.
    assert np.reshape(changes.components, (-1, 5)).tolist() == [[cue, 12.0, 0.0, 1.0, 0.2]]
    assert changes.removed == [2, 99]
    # Tries, reward, end and number of next states; one action was never tried.
    assert np.reshape(changes.rows, (-1, 6)).tolist() == [
        [cue, 0, 12, 0, 0, 1],
        [cue, 1, 0, 0, 0, 0],
    ]
    ((reached, tries),) = np.reshape(changes.next_states, (-1, 2)).tolist()
    assert reached in choices
    assert tries == 12.0


def test_rows_that_ended_have_their_share_of_ends_and_their_reward(learner):
    choices = named(learner, 2)
    changes = learner.excerpt([], [(choice, action) for choice in choices for action in (0, 1)])
    rows = np.reshape(changes.rows, (-1, 6))
    assert changes.components.size == 0
    assert rows[:, 2].tolist() == [6.0] * 4
    assert sorted(rows[:, 3].tolist()) == [-1.0, -1.0, 1.0, 1.0]
    assert rows[:, 4].tolist() == [1.0] * 4
    following = np.reshape(changes.next_states, (-1, 2))  # ends stay in place
    assert following[:, 0].tolist() == rows[:, 0].tolist()


def test_a_snapshot_has_all_clones_and_points_that_belong_to_looks(learner):
    points = np.arange(5.0)[:, None]
    below = Snapshot(
        Changes([], [], [], []),
        np.zeros((3, 2)),
        np.array([[10.0], [20.0], [30.0]]),
        np.array([[[1.0]], [[2.0]], [[3.0]]]),
        np.ones(3),
        7.0,
        points,
        np.zeros(5, dtype=np.intp),
    )
    learner.inner.snapshot = lambda: below
    found, symbols = learner.snapshot(), learner.tables.symbols
    assert np.reshape(found.known.components, (4, 5))[:, 0].tolist() == sorted(learner.state_ids)
    assert len(np.reshape(found.known.rows, (-1, 6))) == 4 * 2
    np.testing.assert_array_equal(found.q, learner.greedy_values())
    np.testing.assert_array_equal(found.prior_mean[:, 0], 10.0 * (symbols + 1))
    np.testing.assert_array_equal(found.prior_covariance[:, 0, 0], symbols + 1.0)
    assert found.log_evidence.tolist() == [0.0] * 4
    assert found.prior_dof == 7.0
    assert found.kept_points is points
    assert found.kept_states.tolist() == [-1] * 5


def test_wide_observations_are_recorded_by_their_names(learner):
    learner.life.history.n_features = 65
    (cue,) = named(learner, 0)
    changes = learner.excerpt([cue], [])
    assert np.reshape(changes.components, (-1, 5)).tolist() == [[cue, 12.0, 0.0, cue, 0.0]]


def test_what_clones_do_not_change_the_ordinary_learner_says(learner):
    learner.inner.planner, learner.inner.feature_use, learner.inner.is_full = "p", "f", True
    assert (learner.planner, learner.feature_use, learner.is_full) == ("p", "f", True)
    assert learner.world is learner.inner.world
    assert learner.n_fixed == 0
    assert learner.active is learner
    assert learner.placed(look(0)[None], [None]) is None
    assert learner.forecast(look(0)[None]) is None
    values = learner.greedy_values()
    assert values.shape == (4, 2)
    np.testing.assert_array_equal(learner.values_of(look(0)[None], np.eye(4)[:1]), values[:1])


def test_tries_are_counted_between_clones(learner):
    counts, symbols = learner.transition_counts, learner.tables.symbols
    assert counts.shape == (2, 4, 4)
    assert counts[0][symbols < 2].sum() == 24.0
    assert counts[1][symbols < 2].sum() == 0.0
    assert counts.sum() == 48.0


def test_without_a_context_what_is_seen_alone_counts(learner):
    choice = np.repeat(look(2)[None], 2, axis=0)
    alone = learner.belief(choice)
    (cue,) = named(learner, 0)
    found = learner.filtered_beliefs(choice, [None, Context(((cue, 1.0),), 0, None)])
    np.testing.assert_array_equal(found[0], alone[0])
    assert found[1].max() > 0.98  # and the next one is looked at


def test_before_the_first_clone_there_is_nothing_to_believe_in():
    learner = CloneLearner(Inner(), CloneLife(2, 0.9, SymbolHistory(1)))
    assert learner.belief(look(0)[None]).shape == (1, 0)
    assert learner.filtered_beliefs(look(0)[None], [None]).shape == (1, 0)
    assert learner.state_ids.tolist() == []
    assert learner.transition_matrix.shape == (2, 0, 0)
