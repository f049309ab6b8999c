"""A world model as plain numbers for records: all of it, or some states and rows."""

from __future__ import annotations

from collections.abc import Iterable
from operator import add

import numpy as np
from scipy.special import gammaln

from tgm.distributions import FloatArray
from tgm.inference.step_filter import STAY
from tgm.learners.snapshot import Changes, Snapshot, is_recorded
from tgm.learners.step_info import RowId
from tgm.perception.coordinates import Coordinates
from tgm.perception.observation_model import StateId
from tgm.structure.evidence import base_of_rows
from tgm.transition.planned_rows import Key
from tgm.transition.sparse import START
from tgm.world_model import WorldModel


def snapshot(
    world: WorldModel, coordinates: Coordinates, values: FloatArray, row_prior: float
) -> Snapshot:
    """Everything; slots become ids, and local coordinates observations.

    Args:
        world: what is known.
        coordinates: in which it is known.
        values: (n_states, n_actions) greedy action values.
        row_prior: tries that the base of a row is worth.
    """
    states = world.states
    alive, prior_covariance = states.alive, coordinates.covariances(states.prior_covariance)
    slots = alive.tolist()
    keys = sorted(key for key, row in world.transitions.rows.items() if row and key[0] != START)
    evidence = np.array([states.log_evidence(slot) for slot in slots])
    steps, ids = world.memory.all(), states.ids.tolist()
    arrivals = np.array([step.arrival for step in steps]).reshape(-1, states.n_features)
    found = Snapshot(
        _table(world, coordinates, slots, keys, []),
        values,
        coordinates.observations(states.mean[alive]),
        np.broadcast_to(prior_covariance, (len(slots), *prior_covariance.shape)),
        evidence,
        states.prior_dof,
        coordinates.observations(arrivals),
        np.array([ids[step.kept_in] for step in steps if step.kept_in is not None], dtype=np.intp),
        {
            "observations": -float(evidence.sum()),
            "transitions": -_transition_evidence(world, keys, row_prior),
        },
    )
    return found if is_recorded(coordinates.n_features) else found.narrow()


def excerpt(
    world: WorldModel, coordinates: Coordinates, states: Iterable[StateId], rows: Iterable[RowId]
) -> Changes:
    """Some states and rows as they are now; ids that are gone are listed as removed."""
    alive = world.states.alive
    slot_of = dict(zip(world.states.ids[alive].tolist(), alive.tolist(), strict=True))
    slots = sorted(slot_of[name] for name in states if name in slot_of)
    keys = sorted((slot_of[name], action) for name, action in rows if name in slot_of)
    removed = sorted(int(name) for name in states if name not in slot_of)
    return _table(world, coordinates, slots, keys, removed)


def _table(
    world: WorldModel,
    coordinates: Coordinates,
    slots: list[int],
    keys: list[Key],
    removed: list[int],
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
    return Changes(_states(world, coordinates, slots), rows, next_states, removed)


def _states(world: WorldModel, coordinates: Coordinates, slots: list[int]) -> list[float]:
    """Plain numbers: for matrices this small that takes a third of the time of arrays."""
    states, start = world.states, coordinates.origin.tolist()
    values: list[float] = []
    if not is_recorded(coordinates.n_features):
        for slot in slots:
            name = states.ids.item(slot)
            values += (name, states.weight.item(slot), 0.0, name, 0.0)
        return values
    for slot in slots:
        values += (states.ids.item(slot), states.weight.item(slot), 0.0)
        if coordinates.chosen is None:
            values += map(add, states.mean[slot].tolist(), start)
            values += states.covariance(slot)
        else:
            values += coordinates.observations(states.mean[slot]).tolist()
            covariances = states.covariances(np.array([slot]))
            values += coordinates.covariances(covariances).ravel().tolist()
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
