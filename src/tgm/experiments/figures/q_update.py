"""Figure 11: one step of Q-learning over beliefs, in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from tgm.distributions import FloatArray
from tgm.envs.maze import ACTION_NAMES
from tgm.experiments.figures import style
from tgm.experiments.figures.drawing import Claim, Drawing, Settings, below
from tgm.planning.q_learning import belief_q_update

LEARNING_RATE, GAMMA, REWARD = 0.1, 0.99, -1.0
ACTION = 3
N_STATES, N_ACTIONS = 5, len(ACTION_NAMES)

# Old values of a corridor of five cells, the goal at its right end; a belief between two of them.
OLD_Q = np.array(
    [
        [-4.6, -3.7, -2.9, -1.9, -1.2],
        [-4.5, -3.9, -2.8, -2.1, -1.0],
        [-4.8, -4.4, -3.6, -2.7, -1.8],
        [-5.0, -4.8, -4.6, -4.4, -3.0],
        [-4.4, -3.6, -2.9, -1.8, 0.6],
    ]
)
BELIEF = np.array([0.0, 0.1, 0.6, 0.3, 0.0])
# Going right succeeds nine times out of ten; at the end there is a wall.
TRANSITION = 0.1 * np.eye(N_STATES) + 0.9 * np.eye(N_STATES, k=1)
TRANSITION[-1, -1] = 1.0

GREENS = LinearSegmentedColormap.from_list("tgm-greens", ["#F3F6F8", "#BFE5D8", style.GREEN])
DIFFERENCES = LinearSegmentedColormap.from_list(
    "tgm-differences", [style.VERMILLION, "#F6D9C6", "#F3F6F8", "#CFE5F4", style.BLUE]
)


@dataclass(frozen=True, eq=False)
class Update:
    """One update: the temporal differences (S,), what is added (S,), and the new values (A, S)."""

    difference: FloatArray
    added: FloatArray
    new: FloatArray


def one_update() -> Update:
    """The update of the drawing, by the agent's own function."""
    row = belief_q_update(
        OLD_Q,
        BELIEF,
        ACTION,
        REWARD,
        TRANSITION,
        terminated=False,
        learning_rate=LEARNING_RATE,
        gamma=GAMMA,
    )
    new = OLD_Q.copy()
    new[ACTION] = row
    difference = REWARD + GAMMA * TRANSITION @ OLD_Q.max(axis=0) - OLD_Q[ACTION]
    return Update(difference, row - OLD_Q[ACTION], new)


def q_update(settings: Settings) -> Drawing:
    """New values = old values + learning rate x belief x temporal difference."""
    update = one_update()
    figure = style.new_figure(11.6, 4.6)
    layout = figure.add_gridspec(
        3, 7, width_ratios=(5, 0.7, 5, 0.7, 1.5, 0.7, 5), height_ratios=(1.15, 5, 0.1)
    )
    panels = {
        name: figure.add_subplot(layout[1, column])
        for name, column in (("new", 0), ("old", 2), ("rate", 4), ("difference", 6))
    }
    belief = figure.add_subplot(layout[0, 6])
    _draw_values(panels["new"], update.new, "new values q(a, s)")
    _draw_values(panels["old"], OLD_Q, "old values q(a, s)")
    _draw_row(panels["difference"], update.difference, "temporal difference")
    _draw_rate(panels["rate"])
    style.matrix(belief, BELIEF[None], vmin=0.0, vmax=1.0, cmap=GREENS)
    _write(belief, BELIEF[None], "{:.1f}")
    belief.set(xticks=[], yticks=[])
    style.title(belief, "belief Q(s), multiplied state by state")
    for column, sign in ((1, "="), (3, "+"), (5, "$\\times$")):
        middle = figure.add_subplot(layout[1, column])
        middle.text(0.5, 0.5, sign, ha="center", va="center", fontsize=22, color=style.INK)
        middle.set_axis_off()
    return Drawing(
        "Q-learning over beliefs, one step in numbers",
        figure,
        f"The mouse went {ACTION_NAMES[ACTION]} and paid 1. Only the row of that action changes, "
        "and each state gets its temporal difference times the probability that the mouse was "
        "there. Before, going right had a low value everywhere; now the value is a little "
        "higher in states 2 and 3, where the mouse probably was, and unchanged in 0 and 4.",
        (_claim_tabular(settings),),
    )


