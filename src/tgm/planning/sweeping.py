"""Action values of a learned model: by sweeping from what changed, or of a whole model at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.distributions.threads import one_thread
from tgm.files.arrays import ArrayReader, Arrays
from tgm.files.schema import ANY, LARGEST_SUM, Schema, flags, floats, whole
from tgm.transition.sparse import START, SparseTransitions

ROUNDS_PER_STEP = 15  # Bellman updates per call of `sweep`; the rest waits for the next call
ROUNDS_FROM_LOWEST = 100_000  # Bellman updates that start from the lowest value, at most
SHARE_OF_ALL = 4  # if more than one in so many states must be updated, all are: one array operation
MOST_SOLVED = 300  # states up to which a policy is evaluated by solving for all values at once
POLICIES = 4  # that are improved in one call of `sweep`
MOST_CLOSED = 16  # states that lead only to each other; more are not looked through
FEW_STATES = 3  # up to so many are updated one by one, which is faster than array operations
CONVERGED = 1e-6  # share of (value - lowest value): smaller changes end `solve`
LEAST_MOVE = 1e-9  # share of the largest reward: smaller changes end `solve`

SCHEMA: Schema = {
    "value": floats("n_slots", size=LARGEST_SUM),
    "q": floats("n_slots", "n_actions", size=LARGEST_SUM),
    "is_set": flags("n_slots", "n_actions"),
    "set_to": floats("n_slots", "n_actions", size=LARGEST_SUM),
    "bonus": floats("n_slots", "n_actions", size=LARGEST_SUM),
    "hope": floats("n_slots", "n_actions", low=0.0, high=1.0),
    "active": whole(ANY, below="n_slots"),
}


class _Moves(NamedTuple):
    """Which changes of a value are passed on to predecessors; see `Sweeper.sweep`.

    `has_bonus` is whether any row has a bonus or a hope, `has_set` whether the value of any is
    given.
    """

    tolerance: float
    lowest: float
    least: float
    has_bonus: bool
    has_set: bool


class Sweeper:
    """Action values of a model in which the values of some rows are given.

    `set_rows` gives the value of rows, whatever the model says (unknown rows, under optimism).
    `sweep` updates the states whose rows changed, then their predecessors, and so on.

    Attributes:
        q: (n_slots, n_actions) action values.
        value: (n_slots,) value of the best action of each state.
        is_set: (n_slots, n_actions) rows whose value is given.
        set_to: (n_slots, n_actions) the values of these rows.
        hope: (n_slots, n_actions) share of the tries of each row that do what the model does not
            say; what they are worth is part of `bonus`.
        bonus: (n_slots, n_actions) is added to what the model says: q = (1 - hope) (reward +
            discounted values) + bonus.
        active: slots of the states that must be updated next.
    """

    def __init__(self, model: SparseTransitions) -> None:
        """Start without states."""
        self._model = model
        self.q = np.zeros((0, model.n_actions))
        self.value = np.zeros(0)
        self.is_set = np.zeros((0, model.n_actions), dtype=bool)
        self.set_to = np.zeros((0, model.n_actions))
        self.bonus = np.zeros((0, model.n_actions))
        self.hope = np.zeros((0, model.n_actions))
        self.active: set[int] = set()

    def make_room(self, n_slots: int, value: float) -> None:
        """Make the arrays at least `n_slots` long; the rows of new slots are set to `value`."""
        missing = n_slots - len(self.value)
        if missing > 0:
            missing = max(missing, len(self.value))
            shape = (missing, self._model.n_actions)
            self.q = np.concatenate([self.q, np.full(shape, value)])
            self.value = np.concatenate([self.value, np.full(missing, value)])
            self.is_set = np.concatenate([self.is_set, np.ones(shape, dtype=bool)])
            self.set_to = np.concatenate([self.set_to, np.full(shape, value)])
            self.bonus = np.concatenate([self.bonus, np.zeros(shape)])
            self.hope = np.concatenate([self.hope, np.zeros(shape)])

    def start_state(self, state: int, value: float) -> None:
        """Give all actions of a state that was born this value, until rows of it are known."""
        self.q[state] = self.value[state] = value
        self.is_set[state] = True
        self.set_to[state] = value
        self.active.add(state)

    def to_arrays(self) -> Arrays:
        """Everything."""
        return {
            "q": self.q,
            "value": self.value,
            "is_set": self.is_set,
            "set_to": self.set_to,
            "bonus": self.bonus,
            "hope": self.hope,
            "active": np.array(sorted(self.active), dtype=np.intp),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave."""
        arrays = saved.read(SCHEMA, n_actions=self._model.n_actions)
        self.value, self.q = arrays["value"], arrays["q"]
        self.bonus, self.hope = arrays["bonus"], arrays["hope"]
        self.is_set, self.set_to = arrays["is_set"], arrays["set_to"]
        self.active = set(arrays["active"].tolist())

    def set_rows(self, is_set: BoolArray, set_to: FloatArray) -> None:
        """Give the values of some rows; both (n, n_actions), for the first n slots."""
        n = len(is_set)
        moved = (is_set != self.is_set[:n]) | (is_set & (set_to != self.set_to[:n]))
        self.is_set[:n] = is_set
        self.set_to[:n] = set_to
        self.active.update(np.flatnonzero(moved.any(axis=1)).tolist())

    def restart(self, alive: IntArray, lowest: float) -> None:
        """Start again from the lowest value: after a change of what the unknown is worth."""
        self.value[alive] = lowest
        self.active = set(alive.tolist())

    def sweep(
        self,
        alive: IntArray,
        tolerance: float,
        lowest: float,
        least: float = 0.0,
        *,
        by_chance: bool = False,
    ) -> None:
        """Update what changed, until no value moves or ROUNDS_PER_STEP rounds are over.

        A value has moved if it changed by more than `tolerance` of (value - lowest), and by more
        than `least`. The tolerance is relative because the value of a distant reward is small, and
        must still rank the actions.

        Values of states that lead to each other fall slowly. If many states are still moving after
        the last round, or one is worth more than all rewards can bring, all values start again from
        `lowest`, which no policy can fall below: from there a plan of n steps takes n rounds.

        Args:
            alive: (n_states,) slots of all states, ascending.
            tolerance, lowest, least: which changes count.
            by_chance: whether most rows are random. Then every try moves most values a little:
                what is left waits, and policies are improved first if there are few states.
        """
        has_bonus = bool(self.bonus.any() or self.hope.any())
        has_set = bool(self.is_set[: int(alive[-1]) + 1].any()) if len(alive) else False
        moves = _Moves(tolerance, lowest, least, has_bonus, has_set)
        if by_chance and len(alive) <= MOST_SOLVED and len(self.active) > FEW_STATES:
            self._improve_policy(alive, moves)
        self._sweep(alive, moves, ROUNDS_PER_STEP)
        are_many = SHARE_OF_ALL * len(self.active) > len(alive)
        if self.active and not by_chance and (are_many or self._exceeds_rewards(alive)):
            self.restart(alive, lowest)
            self._sweep(alive, moves, ROUNDS_FROM_LOWEST)

    def _exceeds_rewards(self, alive: IntArray) -> bool:
        """Whether a moving value is above all that rewards can bring, and no given value is near.

        That is what is left of unknown rows which are known by now.
        """
        moving = list(self.active)
        highest = moving[int(self.value[moving].argmax())]
        top = float(self.value[highest])
        if top <= 0.0 or (self.is_set[alive].any() and not self._is_closed(highest)):
            return False
        model = self._model
        most = float((model.reward[alive] + self.bonus[alive]).max())
        discount = float(model.discounted[alive].sum(axis=-1).max())
        return top * (1.0 - discount) > max(most, 0.0)

    def _is_closed(self, state: int) -> bool:
        """Whether few states can be reached from one, and no row of them is given."""
        model, found, seen = self._model, [state], {state}
        for one in found:
            if self.is_set[one].any() or len(found) > MOST_CLOSED:
                return False
            onward = model.successor[one][model.discounted[one] > 0.0].tolist()
            found += sorted(set(onward) - seen)
            seen.update(onward)
        return True

    def _improve_policy(self, alive: IntArray, moves: _Moves) -> None:
        """Policy iteration: the values of the best actions are found by one linear solution."""
        model, n = self._model, len(alive)
        index = np.zeros(int(alive[-1]) + 1, dtype=np.intp)
        index[alive] = np.arange(n)
        for _ in range(POLICIES):
            best = self.q[alive].argmax(axis=1)
            is_set = self.is_set[alive, best]
            shown = np.where(is_set, 0.0, 1.0 - self.hope[alive, best])
            weights = shown[:, None] * model.discounted[alive, best]
            after = index[np.where(weights > 0.0, model.successor[alive, best], alive[0])]
            system = np.eye(n)
            np.subtract.at(system, (np.arange(n)[:, None], after), weights)
            gain = shown * model.reward[alive, best] + self.bonus[alive, best]
            gain = np.where(is_set, self.set_to[alive, best], gain)
            with one_thread():  # also where `observe` is called, not `learn`
                self.value[alive] = np.linalg.solve(system, gain)
            moved = self._back_up(alive, moves)
            self.active = {s for after in moved for s, _ in model.predecessors[after]} - {START}
            if not moved:
                break

    def _sweep(self, alive: IntArray, moves: _Moves, rounds: int) -> None:
        """Update the active states, then the predecessors of those that moved, and so on."""
        predecessors = self._model.predecessors
        for _ in range(rounds):
            if not self.active:
                return
            if SHARE_OF_ALL * len(self.active) > len(alive):
                moved = self._back_up(alive, moves)
            elif len(self.active) <= FEW_STATES:
                moved = self._back_up_few(sorted(self.active), moves)
            else:
                moved = self._back_up(np.array(sorted(self.active)), moves)
            if SHARE_OF_ALL * len(moved) > len(alive):
                self.active = set(alive.tolist())
            else:
                self.active = {state for after in moved for state, _ in predecessors[after]}
                self.active.discard(START)

    def _back_up_few(self, states: list[int], moves: _Moves) -> list[int]:
        """Do what `_back_up` does, without arrays."""
        values = [self._back_up_one(state) for state in states]
        moved = []
        for state, value in zip(states, values, strict=True):
            change = abs(value - self.value.item(state))
            if change > moves.least and change > moves.tolerance * (value - moves.lowest):
                moved.append(state)
            self.value[state] = value
        return moved

    def _back_up_one(self, state: int) -> float:
        """One Bellman update of one state; returns its value."""
        model, value = self._model, self.value.item
        rewards, bonuses = model.reward[state].tolist(), self.bonus[state].tolist()
        shown = (1.0 - self.hope[state]).tolist()
        is_set, set_to = self.is_set[state].tolist(), self.set_to[state].tolist()
        successor, discounted = model.successor[state].tolist(), model.discounted[state].tolist()
        q = [
            to
            if hand
            else bonus
            + part * (reward + sum([w * value(s) for s, w in zip(after, shares, strict=True) if w]))
            for hand, to, bonus, part, reward, after, shares in zip(
                is_set, set_to, bonuses, shown, rewards, successor, discounted, strict=True
            )
        ]
        self.q[state] = q
        return float(max(q))

    def _back_up(self, states: IntArray, moves: _Moves) -> list[int]:
        """One Bellman update of some states; returns those whose value moved."""
        model = self._model
        # Slices avoid copies of the arrays. What they say of a few slots that are free is left out.
        n, n_slots = len(states), int(states[-1]) + 1
        are_most = 2 * n > n_slots
        chosen = slice(0, n_slots) if are_most else states
        after = self.value.take(model.successor[chosen])
        q = np.einsum("sab,sab->sa", model.discounted[chosen], after)
        q += model.reward[chosen]
        if moves.has_bonus:
            q *= 1.0 - self.hope[chosen]
            q += self.bonus[chosen]
        if moves.has_set:
            np.copyto(q, self.set_to[chosen], where=self.is_set[chosen])
        if are_most and n < n_slots:
            q, chosen = q.take(states, axis=0), states
        self.q[chosen] = q
        value = np.maximum.reduce(q, axis=1)
        limit = value - moves.lowest
        limit *= moves.tolerance
        np.maximum(limit, moves.least, out=limit)
        moved = np.abs(value - self.value[chosen]) > limit
        self.value[chosen] = value
        return states[moved].tolist()  # type: ignore[no-any-return]


def solve(
    discounted: FloatArray,
    successor: IntArray,
    reward: FloatArray,
    is_set: BoolArray,
    set_to: FloatArray,
    lowest: float,
) -> FloatArray:
    """Action values (n, n_actions) of a whole model, by value iteration from below.

    Args:
        discounted: (n, n_actions, width) gamma P(goes on) P(successor).
        successor: (n, n_actions, width) indices.
        reward: (n, n_actions) expected rewards.
        is_set, set_to: (n, n_actions) rows whose value is given, and these values.
        lowest: no state is worth less; the iteration starts from it.
    """
    least = LEAST_MOVE * (float(np.abs(reward).max(initial=0.0)) or 1.0)
    value = np.full(len(reward), lowest)
    q = np.zeros_like(reward)
    for _ in range(ROUNDS_FROM_LOWEST):
        q = np.einsum("sab,sab->sa", discounted, value[successor]) + reward
        q = np.where(is_set, set_to, q)
        new = np.maximum(q.max(axis=1, initial=lowest), lowest)
        # Relative: the value of a distant reward is small, and must still rank the actions.
        moved = np.abs(new - value) > np.maximum(CONVERGED * (new - lowest), least)
        value = new
        if not moved.any():
            break
    return q
