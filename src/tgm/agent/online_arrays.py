"""An online model as named arrays, and back: for model files."""

from __future__ import annotations

import numpy as np

from tgm.agent.learner import check_shapes
from tgm.agent.model_file import Arrays
from tgm.agent.online_model import OnlineModel
from tgm.agent.spaces import LARGEST
from tgm.errors import DataError
from tgm.transition.state_actions import START


def to_arrays(online: OnlineModel) -> Arrays:
    """States, transitions, displacements and scale; the kept steps are not part of it."""
    components, model, moved = online.components, online.model, online.displacements
    alive = components.alive
    position = {int(slot): index for index, slot in enumerate(alive)} | {START: START}
    entries = [
        (position[state], action, position[after], count)
        for (state, action), row in sorted(model.rows.items())
        for after, count in sorted(row.items())
    ]
    table = np.array(entries, dtype=np.float64).reshape(-1, 4)
    return {
        "ids": components.ids[alive],
        "next_id": np.array([components.next_id]),
        "weight": components.weight[alive],
        "mean": components.mean[alive],
        "scatter": components.scatter[alive],
        "born": online.born[alive],
        "scale.covariance": components.prior.covariance,
        "scale.first_covariance": online.first_covariance,
        "scale.radius": np.array([components.prior.radius]),
        "moved.weight": moved.weight,
        "moved.mean": moved.mean,
        "moved.scatter": moved.scatter,
        "moved.typical_square": moved.typical_square,
        "row.index": table[:, :3].astype(np.int64),
        "row.count": table[:, 3],
        "visits": model.visits[alive],
        "reward_sum": model.reward_sum[alive],
        "end_sum": model.end_sum[alive],
        "reward_range": np.array(online.planner.reward_range),
        "n_steps": np.array([online.n_steps]),
    }


def restore(online: OnlineModel, arrays: Arrays) -> None:
    """Take over, into a model that knows nothing, what `to_arrays` gave; checked before use."""
    n_states = len(arrays["ids"])
    _check(arrays, n_states, online.components.n_features, online.n_actions)
    online.displacements.restore(
        *(arrays[f"moved.{key}"] for key in ("weight", "mean", "scatter", "typical_square"))
    )
    online.restore_scale(
        arrays["scale.first_covariance"],
        arrays["scale.covariance"],
        float(arrays["scale.radius"][0]),
    )
    online.planner.restore_range(*arrays["reward_range"].tolist())
    online.restore_states(
        int(arrays["n_steps"][0]),
        [
            (float(weight), mean, scatter)
            for weight, mean, scatter in zip(
                arrays["weight"], arrays["mean"], arrays["scatter"], strict=True
            )
        ],
        arrays["ids"],
        int(arrays["next_id"][0]),
        arrays["born"],
    )
    online.model.restore(
        arrays["row.index"],
        arrays["row.count"],
        *(arrays[key] for key in ("visits", "reward_sum", "end_sum")),
    )


def _check(arrays: Arrays, n_states: int, n_features: int, n_actions: int) -> None:
    """Raise a DataError at the first array that cannot be what a model wrote."""
    square = (n_features, n_features)
    check_shapes(
        arrays,
        {
            "ids": (n_states,),
            "next_id": (1,),
            "weight": (n_states,),
            "mean": (n_states, n_features),
            "scatter": (n_states, *square),
            "born": (n_states,),
            "scale.covariance": square,
            "scale.first_covariance": square,
            "scale.radius": (1,),
            "moved.weight": (n_actions,),
            "moved.mean": (n_actions, n_features),
            "moved.scatter": (n_actions, *square),
            "moved.typical_square": square,
            "row.index": (len(arrays["row.count"]), 3),
            "visits": (n_states, n_actions),
            "reward_sum": (n_states, n_actions),
            "end_sum": (n_states, n_actions),
            "reward_range": (2,),
            "n_steps": (1,),
        },
    )
    _check_numbers(arrays)
    ids, index = arrays["ids"], arrays["row.index"]
    if len(set(ids.tolist())) != n_states or (ids < 0).any():
        raise DataError("array 'ids' holds a name twice, or one below 0")
    if (ids >= arrays["next_id"][0]).any():
        raise DataError(f"next_id is {arrays['next_id'][0]}, a name that is in use or was")
    limits = np.array([n_states, n_actions, n_states])
    if (index < [START, 0, 0]).any() or (index >= limits).any():
        raise DataError("array 'row.index' names a state or an action that is not there")


def _check_numbers(arrays: Arrays) -> None:
    for name, array in arrays.items():
        wanted = np.int64 if name in ("ids", "next_id", "row.index", "n_steps") else np.float64
        if array.dtype != wanted:
            raise DataError(f"array '{name}' has type {array.dtype}, not {np.dtype(wanted)}")
        if np.abs(array).max(initial=0) > LARGEST:
            raise DataError(f"array '{name}' holds a number beyond {LARGEST:g}")
    if not 0.1 <= arrays["scale.radius"][0] <= 100.0:
        raise DataError(f"scale.radius is {arrays['scale.radius'][0]}; it must be from 0.1 to 100")
    for name in ("weight",):
        if (arrays[name] <= 0).any():
            raise DataError(f"array '{name}' holds {arrays[name].min()}; it must be above 0")
    for name in ("visits", "end_sum", "row.count", "moved.weight"):
        if (arrays[name] < -1e-6).any():
            raise DataError(f"array '{name}' holds {arrays[name].min()}, below 0")
    for name in ("scale.covariance", "scale.first_covariance", "moved.typical_square"):
        if (np.linalg.eigvalsh(arrays[name]) <= 0).any():
            raise DataError(f"array '{name}' is not positive definite")
    for name in ("scatter", "moved.scatter"):
        lowest = np.linalg.eigvalsh(arrays[name]).min(initial=0.0)
        if lowest < -1e-6 * max(1.0, float(np.abs(arrays[name]).max(initial=0.0))):
            raise DataError(f"array '{name}' is not a scatter: it has the eigenvalue {lowest}")
