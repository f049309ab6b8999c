"""The posterior of a symbol against the general filter, which weighs all states."""

import numpy as np
import pytest

from tgm.inference.step_filter import StepFilter
from tgm.inference.symbol_filter import SymbolFilter
from tgm.memory.step_memory import StepMemory
from tgm.perception import background
from tgm.perception.symbol_states import SymbolStates
from tgm.transition.no_displacements import NoDisplacements
from tgm.transition.sparse import START, START_ACTION, SparseTransitions
from tgm.world_model import WorldModel

ROW_PRIOR = 0.5


def world(n_states: int = 6, seed: int = 0) -> WorldModel:
    rng = np.random.default_rng(seed)
    states, transitions = SymbolStates(1), SparseTransitions(2, 0.9)
    model = WorldModel(states, transitions, NoDisplacements(2), StepMemory(5))
    for number in range(n_states):
        states.add(model.add_state(0), np.array([float(number)]), 1.0)
    for _ in range(30):
        before, action, after = rng.integers(n_states), rng.integers(2), rng.integers(n_states)
        transitions.add(int(before), int(action), int(after), 1.0, 0.0, 0.0)
    transitions.add(START, START_ACTION, 1, 3.0, 0.0, 0.0)
    return model


def filters(model: WorldModel, most: int = 100) -> tuple[SymbolFilter, StepFilter]:
    limits = {"max_states": None, "most_states": most}
    return (
        SymbolFilter(model, model.states, ROW_PRIOR, **limits),
        StepFilter(model, ROW_PRIOR, filtering=True, **limits),
    )


@pytest.fixture(autouse=True)
def no_outliers(monkeypatch):
    """A symbol is never misread; the general filter must not think so either."""
    monkeypatch.setattr(background, "PRIOR_OUTLIERS", 0.0)


CASES = [([], None), ([], 1), ([(2, 1.0)], 0), ([(2, 1.0)], 1), ([(0, 0.7), (3, 0.3)], 1)]


@pytest.mark.parametrize(("before", "action"), CASES)
@pytest.mark.parametrize("number", range(6))
def test_a_known_symbol_is_its_state(before, action, number):
    model = world()
    point, departure = np.array([float(number)]), None if action is None else np.zeros(1)
    quick, general = filters(model)
    quick = quick.posterior(point, before, action, departure)
    slow = general._full(point, model.states.log_densities(point), before, action, departure)
    assert quick.after == [(number, 1.0)]
    assert quick.newness == 0.0
    assert slow.after[0][0] == number
    assert slow.after[0][1] == pytest.approx(1.0)
    assert quick.log_density == pytest.approx(slow.log_density, abs=1e-6)
    left = {(s, t): p for s, t, p in quick.entries}
    if len(before) == 1:
        assert left == pytest.approx({(s, t): p for s, t, p in slow.entries})
    assert sum(left.values()) == pytest.approx(sum(p for _, p in before))


@pytest.mark.parametrize(("before", "action"), CASES)
def test_a_symbol_never_seen_is_a_new_state(before, action):
    model, point = world(), np.array([77.0])
    departure = None if action is None else np.zeros(1)
    quick, slow = (one.posterior(point, before, action, departure) for one in filters(model))
    assert quick.newness == 1.0
    assert slow.newness == pytest.approx(1.0)
    assert quick.after == slow.after == []
    assert [state for state, _ in quick.new_from] == [state for state, _ in before]
    assert quick.log_density < 0


def test_where_no_state_may_be_added_nothing_explains_it():
    model = world()
    found = filters(model, most=6)[0].posterior(np.array([77.0]), [(0, 1.0)], 0, np.zeros(1))
    assert found.after == []
    assert found.newness == 0.0


def test_the_probabilities_of_all_symbols_sum_to_one_at_most():
    model = world()
    quick = filters(model)[0]
    points = [np.array([float(number)]) for number in [*range(6), 77]]
    logs = [quick.posterior(point, [(2, 1.0)], 1, np.zeros(1)).log_density for point in points]
    known, new = np.exp(logs[:-1]).sum(), 7 * np.exp(logs[-1])
    assert known + new == pytest.approx(1.0)


def test_the_first_symbol_of_all_is_a_state():
    states = SymbolStates(1)
    model = WorldModel(states, SparseTransitions(2, 0.9), NoDisplacements(2), StepMemory(5))
    assert filters(model)[0].posterior(np.zeros(1), [], None, None).newness == 1.0


def test_no_symbol_is_misread():
    quick, slow = filters(world())
    assert not quick.may_misread
    assert slow.may_misread
