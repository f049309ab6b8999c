"""The search for structure: which states are compared, merged or split, decided by evidence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import expit

from tgm.distributions import BoolArray, FloatArray
from tgm.distributions.moments import Moments
from tgm.errors import DataError
from tgm.files.arrays import ANY, ArrayReader, Arrays
from tgm.memory.step import Belief, Shares, Step
from tgm.perception.component_map import ComponentMap
from tgm.perception.state_slots import LEAST_WEIGHT
from tgm.structure.evidence import HARDLY_KNOWN, missed_chances, split_gain, transition_gain
from tgm.structure.revision import Refusal, Relabelling, Revision
from tgm.transition.planned_rows import Key
from tgm.transition.sparse import SUMS, SparseTransitions
from tgm.world_model import WorldModel, count_step

LEAST_SPLIT_POINTS = 3.0  # of a state that is split, and kept steps that show where
LEAST_SHARE_OF_HALF = 0.01  # probability of one half of a state; less is nothing
GROWN = 1.15  # times its points at the last check, from which a state is checked again
YOUNG = 4.0  # points below which a state is checked again with every point
MERGE_NEEDS = 3.0  # nats: a wrong merge hides untried actions, a double state costs a few tries


class StructureSearch:
    """Proposes changes for the states that have grown, and weighs them; it changes no model.

    Proposals are cheap, and decisions are made by evidence (`structure.evidence`). The
    learner applies the `Revision`.
    """

    def __init__(self, world: WorldModel, row_prior: float) -> None:
        """Read from `world`; `row_prior` is the number of tries that the base of a row is worth."""
        self._world = world
        self._row_prior = row_prior
        self.touched: set[int] = set()  # states that got or lost points since the last check
        self._checked = np.zeros(0)  # weight of each state at its last check
        self._shared: dict[tuple[int, int], float] = {}  # nats of counts shared out at splits

    def birth(self, state: int) -> None:
        """A state was born."""
        if state >= len(self._checked):
            more = np.zeros(max(16, len(self._checked)))
            self._checked = np.concatenate([self._checked, more])
        self._checked[state] = 0.0
        self._shared = {pair: nats for pair, nats in self._shared.items() if state not in pair}

    def due(self) -> list[int]:
        """The states that were touched and have grown enough for another look; it begins now."""
        states = self._world.states
        found = [state for state in sorted(self.touched) if self._is_due(state)]
        self.touched.clear()
        for state in found:
            self._checked[state] = states.weight[state]
        return found

    def _is_due(self, state: int) -> bool:
        states = self._world.states
        weight = states.weight.item(state)
        is_grown = weight < YOUNG or weight > GROWN * self._checked.item(state)
        return is_grown and bool(states.is_alive.item(state))

    def neighbours(self, states: list[int]) -> list[tuple[int, int]]:
        """Pairs of near states, one of which is in `states`."""
        pairs = self._world.states.near(states) if states else []
        return sorted({(one, other) if one < other else (other, one) for one, other in pairs})

    # --- merging ----------------------------------------------------------------------------------

    def merge(self, one: int, other: int, n_steps: int) -> Revision | Refusal:
        """Merge the second state into the first, if the gain of evidence is large enough.

        `n_steps` is the length of the run so far, by which the ages of states are measured.
        """
        states, transitions = self._world.states, self._world.transitions
        gain = self._merge_gain(one, other, n_steps) - self._shared.get((one, other), 0.0)
        if gain <= MERGE_NEEDS:
            return Refusal((one, other), "one state explains both", gain)
        weights = float(states.weight[one]), float(states.weight[other])
        rarer = one if weights[0] < weights[1] else other
        # A state that was hardly seen may have been a place after all: a way to it is retried.
        doubtful = transitions.predecessors[rarer] if min(weights) < HARDLY_KNOWN else ()
        return Revision(
            ComponentMap.of_merge(states.n_slots, one, other),
            gain,
            (one, other),
            {one: states.moments(one) + states.moments(other)},
            retries=[(one if s == other else s, action) for s, action in sorted(doubtful)],
        )

    def _merge_gain(self, one: int, other: int, n_steps: int) -> float:
        """Nats of evidence won by making two states one, of all that is counted for them."""
        states = self._world.states
        weights = float(states.weight[one]), float(states.weight[other])
        ages = self._age(one, n_steps), self._age(other, n_steps)
        return (
            states.merge_gain(one, other)
            + math.log1p(missed_chances(weights, ages))
            + transition_gain(self._world.transitions, one, other, states.n_alive, self._row_prior)
        )

    def _age(self, state: int, n_steps: int) -> float:
        """The share of the run for which a state has existed."""
        return 1.0 - float(self._world.born[state]) / n_steps

    # --- splitting --------------------------------------------------------------------------------

    def split(self, state: int, n_steps: int) -> Revision | Refusal | None:
        """Split a state, if that raises the evidence; None if there is no way to split it.

        Kept steps are shared out one by one, by where they were seen. What is only in the counts
        is shared in one proportion, that of the means of both halves which gives its mean.
        """
        world, states = self._world, self._world.states
        if states.weight[state] < LEAST_SPLIT_POINTS or not states.is_wide(state):
            return None
        steps = world.memory.into(state)
        if len(steps) < LEAST_SPLIT_POINTS:
            return None
        points = np.array([step.arrival for step in steps])
        side = states.cut(points)
        if side is None:
            return None
        here, there = Moments.of_points(points[side]), Moments.of_points(points[~side])
        gain = split_gain(states, here, there, states.n_alive)
        if gain <= 0:
            return Refusal((state,), "two states explain it", gain)
        split = self._halves(state, steps, side)
        if min(moments.weight for moments in split.moments.values()) <= LEAST_WEIGHT:
            return Refusal((state,), "one half explains all", gain)
        gain = -self._loss(split, n_steps)
        if gain <= 0:
            return Refusal((state,), "two states explain it", gain)
        return replace(split, gain=gain)

    def discount(self, split: Revision, n_steps: int) -> None:
        """A split was made: what its counts say beyond its own gain is no evidence.

        The rows of the halves have their kept steps alone, and random ones tries that were shared
        out. They say less than the split was weighed by, and would undo it.
        """
        one, other = sorted(split.states)
        self._shared[one, other] = self._merge_gain(one, other, n_steps) + split.gain

    def _halves(self, state: int, steps: list[Step], side: BoolArray) -> Revision:
        """The split of a state by a cut of its kept steps; the child gets the smaller part."""
        world, states = self._world, self._world.states
        whole, named = states.moments(state), world.memory.steps_naming(state)
        folded = whole - _moments_into(state, [(s.arrival, s.after) for s in named], whole)
        if folded.weight <= LEAST_WEIGHT:
            folded = Moments.of_nothing(states.n_features)
        first, second = (
            _moments_into(
                state,
                [(s.arrival, s.after) for s, on in zip(steps, side, strict=True) if on == half],
                whole,
            )
            for half in (False, True)
        )
        share = self._share_of_second(folded, first, second)
        if share > 0.5:
            first, second, share = second, first, 1.0 - share
        child, log_odds = states.next_slot, states.log_odds(first, second)

        def halves(point: FloatArray) -> Belief:
            part = float(expit(-log_odds(point)))
            if min(part, 1.0 - part) < LEAST_SHARE_OF_HALF:
                return [(child if part > 0.5 else state, 1.0)]
            return [(state, 1.0 - part), (child, part)]

        relabellings = [_relabelling(step, state, halves) for step in named]
        moments = self._moments_of_halves(
            relabellings, (state, child), (first, second), folded, share
        )
        change = ComponentMap.of_split(max(states.n_slots, child + 1), state, child, share)
        into, leaving = _parts(relabellings, state, child)
        return Revision(
            change, 0.0, (state, child), moments, relabellings, halves,
            part_into=into, part_from=leaving,
        )  # fmt: skip

    def _share_of_second(self, folded: Moments, first: Moments, second: Moments) -> float:
        """The part of what is only in the counts that goes to the second half."""
        if folded.weight <= LEAST_WEIGHT:
            return float(second.weight / (first.weight + second.weight))
        way = second.mean - first.mean
        apart = self._world.states.in_deviations(way)
        place = float((folded.mean - first.mean) @ apart / (way @ apart))
        return min(1.0, max(0.0, place))

    def _moments_of_halves(
        self,
        relabellings: list[Relabelling],
        halves: tuple[int, int],
        moments: tuple[Moments, Moments],
        folded: Moments,
        share: float,
    ) -> dict[int, Moments]:
        """The moments of both halves: their part of the kept steps, and of what was folded."""
        first, second = moments
        off = folded.mean - (1.0 - share) * first.mean - share * second.mean
        arrivals = [(r.step.arrival, r.relabelled[2]) for r in relabellings]
        found = {}
        for half, part, mean in (
            (halves[0], 1.0 - share, first.mean),
            (halves[1], share, second.mean),
        ):
            weight = part * folded.weight
            scatter = self._world.states.expected_scatter(float(weight))
            rest = Moments(weight, mean + off, scatter)
            found[half] = _moments_into(half, arrivals, first) + rest
        return found

    def _loss(self, split: Revision, n_steps: int) -> float:
        """Nats that making the halves of a split one again would win.

        The transitions count too: those of the kept steps, of which it is known which half they
        left or reached, each for as many points as there are for each one kept. Counts without
        kept steps are shared out by those; they would say that both halves do the same, whatever
        they do.
        """
        (state, child), world = split.states, self._world
        transitions = _TrialCounts(world.transitions.n_actions, world.transitions.gamma)
        transitions.make_room(max(split.change.n_new, len(world.transitions.visits)))
        transitions.log_fade = world.transitions.log_fade
        first, second = split.moments[state], split.moments[child]
        kept = sum(
            p for step in world.memory.into(state) for into, p in step.after if into == state
        )
        times = max(1.0, float(first.weight + second.weight) / max(1.0, kept))
        for relabelling in split.relabellings:
            _count_relabelled(transitions, relabelling, times)
        weights = float(first.weight), float(second.weight)
        age = self._age(state, n_steps)
        return (
            -world.states.split_gain(first, second)
            + math.log1p(missed_chances(weights, (age, age)))
            + transition_gain(transitions, state, child, world.states.n_alive + 1, self._row_prior)
        )

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """The states to look at, when each was looked at last, and what splits shared out."""
        pairs = sorted(self._shared)
        return {
            "touched": np.array(sorted(self.touched), dtype=np.intp),
            "checked": self._checked,
            "shared.pair": np.array(pairs, dtype=np.intp).reshape(-1, 2),
            "shared.nats": np.array([self._shared[pair] for pair in pairs], dtype=np.float64),
        }

    def restore(self, saved: ArrayReader, n_slots: int) -> None:
        """Take over what `to_arrays` gave, for at least so many states."""
        self.touched = set(saved.whole("touched", ANY, high=n_slots - 1).tolist())
        self._checked = saved.floats("checked", ANY)
        if len(self._checked) < n_slots:
            raise DataError(f"array 'checked' has {len(self._checked)} of {n_slots} states")
        nats = saved.floats("shared.nats", ANY).tolist()
        pairs = saved.whole("shared.pair", len(nats), 2, high=n_slots - 1).tolist()
        self._shared = {(one, other): n for (one, other), n in zip(pairs, nats, strict=True)}


class _TrialCounts(SparseTransitions):
    """Transitions of a split that is only weighed: no plan uses them."""

    def make_room(self, n_slots: int) -> None:
        """Have sums for so many states, once."""
        for name in SUMS:
            setattr(self, name, np.zeros((n_slots, self.n_actions)))
        self.predecessors = [set() for _ in range(n_slots)]

    def _refresh(self, key: Key) -> None:
        """The planner's arrays are not read."""


