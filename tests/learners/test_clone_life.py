"""Life among clones: what is chosen, when episodes are folded again, and what is forgotten."""

import math

import numpy as np
import pytest
from tests.learners.test_clone_habits import gained

from tgm.files.arrays import ArrayReader
from tgm.learners import clone_life
from tgm.learners.clone_habits import Habits
from tgm.learners.clone_life import CloneLife
from tgm.memory.symbol_history import SymbolHistory
from tgm.structure.clone_model import FIRST, LEVELS, Setting, reckoned_rivals
from tgm.structure.folding import Folding
from tgm.transition.automaton import BEGIN, END, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase

POINT = np.zeros(1)
RIGHT, WRONG = Outcome(END, 1.0, True), Outcome(END, -1.0, True)


class Dice:
    """Draws that are known; fails if there is one more."""

    def __init__(self, *draws: float) -> None:
        self.draws = list(draws)

    def random(self) -> float:
        return self.draws.pop(0)

    def integers(self, *_: int) -> int:
        return int(self.draws.pop(0))


def begin(life: CloneLife, symbol: int) -> None:
    life.history.begin(symbol, POINT)
    life.begin()


def step(life: CloneLife, action: int, outcome: Outcome) -> None:
    life.history.add(action, outcome, POINT)
    life.observe(action, outcome)


def seen(symbol: int) -> Outcome:
    return Outcome(symbol, 0.0, False)


def play(life: CloneLife, cue: int, choice: int) -> None:
    """A cue, a look that is the same for all, and a choice that is right for one cue."""
    begin(life, cue)
    step(life, 0, seen(2))
    step(life, choice, RIGHT if cue == choice else WRONG)


