"""A point with a speed, pushed to and fro and seen with noise."""

import numpy as np

from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits, Steps

NOISE = np.array([0.2, 0.1])


def swung(n, noise, seed=0, episode=40):
    """Steps of a swing in episodes, with noise of the observations, and where it truly was."""
    rng = np.random.default_rng(seed)
    rows, true, actions = [], [], []
    for step in range(n):
        if step % episode == 0:
            now = rng.uniform(-1.0, 1.0, size=2) * [1.0, 0.3]
            seen = now + noise * rng.normal(size=2)
        action = int(rng.integers(2))
        speed = now[1] + 0.1 * (2 * action - 1) - 0.1 * now[0]
        after = np.array([now[0] + 0.3 * speed, speed])
        seen_after = after + noise * rng.normal(size=2)
        rows.append((seen, seen_after))
        true.append(now)
        actions.append(action)
        now, seen = after, seen_after
    departure, arrival = np.array(rows).transpose(1, 0, 2)
    nothing = np.zeros(n)
    steps = Steps(departure, np.array(actions), nothing, arrival, nothing.astype(bool))
    return steps, np.array(true)


def learned(steps):
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    return units, FlowModel.of(local, 2), local
