"""The verdicts on a learned map, on maps drawn by hand."""

from dataclasses import dataclass

import numpy as np
import pytest

from tgm.envs import Maze
from tgm.experiments.structure import compare_structure

CORRIDOR = Maze("corridor", ("#####", "#S.G#", "#####"))
CELLS = [(1, 1), (2, 1), (3, 1)]


@dataclass
class DrawnMap:
    """A learned map given by its means; each state's evidence is a list of (action, successor)."""

    means: np.ndarray
    transition_counts: np.ndarray
    standard_deviation: float = 0.15

    @property
    def n_states(self):
        return len(self.means)

    @property
    def covariances(self):
        return np.tile(self.standard_deviation**2 * np.eye(2), (self.n_states, 1, 1))

    @property
    def transition_matrix(self):
        counts = self.transition_counts + 0.01
        return counts / counts.sum(axis=-1, keepdims=True)


def drawn(means, steps=(), standard_deviation=0.15) -> DrawnMap:
    counts = np.zeros((5, len(means), len(means)))
    for action, before, after in steps:
        counts[action, before, after] += 1
    return DrawnMap(np.array(means, dtype=float).reshape(-1, 2), counts, standard_deviation)


RIGHT_STEPS = [(3, 0, 1), (3, 1, 2), (2, 2, 1), (2, 1, 0), (0, 0, 0)]


def test_an_exact_map():
    report = compare_structure(drawn([(1.1, 1), (2, 0.9), (3, 1)], RIGHT_STEPS), CORRIDOR)
    assert report.is_exact
    assert set(report.cells.values()) == {"learned"}
    # Three cells times five actions, without eating at the goal; five were tried.
    assert report.transition_counts == {"right": 5, "wrong": 0, "untried": 9}


def test_a_wrong_successor():
    report = compare_structure(drawn(CELLS, [*RIGHT_STEPS[1:], (3, 0, 0)]), CORRIDOR)
    assert report.transitions[(1, 1), 3] == "wrong"
    assert not report.is_exact


def test_a_duplicate_a_fused_and_a_missing_cell():
    twice = compare_structure(drawn([*CELLS, (3.2, 1.1)]), CORRIDOR)
    assert [twice.cells[cell] for cell in CELLS] == ["learned", "learned", "duplicated"]
    wide = compare_structure(drawn([(1.4, 1), (3, 1)], standard_deviation=0.5), CORRIDOR)
    assert [wide.cells[cell] for cell in CELLS] == ["learned", "fused", "learned"]
    narrow = compare_structure(drawn([(1, 1), (3, 1)]), CORRIDOR)
    assert [narrow.cells[cell] for cell in CELLS] == ["learned", "missing", "learned"]
    assert not any(report.is_exact for report in (twice, wide, narrow))


def test_a_state_outside_all_cells_is_not_exact():
    report = compare_structure(drawn([*CELLS, (0, 0)], RIGHT_STEPS), CORRIDOR)
    assert report.state_cells[-1] is None
    assert not report.is_exact


def test_nothing_learned():
    report = compare_structure(drawn([]), CORRIDOR)
    assert report.counts == {"learned": 0, "duplicated": 0, "fused": 0, "missing": 3}
    assert report.to_dict()["exact"] is False
    assert report.to_dict()["cell_verdicts"][0] == {"x": 1, "y": 1, "verdict": "missing"}


@pytest.mark.parametrize("action", range(5))
def test_the_last_bite_has_no_successor(action):
    report = compare_structure(drawn(CELLS, RIGHT_STEPS), CORRIDOR)
    assert (((3, 1), action) in report.transitions) == (action != 4)
