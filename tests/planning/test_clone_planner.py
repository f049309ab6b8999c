"""Plans among clones: shortest ways to unknown actions, words that tell two apart, and values."""

import numpy as np
import pytest

from tgm.planning.clone_planner import LONGEST_TEST, ClonePlanner
from tgm.structure.folding import Folding
from tgm.transition.automaton import BEGIN, END, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase

GAMMA = 0.9


def seen(symbol: int, reward: float = 0.0) -> Outcome:
    return Outcome(symbol, reward, False)


def planner(
    symbols: list[int], edges: list[tuple], n_actions: int = 2, undecided: dict | None = None
) -> ClonePlanner:
    """Nodes from 1 on; edges are (node, action, outcome, count, target). All are clones."""
    graph = Automaton()
    graph.symbols += symbols
    graph.rows += [{} for _ in symbols]
    for node, action, outcome, count, target in edges:
        graph.rows[node].setdefault(action, {})[outcome] = [count, target]
    graph.rows[0][BEGIN] = {seen(symbols[0]): [1, 1]}
    folding = Folding(graph, OutcomeBase(0.5))
    below = {graph.rows[n][a][o][1] for n, a, o in undecided or {}}
    for node in range(1, len(symbols) + 1):
        if node not in below:
            folding.accept(node)
    folding.undecided = undecided or {}
    return ClonePlanner(folding, n_actions, GAMMA)


def chain(n: int, *, last: dict | None = None) -> ClonePlanner:
    """Places 1 to n in a row: action 0 stays, 1 goes on; the last one has the rows given."""
    edges = []
    for node in range(1, n):
        edges += [(node, 0, seen(node), 1, node), (node, 1, seen(node + 1), 1, node + 1)]
    edges += [(n, action, *row) for action, row in (last or {}).items()]
    return planner(list(range(1, n + 1)), edges)


# --- unknown actions ------------------------------------------------------------------------------


def test_an_untried_action_at_hand_is_tried_first():
    assert chain(1).towards_unknown(1) == 0
    assert chain(1, last={0: (seen(1), 1, 1)}).towards_unknown(1) == 1


def test_else_the_way_leads_to_the_nearest():
    assert chain(4).towards_unknown(1) == 1
    both = {0: (seen(4), 1, 4), 1: (Outcome(END, 1.0, True), 1, 4)}
    assert chain(4, last=both).towards_unknown(1) is None


def test_what_can_be_foreseen_is_tried_later():
    """At look 7 action 1 has done one thing; at look 8 it has done several, and is worth a way."""
    same = [(2, 1, seen(7), 1, 2), (3, 1, seen(7), 1, 3)]
    rest = [(1, 0, seen(8), 1, 4), (2, 0, seen(7), 1, 2), (3, 0, seen(7), 1, 3)]
    end, other = Outcome(END, 1.0, True), Outcome(END, -1.0, True)
    doubt = [(4, 0, seen(8), 1, 4), (5, 1, end, 1, 7), (6, 1, other, 1, 7)]
    symbols = [7, 7, 7, 8, 8, 8, END]
    plans = planner(symbols, same + rest + doubt)
    assert plans.towards_unknown(1) == 1  # nothing is known of either look yet
    plans.folding.count_base()
    assert plans.towards_unknown(1) == 0
    assert plans.towards_unknown(4) == 1


def test_what_differs_between_places_alike_is_expected_to_differ_for_other_actions_too():
    """At look 8 one action wins or loses, the other may do so too; steps back are all the same."""
    end, other = Outcome(END, 1.0, True), Outcome(END, -1.0, True)
    known = [(1, 0, end, 1, 3), (2, 0, other, 1, 3), (2, 1, end, 1, 3), (2, 2, seen(8), 1, 2)]
    edges = [*known, (1, 2, seen(8), 1, 1)]
    plans = planner([8, 8, END], edges[:-1], n_actions=3)
    plans.folding.count_base()
    assert plans._tries_to_surprise(8, 1) == pytest.approx(2.0 / 0.75)
    assert plans._tries_to_surprise(8, 2) == pytest.approx(2.0 / 0.5)
    assert plans.towards_unknown(1) == 1
    plans = planner([8, 8, END], edges, n_actions=3)
    plans.folding.count_base()
    assert plans._tries_to_surprise(8, 2) == pytest.approx(3.0 / 0.25)
    plans.folding.base.add((9, 0), seen(9), 0)  # it happened, but at no clone yet
    assert plans._tries_to_surprise(9, 0) == pytest.approx(1.0 / 0.5)


def test_a_step_counts_by_the_tries_that_it_takes():
    """To 2 by action 0 in one of ten tries, to 3 by two sure steps; both have unknown actions."""
    rare = [(1, 0, seen(9), 9, 1), (1, 0, seen(2), 1, 2)]
    sure = [(1, 1, seen(4), 1, 4), (4, 0, seen(3), 1, 3), (4, 1, seen(3), 1, 3)]
    assert planner([1, 2, 3, 4], rare + sure).towards_unknown(1) == 1
    often = [(1, 0, seen(9), 1, 1), (1, 0, seen(2), 5, 2)]
    assert planner([1, 2, 3, 4], often + sure).towards_unknown(1) == 0


