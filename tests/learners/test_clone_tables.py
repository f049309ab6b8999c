"""The belief in clones, against all paths through a small world."""

import math

import numpy as np
import pytest
from tests.oracles import belief_by_paths

from tgm.learners.clone_tables import CloneTables
from tgm.planning.clone_planner import ClonePlanner
from tgm.structure.clone_model import FIRST, fold_episodes
from tgm.structure.folding import Folding
from tgm.transition.automaton import BEGIN, END, Automaton, Happening, Outcome
from tgm.transition.clone_evidence import OutcomeBase


def cued(cue: int, choice: int) -> list[Happening]:
    steps = [
        Happening(BEGIN, Outcome(cue, 0.0, False)),
        Happening(0, Outcome(2, -0.1, False)),
        Happening(choice, Outcome(END, 1.0 if choice == cue else -1.0, True)),
    ]
    return steps


@pytest.fixture(scope="module")
def planner() -> ClonePlanner:
    episodes = [cued(cue, choice) for cue in (0, 1) for choice in (0, 1) for _ in range(5)]
    found = fold_episodes(episodes, OutcomeBase(FIRST.strength), [FIRST])
    assert found is not None
    return ClonePlanner(found[0], 2, 0.9)


def test_the_belief_is_that_of_all_paths(planner):
    tables = CloneTables(planner)
    n = len(tables.clones)
    assert sorted(tables.symbols.tolist()) == [0, 1, 2, 2]
    names = np.array([0, 1, 2])
    seen = np.array([[0.7, 0.3, 0.0], [0.1, 0.1, 0.8]])  # a cue that is read badly, a corridor
    likelihood = tables.likelihood(seen, names)
    expected = tables.expected(None, None)
    rows = np.array([[tables.expected(one, a) for one in np.eye(n)] for a in range(2)])
    belief = tables.after(expected, likelihood[0])
    belief = tables.after(tables.expected(belief, 0), likelihood[1])
    wanted = belief_by_paths(expected, rows, likelihood, [0])
    np.testing.assert_allclose(belief, np.array(wanted, dtype=float), atol=1e-9)


def test_values_are_those_of_the_right_choice(planner):
    tables = CloneTables(planner)
    for clone, symbol in enumerate(tables.symbols.tolist()):
        if symbol == 2:
            assert sorted(tables.values[clone].tolist()) == [-1.0, 1.0]
        else:
            assert tables.values[clone, 0] == pytest.approx(-0.1 + 0.9)
    assert tables.ends[:, tables.symbols == 2].min() == 5.0


def test_what_was_never_tried_is_looked_for_and_clones_are_told_apart_by_a_word(planner):
    start = planner.folding.by_symbol[0][0]
    assert planner.towards_unknown(start) == 1  # never tried at the cue itself
    one, other = planner.folding.by_symbol[2]
    assert planner.towards_unknown(one) is None
    assert planner.test(one, other) == (1, 0)
    first, second = planner.folding.by_symbol[0][0], planner.folding.by_symbol[1][0]
    assert planner.test(first, second) == (2, 0)


# --- by hand --------------------------------------------------------------------------------------


def seen(symbol: int, reward: float = 0.0) -> Outcome:
    return Outcome(symbol, reward, False)


DONE = Outcome(END, 5.0, True)


def small(undecided: dict | None = None) -> ClonePlanner:
    """1 (look 0) -0-> 2 or 3 (look 7); 2 ends by action 1; 3 goes back; 4 looks as 2 and 3 do."""
    graph = Automaton()
    graph.symbols += [0, 7, 7, 7, END]
    graph.rows += [{} for _ in range(5)]
    graph.rows[0][BEGIN] = {seen(0): [6, 1], seen(7): [2, 4]}
    graph.rows[1][0] = {seen(7): [3, 2], seen(7, -1.0): [1, 3]}
    graph.rows[2][1] = {DONE: [2, 5], seen(0): [1, 1]}
    graph.rows[3][0] = {seen(0, 2.0): [4, 1]}
    folding = Folding(graph, OutcomeBase(0.5))
    for node in (1, 2, 3, 5):
        folding.accept(node)
    folding.undecided = undecided or {}
    return ClonePlanner(folding, 2, 0.9)


def test_tries_rewards_and_ends_are_sums():
    tables = CloneTables(small())
    assert tables.clones == [1, 2, 3]
    assert tables.symbols.tolist() == [0, 7, 7]
    assert tables.counts[0].tolist() == [[0, 3, 1], [0, 0, 0], [4, 0, 0]]
    assert tables.counts[1].tolist() == [[0, 0, 0], [1, 2, 0], [0, 0, 0]]  # ends stay in place
    assert tables.ends.tolist() == [[0, 0, 0], [0, 2, 0]]
    assert tables.rewards.tolist() == [[-1.0, 0.0, 8.0], [0.0, 10.0, 0.0]]
    assert tables.place(3) == 2
    assert tables.place(5) is None  # the end


def test_a_start_below_the_clones_is_shared_by_what_looks_the_same():
    tables = CloneTables(small())
    assert tables.starts.tolist() == [6.0, 1.0, 1.0]
    assert tables.weight.tolist() == [11.0, 4.0, 2.0]  # how often each was reached
    nats = {(0, BEGIN, seen(7)): [(math.log(3.0), 3), (0.0, 2)]}
    assert CloneTables(small(nats)).starts.tolist() == pytest.approx([6.0, 0.5, 1.5])


def test_episodes_begin_where_they_began_and_hardly_anywhere_else():
    tables = CloneTables(small())
    anywhere = tables.weight / tables.weight.sum()
    wanted = (tables.starts + 0.02 * anywhere) / 8.02
    np.testing.assert_allclose(tables.expected(None, None), wanted)
    np.testing.assert_allclose(tables.expected(np.ones(3) / 3.0, None), wanted)


def test_an_action_leads_where_it_has_led_if_the_episode_goes_on():
    tables = CloneTables(small())
    anywhere = tables.weight / tables.weight.sum()
    first = (np.array([0.0, 3.0, 1.0]) + 0.02 * anywhere) / 4.02
    np.testing.assert_allclose(tables.expected(np.array([1.0, 0.0, 0.0]), 0), first)
    # Of three tries two have ended: the third led on.
    second = (np.array([1.0, 0.0, 0.0]) + 0.02 * anywhere) / 1.02
    np.testing.assert_allclose(tables.expected(np.array([0.0, 1.0, 0.0]), 1), second)
    np.testing.assert_allclose(tables.expected(np.array([1.0, 0.0, 0.0]), 1), anywhere)
    mixed = tables.expected(np.array([0.5, 0.5, 0.0]), 0)
    np.testing.assert_allclose(mixed, 0.5 * first + 0.5 * anywhere)


def test_what_is_seen_alone_is_weighed_by_how_often_clones_were_reached():
    tables = CloneTables(small())
    likelihood = tables.likelihood(np.array([[0.2, 0.8], [1.0, 0.0]]), np.array([0, 7]))
    assert likelihood.tolist() == [[0.2, 0.8, 0.8], [1.0, 0.0, 0.0]]
    weights = tables.weight * likelihood[0]
    np.testing.assert_allclose(tables.looked(likelihood)[0], weights / weights.sum())
    np.testing.assert_allclose(tables.looked(likelihood)[1], [1.0, 0.0, 0.0], atol=1e-9)
    unknown = tables.likelihood(np.array([[1.0]]), np.array([3]))  # nothing looks like that
    assert unknown.tolist() == [[0.0, 0.0, 0.0]]
    np.testing.assert_allclose(tables.looked(unknown)[0], tables.weight / tables.weight.sum())
