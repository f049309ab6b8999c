"""Streaming from Parquet: clusters of a file that need not fit into memory, and how many there are.

Run it as it is: `python examples/parquet_stream.py`. Needs the extras `estimators` and `figures`.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

import tgm

CENTRES = np.array([[0.0, 0.0], [6.0, 1.0], [2.0, 7.0], [8.0, 8.0], [-4.0, 5.0]])


def write(path: Path, n_groups: int, n_rows: int) -> None:
    """A file of several row groups; never more than one of them is in memory."""
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(n_groups):
            points = CENTRES[rng.integers(len(CENTRES), size=n_rows)]
            points = points + rng.normal(size=points.shape)
            writer.write_table(pa.table({"x": points[:, 0], "y": points[:, 1]}, schema=schema))


def main(n_groups: int = 20, n_rows: int = 10_000) -> Figure:
    """Write a file, fit it without reading it whole, and draw the components."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "points.parquet"
        write(path, n_groups, n_rows)
        model = tgm.VariationalMixture().fit(path)
        shown = pq.ParquetFile(path).read_row_group(0).to_pandas()[:2000]
    print(f"{model.n_components_} components in {n_groups * n_rows:,} points")
    figure = Figure(figsize=(5.0, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.scatter(shown["x"], shown["y"], s=3, c=model.predict(shown), cmap="tab10")
    axes.scatter(*model.means_.T, marker="+", s=120, color="black")
    axes.set(aspect="equal", title=f"{model.n_components_} components, found by evidence")
    return figure


if __name__ == "__main__":
    main().savefig("parquet_stream.png")
