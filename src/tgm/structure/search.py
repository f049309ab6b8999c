"""Second thoughts and changes of structure: which states are looked at, and what is done."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.moments import Moments
from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays
from tgm.memory.step import Step
from tgm.perception.component_map import ComponentMap
from tgm.perception.gaussian_states import LEAST_WEIGHT
from tgm.structure.evidence import (
    HARDLY_KNOWN,
    merge_gain,
    missed_chances,
    split_gain,
    spread_ratio,
    two_sides,
)

if TYPE_CHECKING:
    from tgm.learners.online_model import OnlineModel

DOUBT = 2.0  # standard deviations from its state at which a kept step is explained anew
SINCE_THEN = 1.4  # times the data it had when it was explained
LEAST_SHARE = 0.01  # of a point in one half of a state: less is nothing
LEAST_POINTS = 3.0  # in a state that is doubted or split
NEAR = 22.0  # squared distance within which two states are worth comparing
WIDE = 2.0  # times the believed variance that make a split worth a look
GROWN = 1.15  # a state is checked again when it has this much more data
YOUNG = 4.0  # points below which a state is checked again with every point


class StructureSearch:
    """Looks at the states that have changed, and merges, splits or explains anew.

    Proposals are cheap, and decisions are made by evidence (`structure_moves`). Transitions,
    values, memory and belief follow through `OnlineModel.follow`.
    """

    def __init__(self, online: OnlineModel) -> None:
        """Nothing to look at yet."""
        self._online = online
        self._touched: set[int] = set()
        self._checked = np.zeros(0)  # weight of each state at its last check

    def touch(self, state: int) -> None:
        """A point was added to a state."""
        self._touched.add(state)

    def birth(self, state: int) -> None:
        """A state was born."""
        if state >= len(self._checked):
            room = np.zeros(max(16, len(self._checked)))
            self._checked = np.concatenate([self._checked, room])
        self._checked[state] = 0.0

    def to_arrays(self) -> Arrays:
        """What is to be looked at, and when."""
        return {
            "touched": np.array(sorted(self._touched), dtype=np.intp),
            "checked": self._checked,
        }

    def restore(self, saved: ArrayReader, n_slots: int) -> None:
        """Take over what `to_arrays` gave, for at least so many states."""
        last = n_slots - 1
        self._touched = set(saved.whole("touched", ANY, high=last).tolist())
        self._checked = saved.floats("checked", ANY)
        if len(self._checked) < n_slots:
            raise DataError(f"array 'checked' has {len(self._checked)} of {n_slots} states")

    def check(self) -> None:
        """Compare states with their neighbours, and wide ones with two: those that have grown."""
        components = self._online.components
        states = [state for state in sorted(self._touched) if self._is_due(state)]
        self._touched.clear()
        if not states:
            return
        for state in states:
            self._checked[state] = components.weight[state]
        if self._online.config.reassign_steps:
            self._doubt(states)
        if not self._online.config.moves:
            return
        self._online.refresh_prior()
        # Second thoughts may have touched others, or left nothing of these.
        states = sorted(s for s in self._touched.union(states) if components.is_alive[s])
        self._touched.clear()
        for one, other in self._neighbours(states):
            if components.is_alive[one] and components.is_alive[other]:
                self._try_merge(one, other)
        for state in states:
            if components.is_alive[state] and components.weight[state] >= LEAST_POINTS:
                self._try_split(state)

    def _is_due(self, state: int) -> bool:
        """Whether a state that was touched has changed enough for another look."""
        components = self._online.components
        weight = float(components.weight[state])
        is_grown = weight < YOUNG or weight > GROWN * float(self._checked[state])
        return is_grown and bool(components.is_alive[state])

    def _doubt(self, states: list[int]) -> None:
        """Steps that came when a state was young and lie far from it now are explained anew."""
        components = self._online.components
        # Later most of the kept steps are new ones, which were explained when much was known.
        latest = 2 * self._online.config.kept_per_state
        for state in states:
            weight = float(components.weight[state])
            if not components.is_alive[state] or not LEAST_POINTS <= weight <= latest:
                continue
            mean, prior = components.mean[state].copy(), components.prior
            far = [
                step
                for step in self._online.memory.into(state)
                if weight > SINCE_THEN * step.weight_then
                and prior.squared_distance(step.arrival - mean) > DOUBT**2
            ]
            for step in far:
                if step.home == state and components.weight[state] >= 2:
                    self._online.explain_anew(step)

    def _neighbours(self, states: list[int]) -> list[tuple[int, int]]:
        """Pairs of near states, one of which is in `states`."""
        near = self._online.components.near
        return sorted({(min(s, t), max(s, t)) for s in states for t in near(s, NEAR)})

    def _try_merge(self, one: int, other: int) -> None:
        gain = self._merge_gain(one, other)
        self._online.log_move(
            "merge", (one, other), "one state explains both", gain, accepted=gain > 0
        )
        if gain <= 0:
            return
        components, model = self._online.components, self._online.model
        rarer = one if components.weight[one] < components.weight[other] else other
        # What was hardly seen may have been a place after all: a way there is tried again.
        is_doubtful = components.weight[rarer] < HARDLY_KNOWN
        doubtful = sorted(model.predecessors[rarer]) if is_doubtful else []
        self._merge(one, other)
        model.try_again((one if state == other else state, action) for state, action in doubtful)
        self.touch(one)

    def _merge_gain(self, one: int, other: int) -> float:
        born, now = self._online.born, max(self._online.n_steps, 1)
        age = {state: 1.0 - float(born[state]) / now for state in (one, other)}
        return merge_gain(
            self._online.components,
            self._online.model,
            one,
            other,
            row_prior=self._online.config.row_prior,
            missed=missed_chances(self._online.components, one, other, age),
        )

    def _merge(self, one: int, other: int) -> None:
        """The second state becomes part of the first."""
        components = self._online.components
        self._make_one(one, other, components.moments(one) + components.moments(other))

    def _make_one(self, one: int, other: int, moments: Moments) -> None:
        """The first of two states gets all that both had; the second is gone."""
        components = self._online.components
        components.set_moments(one, moments)
        self._online.follow(ComponentMap.of_merge(components.n_slots, one, other))
        components.remove(other)

    def _try_split(self, state: int) -> None:
        components = self._online.components
        prior = components.prior
        if components.n_alive >= self._online.most_states:
            return
        # Not wide in all directions together: then not in one. This costs less to see.
        spread = float(np.vdot(prior.precision, components.scatter[state]))
        if spread <= WIDE * float(components.weight[state]):
            return
        if spread_ratio(prior, components.moments(state)) <= WIDE:
            return
        steps = self._online.memory.into(state)
        if len(steps) < LEAST_POINTS:
            return
        points = np.array([step.arrival for step in steps])
        side = two_sides(points)
        if side is None:
            return
        gain = split_gain(prior, points, side, self._online.components.n_alive)
        if gain <= 0:
            self._online.log_move("split", (state,), "two states explain it", gain, accepted=False)
            return
        child = self._split(state, steps, side)
        if child is None:
            self._online.log_move("split", (state,), "one half explains all", gain, accepted=False)
            return
        # The transitions have a say too, and they are known only after the split.
        loss = self._merge_gain(state, child)
        self._online.log_move(
            "split", (state, child), "two states explain it", gain, accepted=loss <= 0
        )
        if loss > 0:
            self._merge(state, child)

    def _split(self, state: int, steps: list[Step], side: BoolArray) -> int | None:
        """Make two states of one; returns the new one, which has the smaller part.

        None, and nothing is changed, if one of the two would be left without a point.

        Kept steps are shared out one by one, by where they were seen. What is only in the counts
        is shared in one proportion, that of the means of both halves which gives its mean.
        """
        online, components = self._online, self._online.components
        whole = components.moments(state)
        folded = whole - _moments_into(online.memory.steps_naming(state), state, whole)
        if folded.weight <= LEAST_WEIGHT:
            folded = Moments.of_nothing(components.n_features)
        first, second = (
            _moments_into(
                [step for step, there in zip(steps, side, strict=True) if there == half],
                state,
                whole,
            )
            for half in (False, True)
        )
        share = self._share_of_second(folded, first, second)
        if share > 0.5:
            first, second, share = second, first, 1.0 - share
        child = online.new_state(float(online.born[state]))
        components.set_moments(state, first)
        components.set_moments(child, second)
        change = ComponentMap.of_split(components.n_slots, state, child, share)
        online.share_out(change, state, lambda point: self._halves(point, state, child))
        off = folded.mean - (1.0 - share) * first.mean - share * second.mean
        halves: list[tuple[int, Moments]] = []
        for half, part, mean in ((state, 1.0 - share, first.mean), (child, share, second.mean)):
            kept = _moments_into(online.memory.steps_naming(half), half, whole)
            weight = part * folded.weight
            rest = Moments(weight, mean + off, components.prior.covariance * weight)
            halves.append((half, kept + rest))
        if min(moments.weight for _, moments in halves) <= LEAST_WEIGHT:
            self._make_one(state, child, whole)
            return None
        for half, moments in halves:
            components.set_moments(half, moments)
        return child

    def _share_of_second(self, folded: Moments, first: Moments, second: Moments) -> float:
        """How much of what is only in the counts goes to the second half."""
        if folded.weight <= LEAST_WEIGHT:
            return float(second.weight / (first.weight + second.weight))
        way = second.mean - first.mean
        apart = self._online.components.prior.precision @ way
        place = float((folded.mean - first.mean) @ apart / (way @ apart))
        return min(1.0, max(0.0, place))

    def _halves(self, point: FloatArray, state: int, child: int) -> list[tuple[int, float]]:
        """Probability of either half for a point of the whole."""
        log = self._online.components.log_densities(point)
        odds = math.exp(min(700.0, max(-700.0, float(log[state] - log[child]))))
        share = 1.0 / (1.0 + odds)
        if min(share, 1.0 - share) < LEAST_SHARE:
            return [(child if share > 0.5 else state, 1.0)]
        return [(state, 1.0 - share), (child, share)]


def _moments_into(steps: Iterable[Step], state: int, whole: Moments) -> Moments:
    """The moments of the points that steps have added to a state, as part of the `whole`."""
    shares = [(step.arrival, p) for step in steps for into, p in step.after if into == state]
    points = np.array([point for point, _ in shares]).reshape(-1, len(whole.mean))
    return Moments.of_points(points, np.array([p for _, p in shares]))
