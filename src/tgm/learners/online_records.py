"""What changed in an online model since the last time, and all that is in it, as plain numbers."""

from __future__ import annotations

from operator import add

import numpy as np
from scipy.special import gammaln

from tgm.distributions import FloatArray
from tgm.inference.step_filter import STAY
from tgm.learners.learner import Notes, Observer
from tgm.learners.online_model import OnlineModel
from tgm.learners.snapshot import Changes, Snapshot
from tgm.structure.evidence import base_of_rows
from tgm.transition.sparse import START

NOBODY = -1


class OnlineRecords:
    """Tells what changed in a model, step by step. Slots become ids, and the origin is added."""

    def __init__(self, model: OnlineModel, origin: FloatArray) -> None:
        """Go on from what `model` knows of earlier records."""
        self.model = model
        self._origin = origin
        # The same for all that is told until there is another prior, and so another of these.
        self._scale = model.components.prior.inverse_scale.ravel().tolist()
        self._start = origin.tolist()

    @property
    def can_go_on(self) -> bool:
        """Whether what was told still holds; not if components have got another prior since."""
        return bool(self.model.components.told)

    def observer(self, notes: Notes) -> Observer:
        """A function that notes the newest observation; it must be called after each of them.

        A share above 0 says that so much of a point was added to its state, that the row it came
        by counts `weight` more, and that nothing else has changed: who knows the model before
        knows it after.
        """
        # One function with all that it needs at hand: it runs at every step.
        model, components, told = self.model, self.model.components, self.model.components.told
        dirty_slots, dirty_rows = components.dirty, self.model.model.dirty
        pack, note = notes.pack, notes.add
        before = NOBODY  # the slot of the last one

        def observed(point: FloatArray, action: int, reward: float, end: int) -> None:
            nonlocal before
            step, density = model.last, model.log_density
            assert step is not None
            after, entries = step.after, step.entries
            if len(after) == 1 and len(entries) <= 1 and not dirty_slots and not dirty_rows:
                slot, share = after[0]
                source, reached, weight = entries[0] if entries else (before, slot, 0.0)
                if source == before and reached == slot:
                    before, seen = slot, point.tobytes()
                    note(pack(action, reward, end, told[slot], density, share, weight, seen))
                    return
            model.note(step)
            before = after[0][0] if after else NOBODY
            state = int(components.ids[before]) if after else NOBODY
            notes.add_incomplete(point, action, reward, end, state, density)

        return observed

    def all_is_told(self) -> None:
        """All that is known now was recorded: the next `changes` go on from here."""
        components, alive = self.model.components, self.model.components.alive
        components.told = dict(zip(alive.tolist(), components.ids[alive].tolist(), strict=True))
        components.dirty.clear()
        self.model.model.dirty.clear()

    def changes(self) -> Changes:
        """What changed since the last `changes` or `all_is_told`."""
        components, model = self.model.components, self.model.model
        told, ids = components.told, components.ids.tolist()
        removed: list[int] = []
        known_slots: list[int] = []
        slots, rows = components.dirty, model.dirty
        for slot in sorted(slots):
            known, now = told.get(slot, NOBODY), ids[slot]
            if now >= 0:
                known_slots.append(slot)
            if known == now:
                continue
            if known >= 0:
                removed.append(known)
            if now < 0:
                told.pop(slot, None)
            else:  # a new name for a slot: so all of its rows
                told[slot] = now
                keys = ((slot, action) for action in range(model.n_actions))
                rows.update(key for key in keys if model.rows.get(key))
        known_rows = sorted(key for key in rows if key[0] in told)
        found = self._table(known_slots, known_rows, removed, ids)
        slots.clear()
        rows.clear()
        return found

    def snapshot(self) -> Snapshot:
        """Everything."""
        components, model = self.model.components, self.model.model
        alive = components.alive
        slots = alive.tolist()
        keys = sorted(key for key, row in model.rows.items() if row and key[0] != START)
        prior = components.prior
        evidence = np.array(
            [prior.log_evidence(float(components.weight[s]), components.scatter[s]) for s in slots]
        )
        steps, ids = self.model.memory.all(), components.ids.tolist()
        arrivals = np.array([step.arrival for step in steps]).reshape(-1, components.n_features)
        return Snapshot(
            self._table(slots, keys, [], ids),
            self.model.greedy_values() if slots else np.empty((0, model.n_actions)),
            components.mean[alive] + self._origin,
            np.broadcast_to(prior.covariance, (len(slots), *prior.covariance.shape)),
            evidence,
            prior.dof - components.n_features,
            arrivals + self._origin,
            np.array([ids[step.home] for step in steps if step.home is not None], dtype=np.intp),
            {
                "observations": -float(evidence.sum()),
                "transitions": -self._transition_evidence(keys),
            },
        )

    def _table(
        self, slots: list[int], rows: list[tuple[int, int]], removed: list[int], ids: list[int]
    ) -> Changes:
        model = self.model.model
        visits_of, reward_of, end_of = model.visits.item, model.reward_sum.item, model.end_sum.item
        values: list[float] = []
        after: list[float] = []
        for key in rows:
            row, visits = model.rows.get(key, {}), visits_of(key)
            reward = end = 0.0
            if visits > 0:
                reward, end = reward_of(key) / visits, min(1.0, max(0.0, end_of(key) / visits))
            values += (ids[key[0]], key[1], visits, reward, end, len(row))
            for reached, count in row.items():
                after += (ids[reached], count)
        return Changes(self._components(slots), values, after, removed)

    def _components(self, slots: list[int]) -> list[float]:
        """In plain numbers: for matrices this small it takes a third of the time."""
        components = self.model.components
        prior_dof = components.prior.dof - components.n_features
        weight_of, id_of = components.weight.item, components.ids.item
        values: list[float] = []
        for slot in slots:
            weight = weight_of(slot)
            dof = prior_dof + weight
            values += (id_of(slot), weight, 0.0)
            values += map(add, components.mean[slot].tolist(), self._start)
            scatter = map(add, components.scatter[slot].ravel().tolist(), self._scale)
            values += [total / dof for total in scatter]
        return values

    def _transition_evidence(self, keys: list[tuple[int, int]]) -> float:
        """ln evidence of the counts of all rows under the Dirichlet that each began with."""
        model, prior = self.model.model, self.model.config.row_prior
        elsewhere = base_of_rows(self.model.components.n_alive, model.n_actions, prior)
        rows = [model.rows[key] for key in keys]
        counts = np.array([count for row in rows for count in row.values()])
        stays = np.array([after == key[0] for key, row in zip(keys, rows, strict=True)
                          for after in row], dtype=bool)  # fmt: skip
        base = np.where(stays, prior * STAY, elsewhere)
        seen = np.array([sum(row.values()) for row in rows])
        of_entries = gammaln(base + counts) - gammaln(base)
        return float(of_entries.sum() + np.sum(gammaln(prior) - gammaln(prior + seen)))
