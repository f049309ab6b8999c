"""What a step is said to have changed is all that it has changed."""

import numpy as np
import pytest

from tgm.config import TGMConfig
from tgm.learners.online import OnlineLearner
from tgm.perception.observation_model import NO_STATE

N_PLACES = 5


class Follower:
    """Knows of a learner what its steps tell, as a recorder does."""

    def __init__(self, learner: OnlineLearner) -> None:
        self.learner = learner
        self.components: dict[int, tuple] = {}
        self.rows: dict[tuple[int, int], tuple] = {}

    def follow(self, info, before: int | None, action: int | None) -> None:
        """Ask again for what has changed, and for nothing else."""
        if info.changed_all:
            self.components, self.rows = tables(self.learner.snapshot().known)
            return
        states, rows = set(info.changed_states), set(info.changed_rows)
        if not states and not rows and info.state != NO_STATE and info.share:
            states.add(info.state)
            if info.weight:
                rows.add((before, action))
        changes = self.learner.excerpt(states, rows)
        components, new_rows = tables(changes)
        self.components |= components
        self.rows |= new_rows
        for gone in changes.removed:
            self.components.pop(gone, None)
        self.rows = {key: row for key, row in self.rows.items() if key[0] in self.components}


def tables(changes) -> tuple[dict, dict]:
    """The components and rows of some changes, by their names."""
    components = np.array(changes.components).reshape(-1, 3 + 2 + 4).tolist()
    entries = iter(np.array(changes.next_states).reshape(-1, 2).tolist())
    rows = {}
    for state, action, *numbers, n in np.array(changes.rows).reshape(-1, 6).tolist():
        rows[state, action] = (*numbers, *(tuple(next(entries)) for _ in range(int(n))))
    return {line[0]: tuple(line) for line in components}, rows


def live(learner: OnlineLearner, seed: int, n_steps: int, noise: float):
    """A corridor with noise and rare outliers, in which the actions are exchanged half-way."""
    rng, place, ended, reward = np.random.default_rng(seed), 0, False, 0.0
    before, action = None, None
    for step in range(n_steps):
        seen = np.array([place, 2.5 * (rng.random() < 0.03)]) + rng.normal(0, noise, 2)
        if action is None:
            info = learner.begin(seen)
        else:
            info = learner.observe(action, reward, seen, terminated=ended)
        yield info, before, action
        before = info.belief[0][0] if info.belief else None
        if ended:
            place, action, before, ended = 0, None, None, False
            continue
        action = int(rng.integers(2))
        goes_right = bool(action) != (step > n_steps / 2)
        ended = goes_right and place == N_PLACES - 1
        reward = float(ended) - 0.1
        if not ended:
            place = int(np.clip(place + (1 if goes_right else -1), 0, N_PLACES - 1))


@pytest.mark.parametrize(
    ("noise", "made"), [(0.15, {"birth", "change"}), (0.3, {"birth", "merge"})]
)
@pytest.mark.parametrize("seed", range(2))
def test_who_follows_the_steps_knows_what_the_learner_knows(noise, made, seed):
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    follower, kinds = Follower(learner), set()
    for number, (info, before, action) in enumerate(live(learner, seed, 500, noise)):
        follower.follow(info, before, action)
        kinds.update(move.kind for move in info.moves if move.accepted)
        if number % 10 == 0:
            components, rows = tables(learner.snapshot().known)
            assert follower.components == components
            told = {key: row for key, row in follower.rows.items() if len(row) > 3}
            assert told.keys() == rows.keys()
            for key, row in rows.items():
                assert told[key][:3] == row[:3]
                assert set(told[key][3:]) == set(row[3:])
    assert made <= kinds


def test_no_step_changes_everything():
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    infos = [info for info, *_ in live(learner, seed=0, n_steps=100, noise=0.1)]
    assert not any(info.changed_all or info.changed_scale for info in infos)


def test_another_scale_changes_every_state_and_no_row():
    learner = OnlineLearner(2, 2, TGMConfig(bandwidth=0.5))
    for _ in live(learner, seed=0, n_steps=100, noise=0.1):
        pass
    known, _ = tables(learner.snapshot().known)
    learner.edit.learn_scale(4.0 * learner.first_covariance)
    first, then = (learner.observe(0, 0.0, np.zeros(2), terminated=False) for _ in range(2))
    assert (first.changed_scale, then.changed_scale) == (True, False)
    assert first.changed_states >= known.keys()
    assert not first.changed_all
    assert len(first.changed_rows) == 1  # that of the step itself
    changed, _ = tables(learner.excerpt(first.changed_states, ()))
    assert changed == tables(learner.snapshot().known)[0]
    assert all(changed[name][-1] != known[name][-1] for name in known)  # a variance of each
