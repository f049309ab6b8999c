"""When episodes are folded, when clones win, and when the watch ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.files.arrays import ArrayReader
from tgm.learners import alias_watch
from tgm.learners.alias_watch import WORTH_A_FOLD, AliasWatch, changes_names, may_alias
from tgm.learners.events import Event
from tgm.learners.step_info import StepInfo
from tgm.memory.symbol_history import SymbolHistory
from tgm.perception.component_map import Move
from tgm.transition.automaton import END, Outcome


class Reader:
    """Recognises a whole number as the state of that name; `doubt` of the points are not clear."""

    def __init__(self, shift: int = 0, doubt: float = 0.0, outliers: float = 0.0) -> None:
        self.state_ids, self.shift, self.doubt = np.arange(10) + shift, shift, doubt
        self.outlier_share = outliers

    def belief(self, observations):
        shares = np.full(len(observations), 1.0)
        shares[: round(self.doubt * len(observations))] = 0.98
        belief = np.zeros((len(observations), 10))
        belief[np.arange(len(belief)), observations[:, 0].astype(int)] = shares
        return belief


class Watched:
    """A watch, and steps that it is told of."""

    def __init__(self) -> None:
        self.watch, self.n_steps = AliasWatch(1, 2, 0.9), 0
        self.watch.add(Event(np.zeros(1)), StepInfo(0), Reader())

    def step(self, symbol: int = 0, action: int = 0, reward: float = 0.0, **options) -> None:
        point = np.array([float(symbol)])
        terminated = options.pop("terminated", False)
        info = StepInfo(symbol, **options)
        self.watch.add(Event(point, action, reward, terminated), info, Reader())
        self.n_steps += 1

    def surprise(self) -> None:
        """The same action at symbol 0 leads to 1, then to 2, and back."""
        for symbol in (1, 0, 2, 0):
            self.step(symbol)

    def walk(self, n: int) -> None:
        """Steps without a surprise."""
        for _ in range(n):
            self.step(0, action=1)


def surprised(n_steps: int) -> Watched:
    """A watch that was surprised in its first steps."""
    watched = Watched()
    watched.surprise()
    watched.walk(n_steps - watched.n_steps)
    return watched


class Folds:
    """Replaces folding: what history and clones are worth is given; how often is counted."""

    def __init__(self, monkeypatch) -> None:
        self.worth, self.n_rows, self.gain = 0.0, 9, 0.0
        self.looks, self.n_folds, self.takes_too_long = 0, 0, False
        monkeypatch.setattr(alias_watch, "gain_of_history", self.history)
        monkeypatch.setattr(alias_watch, "gain_of_clones", lambda *_: self.gain)
        self.followed = 0
        monkeypatch.setattr(alias_watch, "CloneLife", self.life)
        monkeypatch.setattr(alias_watch, "Rival", self.rival)

    def rival(self, *_):
        def follow(*_):
            self.followed += 1

        return SimpleNamespace(choose=lambda: 5, follow=follow)

    def history(self, episodes):
        self.looks += 1
        return self.worth, self.n_rows

    def life(self, *_):
        self.n_folds += 1
        return SimpleNamespace(
            recall=lambda is_trial: is_trial and not self.takes_too_long,
            fold_again=lambda: True,
            search=lambda: False,
            search_at=0,
            folding=None,
        )


@pytest.fixture
def folds(monkeypatch) -> Folds:
    return Folds(monkeypatch)


# --- whether it watches ---------------------------------------------------------------------------


def test_clones_compete_with_default_settings_alone():
    assert may_alias(TGMConfig())
    others = [
        TGMConfig(max_states=50),
        TGMConfig(half_life=1000.0),
        TGMConfig(exploration="softmax"),
        TGMConfig(filtering=False),
    ]
    assert not any(may_alias(config) for config in others)


@pytest.mark.parametrize("n_before", [0, 4])
def test_the_watch_ends_500_steps_after_the_last_surprise(n_before):
    watched = Watched()
    if n_before:
        watched.surprise()  # the last of its four steps: symbol 0 leads to another one again
    surprised_at = watched.watch._surprised_at
    assert surprised_at == (3 if n_before else 0)
    watched.walk(499 + surprised_at - watched.n_steps)
    assert not watched.watch.is_over
    watched.walk(1)
    assert watched.watch.is_over


def test_the_watch_ends_after_twenty_thousand_steps():
    watched = Watched()
    watched.watch._n_steps = 19_996
    watched.watch._surprised_at = 19_990
    for n in range(4):
        assert not watched.watch.is_over
        watched.step(n % 2)
    assert watched.watch.is_over


def test_more_than_16_rewards_are_amounts():
    watched = Watched()
    for reward in range(16):
        watched.step(reward=float(reward))
    assert not watched.watch.is_over
    watched.step(reward=16.0)
    assert watched.watch.is_over


# --- when it looks --------------------------------------------------------------------------------


def test_nothing_is_looked_at_while_every_row_does_the_same(folds):
    watched = Watched()
    watched.walk(400)
    assert watched.watch.won(Reader(), is_certain=False) is None
    assert folds.looks == 0


def test_another_reward_or_an_end_is_a_surprise_too(folds):
    for options in ({"reward": 1.0}, {"terminated": True}):
        watched = Watched()
        watched.walk(40)
        watched.step(0, action=1, **options)
        watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == 2


def test_looks_are_at_24_steps_then_a_tenth_more_each_time(folds):
    folds.worth = 2.3
    watched = Watched()
    watched.surprise()
    at = []
    for _ in range(100):
        before = folds.looks
        watched.watch.won(Reader(), is_certain=False)
        if folds.looks > before:
            at.append(watched.n_steps)
        watched.walk(1)
    assert at == [24, 27, 30, 34, 38, 42, 47, 52, 58, 64, 71, 79, 87, 96, 106][: len(at)]
    assert len(at) >= 14


@pytest.mark.parametrize(("n_steps", "n_looks"), [(23, 0), (26, 2), (99, 2), (100, 1)])
def test_in_the_first_hundred_steps_the_end_of_an_episode_is_looked_at(folds, n_steps, n_looks):
    watched = surprised(n_steps - 1)
    watched.watch.won(Reader(), is_certain=False)
    watched.step(END, terminated=True)
    watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == n_looks


@pytest.mark.parametrize(
    ("gain", "is_certain", "n_folds"),
    [(1.9, False, 0), (2.1, False, 1), (-0.1, True, 0), (0.1, True, 1)],
)
def test_a_cue_that_explains_better_by_two_nats_is_reason_enough_to_fold(
    folds, monkeypatch, gain, is_certain, n_folds
):
    """Where no symbol can be misread, a cue that is likelier than not is."""
    monkeypatch.setattr(alias_watch, "gain_of_cue", lambda _: gain)
    folds.worth, folds.n_rows = 1.5, 3
    surprised(30).watch.won(Reader(), is_certain=is_certain)
    assert folds.n_folds == n_folds


def test_after_500_steps_looks_are_rarer(folds):
    folds.worth = 2.3
    watched = surprised(500)
    watched.watch.won(Reader(), is_certain=False)
    watched.walk(200)
    watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == 1  # at 500 and 701
    watched.walk(1)
    watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == 2


@pytest.mark.parametrize(("worth", "n_rows", "at"), [(1.1, 9, 169), (1.2, 9, 121), (0.1, 1, 121)])
def test_in_a_world_of_chance_looks_are_rarer(folds, worth, n_rows, at):
    """Less than an eighth of a nat in each row of several outcomes, which are not rare."""
    folds.worth, folds.n_rows = worth, n_rows
    watched = surprised(100)
    watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == 1
    watched.walk(at - 101)
    watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == 1
    watched.walk(1)
    watched.watch.won(Reader(), is_certain=False)
    assert folds.looks == 2


@pytest.mark.parametrize(
    ("worth", "n_steps", "is_over"), [(1.1, 1500, True), (1.2, 1500, False), (1.1, 1499, False)]
)
def test_a_world_of_chance_is_watched_for_1500_steps(folds, worth, n_steps, is_over):
    folds.worth = worth
    watched = surprised(n_steps - 4)
    watched.surprise()
    watched.watch.won(Reader(), is_certain=False)
    assert watched.watch.is_over == is_over


# --- when episodes are folded ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worth", "n_rows", "n_folds"), [(1.9, 9, 0), (2.1, 9, 1), (4.9, 40, 0), (5.1, 40, 1)]
)
def test_history_must_predict_better_by_two_nats_and_an_eighth_in_each_row(
    folds, worth, n_rows, n_folds
):
    folds.worth, folds.n_rows = worth, n_rows
    surprised(30).watch.won(Reader(), is_certain=False)
    assert folds.n_folds == n_folds


@pytest.mark.parametrize(
    ("doubt", "outliers", "n_folds"),
    [
        (0.0, 0.0, 1),
        (0.009, 0.0, 1),
        (0.011, 0.0, 0),
        (0.0, 0.009, 1),
        (0.0, 0.011, 0),
        (0.006, 0.005, 0),
    ],
)
def test_nothing_is_folded_where_one_point_in_a_hundred_may_be_misread(
    folds, doubt, outliers, n_folds
):
    folds.worth = 5.0
    surprised(1001).watch.won(Reader(doubt=doubt, outliers=outliers), is_certain=False)
    assert folds.n_folds == n_folds


def folded_again(folds, *, after: float, worth: float) -> bool:
    """Whether clones that have lost at step 100 with 4 nats are tried again."""
    folds.worth, folds.gain, folds.n_rows = 4.0, 0.0, 30
    watched = surprised(100)
    assert watched.watch.won(Reader(), is_certain=False) is None
    watched.walk(round(after * 100) - 100)
    folds.worth = worth
    watched.watch.won(Reader(), is_certain=False)
    return folds.n_folds == 2


def test_after_a_defeat_more_steps_and_more_nats_are_needed(folds):
    assert not folded_again(folds, after=1.29, worth=9.0)
    folds.n_folds = 0
    assert folded_again(folds, after=1.3, worth=5.3)
    folds.n_folds = 0
    assert not folded_again(folds, after=1.3, worth=5.1)


def test_where_a_search_is_worth_it_a_fold_alone_does_not_win(folds):
    """After a defeat with 4 nats a fold needs 5.2; 5 nats in few rows are enough for a search."""
    folds.worth, folds.gain, folds.n_rows = 4.0, 0.0, 4
    watched = surprised(100)
    assert watched.watch.won(Reader(), is_certain=False) is None
    watched.walk(30)
    folds.worth, folds.gain = 5.0, 9.0
    assert watched.watch.won(Reader(), is_certain=False) is None
    watched.walk(60)
    folds.worth = 6.8  # 1.3 times as much
    assert watched.watch.won(Reader(), is_certain=False) is not None


def test_ten_nats_are_always_enough(folds):
    folds.worth = 50.0
    watched = surprised(100)
    watched.watch.won(Reader(), is_certain=False)
    watched.walk(60)
    folds.worth = 10.1
    watched.watch.won(Reader(), is_certain=False)
    assert folds.n_folds == 2


# --- who wins -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gain", "is_certain", "wins"),
    [(4.9, False, False), (5.1, False, True), (3.9, True, False), (4.1, True, True)],
)
def test_clones_win_by_five_nats_or_by_four_where_nothing_is_misread(folds, gain, is_certain, wins):
    folds.worth, folds.gain = 5.0, gain
    assert (surprised(100).watch.won(Reader(), is_certain=is_certain) is not None) == wins


@pytest.mark.parametrize(
    ("gain", "is_certain", "wins"),
    [(4.9, False, False), (5.1, False, True), (3.9, True, False), (4.1, True, True)],
)
def test_a_map_that_nothing_contradicts_wins_though_history_predicts_nothing(
    folds, monkeypatch, gain, is_certain, wins
):
    monkeypatch.setattr(alias_watch, "sure_map", lambda _: ("a map", gain))
    watched = surprised(100)
    assert (watched.watch.won(Reader(), is_certain=is_certain) is not None) == wins
    assert folds.n_folds == int(wins)


def test_no_map_is_made_of_looks_that_may_be_misread(folds, monkeypatch):
    monkeypatch.setattr(alias_watch, "sure_map", lambda _: ("a map", 99.0))
    assert surprised(1001).watch.won(Reader(doubt=0.02), is_certain=False) is None


# --- clones in doubt ------------------------------------------------------------------------------


def in_doubt(folds, *, gain: float = 1.0, is_certain: bool = True) -> Watched:
    """A watch whose clones have gained a little at the end of an episode."""
    folds.worth, folds.gain = 5.0, gain
    watched = surprised(98)
    watched.step(END, terminated=True)
    assert watched.watch.won(Reader(), is_certain=is_certain) is None
    return watched


@pytest.mark.parametrize(
    ("gain", "is_certain", "wanted"), [(1.0, True, 5), (-1.0, True, None), (1.0, False, None)]
)
def test_clones_in_doubt_say_what_to_try_where_nothing_is_misread(folds, gain, is_certain, wanted):
    assert in_doubt(folds, gain=gain, is_certain=is_certain).watch.choose() == wanted


def test_clones_in_doubt_are_asked_until_the_next_episode_ends(folds):
    watched = in_doubt(folds)
    watched.watch.add(Event(np.zeros(1)), StepInfo(0), Reader())
    assert watched.watch.choose() == 5
    watched.step(END, terminated=True)
    assert watched.watch.choose() is None
    assert folds.followed == 2


def test_clones_in_doubt_come_back_from_a_file(folds):
    watch = in_doubt(folds).watch
    other = AliasWatch(1, 2, 0.9)
    other.restore(ArrayReader(watch.to_arrays()))
    assert other.choose() == 5


def test_clones_that_take_too_long_have_not_won(folds):
    folds.worth, folds.gain, folds.takes_too_long = 5.0, 99.0, True
    assert surprised(100).watch.won(Reader(), is_certain=False) is None


@pytest.mark.parametrize(
    ("gain", "worth", "n_steps", "is_over"),
    [
        (-41.0, 5.0, 500, True),
        (-39.0, 5.0, 500, False),
        (-41.0, 5.0, 499, False),
        (-41.0, 20.0, 500, False),  # three nats for each one of history
        (-61.0, 20.0, 500, True),
    ],
)
def test_one_state_per_symbol_wins_by_forty_nats_after_500_steps(
    folds, gain, worth, n_steps, is_over
):
    folds.worth, folds.gain, folds.n_rows = worth, gain, round(5 * worth)
    watched = surprised(n_steps - 4)
    watched.surprise()
    assert watched.watch.won(Reader(), is_certain=False) is None
    assert watched.watch.is_over == is_over
    folds.n_rows = 4  # so much in each row: surplus clones may still win
    watched = surprised(n_steps - 4)
    watched.surprise()
    assert watched.watch.won(Reader(), is_certain=False) is None
    assert not watched.watch.is_over


@pytest.mark.parametrize(
    ("worth", "n_steps", "is_over"), [(-2.1, 501, True), (-1.9, 501, False), (-2.1, 490, False)]
)
def test_history_that_predicts_worse_in_each_row_ends_the_watch(folds, worth, n_steps, is_over):
    folds.worth, folds.n_rows = worth, 4
    watched = surprised(n_steps - 4)
    watched.surprise()
    watched.watch.won(Reader(), is_certain=False)
    assert watched.watch.is_over == is_over


@pytest.mark.parametrize(
    ("n_rows", "n_steps", "gained_at", "is_stuck"),
    [
        (1, 113, None, True),
        (2, 113, None, False),  # chance is not rare: six rows in all
        (1, 112, None, False),
        (1, 160, 40, False),
        (1, 161, 40, True),
    ],
)
def test_where_chance_is_rare_and_nothing_is_found_any_more_clones_are_tried(
    folds, n_rows, n_steps, gained_at, is_stuck
):
    """Six rows are tried in the first eight steps, and no other one since."""
    folds.worth, folds.n_rows, folds.gain = -1.0, n_rows, -9.0
    watched = Watched()
    watched.surprise()
    for symbol in (3, 4, 0):
        watched.step(symbol)
    while watched.n_steps < n_steps:
        watched.step(0, action=1, reward=float(watched.n_steps == gained_at))
    assert (watched.watch.won(Reader(), is_certain=False) is not None) == is_stuck


@pytest.mark.parametrize(("n_known", "is_rare"), [(7, False), (8, True)])
def test_chance_is_rare_in_one_row_of_four(folds, monkeypatch, n_known, is_rare):
    folds.n_rows = 2
    monkeypatch.setattr(AliasWatch, "_is_idle", True)
    watch = surprised(30).watch
    watch._newest = {(symbol, 0): Outcome(0, 0.0, False) for symbol in range(n_known)}
    watch._is_worth_a_fold(WORTH_A_FOLD, is_clear=True)
    assert watch._is_stuck == is_rare


# --- other names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["split", "merge", "removal"])
def test_these_moves_change_names(kind):
    assert changes_names(StepInfo(0, moves=(Move(kind, (0,), ""),)))
    assert not changes_names(StepInfo(0, moves=(Move(kind, (0,), "", accepted=False),)))
    assert not changes_names(StepInfo(0, moves=(Move("birth", (0,), ""),)))
    assert changes_names(StepInfo(0, changed_all=True))
    assert changes_names(StepInfo(0, changed_scale=True))


def test_after_a_change_of_names_points_are_read_again(folds):
    folds.worth = 5.0
    watched = surprised(40)
    watched.step(0, action=1, changed_all=True)
    watched.watch.won(Reader(shift=20), is_certain=False)
    symbols = {outcome.symbol for _, outcome in watched.watch.history.episodes[0]}
    assert symbols == {20, 21, 22}
    assert folds.n_folds == 1  # still surprising
    watched.walk(40)
    watched.watch.won(Reader(shift=30), is_certain=False)  # no name has changed since
    assert {outcome.symbol for _, outcome in watched.watch.history.episodes[0][:40]} == symbols


def test_a_surprise_may_vanish_with_the_names(folds):
    watched = surprised(40)
    watched.step(0, action=1, changed_all=True)

    class One(Reader):
        def belief(self, observations):
            return np.ones((len(observations), 1))

    watched.watch.won(One(), is_certain=False)
    assert folds.looks == 0


# --- beginning again ------------------------------------------------------------------------------


def test_after_clones_have_lost_the_watch_goes_on_later(folds):
    history = SymbolHistory(1)
    history.begin(0, np.zeros(1))
    for _ in range(300):
        history.add(0, Outcome(0, 0.0, False), np.zeros(1))
    watched = Watched()
    watched.watch.go_on_from(history)
    watched.n_steps, folds.worth = 300, 5.0
    for n_more in (120, 1):  # at 1.4 times the steps, where nothing else was surprising
        watched.walk(n_more)
        watched.watch.won(Reader(), is_certain=False)
        assert folds.n_folds == n_more % 2
    assert not watched.watch.is_over


def test_a_watch_survives_a_file(folds):
    folds.worth = 4.0
    watched = surprised(100)
    watched.step(END, action=1, reward=1.0, terminated=True)
    watched.watch.won(Reader(), is_certain=False)
    copy = AliasWatch(1, 2, 0.9)
    copy.restore(ArrayReader(watched.watch.to_arrays()))
    ours, theirs = vars(watched.watch), vars(copy)
    for name in ("_n_steps", "_look_at", "_newest", "_new_at", "_surprised_at", "_rewards"):
        assert ours[name] == theirs[name], name
    for name in ("_worth_a_fold", "_fold_at", "_is_surprised", "_is_stale"):
        assert ours[name] == theirs[name], name
    assert copy.history.episodes == watched.watch.history.episodes


def test_outliers_of_the_older_half_are_those_of_places_that_were_not_known_yet():
    watch = AliasWatch(1, 2, 0.9)
    shares = []
    for n_steps, n_outliers in ((100, 20), (150, 20), (240, 20), (300, 20), (700, 20), (1500, 90)):
        watch._n_steps = n_steps
        shares.append(watch._outlier_share(Reader(outliers=n_outliers / n_steps)))
    # At 150 there was no look at half of the steps; at 1,500 the newer half has more of them.
    assert shares == pytest.approx([0.2, 20 / 150, 0.0, 0.0, 0.0, 90 / 1500])
