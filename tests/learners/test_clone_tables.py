"""The belief in clones, against all paths through a small world."""

import numpy as np
import pytest
from tests.oracles import belief_by_paths

from tgm.learners.clone_tables import CloneTables
from tgm.planning.clone_planner import ClonePlanner
from tgm.structure.clone_model import FIRST, fold_episodes
from tgm.transition.automaton import BEGIN, END, Happening, Outcome
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
