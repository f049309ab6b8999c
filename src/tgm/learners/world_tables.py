"""A world model as plain numbers for records: all of it, or some states and rows."""

from __future__ import annotations

from collections.abc import Iterable
from operator import add

import numpy as np
from scipy.special import gammaln

from tgm.distributions import FloatArray
from tgm.inference.step_filter import STAY
from tgm.learners.snapshot import Changes, Snapshot
from tgm.learners.step_info import RowId
from tgm.perception.observation_model import StateId
from tgm.structure.evidence import base_of_rows
from tgm.transition.planned_rows import Key
from tgm.transition.sparse import START
from tgm.world_model import WorldModel


def snapshot(
    world: WorldModel, origin: FloatArray, values: FloatArray, row_prior: float
) -> Snapshot:
    """Everything; slots become ids, and the origin is added.

    Args:
        world: what is known.
        origin: (n_features,) of its coordinates.
        values: (n_states, n_actions) greedy action values.
        row_prior: tries that the base of a row is worth.
    """
    states = world.states
    alive, prior = states.alive, states.prior
    slots = alive.tolist()
    keys = sorted(key for key, row in world.transitions.rows.items() if row and key[0] != START)
    evidence = np.array([states.log_evidence(slot) for slot in slots])
    steps, ids = world.memory.all(), states.ids.tolist()
    arrivals = np.array([step.arrival for step in steps]).reshape(-1, states.n_features)
    return Snapshot(
        _table(world, origin, slots, keys, []),
        values,
        states.mean[alive] + origin,
        np.broadcast_to(prior.covariance, (len(slots), *prior.covariance.shape)),
        evidence,
        prior.dof - states.n_features,
        arrivals + origin,
        np.array([ids[step.kept_in] for step in steps if step.kept_in is not None], dtype=np.intp),
        {
            "observations": -float(evidence.sum()),
            "transitions": -_transition_evidence(world, keys, row_prior),
        },
    )


def excerpt(
    world: WorldModel, origin: FloatArray, states: Iterable[StateId], rows: Iterable[RowId]
) -> Changes:
    """Some states and rows as they are now; ids that are gone are listed as removed."""
    alive = world.states.alive
    slot_of = dict(zip(world.states.ids[alive].tolist(), alive.tolist(), strict=True))
    slots = sorted(slot_of[name] for name in states if name in slot_of)
    keys = sorted((slot_of[name], action) for name, action in rows if name in slot_of)
    removed = sorted(int(name) for name in states if name not in slot_of)
    return _table(world, origin, slots, keys, removed)


def _table(
    world: WorldModel, origin: FloatArray, slots: list[int], keys: list[Key], removed: list[int]
) -> Changes:
    transitions, ids = world.transitions, world.states.ids.tolist()
    visits_of, reward_of = transitions.visits.item, transitions.reward_sum.item
    end_of = transitions.end_sum.item
    rows: list[float] = []
    next_states: list[float] = []
    for key in keys:
        row, visits = transitions.rows.get(key, {}), visits_of(key)
        reward = end = 0.0
        if visits > 0:
            reward, end = reward_of(key) / visits, min(1.0, max(0.0, end_of(key) / visits))
        rows += (ids[key[0]], key[1], visits, reward, end, len(row))
        for reached, count in row.items():
            next_states += (ids[reached], count)
    return Changes(_states(world, origin, slots), rows, next_states, removed)


def _states(world: WorldModel, origin: FloatArray, slots: list[int]) -> list[float]:
    """Plain numbers: for matrices this small that takes a third of the time of arrays."""
    states, start = world.states, origin.tolist()
    values: list[float] = []
    for slot in slots:
        values += (states.ids.item(slot), states.weight.item(slot), 0.0)
        values += map(add, states.mean[slot].tolist(), start)
        values += states.covariance(slot)
    return values


def _transition_evidence(world: WorldModel, keys: list[Key], row_prior: float) -> float:
    """ln evidence of the counts of all rows under the Dirichlet that each began with."""
    transitions = world.transitions
    elsewhere = base_of_rows(world.states.n_alive, transitions.n_actions, row_prior)
    rows = [transitions.rows[key] for key in keys]
    counts = np.array([count for row in rows for count in row.values()])
    stays = np.array([after == key[0] for key, row in zip(keys, rows, strict=True)
                      for after in row], dtype=bool)  # fmt: skip
    base = np.where(stays, row_prior * STAY, elsewhere)
    seen = np.array([sum(row.values()) for row in rows])
    of_entries = gammaln(base + counts) - gammaln(base)
    return float(of_entries.sum() + np.sum(gammaln(row_prior) - gammaln(row_prior + seen)))
