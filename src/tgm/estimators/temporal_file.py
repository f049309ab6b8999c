"""A fitted TemporalMixture in a file: arrays and JSON, checked when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tgm.distributions import Moments
from tgm.errors import RunError, TGMError
from tgm.files.arrays import ANY, LARGEST_SQUARE, ArrayReader, Arrays
from tgm.files.store import read_arrays, write_arrays
from tgm.temporal.chain import N_TALLIES, ChainPrior, ChainSums
from tgm.temporal.world import Units, World

FORMAT_NAME = "tgm-temporal"
MOST_NAMES = 100_000


def save_world(path: Path, world: World, settings: dict[str, Any]) -> None:
    """Write a world and the settings of its estimator to a file, whole or not at all."""
    moments, prior = world.sums.moments, world.prior
    arrays: Arrays = {
        "origin": world.units.origin,
        "scale": world.units.scale,
        "prior.mean": prior.mean,
        "prior.covariance": prior.covariance,
        "weight": moments.weight,
        "mean": moments.mean,
        "scatter": moments.scatter,
        "transitions": world.sums.transitions,
        "starts": world.sums.starts,
        "tallies": world.sums.tallies,
    }
    metadata = {
        "settings": settings,
        "features": list(world.feature_names),
        "actions": list(world.action_values),
        "bound": world.bound,
        "n_rows": world.n_rows,
        "prior": [prior.mean_precision, prior.dof, prior.row, prior.start],
    }
    write_arrays(path, arrays, FORMAT_NAME, metadata, check=load_world)


def load_world(path: Path) -> tuple[World, dict[str, Any]]:
    """What `save_world` wrote, or a RunError that names what does not fit."""
    arrays, metadata = read_arrays(path, FORMAT_NAME)
    try:
        return _world(ArrayReader(arrays), metadata), dict(metadata["settings"])
    except KeyError as error:
        raise RunError(f"{path}: {error} is missing") from None
    except (TGMError, TypeError, ValueError, ArithmeticError) as error:
        raise RunError(f"{path}: {error}") from None


def _world(saved: ArrayReader, metadata: dict[str, Any]) -> World:
    features = tuple(str(name) for name in metadata["features"][:MOST_NAMES])
    actions = tuple(metadata["actions"][:MOST_NAMES])
    n_features, n_actions = len(features), max(1, len(actions))
    if not n_features or len({type(one) for one in actions} | {int, str}) > 2:
        raise RunError(f"{n_features} features and the actions {actions!r:.100}")
    if list(actions) != sorted(set(actions)):
        raise RunError(f"the actions {actions!r:.100} are not sorted")
    weight = saved.floats("weight", ANY, low=0.0)
    n_states = len(weight)
    if not n_states:
        raise RunError("there are no states")
    prior = _prior(saved, metadata, n_features)
    moments = Moments(
        weight,
        saved.floats("mean", n_states, n_features),
        saved.scatter(
            "scatter", n_states, n_features, n_features, beside=prior.covariance * prior.dof
        ),
    )
    tallies = saved.floats("tallies", N_TALLIES, n_actions, n_states, size=LARGEST_SQUARE)
    sums = ChainSums(
        moments,
        saved.floats("transitions", n_actions, n_states, n_states, low=0.0),
        saved.floats("starts", n_states, low=0.0),
        tallies,
    )
    scale = saved.floats("scale", n_features, low=0.0)
    if not (scale > 0.0).all():
        raise RunError("array 'scale' holds 0")
    units = Units(saved.floats("origin", n_features), scale)
    bound, n_rows = float(metadata["bound"]), int(metadata["n_rows"])
    return World(units, features, actions, prior, sums, bound, n_rows)


def _prior(saved: ArrayReader, metadata: dict[str, Any], n_features: int) -> ChainPrior:
    mean_precision, dof, row, start = (float(one) for one in metadata["prior"])
    if not (dof > n_features - 1 and min(mean_precision, row, start) > 0):
        raise RunError(f"the prior is {metadata['prior']!r:.100}")
    if not np.isfinite([mean_precision, dof, row, start, metadata["bound"]]).all():
        raise RunError("a number of the prior is not finite")
    return ChainPrior(
        saved.floats("prior.mean", n_features),
        mean_precision,
        saved.positive_definite("prior.covariance", n_features, n_features),
        dof,
        row,
        start,
    )
