"""The filter over maps, against all ways to say which steps moved, and against the cells."""

import itertools

import numpy as np
import pytest
from tests.oracles import all_walks
from tests.structure.rooms import seen, walk, walled

from tgm.structure import place_filter
from tgm.structure.place_filter import PlaceFilter, filtered_reckoning
from tgm.structure.reckoning import axes_of
from tgm.transition.automaton import BEGIN, Happening, Outcome

AXES = {0: (0, -1), 1: (0, 1), 2: (1, -1), 3: (1, 1)}


def places_of(reckoning, episode, start=None):
    """The place of each step."""
    place, look = start or reckoning.beginning(episode[0].outcome), episode[0].outcome.symbol
    found = [place]
    for action, outcome in episode[1:]:
        place, look = reckoning.after(place, look, action, outcome), outcome.symbol
        found.append(place)
    return found


def same_up_to_a_shift(places, cells):
    """Whether places are cells, one for one."""
    pairs = set(zip(places, cells, strict=True))
    return len(pairs) == len(set(places)) == len(set(cells))


@pytest.mark.parametrize("seed", range(6))
def test_the_likeliest_map_is_that_of_all_walks(seed, monkeypatch):
    monkeypatch.setattr(place_filter, "HOPELESS", 1e9)
    monkeypatch.setattr(place_filter, "MOST_MAPS", 10**6)
    episode, _ = walk(9, seed)
    steps = [(action, outcome.symbol) for action, outcome in episode]
    looks = [look for _, look in steps]
    shares = {look: np.log(looks.count(look) / len(looks)) for look in looks}
    found = PlaceFilter(AXES, shares)
    found.begin((0, 0, 0, 0), looks[0])
    for action, look in steps[1:]:
        found.step(action, look)
    walks = list(all_walks(steps, AXES))
    maps = [one for one in found.maps if not one.n_wonders]
    assert len(walks) == len(maps)
    wanted = sorted(nats for _, nats in walks)
    assert sorted(one.nats for one in maps) == pytest.approx(wanted)
    best = max(maps, key=lambda one: one.nats)
    assert (*best.place[2:],) in {places[-1] for places, nats in walks if nats > wanted[-1] - 1e-9}


@pytest.mark.parametrize("seed", range(4))
def test_a_room_of_two_colours_is_mapped_without_resets(seed):
    episode, cells = walk(400, seed)
    reckoning = filtered_reckoning([episode], axes_of([episode]))
    assert same_up_to_a_shift(places_of(reckoning, episode), cells)
    ways = {
        frozenset([one, other])
        for one, other in itertools.pairwise(cells)
        if one != other and episode_look(episode, cells, one) == episode_look(episode, cells, other)
    }
    assert reckoning.n_alike[1] == len(ways)


def episode_look(episode, cells, cell):
    return episode[cells.index(cell)].outcome.symbol


def test_chance_has_no_map():
    rng = np.random.default_rng(0)
    steps = [(int(rng.integers(4)), seen(int(rng.integers(3)))) for _ in range(300)]
    episode = [Happening(BEGIN, seen(0)), *(Happening(*step) for step in steps)]
    assert filtered_reckoning([episode], AXES) is None


def test_steps_that_slip_have_no_map():
    rng = np.random.default_rng(0)
    episode, _ = walk(300, 0)
    slipped = [
        Happening(int(rng.integers(4)) if n and rng.random() < 0.1 else action, outcome)
        for n, (action, outcome) in enumerate(episode)
    ]
    assert filtered_reckoning([slipped], AXES) is None


def test_one_look_that_was_misread_is_passed_over():
    episode, _ = walk(400, 1)
    wrong = list(episode)
    wrong[200] = Happening(episode[200].action, seen(7))
    reckoning = filtered_reckoning([wrong], AXES)
    moves = filtered_reckoning([episode], AXES).moves
    assert reckoning.moves == moves
    many = [
        Happening(action, seen(7) if n % 50 == 49 else outcome)
        for n, (action, outcome) in enumerate(episode)
    ]
    assert filtered_reckoning([many], AXES) is None


def test_an_end_is_beyond_one_place_alone():
    """Where an action once ended an episode, it always does."""
    on, end = Happening(1, seen(0)), Happening(1, Outcome(5, 1.0, True))
    begin = Happening(BEGIN, seen(2))
    episode = [begin, on, on, end]
    assert filtered_reckoning([episode] * 3, AXES) is not None
    assert filtered_reckoning([episode, [begin, on, end]] * 3, AXES) is None
    choice = Happening(9, Outcome(5, 1.0, True))  # of an action that leads nowhere
    assert filtered_reckoning([episode, [begin, on, choice]] * 3, AXES) is not None


def test_a_later_piece_of_an_episode_goes_on_where_it_was():
    episode, cells = walk(600, 2)
    first, last = episode[:301], episode[300:]
    last = [Happening(BEGIN, Outcome(last[0].outcome.symbol, 1.0, False)), *last[1:]]
    reckoning = filtered_reckoning([first, last], AXES)
    start = reckoning.starts[last[0].outcome.symbol, 1]
    places = places_of(reckoning, first) + places_of(reckoning, last, start)[1:]
    assert same_up_to_a_shift(places, cells)
    begin = (first[0].outcome.symbol, 0)
    assert {place[:2] for place, _ in reckoning.moves} == {begin}  # no places of its own
    alone = filtered_reckoning([last], AXES)  # what came before it was let go
    assert not alone.starts
    assert same_up_to_a_shift(places_of(alone, last), cells[300:])


def test_episodes_that_begin_alike_begin_at_one_place():
    episodes, paths = walled(20, 30, 0)
    reckoning = filtered_reckoning(episodes, axes_of(episodes))
    places = [place for episode in episodes for place in places_of(reckoning, episode)]
    assert same_up_to_a_shift(places, [cell for path in paths for cell in path])


def test_an_action_without_an_axis_stays():
    episode = [Happening(BEGIN, seen(0)), Happening(1, seen(1)), Happening(9, seen(1))]
    assert filtered_reckoning([episode] * 2, AXES) is not None
    other = [*episode, Happening(9, seen(0))]
    assert filtered_reckoning([other] * 2, AXES) is None


def test_a_new_place_is_expected_to_do_as_most_that_look_alike():
    episodes, _ = walled(40, 30, 0, 5, 4)
    reckoning = filtered_reckoning(episodes, axes_of(episodes))
    inside, top = 0, 1  # no wall around; a wall where action 0 leads
    nowhere = (9, 9, 9, 9)
    for action in range(4):
        assert reckoning.after(nowhere, inside, action, seen(inside)) != nowhere
    assert reckoning.after(nowhere, top, 0, seen(top)) == nowhere
    assert reckoning.after(nowhere, top, 2, seen(top)) != nowhere
