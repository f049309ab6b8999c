"""What `tgm fit` prints of a model: tables that fit 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tgm.data import Log
from tgm.distributions import FloatArray
from tgm.estimators.temporal_mixture import TemporalMixture

Table = tuple[list[str], list[list[str]]]

MOST_STATES = 40  # that are listed
WIDEST = 74  # columns of a table, whose frame on a terminal takes more
MOST_TRANSITIONS = 20
FRAME = 3  # columns between two cells of a table on a terminal
LONGEST_NAME = 12


def _short(name: object) -> str:
    text = str(name)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "..."


def evidence_line(model: TemporalMixture, log: Log) -> str:
    """How many states were found in what."""
    missing = int(np.isnan(log.observations).sum())
    holes = f", {_counted(missing, 'value')} missing" if missing else ""
    states, rows = _counted(model.n_states_, "state"), _counted(log.n_rows, "row")
    return f"{states} in {rows} of {_counted(log.n_episodes, 'episode')}{holes}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def state_rows(model: TemporalMixture) -> Table:
    """A row for each state, the first ones: its share, and mean and deviation of each feature."""
    names = tuple(str(name) for name in model.feature_names_in_)
    return component_rows("state", names, model.weights_, model.means_, model.covariances_)


def component_rows(
    called: str,
    features: Sequence[str],
    weights: FloatArray,
    means: FloatArray,
    covariances: FloatArray,
) -> Table:
    """A row for each Gaussian, the first ones: its share, and mean and deviation of each feature.

    Args:
        called: what one of them is called.
        features: (n_features,) names.
        weights: (K,) shares of the rows.
        means: (K, n_features)
        covariances: (K, n_features, n_features)
    """
    deviation = np.sqrt(np.einsum("kii->ki", covariances))
    listed = range(min(len(weights), MOST_STATES))
    names: list[str] = []
    columns: list[list[str]] = []
    left = WIDEST - len(called) - len("100.0 %") - 2 * FRAME
    for index, name in enumerate(features):
        head = _short(name)
        pairs = zip(means[listed, index], deviation[listed, index], strict=True)
        cells = [f"{mean:.3g} ± {spread:.2g}" for mean, spread in pairs]
        left -= FRAME + max(len(one) for one in (f"{head} ...", *cells))
        if left < 0 and names:
            break
        names.append(head)
        columns.append(cells)
    rows = [
        [str(index), f"{100 * weights[index]:.1f} %", *(cells[index] for cells in columns)]
        for index in listed
    ]
    if len(weights) > MOST_STATES:
        rows.append([f"... {len(weights) - MOST_STATES} more", "", *[""] * len(names)])
    if len(features) > len(names):
        names[-1] += " ..."
    return [called, "rows", *names], rows


def transition_rows(model: TemporalMixture) -> Table:
    """The transitions that happen most often: how often, and how likely where they start."""
    world = model.world_
    counts = world.sums.transitions
    order = np.argsort(-counts, axis=None, kind="stable")
    moves = [tuple(map(int, np.unravel_index(place, counts.shape))) for place in order]
    rows = []
    for action, state, after in moves[:MOST_TRANSITIONS]:
        if counts[action, state, after] < 0.5:
            break
        name = [_short(world.action_values[action])] if world.action_values else []
        share = f"{100 * world.transitions[action, state, after]:.1f} %"
        times = f"{counts[action, state, after]:.0f}"
        rows.append([str(state), *name, str(after), share, times])
    heads = ["from", *(["action"] if world.action_values else []), "to", "probability", "times"]
    return heads, rows


def policy_lines(model: TemporalMixture, gamma: float) -> list[str]:
    """What to do in each state, if the log has actions and rewards."""
    world = model.world_
    if not world.action_values or not world.has_rewards:
        return []
    plan = model.policy(gamma)
    lines = ["", f"best action in each state (discount {gamma:g})"]
    for state, (action, value) in enumerate(zip(plan.actions, plan.values, strict=True)):
        if state == MOST_STATES:
            lines.append(f"... {model.n_states_ - MOST_STATES} more")
            break
        lines.append(f"{state:5d}  {_short(action):<{LONGEST_NAME}}  worth {value:.3g}")
    return lines