def _draw_values(axes: Axes, values: FloatArray, words: str) -> None:
    style.matrix(axes, values, vmin=-6.5, vmax=1.5)
    _write(axes, values, "{:.2f}")
    _label(axes, words)
    axes.set_yticks(range(N_ACTIONS), ACTION_NAMES)
    _frame(axes)


def _draw_row(axes: Axes, row: FloatArray, words: str) -> None:
    values = np.full((N_ACTIONS, N_STATES), np.nan)
    values[ACTION] = row
    style.matrix(axes, np.nan_to_num(values), vmin=-5.0, vmax=5.0, cmap=DIFFERENCES)
    _write(axes, values, "{:+.2f}")
    _label(axes, words)
    axes.set_yticks([])
    _frame(axes)


def _draw_rate(axes: Axes) -> None:
    style.matrix(axes, np.array([[LEARNING_RATE]]), vmin=0.0, vmax=1.0, cmap=GREENS)
    _write(axes, np.array([[LEARNING_RATE]]), "{:g}")
    axes.set(xticks=[], yticks=[], xlabel="learning\nrate")


def _label(axes: Axes, words: str) -> None:
    axes.set_xticks(range(N_STATES), [str(state) for state in range(N_STATES)])
    axes.set(xlabel="state")
    style.title(axes, words)


def _frame(axes: Axes) -> None:
    axes.add_patch(
        Rectangle(
            (-0.5, ACTION - 0.5), N_STATES, 1, fill=False, edgecolor=style.ORANGE, lw=2.2, zorder=4
        )
    )


def _write(axes: Axes, values: FloatArray, form: str, bold: int = ACTION) -> None:
    image = axes.images[0]
    for (row, column), value in np.ndenumerate(values):
        if np.isnan(value):
            continue
        red, green, blue, _ = image.to_rgba(np.array(value))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        axes.text(
            column,
            row,
            form.format(value),
            ha="center",
            va="center",
            fontsize=8.5,
            color="white" if dark else style.INK,
            weight="bold" if row == bold else "normal",
        )


def _claim_tabular(settings: Settings) -> Claim:
    n_problems = settings.choose(1000, 50)
    rng = np.random.default_rng(settings.seed)
    gap, touched = 0.0, 0
    for _ in range(n_problems):
        n_states, n_actions = int(rng.integers(2, 12)), int(rng.integers(2, 6))
        q = rng.normal(size=(n_actions, n_states))
        transition = rng.dirichlet(np.ones(n_states), size=n_states)
        state, action, reward = (
            int(rng.integers(n_states)),
            int(rng.integers(n_actions)),
            rng.normal(),
        )
        row = belief_q_update(
            q,
            np.eye(n_states)[state],
            action,
            float(reward),
            transition,
            terminated=False,
            learning_rate=LEARNING_RATE,
            gamma=GAMMA,
        )
        ordinary = q[action].copy()
        future = sum(transition[state, j] * q[:, j].max() for j in range(n_states))
        ordinary[state] += LEARNING_RATE * (reward + GAMMA * future - q[action, state])
        gap = max(gap, float(np.abs(row - ordinary).max()))
        touched += int((np.delete(row, state) != np.delete(q[action], state)).any())
    return Claim(
        "If all of the belief is in one state, this is ordinary Q-learning.",
        "yes" if gap < 1e-9 and touched == 0 else "no",
        f"In {n_problems:,} random problems with a certain belief the values differ from the "
        f"ordinary update by {below(gap)}, and the values of other states changed in {touched}.",
        {"problems": n_problems, "largest_difference": gap, "other_states_changed": touched},
    )
