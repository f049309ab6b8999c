"""Which feature of the first look of an episode decides what happens later, at which look.

Where the first looks have too many values, what each of them leads to is never seen often enough.
A later look may ask for one feature of it alone: then there are two rows to learn, or a few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from tgm.distributions import FloatArray, IntArray
from tgm.perception.exact_relevance import (
    MOST_VARYING,
    RELEVANCE_NEEDED,
    evidence_by_any_strength,
    joined,
    label,
)
from tgm.structure.cue_model import MOST_CUES
from tgm.transition.automaton import Episode

ASKING = 0.5  # probability that a look asks for a feature, before anything is seen
CUE_NEEDED = 5.0  # nats by which features of the first look must explain what happens


class Cue(NamedTuple):
    """What later looks ask the first look of an episode for.

    Attributes:
        looks: (n, n_features) those that ask.
        features: (n,) what each of them asks for.
    """

    looks: FloatArray
    features: IntArray


class _Steps(NamedTuple):
    """Steps after the first look, or from it; labels from 0.

    Attributes:
        look: (n,) where each began; from a first look, what that looks like.
        action: (n,)
        outcome: (n,) look that was reached, reward, and end.
        episode: (n,) number of the episode.
    """

    look: IntArray
    action: IntArray
    outcome: IntArray
    episode: IntArray


def find_cue(episodes: Sequence[Episode], points: Sequence[Sequence[FloatArray]]) -> Cue | None:
    """The cue, if the evidence is for it.

    With a cue all first looks are one place, and each later look may ask for one of their features;
    without one each look is a place. Where first looks have few values, clones may remember which
    it was as a whole: then later looks that ask for all of it are a third hypothesis.
    """
    first = np.array([one[0] for one in points])
    varying = np.flatnonzero(np.any(first != first[0], axis=0))
    if not 1 < len(varying) <= MOST_VARYING:
        return None
    lengths = [len(one) for one in points]
    every = np.array([point for one in points for point in one])
    looks, found_at = np.unique(every, axis=0, return_inverse=True)
    names = found_at.ravel()
    begins = np.repeat(names[np.cumsum([0, *lengths[:-1]])], lengths)
    is_first = names == begins
    begun, later = _steps(episodes, np.where(is_first, len(looks), names), begins)
    whole = np.unique(first, axis=0, return_inverse=True)[1].ravel()
    values = [*(label(first[:, i]) for i in varying), whole]
    nats, nats_of_whole, found = 0.0, 0.0, dict[int, int]()
    for look in _with_several_outcomes(later):
        *of_each, of_whole = _gains(later, look, values)
        gain = float(logsumexp(of_each) - np.log(len(of_each)))
        nats, nats_of_whole = nats + _asking(gain), nats_of_whole + _asking(of_whole)
        if gain > RELEVANCE_NEEDED:
            found[look] = int(varying[int(np.argmax(of_each))])
    is_by_whole = whole.max() < MOST_CUES and nats_of_whole > nats
    is_needed = min(nats, nats + _gain_of_one_place(begun)) > CUE_NEEDED
    if is_by_whole or not is_needed or not found:
        return None
    chosen = np.array(list(found), dtype=np.intp)
    return Cue(looks[chosen], np.array(list(found.values()), dtype=np.intp))


def _steps(episodes: Sequence[Episode], names: IntArray, begins: IntArray) -> tuple[_Steps, _Steps]:
    """Those from the first look of an episode, which may come again, and those from other looks.

    Args:
        episodes: n looks in all.
        names: (n,) of looks in order of time; the first one of its episode has the highest.
        begins: (n,) what the first one of each episode looks like.
    """
    rows: list[tuple[int, int, int, float, bool, int, int]] = []
    at = 0
    for number, episode in enumerate(episodes):
        for i, (done, outcome) in enumerate(episode[1:], at + 1):
            there = -1 if outcome.ended else int(names[i])
            before, first = int(names[i - 1]), int(begins[at])
            rows.append((before, done, there, outcome.reward, outcome.ended, number, first))
        at += len(episode)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    look, actions, reached, rewards, ends, episode_of, begun_at = columns
    parts = [label(actions), joined(label(reached), label(rewards), label(ends)), episode_of]
    is_first = look == names.max()
    begun = _Steps(begun_at[is_first], *(one[is_first] for one in parts))
    return begun, _Steps(look[~is_first], *(one[~is_first] for one in parts))


def _with_several_outcomes(later: _Steps) -> list[int]:
    """Looks at which an action had several outcomes: others ask for nothing."""
    rows = np.unique(np.stack([later.look, later.action, later.outcome], axis=1), axis=0)
    kinds, n_outcomes = np.unique(rows[:, :2], axis=0, return_counts=True)
    return sorted(set(kinds[n_outcomes > 1, 0].tolist()))


def _gains(later: _Steps, look: int, values: Sequence[IntArray]) -> FloatArray:
    """(n_varying,) nats for rows by action and by the value of a feature, at one look."""
    at = later.look == look
    action, outcome, episode = later.action[at], label(later.outcome[at]), later.episode[at]
    contexts = [label(action)] + [joined(label(action), one[episode]) for one in values]
    evidence = evidence_by_any_strength(np.stack(contexts, axis=1), outcome)
    return np.asarray(evidence[1:] - evidence[0])


def _gain_of_one_place(begun: _Steps) -> float:
    """Nats for rows by action from all first looks together, against those of each of them."""
    action, outcome = label(begun.action), label(begun.outcome)
    contexts = np.stack([action, joined(action, label(begun.look))], axis=1)
    together, apart = evidence_by_any_strength(contexts, outcome)
    return float(together - apart)


def _asking(gain: float) -> float:
    """Nats for a look that may ask, given those for one that does."""
    return float(np.logaddexp(np.log1p(-ASKING), np.log(ASKING) + gain))
