"""A learner around another one hands on every question and every answer."""

import numpy as np
import pytest

from tgm.learners.outer import OuterLearner

QUESTIONS = (
    "world",
    "planner",
    "state_ids",
    "means",
    "covariances",
    "transition_matrix",
    "transition_counts",
    "end_probabilities",
    "feature_use",
    "is_full",
    "n_kept",
    "n_fixed",
)
CALLS = {
    "choose": (7, np.random.default_rng(0)),
    "learn": ((), 3),
    "greedy_values": (),
    "outlook": (np.ones(2),),
    "belief": (np.ones((1, 2)),),
    "filtered_beliefs": (np.ones((1, 2)), [None]),
    "placed": (np.ones((1, 2)), [None]),
    "action_values": (np.ones(2),),
    "values_of": (np.ones((1, 2)), np.ones((1, 3))),
    "forecast": (np.ones((1, 2)),),
    "snapshot": (),
    "excerpt": ([1], [(1, 0)]),
}


class Inner:
    """Answers each question with its name, and each call with its name and arguments."""

    def __init__(self) -> None:
        self.n_ended = 0

    def end_episode(self) -> None:
        self.n_ended += 1

    def __getattr__(self, name):
        return f"its {name}" if name in QUESTIONS else lambda *args: (name, *args)


@pytest.fixture
def outer() -> OuterLearner:
    learner = OuterLearner()
    learner.inner = Inner()
    return learner


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_known_is_what_the_inner_one_knows(outer, name):
    assert getattr(outer, name) == f"its {name}"


@pytest.mark.parametrize("name", CALLS)
def test_what_is_asked_is_handed_on_in_its_order(outer, name):
    answer = getattr(outer, name)(*CALLS[name])
    assert answer[0] == name
    assert len(answer) == 1 + len(CALLS[name])
    for given, asked in zip(answer[1:], CALLS[name], strict=True):
        assert given is asked


def test_the_end_of_an_episode_is_told_once(outer):
    outer.end_episode()
    assert outer.inner.n_ended == 1