@pytest.mark.parametrize(("n_stays", "action"), [(148, 0), (149, None)])
def test_a_way_of_150_expected_tries_is_none(n_stays, action):
    edges = [(1, 0, seen(1), n_stays, 1), (1, 0, seen(2), 1, 2), (1, 1, seen(1), 1, 1)]
    assert planner([1, 2], edges).towards_unknown(1) == action


def test_no_way_leads_through_an_end():
    edges = [(1, 0, Outcome(END, 0.0, True), 1, 2), (1, 1, seen(1), 1, 1)]
    assert planner([1, END], edges).towards_unknown(1) is None


# --- tests ----------------------------------------------------------------------------------------


def two_chains(n: int, differs: Outcome) -> ClonePlanner:
    """Two chains of one look, 1 to n and n + 1 to 2 n; the last steps differ in their outcome."""
    edges = []
    for first, outcome in ((0, seen(0)), (n, differs)):
        for place in range(1, n):
            edges.append((first + place, 1, seen(0), 1, first + place + 1))
        edges.append((first + n, 0, outcome, 1, first + n))
    return planner([0] * (2 * n), edges)


@pytest.mark.parametrize("differs", [seen(3), seen(0, 1.0), Outcome(0, 0.0, True)])
def test_the_shortest_word_whose_outcomes_differ(differs):
    found = two_chains(3, differs)
    assert found.test(3, 6) == (1, 0)
    assert found.test(2, 5) == (2, 1)
    assert found.test(1, 4) == (3, 1)


def test_clones_that_do_the_same_cannot_be_told_apart():
    assert two_chains(3, seen(0)).test(1, 4) is None


def test_words_have_at_most_twelve_actions():
    assert LONGEST_TEST == 12
    assert two_chains(12, seen(3)).test(1, 13) == (12, 1)
    assert two_chains(13, seen(3)).test(1, 14) is None


def test_what_one_of_them_has_never_done_tells_nothing():
    edges = [(1, 0, seen(3), 1, 1), (2, 1, seen(4), 1, 2)]
    assert planner([0, 0], edges).test(1, 2) is None


def test_the_usual_outcome_counts():
    edges = [(1, 0, seen(3), 1, 1), (1, 0, seen(4), 5, 1), (2, 0, seen(3), 5, 2)]
    assert planner([0, 0], edges).test(1, 2) == (1, 0)
    assert planner([0, 0], edges).test(2, 1) is None  # what 2 does, 1 has done too


def test_after_they_meet_or_leave_the_clones_nothing_differs():
    meet = [(1, 0, seen(5), 1, 3), (2, 0, seen(5), 1, 3), (3, 0, seen(5), 1, 3)]
    assert planner([0, 0, 5], meet).test(1, 2) is None
    apart = [(1, 0, seen(5), 1, 3), (2, 0, seen(5), 1, 4), (3, 0, seen(6), 1, 3)]
    apart += [(4, 0, seen(7), 1, 4)]
    assert planner([0, 0, 5, 5], apart).test(1, 2) == (2, 0)
    undecided = {(2, 0, seen(5)): [(0.0, 3)]}
    assert planner([0, 0, 5, 5], apart, undecided=undecided).test(1, 2) is None


# --- values ---------------------------------------------------------------------------------------


def test_values_are_those_of_the_bellman_equation():
    """Action 1 leads on or stays, each costs one; the end is worth ten."""
    edges = [
        (1, 1, seen(2, -1.0), 3, 2),
        (1, 1, seen(1, -1.0), 1, 1),
        (2, 1, Outcome(END, 10.0, True), 1, 3),
        (2, 0, seen(1, -1.0), 1, 1),
    ]
    found = planner([1, 2, END], edges)
    near = 10.0
    far = (-1.0 + 0.75 * GAMMA * near) / (1.0 - 0.25 * GAMMA)
    lowest = -1.0 / (1.0 - GAMMA)
    np.testing.assert_allclose(found.greedy_values(1), [lowest, far], rtol=1e-5)
    np.testing.assert_allclose(found.greedy_values(2), [-1.0 + GAMMA * far, near], rtol=1e-5)


def test_an_untried_action_is_worth_nothing_more_than_zero_where_rewards_are_positive():
    found = planner([1], [(1, 0, seen(1, 2.0), 1, 1)])
    np.testing.assert_allclose(found.greedy_values(1), [2.0 / (1.0 - GAMMA), 0.0], rtol=1e-5)


def test_nothing_is_known_of_a_node_that_was_not_there():
    assert planner([1], [(1, 0, seen(1), 1, 1)]).greedy_values(7) is None


def test_without_any_step_all_is_worth_zero():
    assert planner([1], []).greedy_values(1).tolist() == [0.0, 0.0]


def test_below_the_clones_a_node_is_worth_what_the_likeliest_clone_is():
    edges = [
        (1, 0, Outcome(END, 10.0, True), 1, 4),
        (1, 1, seen(0, -1.0), 1, 3),  # to a node that is 1 or 2
        (2, 0, Outcome(END, -10.0, True), 1, 4),
        (3, 1, seen(0, -1.0), 1, 3),
    ]
    key = (1, 1, seen(0, -1.0))
    for likeliest, value in ((1, 10.0), (2, -10.0)):
        rivals = [(1.0, likeliest), (0.0, 3 - likeliest)]
        found = planner([0, 0, 0, END], edges, undecided={key: rivals})
        assert found.greedy_values(3)[0] == pytest.approx(value)
