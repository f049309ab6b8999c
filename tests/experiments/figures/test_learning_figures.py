"""Figures 7 to 12: what is drawn is what was learned, and the claims' numbers are right."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, Ellipse, Rectangle

from tgm.envs import load_maze
from tgm.envs.maze import ACTION_NAMES
from tgm.experiments.figures import (
    forgetting,
    mazes,
    persistence,
    q_update,
    style,
    transitions,
    trial_runs,
)
from tgm.experiments.figures.drawing import Settings

QUICK = Settings(quick=True)


# Lives


@pytest.fixture(scope="module")
def run():
    return trial_runs.train("8", "paper", 0, 1000)


def test_times_found_and_fixed_are_those_of_the_learner(run):
    known = run.agent._learner.components
    last = run.snapshots[-1]
    assert last.step == 1000
    assert last.ids.tolist() == known.ids.tolist()
    assert last.times_found.tolist() == known.persistence.tolist()
    assert last.is_fixed.tolist() == known.is_fixed.tolist()
    assert last.is_fixed.any()


def test_snapshots_come_every_hundred_steps_and_see_what_the_agent_saw(run):
    assert [snapshot.step for snapshot in run.snapshots] == list(range(100, 1001, 100))
    assert len(run.seen) == 1000 + run.agent.n_episodes
    assert np.abs(run.seen - np.rint(run.seen)).mean() < 0.2


def test_the_curve_is_the_mean_of_the_last_hundred_episodes():
    """Counted again by a callback of its own."""
    import gymnasium as gym

    import tgm

    returns, curve = [], []

    def count(info):
        returns.extend(episode.total_reward for episode in info.episodes)
        curve.append(sum(returns[-100:]) / len(returns[-100:]))

    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), tgm.TGMConfig.paper(), seed=0)
    agent.learn(1000, callback=count)
    drawn = [snapshot.mean_return for snapshot in trial_runs.train("8", "paper", 0, 1000).snapshots]
    np.testing.assert_allclose(drawn, curve)


def test_a_greedy_way_follows_the_maze():
    run = trial_runs.train("25", "default", 0, 500)
    maze = load_maze("25")
    assert run.path[0] == maze.start
    assert run.path[-1] == maze.goal
    assert len(run.path) == len(maze.shortest_path)
    for here, there in zip(run.path, run.path[1:], strict=False):
        assert there in maze.moves[here]


# Figure 7


def test_the_matrices_are_the_agents_in_the_order_of_the_states():
    drawing = transitions.transition_matrices(QUICK)
    run = trial_runs.train("8", "paper", 0, 600)
    order = transitions.order_of_states(run)
    assert sorted(order) == list(range(run.agent.n_states))
    panels = drawing.figure.axes[:6]
    for action, panel in enumerate(panels[:5]):
        assert panel.get_title(loc="left") == ACTION_NAMES[action]
        wanted = run.agent.transition_matrix[action][np.ix_(order, order)]
        np.testing.assert_array_equal(panel.images[0].get_array(), wanted)
        np.testing.assert_allclose(wanted.sum(axis=1), 1)
    ellipses = [patch for patch in panels[5].patches if isinstance(patch, Ellipse)]
    np.testing.assert_allclose([patch.center for patch in ellipses], run.agent.means[order])
    numbers = [text.get_text() for text in panels[5].texts]
    assert numbers == [str(n) for n in range(len(order))]
    np.testing.assert_array_equal(panels[5].collections[0].get_offsets(), run.seen[-100:])


def test_frames_stand_where_the_maze_leads():
    drawing = transitions.transition_matrices(QUICK)
    run = trial_runs.train("8", "paper", 0, 600)
    maze, means = run.maze, run.agent.means[transitions.order_of_states(run)]
    nearest = [tuple(mean) for mean in np.rint(means).astype(int).tolist()]
    for action, panel in enumerate(drawing.figure.axes[:5]):
        frames = [
            (round(patch.get_y() + 0.5), round(patch.get_x() + 0.5))
            for patch in panel.patches
            if isinstance(patch, Rectangle)
        ]
        assert len(frames) >= 6
        for before, after in frames:
            assert nearest[after] == maze.next_cell(nearest[before], action)


def test_the_numbers_of_figure_7_are_counted_right():
    numbers = transitions.transition_matrices(QUICK).claims[0].numbers
    right = wrong = 0
    for seed in range(2):
        agent, maze = trial_runs.train("8", "paper", seed, 600).agent, load_maze("8")
        cells = [tuple(cell) for cell in np.rint(agent.means).astype(int).tolist()]
        for state, cell in enumerate(cells):
            if cells.count(cell) > 1 or cell not in maze.cells:
                continue
            for action in range(5):
                tried = agent.transition_counts[action, state].sum() >= 0.5
                if not tried or (action == 4 and cell == maze.goal):
                    continue
                there = cells[int(agent.transition_matrix[action, state].argmax())]
                right += there == maze.next_cell(cell, action)
                wrong += there != maze.next_cell(cell, action)
    assert (numbers["right"], numbers["wrong"]) == (right, wrong)
    assert 0.5 < numbers["mean_probability_of_truth"] <= 1


# Figure 8


def test_components_are_drawn_with_their_counts_and_kinds(run):
    snapshot = run.snapshots[-1]
    axes = style.new_figure(3, 3).subplots()
    persistence.draw_components(axes, run.maze, snapshot)
    drawn = {
        tuple(np.round(patch.center, 9)): patch.get_edgecolor()
        for patch in axes.patches
        if isinstance(patch, Ellipse)
    }
    for mean, fixed in zip(snapshot.means, snapshot.is_fixed, strict=True):
        colour = drawn[tuple(np.round(mean, 9))]
        assert (colour == to_rgba("black")) == bool(fixed)
    shown = sorted(int(text.get_text()) for text in axes.texts)
    assert shown == sorted(snapshot.times_found.tolist())


def test_figure_8_shows_the_first_searches_and_counts_fixing_right():
    drawing = persistence.fixed_components(QUICK)
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes[:8]]
    assert titles == [f"step {step}" for step in range(100, 900, 100)]
    numbers = drawing.claims[0].numbers
    fixed = sum(
        trial_runs.train("8", "paper", s, 1000).snapshots[-1].is_fixed.sum() for s in range(2)
    )
    assert numbers["fixed"] == fixed
    assert (numbers["fewest_times_found"], numbers["most_times_found"]) == (5, 5)
    assert numbers["lost"] == 0


# Figures 9 and 10


def circles_of(axes):
    return {patch.get_label(): patch for patch in axes.patches if isinstance(patch, Circle)}


def test_the_papers_trial_is_drawn_with_what_can_be_forgotten():
    drawing = forgetting.before_forgetting(QUICK)
    circles = circles_of(drawing.figure.axes[0])
    blue = {
        label
        for label, patch in circles.items()
        if patch.get_facecolor() == to_rgba(forgetting.FORGET_FILL)
    }
    assert blue == {"x0", "x4", "x8", "step0", "step3", "step4", "step7"}
    orange = {
        label
        for label, patch in circles.items()
        if patch.get_facecolor() == to_rgba(forgetting.FLEXIBLE_FILL)
    }
    assert orange == {"r2", "r6"}
    assert drawing.claims[0].verdict == "yes"


def test_what_is_left_is_the_rest_of_it():
    drawing = forgetting.after_forgetting(QUICK)
    top, bottom = drawing.figure.axes
    kept = {1, 2, 3, 5, 6, 7}
    wanted = {f"{kind}{n}" for kind in "xr" for n in kept}
    wanted |= {f"{kind}{n}" for kind in ("a", "step") for n in (1, 2, 5, 6)}
    assert set(circles_of(top)) == wanted
    with_it = trial_runs.train("8", "paper", 0, 600)
    without = trial_runs.train("8", "paper", 0, 600, forget=False)
    lines = {line.get_label(): line.get_ydata() for line in bottom.lines}
    np.testing.assert_array_equal(lines["with forgetting"], [s.n_kept for s in with_it.snapshots])
    # Without forgetting everything that was ever seen is kept.
    assert lines["nothing is forgotten"][-1] == len(without.seen)
    assert drawing.claims[0].numbers["mean_kept_without"] == len(without.seen)


# Figure 11


def test_the_update_is_drawn_number_by_number():
    drawing = q_update.q_update(QUICK)
    images = {axes.get_title(loc="left"): axes for axes in drawing.figure.axes if axes.images}
    old = images["old values q(a, s)"].images[0].get_array()
    new = images["new values q(a, s)"].images[0].get_array()
    difference = images["temporal difference"].images[0].get_array()
    belief = images["belief Q(s), multiplied state by state"].images[0].get_array()[0]
    for action in range(5):
        for state in range(5):
            wanted = old[action, state]
            if action == q_update.ACTION:
                there = state if state == 4 else state + 1
                future = 0.9 * old[:, there].max() + 0.1 * old[:, state].max()
                target = -1 + 0.99 * future
                assert difference[action, state] == pytest.approx(target - old[action, state])
                wanted += 0.1 * belief[state] * (target - old[action, state])
            assert new[action, state] == pytest.approx(wanted)
    assert belief.sum() == pytest.approx(1)
    texts = [text.get_text() for text in images["new values q(a, s)"].texts]
    assert texts == [f"{value:.2f}" for value in np.asarray(new).ravel()]
    assert drawing.claims[0].numbers["largest_difference"] < 1e-12


# Figure 12


def test_the_fate_of_a_cell_follows_from_its_whole_history():
    run = trial_runs.train("8", "paper", 0, 600)
    first, last = run.snapshots[0], run.snapshots[-1]
    a, b, c, d, *others = run.maze.cells
    everywhere = dict.fromkeys(others, "learned")
    begin = replace(
        first, cells=everywhere | {a: "learned", b: "missing", c: "duplicated"} | {d: "missing"}
    )
    end = replace(
        last, cells=everywhere | {a: "fused", b: "missing", c: "missing", d: "duplicated"}
    )
    story = replace(run, snapshots=(begin, end))
    cell_statuses = mazes.cell_statuses(story)
    assert cell_statuses[a] == cell_statuses[c] == "unstable"
    assert cell_statuses[b] == "unlearned"
    assert cell_statuses[d] == "double"
    assert {cell_statuses[cell] for cell in others} == {"learned"}
    axes = style.new_figure(3, 3).subplots()
    mazes.draw_statuses(axes, story)
    drawn = {
        (round(patch.get_x() + 0.5), round(patch.get_y() + 0.5)): patch
        for patch in axes.patches
        if patch.get_label() in mazes.STATUSES
    }
    assert {cell: patch.get_label() for cell, patch in drawn.items()} == cell_statuses
    for cell, patch in drawn.items():
        assert patch.get_facecolor() == to_rgba(mazes.STATUSES[cell_statuses[cell]][0])


def test_the_way_is_drawn_only_where_the_maze_is_solved():
    drawing = mazes.mazes_learned(QUICK)
    panels = drawing.figure.axes
    assert len(panels) == 4
    for panel, (preset, name) in zip(
        panels, [(p, m) for p in ("paper", "default") for m in ("8", "25")], strict=True
    ):
        group = [trial_runs.train(name, preset, seed, 500) for seed in range(2)]
        solved = sum(run.solved for run in group)
        assert panel.get_title(loc="left") == f"maze {name}\nsolved {solved} of 2"
        ways = [line for line in panel.lines if line.get_linestyle() == "-"]
        assert bool(ways) == group[0].solved
        for way in ways:
            np.testing.assert_array_equal(way.get_xydata(), group[0].path)
    solved, unstable, ours = drawing.claims
    assert unstable.numbers["cells"] == 2 * (8 + 9)
    cell_statuses = [
        status
        for name in ("8", "25")
        for seed in range(2)
        for status in mazes.cell_statuses(trial_runs.train(name, "paper", seed, 500)).values()
    ]
    for status in mazes.STATUSES:
        assert unstable.numbers[status] == cell_statuses.count(status)
    assert unstable.numbers["fits_of_27"] == 1
    assert ours.numbers["solved"] == 4
    assert set(solved.numbers) == {"runs", "solved_8", "solved_25"}
