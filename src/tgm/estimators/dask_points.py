"""Points in a Dask array or data frame.

Chunks that a cluster's workers hold in memory are swept in few tasks, each of many chunks: a task
costs the client and its scheduler about 3 ms of a processor that the workers could use. Results
come back for each chunk, so they do not depend on which worker computed them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.threads import one_thread
from tgm.errors import DataError

T = TypeVar("T")

TASKS_PER_THREAD = 2  # of a worker, in one pass; the second can go to a worker that is ready first


@dataclass(frozen=True, eq=False)
class DaskPoints:
    """A Dask array or data frame; chunks stay where they are, and sums come back.

    Which scheduler computes is Dask's own setting: threads, processes, or a cluster's client.
    """

    collection: Any

    @cached_property
    def names(self) -> tuple[str, ...] | None:
        """The columns of a data frame."""
        columns = getattr(self.collection, "columns", None)
        return None if columns is None else tuple(str(column) for column in columns)

    @property
    def n_features(self) -> int:
        """O."""
        if self.names is not None:
            return len(self.names)
        if self.collection.ndim != 2:
            raise DataError(f"the Dask array has shape {self.collection.shape}; wanted two axes")
        return int(self.collection.shape[1])

    def map(self, function: Callable[[int, FloatArray], T]) -> Iterable[T]:
        """function(index of the chunk, chunk as floats) for each chunk, in order."""
        futures = self._futures
        if futures is not None and (threads := futures[0].client.nthreads()):
            return _map_futures(function, futures, threads)
        from dask.base import compute
        from dask.delayed import delayed

        # One copy of the function for all chunks.
        shared = delayed(function, pure=False)
        apply = delayed(_apply, pure=False)
        run: Any = compute
        results: tuple[T, ...] = run(
            *[apply(shared, index, part) for index, part in enumerate(self.parts)]
        )
        return results

    @cached_property
    def parts(self) -> list[Any]:
        """The chunks, each with all features, not computed yet; made once for all sweeps."""
        collection = self.collection
        if self.names is None and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        return list(np.ravel(np.asarray(collection.to_delayed(), dtype=object)))

    @cached_property
    def _futures(self) -> list[Any] | None:
        """The chunks as futures of a cluster, if it has them: the collection was persisted."""
        from dask.core import flatten

        if self.names is None and self.collection.numblocks[1] > 1:
            return None
        graph = dict(self.collection.__dask_graph__())
        keys: Any = flatten
        nodes = [graph[key] for key in keys(self.collection.__dask_keys__())]
        # The chunks of a data frame are other names of its futures.
        nodes = [graph.get(getattr(node, "target", None), node) for node in nodes]
        is_held = all(hasattr(node, "client") and hasattr(node, "key") for node in nodes)
        return nodes if is_held and nodes and not nodes[0].client.asynchronous else None


def _map_futures(
    function: Callable[[int, FloatArray], T], futures: Sequence[Any], threads: Mapping[str, int]
) -> list[T]:
    """function(index, chunk) for the chunk of each future, in order."""
    client = futures[0].client
    held = client.who_has(futures)
    holders = [tuple(held.get(future.key, ())) for future in futures]
    shares = divided(holders, threads)
    tasks = [
        client.submit(
            _apply_all,
            function,
            indices,
            [futures[index] for index in indices],
            workers=[worker],
            allow_other_workers=True,
            pure=False,
        )
        for worker, indices in shares
    ]
    results: dict[int, T] = {}
    for (_, indices), found in zip(shares, client.gather(tasks), strict=True):
        results.update(zip(indices, found, strict=True))
    return [results[index] for index in range(len(futures))]


def divided(
    holders: Sequence[Sequence[str]], threads: Mapping[str, int]
) -> list[tuple[str, list[int]]]:
    """Tasks of a pass: the worker of each, and the chunks that it sweeps.

    Args:
        holders: of each chunk, the workers that have it in memory.
        threads: of each worker; its share of the chunks is in proportion.

    A chunk goes to a worker that has it, unless that one has its share already.
    """
    n_threads = sum(threads.values())
    left = {worker: -(-len(holders) * own // n_threads) for worker, own in threads.items()}
    own: dict[str, list[int]] = {worker: [] for worker in threads}
    homeless = []
    for index, near in enumerate(holders):
        worker = max((name for name in near if name in left), key=left.__getitem__, default=None)
        if worker is None or left[worker] == 0:
            homeless.append(index)
        else:
            own[worker].append(index)
            left[worker] -= 1
    for index in homeless:
        worker = max(left, key=left.__getitem__)
        own[worker].append(index)
        left[worker] -= 1
    return [
        (worker, indices.tolist())
        for worker, chunks in own.items()
        for indices in np.array_split(sorted(chunks), TASKS_PER_THREAD * threads[worker])
        if len(indices)
    ]


def _apply_all(
    function: Callable[[int, FloatArray], T], indices: Sequence[int], parts: Sequence[Any]
) -> list[T]:
    return [_apply(function, index, part) for index, part in zip(indices, parts, strict=True)]


def _apply(function: Callable[[int, FloatArray], T], index: int, part: Any) -> T:
    with one_thread():  # of each worker
        return function(index, np.asarray(part, dtype=np.float64))
