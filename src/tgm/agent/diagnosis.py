"""Whether learning works: the one place that decides, and says in words what to do if not.

Warnings, `LearningInfo`, run directories, the health view and the commands all use these words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tgm.learners.limits import KNOWN_TO_WORK

Kind = Literal["one state", "state per observation", "limit", "features"]

ONE_STATE: Kind = "one state"
PER_OBSERVATION: Kind = "state per observation"
LIMIT: Kind = "limit"
FEATURES: Kind = "features"

ENOUGH_FOR_ONE = 200  # observations after which one state should have become several
ENOUGH_FOR_MANY = 500  # observations after which some place should have been seen again
NEARLY_ALL = 0.7  # of the observations: with more states than that, places are not recognised
MOST_NAMED = 8  # features in one sentence


@dataclass(frozen=True)
class Signs:
    """What is looked at.

    Attributes:
        n_observations: so far, those of resets included.
        n_states: found so far.
        is_full: whether there are as many as the default allows.
        n_amounts: features that tell states apart and are not exact.
        varies: whether observations differ at all.
        are_places: whether states are places; of points in a smooth world any number is right.
    """

    n_observations: int
    n_states: int
    is_full: bool
    n_amounts: int
    varies: bool
    are_places: bool = True


@dataclass(frozen=True)
class Advice:
    """A sign that learning does not work, and what to do.

    Attributes:
        kind: each is said once.
        finding: what was seen, a clause without a full stop.
        remedy: what it means and what to do, one or more sentences.
    """

    kind: Kind
    finding: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.finding}. {self.remedy}"


def diagnose(signs: Signs) -> tuple[Advice, ...]:
    """All that is seen to be wrong; () if nothing is."""
    found = []
    is_one = signs.n_states == 1 and signs.varies and signs.are_places
    if is_one and signs.n_observations >= ENOUGH_FOR_ONE:
        found.append(
            Advice(
                ONE_STATE,
                f"one state explains all {signs.n_observations} observations",
                "The observations look like noise: no feature tells states apart. If they are "
                "nothing but noise, this is right. If not, explore more, observe something that "
                "actions change by more than the noise, or set bandwidth to the distance of two "
                "places",
            )
        )
    is_many = signs.n_states > NEARLY_ALL * signs.n_observations and signs.are_places
    if is_many and signs.n_observations >= ENOUGH_FOR_MANY:
        found.append(
            Advice(
                PER_OBSERVATION,
                f"there is a state per observation: {signs.n_states} states of "
                f"{signs.n_observations} observations",
                "Hardly any place was recognised when it was seen again. Leave out features that "
                "are noise, times or counters. Where observations flow and never repeat, such as "
                "angles and speeds, set bandwidth to a distance within which they count as one "
                "place, or round them to a grid. If the world really has that many states, it "
                "needs more steps",
            )
        )
    if signs.is_full:
        found.append(
            Advice(
                LIMIT,
                f"there are {signs.n_states} states, which is the default limit; no more are made",
                "Probably similar observations are not recognised as one place: leave out features "
                "that are noise, or set bandwidth to a distance within which observations count as "
                "one place. If the world really has more states, set max_states",
            )
        )
    if signs.n_amounts > KNOWN_TO_WORK:
        found.append(too_many_features(signs.n_amounts))
    return tuple(found)


def too_many_features(n_amounts: int) -> Advice:
    """What is said of so many features that are amounts."""
    return Advice(
        FEATURES,
        f"more features than I can weigh: {n_amounts}",
        f"Up to {KNOWN_TO_WORK} features that tell states apart and vary continuously are known to "
        "work. With more of them one place may become several states, and a step takes longer: "
        "leave out or combine features that do not tell places apart",
    )


def finding_of(text: str) -> str:
    """The first part of an advice as text: what was seen, without what to do."""
    return text.partition(". ")[0]


def remedy_of(text: str) -> str:
    """The rest of it."""
    return text.partition(". ")[2]


def relevance_in_words(relevance: Mapping[str, bool]) -> str:
    """Which features tell states apart, as one clause: "2 of 22 features tell states apart: x, y".

    The shorter list is named: those that do, or those that do not.
    """
    used = [name for name, is_used in relevance.items() if is_used]
    left_out = [name for name, is_used in relevance.items() if not is_used]
    if not left_out:
        return f"all {len(relevance)} features tell states apart"
    summary = f"{len(used)} of {len(relevance)} features tell states apart"
    if not used:
        return f"none of {len(relevance)} features tells states apart"
    if len(used) <= len(left_out):
        return f"{summary}: {_listed(used)}"
    return f"{summary}; left out: {_listed(left_out)}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
