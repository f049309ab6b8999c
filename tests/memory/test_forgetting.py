"""The rule of section 4.3, on the paper's own example and on its corners."""

import numpy as np

from tgm.memory import Trajectories, forgettable_points


def golden_trial() -> tuple[Trajectories, np.ndarray]:
    """Nine points in a row, of which points 2 and 6 belong to flexible components."""
    trial = Trajectories(n_features=1)
    trial.begin_trial(np.array([0.0]))
    for n in range(1, 9):
        trial.add_step(n % 5, np.array([float(n)]))
    trial.end_trial()
    belongs_to_fixed = np.array([n not in (2, 6) for n in range(9)])
    return trial, belongs_to_fixed


def test_the_papers_example():
    trial, belongs_to_fixed = golden_trial()
    forget = forgettable_points(belongs_to_fixed, trial.has_next)
    assert np.flatnonzero(forget).tolist() == [0, 4, 8]
    steps = trial.transitions
    lost = forget[steps.before] | forget[steps.after]
    assert steps.before[lost].tolist() == [0, 3, 4, 7]
    assert steps.before[~lost].tolist() == [1, 2, 5, 6]


def test_after_forgetting_the_rest_is_as_in_the_papers_figure_10():
    trial, belongs_to_fixed = golden_trial()
    trial.forget(forgettable_points(belongs_to_fixed, trial.has_next))
    assert trial.points.ravel().tolist() == [1, 2, 3, 5, 6, 7]
    steps = trial.transitions
    ends = [
        (trial.points[b, 0], action, trial.points[a, 0])
        for b, action, a in zip(steps.before, steps.actions, steps.after, strict=True)
    ]
    # The action after point n is the one of the step to n + 1.
    assert ends == [(1, 2, 2), (2, 3, 3), (5, 1, 6), (6, 2, 7)]


def test_neighbours_of_another_trial_do_not_count():
    trials = Trajectories(n_features=1)
    trials.begin_trial(np.array([0.0]))
    trials.add_step(0, np.array([1.0]))
    trials.end_trial()
    trials.begin_trial(np.array([2.0]))
    trials.add_step(0, np.array([3.0]))
    # Only point 2, the first of the second trial, is flexible: point 1 is not its neighbour.
    fixed = np.array([True, True, False, True])
    assert forgettable_points(fixed, trials.has_next).tolist() == [True, True, False, False]


def test_a_neighbour_that_was_forgotten_counts_as_fixed():
    trial, belongs_to_fixed = golden_trial()
    trial.forget(forgettable_points(belongs_to_fixed, trial.has_next))
    # Points 1, 2, 3, 5, 6, 7 are left; now 2 is fixed too, and 6 still is not.
    fixed = np.array([True, True, True, True, False, True])
    forget = forgettable_points(fixed, trial.has_next)
    assert trial.points[forget].ravel().tolist() == [1, 2, 3]


def test_memory_grows_past_its_first_block_and_keeps_order():
    trial = Trajectories(n_features=2)
    trial.begin_trial(np.zeros(2))
    for n in range(1, 200):
        trial.add_step(n % 3, np.array([n, -n], dtype=float))
    assert len(trial) == 200
    assert trial.points[:, 0].tolist() == list(range(200))
    assert trial.actions[:-1].tolist() == [n % 3 for n in range(1, 200)]
    assert not trial.has_next[-1]
    assert trial.newest_is_open
    trial.end_trial()
    assert not trial.newest_is_open


def test_a_restored_memory_waits_for_no_step():
    trial, _ = golden_trial()
    other = Trajectories(n_features=1)
    other.begin_trial(np.array([7.0]))
    assert other.newest_is_open
    other.restore(trial.points, trial.actions)
    assert not other.newest_is_open
    assert other.points.tolist() == trial.points.tolist()
    assert other.actions.tolist() == trial.actions.tolist()


def test_without_points_no_step_is_waited_for():
    trial = Trajectories(n_features=1)
    trial.begin_trial(np.array([0.0]))
    trial.forget(np.array([True]))
    assert len(trial) == 0
    assert not trial.newest_is_open
