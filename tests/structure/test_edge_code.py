"""What it costs to say where edges lead, against an integral over the share that lead back."""

import itertools
import math

import numpy as np
import pytest
from tests.oracles import edges_log_probability
from tests.structure.test_folding import GOAL, episode

from tgm.structure.clone_model import folding_evidence, plain_evidence
from tgm.structure.cue_model import cued_foldings
from tgm.structure.edge_code import log_edges, log_joined_edges, log_share
from tgm.structure.folding import Folding, labelled_folding
from tgm.transition.automaton import BEGIN, END, Automaton, Outcome
from tgm.transition.clone_evidence import OutcomeBase


def walk(seed: int, n_places: int = 6, n_looks: int = 2):
    """Episodes in a world of some places that look alike, and the place of each step."""
    rng = np.random.default_rng(seed)
    ways = rng.integers(n_places, size=(n_places, 2))
    episodes, labels = [], []
    for _ in range(4):
        path, actions = [0], rng.integers(2, size=8).tolist()
        for action in actions:
            path.append(int(ways[path[-1], action]))
        looks = [place % n_looks for place in path]
        steps = [*zip(actions, looks[1:], strict=True), (0, GOAL)]
        episodes.append(episode(looks[0], *steps))
        labels.append([*path, "end"])
    return episodes, labels


@pytest.mark.parametrize("seed", range(8))
def test_edges_are_drawn_in_the_order_in_which_places_are_reached(seed):
    folding = labelled_folding(*walk(seed), 0.5)
    graph, order, edges = folding.graph, [0], []
    for node in order:
        for _, row in sorted(graph.rows[node].items()):
            for outcome, (_, target) in row.items():
                if outcome.ended:
                    continue
                look = graph.symbols[target]
                is_alike = look == graph.symbols[node]
                others = [n for n in order[1:] if graph.symbols[n] == look and n != node]
                edges.append(("back" if target == node else "on", is_alike, len(others)))
                if target not in order:
                    order.append(target)
    assert any(edge[1] for edge in edges)
    assert log_edges(folding) == pytest.approx(edges_log_probability(edges))


def test_all_graphs_of_one_look_and_two_actions_are_one_in_all():
    """The first place is as likely to lead back as not; new places do nothing yet."""
    total = 0.0
    for first, second in itertools.product(range(1, 4), repeat=2):
        if first > 2 or second > max(first, 1) + 1:
            continue  # another name of the same graph
        graph = Automaton()
        graph.symbols += [0, 0, 0]
        graph.rows += [{}, {}, {}]
        graph.rows[0] = {BEGIN: {Outcome(0, 0.0, False): [1, 1]}}
        for action, target in enumerate((first, second)):
            graph.rows[1][action] = {Outcome(0, 0.0, False): [1, target]}
        folding = Folding(graph, OutcomeBase(0.5))
        for node in (1, 2, 3):
            folding.accept(node)
        total += math.exp(log_edges(folding))
    assert total == pytest.approx(1.0)


def test_clones_do_not_pay_for_their_names():
    """A row of places of one look: each is new, one in all that could be meant by then."""
    n = 10
    episodes = [episode(0, *[(0, 0)] * (n - 1), (0, GOAL))]
    folding = labelled_folding(episodes, [[*range(n), END]], 0.5)
    wanted = -math.lgamma(n) + log_share(0, n - 1)  # ln 1 + ln 2 + ... + ln (n - 1)
    assert log_edges(folding) == pytest.approx(wanted)


@pytest.mark.parametrize("seed", range(5))
def test_with_one_place_for_each_look_both_ways_to_count_agree(seed):
    episodes, _ = walk(seed, n_looks=3)
    labels = [[END if o.ended else o.symbol for _, o in one] for one in episodes]
    folding = labelled_folding(episodes, labels, 0.5)
    graph = folding.graph
    rows = [
        (graph.symbols[node], row) for node in folding.clones for row in graph.rows[node].values()
    ]
    assert log_joined_edges(rows) == pytest.approx(log_edges(folding))


def test_shares_are_those_of_a_sequence():
    assert log_share(0, 0) == 0.0
    assert log_share(2, 1) == pytest.approx(math.log(1 / 2 * 2 / 3 * 1 / 4))


def test_a_corridor_is_dearer_than_one_place_where_nothing_tells_them_apart():
    looks = [(0, 2)] * 6
    episodes = [episode(cue, *looks, (0, GOAL)) for cue in (0, 1)] * 3
    assert all(
        folding_evidence(one) < plain_evidence(episodes) for one in cued_foldings(episodes, 0.5)
    )
