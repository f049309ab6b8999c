"""Tests of clones that are in doubt: what they have not tried is tried."""

from __future__ import annotations

import numpy as np

from tgm.learners.clone_life import CloneLife
from tgm.learners.clone_rival import Rival
from tgm.memory.symbol_history import SymbolHistory
from tgm.transition.automaton import BEGIN, END, Outcome

ON, CHOICE = 2, 3  # looks after the cue


def life_of(text: str) -> CloneLife:
    """Episodes of a cue, a corridor and a choice: "A1+" is cue A and choice 1, which was right."""
    history = SymbolHistory(1)
    for cue, choice, sign in text.split():
        history.begin("AB".index(cue), np.zeros(1))
        for look in (ON, CHOICE):
            history.add(0, Outcome(look, -0.05, False), np.zeros(1))
        reward = 1.0 if sign == "+" else -1.0
        history.add(int(choice), Outcome(END, reward, True), np.zeros(1))
    life = CloneLife(3, 0.99, history)
    assert life.recall(is_trial=True)
    return life


def corridor(rival: Rival, cue: int) -> None:
    rival.follow(BEGIN, Outcome(cue, 0.0, False))
    for look in (ON, CHOICE):
        rival.follow(0, Outcome(look, -0.05, False))


EPISODES = "B2+ B1- A2- B2+ A2- B2+ B2+ A2- B2+ B1- A2- B2+"


def test_the_arm_that_is_untried_after_this_cue_is_tried():
    life = life_of(EPISODES)
    for cue, untried in ((0, {0, 1}), (1, {0})):  # after A one arm, and to go on at the end
        rival = Rival(life, life.history.episodes[-1])
        corridor(rival, cue)
        assert rival.choose() in untried


def test_it_follows_an_episode_that_goes_on_from_its_beginning():
    life = life_of(EPISODES)
    life.history.begin(0, np.zeros(1))
    for look in (ON, CHOICE):
        life.history.add(0, Outcome(look, -0.05, False), np.zeros(1))
    followed = Rival(life, life.history.episodes[-1])
    other = Rival(life, life.history.episodes[0])
    corridor(other, 0)
    assert followed.choose() == other.choose() is not None


def test_it_says_nothing_where_the_clones_do_not_know_what_happened():
    life = life_of(EPISODES)
    rival = Rival(life, life.history.episodes[-1])
    rival.follow(BEGIN, Outcome(7, 0.0, False))
    assert rival.choose() is None
    rival.follow(0, Outcome(ON, -0.05, False))
    assert rival.choose() is None
