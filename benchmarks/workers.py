"""VariationalMixture on one worker of Dask and on two: the same results in less time?

    python benchmarks/workers.py [--points 20000000] [--chunk 500000]

The clock tells the truth on an idle machine of two cores only. So more ratios are printed: seconds
of the processor, which other programs change less, of the busiest worker and of the client; and
what two plain processes that share sweeps over such chunks reach in the same run, the most that the
machine has to give at that moment.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from multiprocessing import get_context
from time import perf_counter, process_time

import numpy as np

from tgm import VariationalMixture
from tgm.distributions import FloatArray
from tgm.estimators.search import ChunkSweep
from tgm.estimators.sweep import Units

N_CLUSTERS, N_FEATURES, SWEEPS = 25, 4, 10
CHUNK = 500_000  # points; 16 MB, an eighth of what Dask makes chunks of by itself
PLAIN_CHUNKS = 20  # that plain processes sweep over


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--points", type=int, default=8_000_000)
    parser.add_argument("--chunk", type=int, default=CHUNK, help="points that a task sweeps over")
    asked = parser.parse_args()
    print(
        f"Dask, {asked.points:,} points of {N_FEATURES} features in chunks of {asked.chunk:,}, "
        f"{SWEEPS} sweeps: one worker, two"
    )
    runs = [fitted(n_workers, asked.points, asked.chunk) for n_workers in (1, 2)]
    clock, client, busiest, means = zip(*runs, strict=True)
    _line("by the clock", clock, "wanted 1.7")
    _line("processor, busiest worker", busiest, "")
    _line("processor, client", client, "search for components, scheduling")
    _line("two plain processes", [swept(n) for n in (1, 2)], "by the clock: what there is now")
    print(f"  the same results: {np.array_equal(means[0], means[1])}")


def _line(what: str, seconds: Sequence[float], note: str) -> None:
    one, two = seconds
    print(f"  {what:<26}{one:8.2f} s{two:8.2f} s   ratio {one / two:.2f}   {note}", flush=True)


def centres() -> FloatArray:
    """(N_CLUSTERS, N_FEATURES)"""
    return np.random.default_rng(0).uniform(-10, 10, size=(N_CLUSTERS, N_FEATURES))


def fitted(n_workers: int, n_points: int, chunk: int) -> tuple[float, float, float, FloatArray]:
    """Seconds by the clock, of the client's processor, of the busiest worker's, and the means."""
    import dask.array
    from distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        state = dask.array.random.default_rng(0)
        which = state.integers(N_CLUSTERS, size=(n_points,), chunks=chunk)
        shape = (chunk, N_FEATURES)
        chosen = which.map_blocks(centres().__getitem__, chunks=shape, new_axis=1)
        noise = state.normal(size=(n_points, N_FEATURES), chunks=shape)
        points = (chosen + noise).persist()
        wait(points)
        before, start, begun = client.run(process_time), perf_counter(), process_time()
        model = VariationalMixture(tol=-1e9, max_iter=SWEEPS).fit(points)
        clock, own = perf_counter() - start, process_time() - begun
        busiest = max(now - before[worker] for worker, now in client.run(process_time).items())
        return clock, own, busiest, model.means_


def swept(n_processes: int) -> float:
    """Seconds by the clock of plain processes that share the same sweeps."""
    context = get_context("spawn")
    gate = context.Barrier(n_processes + 1)
    work = [
        context.Process(target=_sweep, args=(gate, PLAIN_CHUNKS // n_processes))
        for _ in range(n_processes)
    ]
    for process in work:
        process.start()
    gate.wait()
    start = perf_counter()
    for process in work:
        process.join()
    return perf_counter() - start


def _sweep(gate: object, n_chunks: int) -> None:
    rng = np.random.default_rng(0)
    points = centres()[rng.integers(N_CLUSTERS, size=CHUNK)]
    points = points + rng.normal(size=points.shape)
    fitted = VariationalMixture(max_iter=1).fit(points[:5000]).fitted_
    sweep = ChunkSweep(fitted.model, Units(fitted.centre, fitted.scale))
    gate.wait()  # type: ignore[attr-defined]
    for index in range(n_chunks):
        sweep(index, points)


if __name__ == "__main__":
    main()
