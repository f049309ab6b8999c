"""What is foreseen of places to which another way has led, with numbers worked out by hand."""

import math

import pytest
from tests.structure.rooms import seen, walled

from tgm.structure.clone_model import folding_evidence
from tgm.structure.edge_code import log_edges
from tgm.structure.foresight import Foresight
from tgm.structure.reckoned_map import reckoned_folding
from tgm.transition.automaton import BEGIN, Happening, Outcome
from tgm.transition.clone_evidence import OutcomeBase


def there_and_back(*looks, middle=None, reward=0.0):
    """Along a corridor by action 0, back by action 1; `middle` is seen on the way back."""
    back = list(looks[-2::-1])
    if middle is not None:
        back[0] = middle
    on = [Happening(0, seen(look)) for look in looks[1:]]
    home = [Happening(1, Outcome(look, reward, False)) for look in back]
    return [Happening(BEGIN, seen(looks[0])), *on, *home]


def foresight_of(folding):
    """After all rows of a folding, in the order in which they are counted."""
    assert folding.reckoning is not None
    foresight, base = Foresight(folding, folding.reckoning), OutcomeBase(folding.base.strength)
    graph = folding.graph
    for node in graph.reachable(folding.clones):
        for action, row in graph.rows[node].items():
            if action != BEGIN:
                foresight.add(base, node, action)
                base.add_row((graph.symbols[node], action), row)
    return foresight


def reckoned(*episodes):
    return reckoned_folding(episodes, 0.5, folding_evidence, None)


def test_the_way_back_is_foreseen():
    folding = reckoned(*[there_and_back(0, 1, 1, 1, 2)] * 3)
    # Four ways back are foreseen. That of look 2 is the first of its kind, and so is one of look 1;
    # then 0.5 / 2 becomes 2 / 2, and 1.5 / 3.5 becomes 3 / 3.5.
    second, third = math.log(1.0 / 0.25), math.log(3.0 / 1.5)
    assert len(folding.clones) == 6
    assert foresight_of(folding).gain == pytest.approx(second + third + math.log(1 / 5))


def test_a_place_that_looks_otherwise_is_a_miss():
    folding = reckoned(*[there_and_back(0, 1, 2)] * 3, there_and_back(0, 1, 2, middle=3))
    # To look 0 from two looks of the place in the middle, to 1 from look 2; to 3 as a surprise.
    assert foresight_of(folding).gain == pytest.approx(math.log(3 * 2 / math.factorial(5)))


def test_another_reward_is_not_foreseen():
    same = reckoned(*[there_and_back(0, 1, 1, 1, 2)] * 3)
    other = reckoned(*[there_and_back(0, 1, 1, 1, 2)] * 3, there_and_back(0, 1, 1, reward=5.0))
    assert foresight_of(other).gain < foresight_of(same).gain


@pytest.mark.parametrize("seed", range(3))
def test_it_is_a_part_of_the_evidence(seed):
    folding = reckoned_folding(walled(20, 30, seed)[0], 0.5, folding_evidence, None)
    foreseen, reckoning = foresight_of(folding).gain, folding.reckoning
    edges = log_edges(folding)
    folding.reckoning = None
    rows = folding_evidence(folding) - log_edges(folding)
    folding.reckoning = reckoning
    assert foreseen > 0.0
    assert folding_evidence(folding) == pytest.approx(rows + edges + foreseen)
