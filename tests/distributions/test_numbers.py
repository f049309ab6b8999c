"""Arrays that are also read and written number by number."""

import copy
import pickle

import numpy as np
import pytest

from tgm.distributions.numbers import NumberByNumber


class Owner(NumberByNumber):
    VIEWED = ("mean", "_weight")

    def __init__(self):
        self.mean = np.arange(6.0).reshape(3, 2)
        self._weight = np.ones(3)
        self.name = "an owner"
        self._view()


def test_numbers_are_those_of_the_arrays_row_by_row():
    owner = Owner()
    owner._mean_numbers[3] = 7.5
    owner._weight[2] = 2.0
    assert owner.mean.tolist() == [[0.0, 1.0], [2.0, 7.5], [4.0, 5.0]]
    assert owner._weight_numbers.tolist() == [1.0, 1.0, 2.0]


def test_views_follow_other_arrays():
    owner = Owner()
    owner.mean = np.zeros((4, 2))
    owner._view()
    owner._mean_numbers[7] = 1.0
    assert owner.mean[3, 1] == 1.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_has_numbers_of_its_own(copied):
    owner = Owner()
    other = copied(owner)
    other._mean_numbers[0] = -1.0
    assert other.mean[0, 0] == -1.0
    assert owner.mean[0, 0] == 0.0
    assert other.name == "an owner"
