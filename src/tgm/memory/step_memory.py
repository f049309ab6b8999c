"""The newest steps into each state, with what each of them added: so that it can be taken back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tgm.distributions import FloatArray
from tgm.perception.component_map import ComponentMap

Belief = list[tuple[int, float]]
"""(state, probability), the most likely first; what is missing to one is "none of the known"."""

Shares = dict[int, list[tuple[int, float]]]


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
        after: the belief after, which is also what it added to the components.
        weight_then: weight of its state when it was explained.
        next: the step that followed.
        home: the state in whose memory it is kept, or None.
        names: the states under which it is found while it is kept.
        is_void: its row was forgotten; it is evidence of its state, but of no transition any more.
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
    home: int | None = None
    names: set[int] = field(default_factory=set)
    is_void: bool = False

    def states(self) -> set[int]:
        """The states that it names."""
        named = set()
        for state, _ in self.before:
            named.add(state)
        for state, _ in self.after:
            named.add(state)
        for state, reached, _ in self.entries:
            named.add(state)
            named.add(reached)
        return named

    def relabel(self, before: Shares, after: Shares) -> None:
        """Follow a change of states, where it was left and where it led; see `relabel`."""
        entries: dict[tuple[int, int], float] = {}
        for state, reached, weight in self.entries:
            for new_state, share in before.get(state, [(state, 1.0)]):
                for new_reached, part in after.get(reached, [(reached, 1.0)]):
                    key = new_state, new_reached
                    entries[key] = entries.get(key, 0.0) + weight * share * part
        self.entries = [(state, reached, weight) for (state, reached), weight in entries.items()]
        self.before = relabel(self.before, before)
        self.after = relabel(self.after, after)


class StepMemory:
    """Owner of the kept steps: at most `limit` for each state, whatever the length of the run."""

    def __init__(self, limit: int) -> None:
        """Remember nothing yet."""
        self._limit = limit
        self._steps: dict[int, deque[Step]] = {}
        # Which kept steps name a state. Dictionaries, because they keep their order.
        self._naming: dict[int, dict[Step, None]] = {}
        self._n_steps = 0

    def __len__(self) -> int:
        return self._n_steps

    def into(self, state: int) -> list[Step]:
        """The kept steps into one state, oldest first."""
        return list(self._steps.get(state, ()))

    def naming(self, state: int) -> list[Step]:
        """The kept steps from or into a state, as far as is believed."""
        return list(self._naming.get(state, ()))

    def keep(self, step: Step, state: int) -> None:
        """Keep a step into a state; the oldest there makes room, and stays in the counts."""
        steps = self._steps.setdefault(state, deque())
        steps.append(step)
        step.home = state
        self._n_steps += 1
        step.names = step.states()
        for named in step.names:
            self._naming.setdefault(named, {})[step] = None
        if len(steps) > self._limit:
            oldest = steps[0]
            self.take_out(oldest)
            oldest.next = None  # or one kept step would hold on to all that came after it

    def take_out(self, step: Step) -> None:
        """Remove a kept step; what it added stays in the counts."""
        if step.home is None:
            return
        home = self._steps[step.home]
        if home[0] is step:
            home.popleft()
        else:
            home.remove(step)
        for named in step.names:
            self._naming[named].pop(step, None)
        step.home = None
        self._n_steps -= 1

    def apply(self, change: ComponentMap) -> None:
        """Follow a change of components; steps of merged states are kept together."""
        changed = change.changed
        concerned = {step: None for old in changed for step in self.naming(old)}
        for step in concerned:
            self.relabel(step, changed, changed)

    def forget_row(self, state: int, action: int) -> None:
        """Kept steps no longer count for an action in a state that was forgotten."""
        for step in self.naming(state):
            if step.action == action:
                step.entries = [entry for entry in step.entries if entry[0] != state]
                step.is_void = True

    def relabel(self, step: Step, before: Shares, after: Shares) -> None:
        """Relabel a kept step and keep it where it belongs now."""
        home = step.home
        self.take_out(step)
        step.relabel(before, after)
        if step.after and home is not None:
            self.keep(step, step.after[0][0])


def relabel(belief: Belief, shares: Shares) -> Belief:
    """A belief in which some states have been shared out; a state not named goes on as it is."""
    new: dict[int, float] = {}
    for state, probability in belief:
        for after, share in shares.get(state, [(state, 1.0)]):
            new[after] = new.get(after, 0.0) + probability * share
    return sorted(
        ((state, p) for state, p in new.items() if p > 1e-6), key=lambda item: (-item[1], item[0])
    )
