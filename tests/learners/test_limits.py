"""How many states an agent may have by default."""

import pytest

from tgm.learners.limits import most_shared_states, most_states, most_symbols


def test_by_hand():
    assert most_states(2) == most_shared_states(2) == 2000
    assert most_states(200) == 12_000_000 // (1 + 200 + 200 * 201 // 2)  # a covariance each
    assert most_shared_states(10_000) == 1200  # a mean each
    assert most_symbols(1) == 100_000
    assert most_symbols(50_000) == 10_000


@pytest.mark.parametrize("most", [most_states, most_shared_states, most_symbols])
def test_two_may_be_told_apart_however_wide(most):
    assert most(10**10) == 2
