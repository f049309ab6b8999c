"""A change of structure as a value: it keeps all that is known, and changes nothing by itself."""

import numpy as np
import pytest
from tests.structure.test_search import assert_same, one_state_for_two_places

from tgm.structure.revision import Relabelling, Revision


def proposed(n_left: int = 30, n_right: int = 20, limit: int = 20):
    """The world, and a split of its state of two places at 0.5."""
    learner, state, _, _ = one_state_for_two_places(n_left, n_right, limit)
    steps = learner.world.memory.into(state)
    side = np.array([step.arrival[0] > 0.5 for step in steps])
    side[0] = False  # both sides are seen, whichever steps are kept
    return learner, learner._search._halves(state, steps, side)


@pytest.mark.parametrize(("n_left", "n_right", "limit"), [(7, 4, 20), (30, 20, 20), (12, 30, 40)])
def test_the_halves_of_a_split_know_together_what_the_whole_knew(n_left, n_right, limit):
    learner, revision = proposed(n_left, n_right, limit)
    state, child = revision.states
    whole, both = (
        learner.world.states.moments(state),
        revision.moments[state] + revision.moments[child],
    )
    assert both.weight == pytest.approx(float(whole.weight))
    np.testing.assert_allclose(both.mean, whole.mean)
    if n_left + n_right <= limit:  # all steps are kept, so that each point is in its half
        assert_same(both, whole)


def test_every_point_is_shared_between_the_two_halves_alone():
    _, revision = proposed()
    assert isinstance(revision, Revision)
    for x in (-1.0, 0.0, 0.5, 1.0, 2.0):
        belief = revision.halves(np.array([x, 0.0]))
        assert {state for state, _ in belief} <= set(revision.states)
        assert sum(share for _, share in belief) == pytest.approx(1.0)


def test_relabelled_steps_keep_their_weight_and_are_computed_once():
    _, revision = proposed()
    assert len(revision.relabellings) > 10
    for relabelling in revision.relabellings:
        step = relabelling.step
        entries, before, after = relabelling.relabelled
        assert sum(e[2] for e in entries) == pytest.approx(sum(e[2] for e in step.entries))
        assert sum(p for _, p in before) == pytest.approx(sum(p for _, p in step.before))
        assert sum(p for _, p in after) == pytest.approx(sum(p for _, p in step.after))
        assert relabelling.relabelled is relabelling.relabelled


def test_a_proposal_changes_nothing():
    learner, _, _, _ = one_state_for_two_places(7, 4)
    before = {name: array.copy() for name, array in learner.world.to_arrays().items()}
    steps = learner.world.memory.into(0)
    revision = learner._search._halves(0, steps, np.array([s.arrival[0] > 0.5 for s in steps]))
    assert isinstance(revision.relabellings[0], Relabelling)
    for name, array in learner.world.to_arrays().items():
        np.testing.assert_array_equal(array, before[name])
    assert all(not any(state == 2 for state, _ in step.after) for step in steps)
