"""The normal-gamma family, against a sum over means and precisions."""

import numpy as np
import pytest
from tests.oracles import normal_gamma_log_evidence

from tgm.distributions.normal_gamma import NormalGamma, log_evidence, posterior

PRIOR = NormalGamma(-0.5, 0.3, 0.8, 0.2)
VALUES = {"one": [0.4], "equal": [-1.0] * 4, "spread": [-1.3, 0.2, 0.9, 2.0, -0.4]}


def sums(values):
    values = np.array(values)
    return float(len(values)), float(values.sum()), float(values @ values)


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_the_evidence_is_that_of_the_oracle(values):
    found = log_evidence(PRIOR, *sums(values))
    assert found == pytest.approx(normal_gamma_log_evidence(np.array(values), *PRIOR), abs=1e-5)


def test_nothing_is_learned_from_nothing():
    assert posterior(PRIOR, 0.0, 0.0, 0.0) == PRIOR
    assert log_evidence(PRIOR, 0.0, 0.0, 0.0) == 0.0


def test_knowledge_is_addition():
    first, second = VALUES["equal"], VALUES["spread"]
    at_once = posterior(PRIOR, *sums(first + second))
    one_by_one = posterior(posterior(PRIOR, *sums(first)), *sums(second))
    assert tuple(one_by_one) == pytest.approx(tuple(at_once))
    chain = log_evidence(PRIOR, *sums(first)) + log_evidence(
        posterior(PRIOR, *sums(first)), *sums(second)
    )
    assert chain == pytest.approx(log_evidence(PRIOR, *sums(first + second)))
