"""What changed in an online model since the last time, and all that is in it, as plain values."""

from __future__ import annotations

import numpy as np

from tgm.agent.inference import STAY
from tgm.agent.online_model import OnlineModel
from tgm.agent.snapshot import Changes, ComponentRecord, RowRecord, Snapshot
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
        records, removed, moved, told = [], [], [], components.told
        for slot in sorted(components.dirty):
            known, now = told.get(slot, -1), int(components.ids[slot])
            if known not in (-1, now):
                removed.append(known)
            if now < 0:
                told.pop(slot, None)
                continue
            if known != now:
                moved.append(slot)
            told[slot] = now
            records.append(self._component(slot))
        rows = model.dirty
        if moved:  # a new name for a slot: so all of its rows
            rows = rows | {(slot, action) for slot in moved for action in range(model.n_actions)}
        row_records = [self._row(*key) for key in sorted(rows) if key[0] in told]
        components.dirty.clear()
        model.dirty.clear()
        return Changes(records, removed, row_records)

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
        return Snapshot(
            [self._component(slot) for slot in slots],
            [self._row(state, action) for state, action in keys],
            self.model.greedy_values() if slots else np.empty((0, model.n_actions)),
            components.mean[alive] + self._origin,
            np.broadcast_to(prior.covariance, (len(slots), *prior.covariance.shape)),
            evidence,
            np.array([step.arrival for step in steps]).reshape(-1, components.n_features)
            + self._origin,
            np.array([components.ids[step.home] for step in steps], dtype=np.intp),
            {
                "observations": -float(evidence.sum()),
                "transitions": -sum(self._row_evidence(state, action) for state, action in keys),
            },
        )

    def _component(self, slot: int) -> ComponentRecord:
        components = self.model.components
        prior, weight = components.prior, float(components.weight[slot])
        dof = prior.dof + weight - components.n_features
        covariance = (prior.inverse_scale + components.scatter[slot]).ravel() / dof
        mean = components.mean[slot] + self._origin
        return int(components.ids[slot]), weight, mean.tolist(), covariance.tolist(), False

    def _row(self, state: int, action: int) -> RowRecord:
        model, ids = self.model.model, self.model.components.ids
        row = model.rows.get((state, action)) or {}
        visits = float(model.visits[state, action])
        tries = visits if visits > 0 else 1.0
        return (
            int(ids[state]),
            action,
            visits,
            float(model.reward_sum[state, action]) / tries,
            min(1.0, max(0.0, float(model.end_sum[state, action]) / tries)),
            [int(ids[after]) for after in row],
            list(row.values()),
        )

    def _row_evidence(self, state: int, action: int) -> float:
        model, prior = self.model.model, self.model.config.row_prior
        elsewhere = base_of_rows(self.model.components.n_alive, model.n_actions, prior)
        row = model.row(state, action)
        concentrations = [prior * STAY if after == state else elsewhere for after in row]
        return row_log_evidence(row.values(), concentrations, prior)
