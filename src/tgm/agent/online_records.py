"""What changed in an online model since the last time, and all that is in it, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tgm.agent.inference import STAY
from tgm.agent.online_model import OnlineModel
from tgm.agent.snapshot import Changes, Snapshot, Table
from tgm.agent.structure_moves import base_of_rows
from tgm.distributions import FloatArray
from tgm.transition.state_actions import START, row_log_evidence


class OnlineRecords:
    """Tells what changed in a model, step by step. Slots become ids, and the origin is added."""

    def __init__(self, model: OnlineModel, origin: FloatArray) -> None:
        """Go on from what `model` knows of earlier records."""
        self.model = model
        self._origin = origin

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
        return found

    def snapshot(self) -> Snapshot:
        """Everything; the next `changes` go on from here."""
        components, model = self.model.components, self.model.model
        alive = components.alive
        slots = alive.tolist()
        components.told = dict(zip(slots, components.ids[alive].tolist(), strict=True))
        components.dirty.clear()
        model.dirty.clear()
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
            arrivals + self._origin,
            np.array([components.ids[step.home] for step in steps], dtype=np.intp),
            {
                "observations": -float(evidence.sum()),
                "transitions": -sum(self._row_evidence(state, action) for state, action in keys),
            },
        )

    def _table(self, slots: list[int], rows: list[tuple[int, int]], removed: list[int]) -> Changes:
        components, ids = Table(n_entries=len(slots)), self.model.components.ids
        for slot in slots:
            components.values += self._component(slot)
        model = self.model.model
        row_table, next_states = Table(n_entries=len(rows)), Table()
        values, after = row_table.values, next_states.values
        for key in rows:
            state, action = key
            row = model.rows.get(key, {})
            visits = float(model.visits[state, action])
            tries = visits if visits > 0 else 1.0
            end = float(model.end_sum[state, action]) / tries
            reward = float(model.reward_sum[state, action]) / tries
            end = min(1.0, max(0.0, end))
            values += (int(ids[state]), action, visits, reward, end, len(row))
            for reached, count in row.items():
                after += (int(ids[reached]), count)
            next_states.n_entries += len(row)
        return Changes(components, row_table, next_states, removed)

    def _component(self, slot: int) -> Iterable[float]:
        components = self.model.components
        prior, weight = components.prior, float(components.weight[slot])
        covariance = prior.inverse_scale + components.scatter[slot]
        covariance /= prior.dof + weight - components.n_features
        mean = components.mean[slot] + self._origin
        return [
            int(components.ids[slot]),
            weight,
            0.0,
            *mean.tolist(),
            *covariance.ravel().tolist(),
        ]

    def _row_evidence(self, state: int, action: int) -> float:
        model, prior = self.model.model, self.model.config.row_prior
        elsewhere = base_of_rows(self.model.components.n_alive, model.n_actions, prior)
        row = model.row(state, action)
        concentrations = [prior * STAY if after == state else elsewhere for after in row]
        return row_log_evidence(row.values(), concentrations, prior)
