"""Second thoughts and changes of structure: which states are looked at, and what is done."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tgm.agent.structure_moves import (
    HARDLY_KNOWN,
    merge_gain,
    missed_chances,
    split_gain,
    spread_ratio,
    two_sides,
)
from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.saved import ANY, Arrays, Saved
from tgm.errors import DataError
from tgm.memory.step import relabel
from tgm.perception.online_components import moments_of, pooled

if TYPE_CHECKING:
    from tgm.agent.online_model import OnlineModel

DOUBT = 2.0  # standard deviations from its state at which a kept step is explained anew
SINCE_THEN = 1.4  # times the data it had when it was explained
LEAST_POINTS = 3.0  # in a state that is doubted or split
NEAR = 22.0  # squared distance within which two states are worth comparing
WIDE = 2.0  # times the believed variance that make a split worth a look
GROWN = 1.15  # a state is checked again when it has this much more data
NO_SPLIT_UNTIL = 1.5  # times the weight at which two states became one
YOUNG = 4.0  # points below which a state is checked every time


class StructureSearch:
    """Looks at the states that have changed, and merges, splits or explains anew.

    Proposals are cheap, and decisions are made by evidence (`structure_moves`). Transitions,
    values, memory and belief follow through `OnlineModel.follow`.
    """

    def __init__(self, online: OnlineModel) -> None:
        """Nothing to look at yet."""
        self._online = online
        self._touched: set[int] = set()
        self._young: set[int] = set()
        self._checked = np.zeros(0)  # weight of each state at its last check
        self._whole_until: dict[int, float] = {}  # weight below which no split is tried

    def touch(self, state: int) -> None:
        """A point was added to a state."""
        self._touched.add(state)

    def birth(self, state: int) -> None:
        """A state was born."""
        if state >= len(self._checked):
            room = np.zeros(max(16, len(self._checked)))
            self._checked = np.concatenate([self._checked, room])
        self._checked[state] = 0.0
        self._whole_until.pop(state, None)

    def to_arrays(self) -> Arrays:
        """What is to be looked at, and when."""
        return {
            "touched": np.array(sorted(self._touched), dtype=np.intp),
            "young": np.array(sorted(self._young), dtype=np.intp),
            "checked": self._checked,
            "whole.state": np.array(list(self._whole_until), dtype=np.intp),
            "whole.until": np.array(list(self._whole_until.values()), dtype=np.float64),
        }

    def restore(self, saved: Saved, n_slots: int) -> None:
        """Take over what `to_arrays` gave, for at least so many states."""
        last = n_slots - 1
        self._touched = set(saved.whole("touched", ANY, high=last).tolist())
        self._young = set(saved.whole("young", ANY, high=last).tolist())
        self._checked = saved.floats("checked", ANY)
        if len(self._checked) < n_slots:
            raise DataError(f"array 'checked' has {len(self._checked)} of {n_slots} states")
        states = saved.whole("whole.state", ANY, high=last).tolist()
        until = saved.floats("whole.until", len(states)).tolist()
        self._whole_until = dict(zip(states, until, strict=True))

    def check(self) -> None:
        """Compare states with their neighbours, and wide ones with two: those that have grown."""
        components = self._online.components
        grown = {
            state
            for state in self._touched
            if components.is_alive[state]
            and components.weight[state] > GROWN * self._checked[state]
        }
        states = sorted(grown | {state for state in self._young if components.is_alive[state]})
        self._touched.clear()
        self._young = {state for state in states if components.weight[state] < YOUNG}
        if not states:
            return
        self._checked[states] = components.weight[states]
        if self._online.config.second_thoughts:
            self._doubt(states)
        if not self._online.config.moves:
            return
        self._online.refresh_prior()
        states = sorted(s for s in self._touched.union(states) if components.is_alive[s])
        self._young |= {state for state in states if components.weight[state] < YOUNG}
        self._touched.clear()
        for one, other in self._neighbours(states):
            if components.is_alive[one] and components.is_alive[other]:
                self._try_merge(one, other)
        for state in states:
            least = max(LEAST_POINTS, self._whole_until.get(state, 0.0))
            if components.is_alive[state] and components.weight[state] >= least:
                self._try_split(state)

    def _doubt(self, states: list[int]) -> None:
        """Steps that came when a state was young and lie far from it now are explained anew."""
        components, precision = self._online.components, self._online.components.prior.precision
        for state in states:
            weight = components.weight[state]
            # Later the kept steps are the newest, which were explained when much was known.
            latest = 2 * self._online.config.kept_per_state
            if not components.is_alive[state] or not LEAST_POINTS <= weight <= latest:
                continue
            steps = [
                step
                for step in self._online.memory.into(state)
                if weight > SINCE_THEN * step.weight_then
            ]
            if not steps:
                continue
            offsets = np.array([step.arrival for step in steps]) - components.mean[state]
            far = np.sum(offsets @ precision * offsets, axis=1) > DOUBT**2
            for step in (s for s, is_far in zip(steps, far, strict=True) if is_far):
                if step.home == state and components.weight[state] >= 2:
                    self._online.explain_anew(step)

    def _neighbours(self, states: list[int]) -> list[tuple[int, int]]:
        """Pairs of near states, one of which is in `states`."""
        components = self._online.components
        alive = components.alive
        offsets = components.mean[alive][None] - components.mean[states][:, None]
        precision = components.prior.precision
        square = np.sum(offsets @ precision * offsets, axis=-1)
        pairs = {
            (min(states[i], int(alive[j])), max(states[i], int(alive[j])))
            for i, j in np.argwhere(square < NEAR)
            if states[i] != alive[j]
        }
        return sorted(pairs)

    def _try_merge(self, one: int, other: int) -> None:
        gain = self._merge_gain(one, other)
        self._online.tell("merge", (one, other), "one state explains both", gain, accepted=gain > 0)
        if gain > 0:
            self._merge(one, other)

    def _merge_gain(self, one: int, other: int) -> float:
        age = 1.0 - self._online.born / max(self._online.n_steps, 1)
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
        rarer = one if components.weight[one] < components.weight[other] else other
        doubtful = (
            self._online.model.into[rarer] if components.weight[rarer] < HARDLY_KNOWN else set()
        )
        doubtful = {(one if state == other else state, action) for state, action in doubtful}
        merged = pooled(components.moments(one), components.moments(other))
        components.set_moments(one, merged)
        sources = np.arange(components.n_slots)
        targets = np.where(sources == other, one, sources)
        self._online.follow(targets, sources)
        components.remove(other)
        # What was hardly seen may have been a place after all: a way there is tried again.
        self._online.model.try_again(doubtful)
        self._whole_until[one] = NO_SPLIT_UNTIL * float(components.weight[one])

    def _try_split(self, state: int) -> None:
        components = self._online.components
        prior = components.prior
        if components.n_alive == self._online.config.max_states:
            return
        # Not wide in all directions together: then not in one. This costs less to see.
        if np.sum(prior.precision * components.scatter[state]) <= WIDE * components.weight[state]:
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
            self._online.tell("split", (state,), "two states explain it", gain, accepted=False)
            return
        child = self._split(state, points, side)
        # The transitions have a say too, and they are known only after the split.
        loss = self._merge_gain(state, child)
        self._online.tell(
            "split", (state, child), "two states explain it", gain, accepted=loss <= 0
        )
        if loss > 0:
            self._merge(state, child)

    def _split(self, state: int, points: FloatArray, side: BoolArray) -> int:
        """The state keeps the side of what it has forgotten; the other side becomes a new one."""
        components = self._online.components
        child = self._online.new_state()
        stays, leaves = moments_of(points[~side]), moments_of(points[side])
        weight, mean, _ = components.moments(state)
        kept = pooled(stays, leaves)
        folded = weight - kept[0]
        if folded > 0.5:
            folded_mean = (weight * mean - kept[0] * kept[1]) / folded
            near, far = (np.sum((folded_mean - m[1]) ** 2) for m in (stays, leaves))
            if near > far:
                stays, leaves = leaves, stays
            rest = (folded, folded_mean, components.prior.covariance * folded)
            stays = pooled(stays, rest)
        components.set_moments(state, stays)
        components.set_moments(child, leaves)
        self._share_out(state, child)
        return child

    def _share_out(self, state: int, child: int) -> None:
        """Kept steps from and into a state that was split are counted for the right half of it."""
        for step in self._online.memory.naming(state):
            self._online.count(step, -1.0)
            after = {state: self._halves(step.arrival, state, child)}
            before = after
            if step.departure is not None:
                before = {state: self._halves(step.departure, state, child)}
            self._online.memory.relabel(step, before, after)
            self._online.count(step, +1.0)
        if self._online.last is not None:
            if self._online.last.home is None:
                halves = {state: self._halves(self._online.last.arrival, state, child)}
                self._online.last.after = relabel(self._online.last.after, halves)
            self._online.belief = self._online.last.after

    def _halves(self, point: FloatArray, state: int, child: int) -> list[tuple[int, float]]:
        """Probability of either half for a point of the whole."""
        log = self._online.components.log_densities(point)
        odds = math.exp(min(700.0, max(-700.0, float(log[state] - log[child]))))
        share = 1.0 / (1.0 + odds)
        return [(s, p) for s, p in ((state, 1.0 - share), (child, share)) if p > 0.01]
