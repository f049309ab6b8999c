"""What is done of what the search for structure proposes."""

import pytest
from tests.structure.test_search import one_state_for_two_places


@pytest.mark.parametrize(("most", "n_states"), [(2, 2), (3, 3)])
def test_no_state_is_split_beyond_the_bound(most, n_states):
    learner, state, _, _ = one_state_for_two_places(9, 9)
    learner._reviser._most_states = most
    learner._search.touched.add(state)
    learner._reviser.revise(36)
    assert learner.world.states.n_alive == n_states


def test_a_state_is_looked_at_once():
    learner, state, _, _ = one_state_for_two_places(9, 0)
    learner._search.touched.add(state)
    learner._reviser.revise(36)
    assert learner._search.touched == set()
    assert learner._search.due() == []
    assert learner.world.states.n_alive == 2
