"""Is it the plan or the laws? Plans of bsuite's swing-up with the true dynamics and rewards.

    python -m benchmarks.true_plan --points 4000 16000 --held 12 40 --discount 0.99 0.995

Rewards and dynamics are those of `cartpole_swingup`; steps from everywhere say which bounds there
are. For each plan: its points, its value where episodes begin, and the returns of two episodes of
1,000 steps.
"""

from __future__ import annotations

import argparse
from itertools import product
from unittest.mock import patch

import numpy as np

from tgm.distributions import FloatArray, IntArray
from tgm.planning import flow_planner, flow_support
from tgm.planning.flow_planner import HELD_IN_ACTING, Plan, make_plan
from tgm.transition.flow_ends import Thresholds
from tgm.transition.flow_turns import Turn, embedded, wrapped
from tgm.transition.flow_units import FlowUnits, Steps

LOW, SPAN = np.array([-3.0, -6.0, 0.0, -12.0]), np.array([6.0, 12.0, 2.0 * np.pi, 24.0])
BEGINNING = np.array([0.0, 0.0, np.pi, 0.0])  # place, speed, angle, speed of the angle
N_STEPS, N_STARTS, LENGTH, PLANS = 3000, 16, 1000, 3


def moved(state: FloatArray, action: IntArray) -> FloatArray:
    """(n, 4) states a hundredth of a second later."""
    _, speed, angle, turning = state.T
    cos, sin = np.cos(angle), np.sin(angle)
    push = (10.0 * (action - 1) + 0.05 * turning**2 * sin) / 1.1
    faster = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
    rates = [speed, push - 0.05 * faster * cos / 1.1, turning, faster]
    return np.asarray(state + 0.01 * np.stack(rates, axis=1))


class TrueModel:
    """What a `FlowModel` tells a plan, but true."""

    n_actions, has_noise, turns = 3, False, (Turn(2, 2.0 * np.pi, 0.0, np.pi),)
    ends = Thresholds(np.eye(5)[:1], np.zeros(1), np.ones(1))  # beyond 3 to each side

    def __init__(self, setting: int) -> None:
        """Of a setting of bsuite's: where a reward begins."""
        self._height, self._width = setting / 20, 1.0 - setting / 20

    def inputs(self, z: FloatArray) -> FloatArray:
        """Points, with the angle as cosine and sine."""
        return embedded(z, self.turns)

    def rewards(self, state: FloatArray, action: IntArray) -> FloatArray:
        """(n,) of steps that arrive at states."""
        is_up = (np.cos(state[:, 2]) > self._height) & (np.abs(state[:, 3]) < 1.0)
        return np.asarray((is_up & (np.abs(state[:, 0]) < self._width)) - 0.1 * np.abs(action - 1))

    def advance(
        self, z: FloatArray, actions: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where steps arrive, whether they end, and their rewards."""
        state = moved(z * SPAN + LOW, actions)
        arrival = wrapped((state - LOW) / SPAN, self.turns)
        ended = self.ends.probability(self.inputs(arrival))
        return arrival, ended, self.rewards(state, actions)

    def expected_rewards(self, steps: Steps) -> FloatArray:
        """(n,) of steps."""
        return steps.reward


def steps_from_everywhere(model: TrueModel, rng: np.random.Generator) -> Steps:
    """N_STEPS steps, in units of the plan."""
    departure = rng.uniform(0.02, 0.98, size=(N_STEPS, 4))
    departure[:, [1, 3]] = rng.uniform(0.2, 0.8, size=(N_STEPS, 2))
    action = rng.integers(3, size=N_STEPS)
    arrival, ended, reward = model.advance(departure, action)
    return Steps(departure, action, reward, arrival, ended > 0.5)


def returns(plan: Plan, model: TrueModel, starts: FloatArray) -> list[int]:
    """Of greedy episodes."""
    state, total, goes_on = starts.copy(), np.zeros(len(starts)), np.ones(len(starts), dtype=bool)
    action = np.zeros(len(starts), dtype=np.intp)
    for step in range(LENGTH):
        if step % HELD_IN_ACTING == 0:
            action = plan.action_values(state)[0].argmax(axis=1)
        state = moved(state, action)
        state[:, 2] %= 2.0 * np.pi
        total += goes_on * model.rewards(state, action)
        goes_on &= np.abs(state[:, 0]) <= 3.0
    return [round(one) for one in total.tolist()]


def main() -> None:
    """Print a line for each plan; each is refined where the one before leads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", type=int, default=0)
    parser.add_argument("--points", type=int, nargs="+", default=[4000])
    parser.add_argument("--held", type=int, nargs="+", default=[12])
    parser.add_argument("--discount", type=float, nargs="+", default=[0.99])
    given, rng = parser.parse_args(), np.random.default_rng(0)
    model, units = TrueModel(given.setting), FlowUnits(LOW, np.diag(SPAN), np.diag(1.0 / SPAN))
    steps = steps_from_everywhere(model, rng)
    starts = BEGINNING + rng.uniform(-0.05, 0.05, size=(N_STARTS, 4))
    for points, held, discount in product(given.points, given.held, given.discount):
        plan = None
        with (
            patch.object(flow_planner, "most_points", lambda _, most=points: most),
            patch.object(flow_support.hold, "__defaults__", (held,)),
        ):
            for _ in range(PLANS):
                plan = make_plan(model, units, steps, discount, plan, starts)  # type: ignore[arg-type]
        value = plan.action_values(starts)[0].max(axis=1).mean()
        found = returns(plan, model, starts[:2])
        print(f"points {len(plan.support.points)} of {points}, held {held}, discount {discount}: "
              f"value {value:.2f}, returns {found}")  # fmt: skip


if __name__ == "__main__":
    main()