def _moments_into(state: int, arrivals: list[tuple[FloatArray, Belief]], whole: Moments) -> Moments:
    """The moments of the points that steps have added to a state.

    arrivals: the point of each step and the belief with which it was added; `whole` has the
    number of features where there is none.
    """
    shares = [(point, p) for point, after in arrivals for into, p in after if into == state]
    points = np.array([point for point, _ in shares]).reshape(-1, len(whole.mean))
    return Moments.of_points(points, np.array([p for _, p in shares]))


def _relabelling(step: Step, state: int, halves: Callable[[FloatArray], Belief]) -> Relabelling:
    """How a kept step that names a state follows its split: by where it was seen."""
    left = {named for named, _ in step.before}.union([before for before, _, _ in step.entries])
    reached = {named for named, _ in step.after}.union([after for _, after, _ in step.entries])
    before: Shares = {}
    if step.departure is not None and state in left:
        before = {state: halves(step.departure)}
    return Relabelling(step, before, {state: halves(step.arrival)} if state in reached else {})


def _count_relabelled(
    transitions: SparseTransitions, relabelling: Relabelling, times: float
) -> None:
    """Count a step as it will be after a split, for so many steps like it."""
    step = relabelling.step
    entries, _, after = relabelling.relabelled
    copy = Step(
        step.departure, [], step.action, step.reward, step.end, step.arrival, step.log_fade,
        entries, after, retracted=step.retracted,
    )  # fmt: skip
    count_step(transitions, copy, times)


def _parts(
    relabellings: list[Relabelling], state: int, child: int
) -> tuple[dict[Key, float], dict[Key, float]]:
    """What part of each row into a split state, and of what leaves it, belongs to the second half.

    Kept steps show it: at least one of each row into a state is kept.
    """
    into: dict[Key, list[float]] = {}
    leaving: dict[Key, list[float]] = {}
    for relabelling in relabellings:
        step = relabelling.step
        if step.action is None:
            continue
        for before, after, weight in relabelling.relabelled[0]:
            if after in (state, child) and before not in (state, child):
                into.setdefault((before, step.action), [0.0, 0.0])[after == child] += weight
            if before in (state, child) and after not in (state, child):
                leaving.setdefault((step.action, after), [0.0, 0.0])[before == child] += weight
    return (
        {key: second / (first + second) for key, (first, second) in into.items()},
        {key: second / (first + second) for key, (first, second) in leaving.items()},
    )
