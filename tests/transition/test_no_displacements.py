"""Laws where there are none."""

import numpy as np

from tgm.files.arrays import ArrayReader
from tgm.transition.no_displacements import NoDisplacements


def test_symbols_have_no_law():
    laws = NoDisplacements(3)
    laws.add(0, np.array([1.0]), 1.0)
    assert not laws.knows(0)
    assert (laws.weight >= 300.0).all()
    assert laws.log_density(np.array([4.0]), 0) == laws.log_broad_density(np.array([4.0])) == 0.0
    assert laws.log_state_density == 0.0
    assert laws.typical_step.size == 0
    features = np.zeros((5, 3))
    assert laws.densities_from(np.zeros(1), 0, features, np.arange(5)).tolist() == [1.0] * 5
    assert laws.to_arrays() == {}
    laws.restore(ArrayReader({}))
