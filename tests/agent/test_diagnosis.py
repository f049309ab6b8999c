"""Whether learning works is decided in one place, in words that say what to do."""

from dataclasses import replace

import pytest

from tgm.agent.diagnosis import (
    Signs,
    diagnose,
    finding_of,
    relevance_in_words,
    remedy_of,
)

SOUND = Signs(n_observations=2000, n_states=25, is_full=False, n_amounts=2, varies=True)


def kinds(**changed):
    return [advice.kind for advice in diagnose(replace(SOUND, **changed))]


def test_nothing_is_said_of_what_works():
    assert kinds() == []
    assert kinds(n_observations=0, n_states=0, varies=False) == []


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ({"n_states": 1, "n_observations": 199}, []),
        ({"n_states": 1, "n_observations": 200}, ["one state"]),
        ({"n_states": 1, "varies": False}, []),
        ({"n_states": 2, "n_observations": 200}, []),
        ({"n_states": 499, "n_observations": 499}, []),
        ({"n_states": 350, "n_observations": 500}, []),
        ({"n_states": 351, "n_observations": 500}, ["state per observation"]),
        ({"is_full": True}, ["limit"]),
        ({"n_amounts": 64}, []),
        ({"n_amounts": 65}, ["features"]),
        ({"n_states": 1, "n_amounts": 100}, ["one state", "features"]),
    ],
)
def test_each_sign_has_its_threshold(signs, expected):
    assert kinds(**signs) == expected


@pytest.mark.parametrize(
    ("signs", "finding", "remedy"),
    [
        ({"n_states": 1}, "one state explains all 2000 observations", "look like noise"),
        ({"n_states": 1900}, "1900 states of 2000 observations", "bandwidth"),
        ({"is_full": True}, "25 states, which is the default limit", "max_states"),
        ({"n_amounts": 100}, "more features than I can weigh: 100", "leave out or combine"),
    ],
)
def test_each_says_what_was_seen_and_what_to_do(signs, finding, remedy):
    (advice,) = diagnose(replace(SOUND, **signs))
    assert finding in advice.finding
    assert remedy in advice.remedy
    assert finding_of(str(advice)) == advice.finding
    assert remedy_of(str(advice)) == advice.remedy


def test_the_shorter_list_of_features_is_named():
    def words(n_used, n):
        return relevance_in_words({f"f{k}": k < n_used for k in range(n)})

    assert words(2, 22) == "2 of 22 features tell states apart: f0, f1"
    assert words(4, 5) == "4 of 5 features tell states apart; left out: f4"
    assert words(3, 3) == "all 3 features tell states apart"
    assert words(0, 2) == "none of 2 features tells states apart"
    assert words(20, 100).endswith("f6, f7 and 12 more")


@pytest.mark.parametrize("n_states", [1, 2000])
def test_of_points_in_a_smooth_world_any_number_is_right(n_states):
    signs = replace(SOUND, n_states=n_states)
    assert len(diagnose(signs)) == 1
    assert diagnose(replace(signs, are_places=False)) == ()