def cued_life(n_each: int = 6) -> CloneLife:
    life = CloneLife(2, 0.9, SymbolHistory(1))
    for number in range(4 * n_each):
        play(life, number % 2, number // 2 % 2)
    assert life.fold_again()
    return life


# --- learning -------------------------------------------------------------------------------------


def test_clones_are_found_while_it_lives():
    life = cued_life()
    assert len(life.folding.by_symbol[2]) == 2
    assert life.n_steps == life.history.n_steps == 48
    begin(life, 0)
    step(life, 0, seen(2))
    first = life.track.node
    begin(life, 1)
    step(life, 0, seen(2))
    assert {first, life.track.node} == set(life.folding.by_symbol[2])


def test_a_life_can_be_recalled_from_its_history():
    life = cued_life()
    again = CloneLife(2, 0.9, life.history)
    assert again.recall()
    assert again.n_steps == 48
    assert {s: len(alike) for s, alike in again.folding.by_symbol.items()} == {
        s: len(alike) for s, alike in life.folding.by_symbol.items()
    }
    assert again.habits.to_arrays()["best"].tolist() == life.habits.to_arrays()["best"].tolist()


@pytest.mark.parametrize("outcomes", [(RIGHT, WRONG), (RIGHT, RIGHT)])
def test_an_undecided_node_with_several_outcomes_is_a_reason_to_fold_again(outcomes):
    life = CloneLife(2, 0.9, SymbolHistory(1))
    for outcome in outcomes:
        life.history.begin(0, POINT)
        life.history.add(0, seen(2), POINT)
        life.history.add(1, outcome, POINT)
    folding = Folding(Automaton.of(life.history.episodes), OutcomeBase(0.5))
    folding.accept(1)  # the beginning; look 2 is undecided
    life._adopt(folding, is_searched=False)
    assert life.habits.sees_chance == (outcomes[0] != outcomes[1])


def test_each_recalled_episode_has_its_own_actions():
    life = cued_life()
    lived = life.habits.to_arrays()
    life.recall()
    recalled = life.habits.to_arrays()
    assert recalled["best"].tolist() == lived["best"].tolist() == [0, 0]
    assert recalled["best_return"] == lived["best_return"] == 1.0
    assert recalled["counts"][1:].tolist() == lived["counts"][1:].tolist()
    assert life.habits._acts == [step.action for step in life.history.episodes[-1][1:]]


def test_to_forget_leaves_the_newest_episode():
    life = cued_life()
    begin(life, 1)
    step(life, 0, seen(2))
    revision = life.revision
    life.forget()
    assert [[h.outcome.symbol for h in one] for one in life.history.episodes] == [[1, 2]]
    assert len(life.history.points) == 1
    assert life.history.n_steps == 1
    assert life.revision == revision + 1
    assert sorted(life.folding.graph.symbols) == [-2, 1, 2]


def test_what_changes_has_another_version():
    life = cued_life()
    version, planner = life.version, life.planner
    begin(life, 0)
    assert (life.version, life.planner) == (version, planner)  # nothing that was not known
    step(life, 1, seen(0))  # never tried at the cue
    assert life.version > version
    assert life.planner is not planner


@pytest.fixture
def folds(monkeypatch):
    """The settings of each folding, and the work it may take; foldings are as before."""
    found, fold = [], clone_life.fold_episodes

    def noted(episodes, base, settings, work, before):
        found.append((life_of["now"].n_steps, list(settings), work))
        return fold(episodes, base, settings, work, before)

    life_of = {}
    monkeypatch.setattr(clone_life, "fold_episodes", noted)
    return found, life_of


def test_all_levels_compete_with_the_strength_of_before(folds):
    found, life_of = folds
    life = life_of["now"] = CloneLife(2, 0.9, SymbolHistory(1))
    play(life, 0, 0)
    found.clear()
    life.fold_again()
    assert found == [(2, [Setting(one, FIRST.strength) for one in LEVELS], 100)]


@pytest.mark.parametrize(("n_before", "n_steps", "n_tries"), [(50, 50, None), (100, 271, 19)])
def test_tries_follow_the_logarithm_of_the_steps(n_before, n_steps, n_tries, monkeypatch):
    """20 while the steps become 2.7 times as many."""
    life = cued_life()
    asked = []

    def improved(folding, episodes, rng, n):
        asked.append(n)
        return folding

    monkeypatch.setattr(clone_life, "improved", improved)
    life.improved_at, life.n_steps = n_before, n_steps
    assert life.fold_again()
    assert asked == ([] if n_tries is None else [n_tries])
    assert life.improved_at == n_steps


def test_a_trial_takes_the_first_setting_and_little_time(folds):
    found, life_of = folds
    life = life_of["now"] = CloneLife(2, 0.9, SymbolHistory(1))
    play(life, 0, 0)
    found.clear()
    life.fold_again(is_trial=True)
    assert found == [(2, [Setting(LEVELS[0], FIRST.strength)], 15.0)]


def surprised(n_since: int, n_kept: int) -> int:
    """Foldings after a clone did something new, so many steps after the last one."""
    life = cued_life()
    life.folded_at, life.history.n_steps = life.n_steps + 3 - n_since, n_kept
    n_folds, fold = [], life.fold_again
    life.fold_again = lambda **options: n_folds.append(1) or fold(**options)
    begin(life, 0)
    step(life, 0, seen(2))
    life.history.n_steps = n_kept - 1
    step(life, 0, seen(9))  # the choice has always ended the episode
    assert life.habits.surprised_at == life.n_steps
    return len(n_folds)


def test_a_surprise_folds_again_after_a_pause_of_a_fiftieth_of_what_is_kept():
    assert surprised(11, 500) >= 1
    assert surprised(3, 500) == 0


def test_where_rows_look_random_all_is_folded_again_after_a_quarter_more():
    for sees_chance, n_steps, is_due in [
        (True, 100 * 1.25 + 20, True),
        (True, 100 * 1.25 + 19, False),
        (False, 500, False),
    ]:
        life = cued_life()
        life.habits.sees_chance, life.folded_at = sees_chance, 100
        life.n_steps = int(n_steps)
        assert life._is_due(False) == is_due


# --- acting ---------------------------------------------------------------------------------------


def test_an_untried_action_comes_first():
    life = cued_life()
    begin(life, 0)
    assert life.choose(Dice()) == 1  # never tried at the cue


def knowing() -> CloneLife:
    """A life in which everything was tried; it stands before the choice after cue 1."""
    life = cued_life()
    for cue in (0, 1):
        begin(life, cue)
        step(life, 1, seen(cue))
        step(life, 0, seen(2))
    life.fold_again()
    life.habits.sees_chance = False
    assert life.planner.towards_unknown(life.track.node) is None
    return life


def test_then_the_greedy_action():
    life = knowing()
    assert life.choose(Dice(0.99)) == 1
    begin(life, 0)
    step(life, 0, seen(2))
    assert life.choose(Dice(0.99)) == 0


def test_now_and_then_a_walk_begins_and_goes_on():
    life = knowing()
    life.choose(Dice(0.001, 5, 0))  # its length and its action
    assert life.habits.is_walking
    assert [life.choose(Dice(0.5)) for _ in range(5)] == [0] * 5
    assert not life.habits.is_walking
    assert life.choose(Dice(0.99)) == 1


def test_a_walk_waits_where_something_unknown_can_be_reached():
    life = knowing()
    life.choose(Dice(0.001, 9, 0))
    assert life.habits.is_walking
    rows = life.folding.graph.rows[life.track.node]
    unknown = rows.pop(1)
    assert life.choose(Dice()) == 1
    rows[1] = unknown
    assert life.choose(Dice(0.5)) == 0  # it goes on
    assert life.habits.is_walking


def test_a_path_that_is_repeated_comes_before_everything():
    life = knowing()
    begin(life, 0)
    life.habits = gained([1, 0])
    assert [life.choose(Dice(0.0)), life.choose(Dice())] == [1, 0]


def test_the_plan_is_revised_when_doubt_ends():
    life = cued_life()
    life.habits.sees_chance, life.habits.chance_at = False, life.n_steps
    at = []
    begin(life, 0)
    for _ in range(life.n_steps):
        before = life.revision
        life.folded_at = life.reckoner._at = life.n_steps  # nothing else is done
        step(life, 1, seen(2))
        if life.revision != before and not life.habits.doubts(life.folding, life.n_steps):
            at.append(life.n_steps)
            break
    assert at
    assert at[0] == math.ceil(1.25 * life.habits.chance_at)


def test_while_rows_look_random_the_best_episode_is_a_way_of_its_own():
    """It was repeated twice; who is greedy goes on it, though the clones know a shorter one."""
    life = cued_life()
    life.habits = Habits()  # before, the same actions ended well or badly
    for _ in range(3):
        begin(life, 0)
        step(life, 1, seen(2))
        step(life, 0, Outcome(END, 2.0, True))
    assert life.habits.kept
    assert [happening.action for happening in life.path[1:]] == list(life.habits.kept)
    life.habits.sees_chance = False
    life._revise()
    assert life.greedy_planner is life.planner
    life.habits.chance_at = life.n_steps  # a folding that has just denied it may be wrong
    life._revise()
    assert life.greedy_planner is not life.planner
    life.n_steps = 5 * life.n_steps // 4 + 1
    life._revise()
    assert life.greedy_planner is life.planner
    life.habits.sees_chance = True
    life._revise()
    planner = life.greedy_planner
    n_more = len(planner.folding.clones) - len(life.folding.clones)
    assert n_more == len(life.path) - 1  # the end is no other place
    node = planner.folding.graph.rows[0][BEGIN][life.path[0].outcome][1]
    assert node not in life.folding.is_clone
    for action, outcome in life.path[1:]:
        assert planner.greedy_values(node).argmax() == action
        node = planner.folding.graph.rows[node][action][outcome][1]
    life.history.episodes, life.history.points = life.history.episodes[:1], life.history.points[:1]
    path = life.path
    life._revise()
    assert life.path == path  # it stays when its episodes are let go


# --- files ----------------------------------------------------------------------------------------


def test_a_life_survives_a_file():
    life = cued_life()
    copy = CloneLife(2, 0.9, life.history)
    copy.restore(ArrayReader(life.to_arrays()))
    counts = ("n_steps", "version", "revision", "folded_at", "improved_at", "setting", "path")
    assert [getattr(copy, name) for name in counts] == [getattr(life, name) for name in counts]
    life.history.begin(0, POINT)
    for one in (life, copy):
        one.begin()
        one.observe(0, seen(2))
    assert copy.choose(Dice(0.99)) == life.choose(Dice(0.99)) == 0
    assert copy.folding.graph.rows == life.folding.graph.rows


# --- surplus clones -------------------------------------------------------------------------------


@pytest.mark.parametrize(("wins", "search_at"), [(True, 850), (False, 1500)])
def test_surplus_clones_compete_again_later_if_they_lost(wins, search_at, monkeypatch):
    life = cued_life()
    found = life.folding if wins else None
    asked = []
    monkeypatch.setattr(clone_life, "surplus_folding", lambda *args: asked.append(args) or found)
    life.search_at, life.n_steps = 501, 500
    revision = life.revision
    assert not life.search()
    assert asked == []
    life.search_at = 500
    assert life.search() == wins
    ((episodes, _, floor),) = asked
    assert episodes is life.history.episodes
    assert floor == clone_life.closed_evidence(life.folding)
    assert (life.search_at, life.is_searched) == (search_at, wins)
    assert (life.revision > revision) == wins


@pytest.mark.parametrize("is_better", [True, False])
def test_clones_of_a_search_compete_when_all_is_folded_again(is_better, monkeypatch):
    life = cued_life()
    old, merged, calls = life.folding, object(), []
    monkeypatch.setattr(clone_life, "refolded", lambda *args: calls.append(args) or old)
    monkeypatch.setattr(clone_life, "merged_again", lambda *_: merged)
    monkeypatch.setattr(clone_life, "improved", lambda one, *_: one)
    monkeypatch.setattr(clone_life, "cued_places", lambda *_: [])
    monkeypatch.setattr(
        clone_life,
        "better_closed",
        lambda one, other: (None if other is merged else other) if is_better else one,
    )
    monkeypatch.setattr(life, "search", lambda: calls.append("search"))
    life.is_searched = True
    assert life.fold_again()
    assert calls[0] == (old, life.history.episodes, Setting((3.0, 1.0), 0.5))
    assert life.is_searched == is_better
    assert (life.folding is old) == is_better
    if is_better:
        assert calls[1:] == ["search"]
    life.is_searched = True
    calls.clear()
    assert life.fold_again(is_trial=True)  # nothing but the first setting
    assert calls == []
    assert not life.is_searched


def test_a_life_of_a_search_is_folded_again_when_the_next_one_is_due():
    life = cued_life()
    life.habits.sees_chance, life.folded_at = False, life.n_steps
    life.search_at, life.n_steps = 500, 499
    for is_searched, n_steps, is_due in (
        (False, 500, False),
        (True, 499, True),  # it has grown by a quarter and 20 since
        (True, 500, True),
    ):
        life.is_searched, life.n_steps = is_searched, n_steps
        assert life._is_due(False) == is_due
    life.folded_at = 450
    life.n_steps = 499
    assert not life._is_due(False)
    life.n_steps = 500
    assert life._is_due(False)


def test_a_piece_of_an_episode_begins_where_it_is(monkeypatch):
    life = cued_life()
    begin(life, 0)
    step(life, 0, seen(2))
    node = life.track.node
    assert life.track.below is None
    life.history.begin(2, POINT)
    begun = []
    monkeypatch.setattr(life.habits, "begin", lambda: begun.append("habits"))
    monkeypatch.setattr(life, "begin", lambda: begun.append("life"))
    life.go_on()
    assert life.folding.graph.rows[0][BEGIN][seen(2)] == [1, node]
    assert life.track.node == node
    assert begun == ["habits"]
    life.track.below = {}
    life.go_on()  # where it is not known which clone it is, the piece begins as an episode does
    assert begun == ["habits", "life"]


def costly(symbol: int) -> Outcome:
    return Outcome(symbol, -1.0, False)


def paced_life() -> CloneLife:
    return paced(CloneLife(2, 0.9, SymbolHistory(1)))


def paced(life: CloneLife) -> CloneLife:
    """There and back along a corridor; each step costs the same."""
    for _ in range(6):
        begin(life, 0)
        for action, looks in ((0, (1, 1, 2)), (1, (1, 1, 0))):
            for look in looks:
                step(life, action, costly(look))
    return life


def test_a_map_by_moves_looks_up_the_place_of_a_new_step_and_folds_nothing(folds):
    found, life_of = folds
    life = life_of["now"] = CloneLife(2, 0.9, SymbolHistory(1))
    paced(life)
    life._adopt(reckoned_rivals(life.history.episodes, None)[0], is_searched=False)
    n_clones, n_folds = len(life.folding.clones), len(found)
    begin(life, 0)
    step(life, 1, costly(0))  # a wall
    assert len(life.folding.clones) == n_clones
    for look in (1, 1, 2, 2):
        step(life, 0, costly(look))
    assert len(life.folding.clones) == n_clones  # the last one bumped into the other wall
    assert len(found) == n_folds
    assert life.track.node in life.folding.is_clone


def test_what_refutes_a_map_by_moves_is_read_again_first(monkeypatch):
    life, calls = paced_life(), []
    life._adopt(reckoned_rivals(life.history.episodes, None)[0], is_searched=False)
    life.read_again = lambda: calls.append(life.n_steps)
    life.n_steps += 100  # the last map was made long ago
    begin(life, 0)
    step(life, 0, costly(2))
    assert calls == [life.n_steps]
    assert life.track.node in life.folding.is_clone


def test_where_nothing_is_unknown_and_each_step_costs_the_same_a_map_is_hoped_for(monkeypatch):
    life = paced_life()
    begin(life, 0)
    small = Folding(Automaton.of(life.history.episodes[-1:]), OutcomeBase(0.5))
    small.accept(1)
    for action in range(2):
        small.graph.rows[1][action] = {costly(0): [1, 1], costly(1): [1, 1]}
    life._adopt(small, is_searched=False)
    assert life.habits.only_pays
    life.choose(np.random.default_rng(0))
    assert life.folding.reckoning is not None
    other = paced_life()
    begin(other, 0)
    other._adopt(small, is_searched=False)
    other.habits.see(0, RIGHT)  # something was gained
    other.choose(np.random.default_rng(0))
    assert other.folding is small
