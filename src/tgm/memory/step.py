"""One step and its explanation, so that it can be taken back."""

from __future__ import annotations

from dataclasses import dataclass, field

from tgm.distributions import FloatArray
from tgm.perception.state_slots import NO_WEIGHT

Belief = list[tuple[int, float]]
"""(state, probability), the most likely first; what is missing to one is "none of the known"."""

Shares = dict[int, list[tuple[int, float]]]


@dataclass(slots=True, eq=False)
class Way:
    """An action that led from one state to another; all kept steps that show it share it.

    Attributes:
        key: the state that was reached, the state before, the action.
        states: both states.
        n_steps: kept steps that show it.
    """

    key: tuple[int, int, int | None]
    states: frozenset[int]
    n_steps: int = 0


@dataclass(slots=True, eq=False)
class Step:
    """One step and its explanation.

    Attributes:
        departure: (n_features,) the observation before; None at the start of an episode.
        before: the belief before.
        action: what was done; None at the start of an episode.
        reward, end: what it brought, and 1.0 if the episode terminated.
        arrival: (n_features,) the observation after.
        log_fade: how far counts had faded when it came; what came before has faded since.
        entries: (state, next state, weight) that it added to the transition counts.
        after: the belief after, which is also what it added to the states.
        weight_then: weight of its state when it was assigned.
        next: the step that followed.
        kept_in: the state under which it is kept, or None.
        way: what it shows while it is kept: the way to that state.
        names: the states that it names while it is kept.
        retracted: its row was forgotten; it is evidence of its state, but of no transition.
        is_outlier: the observation belongs to no state; `after` is what was expected.
    """

    departure: FloatArray | None
    before: Belief
    action: int | None
    reward: float
    end: float
    arrival: FloatArray
    log_fade: float = 0.0
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    after: Belief = field(default_factory=list)
    weight_then: float = 0.0
    next: Step | None = None
    kept_in: int | None = None
    way: Way | None = None
    names: frozenset[int] | set[int] = frozenset()
    retracted: bool = False
    is_outlier: bool = False

    @property
    def kept_next(self) -> Step | None:
        """The step that followed, if it is kept."""
        return self.next if self.next is not None and self.next.kept_in is not None else None

    def relabelled(
        self, before: Shares, after: Shares
    ) -> tuple[list[tuple[int, int, float]], Belief, Belief]:
        """Entries, belief before and belief after, where some states have been shared out."""
        entries: dict[tuple[int, int], float] = {}
        for state, reached, weight in self.entries:
            for new_state, share in before.get(state, [(state, 1.0)]):
                for new_reached, part in after.get(reached, [(reached, 1.0)]):
                    key = new_state, new_reached
                    entries[key] = entries.get(key, 0.0) + weight * share * part
        triples = [(state, reached, weight) for (state, reached), weight in entries.items()]
        return triples, relabel(self.before, before), relabel(self.after, after)

    def relabel(self, before: Shares, after: Shares) -> None:
        """Follow a change of states, where it was left and where it led; see `relabelled`."""
        self.entries, self.before, self.after = self.relabelled(before, after)


def relabel(belief: Belief, shares: Shares) -> Belief:
    """A belief in which some states have been shared out; a state not named goes on as it is."""
    new: dict[int, float] = {}
    for state, probability in belief:
        for after, share in shares.get(state, [(state, 1.0)]):
            new[after] = new.get(after, 0.0) + probability * share
    return sorted(
        ((state, p) for state, p in new.items() if p > NO_WEIGHT),
        key=lambda item: (-item[1], item[0]),
    )


def difference(one: Belief, other: Belief) -> float:
    """The probability by which two beliefs differ: 0 for the same, 1 for nothing in common."""
    known, total = dict(one), 0.0
    for state, probability in other:
        total += abs(probability - known.pop(state, 0.0))
    return 0.5 * (total + sum(known.values()))
