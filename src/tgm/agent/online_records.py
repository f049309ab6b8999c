"""What changed in an online model since the last time, and all that is in it, as plain numbers."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from tgm.agent.inference import STAY
from tgm.agent.online_model import OnlineModel
from tgm.agent.snapshot import Changes, Snapshot, Table
from tgm.agent.structure_moves import base_of_rows
from tgm.distributions import FloatArray
from tgm.transition.state_actions import START

NOBODY = -1


class OnlineRecords:
    """Tells what changed in a model, step by step. Slots become ids, and the origin is added."""

    def __init__(self, model: OnlineModel, origin: FloatArray) -> None:
        """Go on from what `model` knows of earlier records."""
        self.model = model
        self._origin = origin
        self._covariance = model.components.prior.covariance
        self._note_edits()
        self._is_told = not (model.components.dirty or model.model.dirty)
        self._last_slot = NOBODY

    def _note_edits(self) -> None:
        self._n_edits = self.model.components.n_edits
        self._n_row_edits = self.model.model.n_edits

    @property
    def prior_has_changed(self) -> bool:
        """Whether components have another prior than when this was made."""
        return self.model.components.prior.covariance is not self._covariance

    def newest(self) -> tuple[int, float, float]:
        """Of the newest observation: its state, ln of its density, and its weight.

        A weight above 0 says that one whole point was added to its state, that its row counts so
        much more, and that nothing else has changed: who knows the model before knows it after.
        """
        model = self.model
        components, rows, step = model.components, model.model, model.last
        n_edits = components.n_edits - self._n_edits
        n_row_edits = rows.n_edits - self._n_row_edits
        self._n_edits, self._n_row_edits = components.n_edits, rows.n_edits
        before = self._last_slot
        if step is None or not step.after:
            self._last_slot, self._is_told = NOBODY, False
            return NOBODY, model.log_density, 0.0
        slot, share = step.after[0]
        self._last_slot = slot
        state = components.told.get(slot, NOBODY)
        weight = 0.0
        if n_edits == 1 and share == 1.0 and self._is_told and state >= 0:
            entries = step.entries
            if step.action is None:
                weight = 1.0 if n_row_edits == 0 else 0.0
            elif n_row_edits == 1 and len(entries) == 1 and entries[0][0] == before:
                weight = entries[0][2]
        if weight > 0.0:
            components.dirty.clear()
            rows.dirty.clear()
            return state, model.log_density, weight
        self._is_told = False
        return int(components.ids[slot]), model.log_density, 0.0

    def changes(self) -> Changes:
        """What changed since the last `changes` or `snapshot`."""
        components, model = self.model.components, self.model.model
        told, ids = components.told, components.ids
        removed: list[int] = []
        slots, rows = components.dirty, model.dirty
        for slot in sorted(slots):
            known, now = told.get(slot, -1), int(ids[slot])
            if known == now:
                continue
            if known >= 0:
                removed.append(known)
            if now < 0:
                told.pop(slot, None)
            else:  # a new name for a slot: so all of its rows
                told[slot] = now
                rows.update((slot, action) for action in range(model.n_actions))
        known_slots = sorted(slot for slot in slots if slot in told)
        known_rows = sorted(key for key in rows if key[0] in told)
        found = self._table(known_slots, known_rows, removed)
        slots.clear()
        rows.clear()
        self._is_told = True
        return found

    def snapshot(self) -> Snapshot:
        """Everything; the next `changes` go on from here."""
        self._covariance = self.model.components.prior.covariance
        components, model = self.model.components, self.model.model
        alive = components.alive
        slots = alive.tolist()
        components.told = dict(zip(slots, components.ids[alive].tolist(), strict=True))
        components.dirty.clear()
        model.dirty.clear()
        self._is_told = True
        keys = sorted(key for key, row in model.rows.items() if row and key[0] != START)
        prior = components.prior
        evidence = np.array(
            [prior.log_evidence(float(components.weight[s]), components.scatter[s]) for s in slots]
        )
        steps = self.model.memory.all()
        arrivals = np.array([step.arrival for step in steps]).reshape(-1, components.n_features)
        return Snapshot(
            self._table(slots, keys, []),
            self.model.greedy_values() if slots else np.empty((0, model.n_actions)),
            components.mean[alive] + self._origin,
            np.broadcast_to(prior.covariance, (len(slots), *prior.covariance.shape)),
            evidence,
            prior.dof - components.n_features,
            arrivals + self._origin,
            np.array([components.ids[step.home] for step in steps], dtype=np.intp),
            {
                "observations": -float(evidence.sum()),
                "transitions": -self._transition_evidence(keys),
            },
        )

    def _table(self, slots: list[int], rows: list[tuple[int, int]], removed: list[int]) -> Changes:
        model, ids = self.model.model, self.model.components.ids.tolist()
        values: list[float] = []
        after: list[float] = []
        for key in rows:
            row = model.rows.get(key, {})
            visits = float(model.visits[key])
            tries = visits if visits > 0 else 1.0
            end = min(1.0, max(0.0, float(model.end_sum[key]) / tries))
            reward = float(model.reward_sum[key]) / tries
            values += (ids[key[0]], key[1], visits, reward, end, len(row))
            for reached, count in row.items():
                after += (ids[reached], count)
        return Changes(
            Table(self._components(slots), len(slots)),
            Table(values, len(rows)),
            Table(after, len(after) // 2),
            removed,
        )

    def _components(self, slots: list[int]) -> list[float]:
        """In plain numbers: for matrices this small it takes a third of the time."""
        components = self.model.components
        prior, n_features = components.prior, components.n_features
        scale, origin = prior.inverse_scale.ravel().tolist(), self._origin.tolist()
        values: list[float] = []
        for slot in slots:
            weight = float(components.weight[slot])
            dof = prior.dof + weight - n_features
            values += (int(components.ids[slot]), weight, 0.0)
            for mean, start in zip(components.mean[slot].tolist(), origin, strict=True):
                values.append(mean + start)
            scatter = components.scatter[slot].ravel().tolist()
            values += [(one + other) / dof for one, other in zip(scale, scatter, strict=True)]
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
