"""`tgm fit --points`: clusters of rows without an order, of files that may not fit into memory."""

from __future__ import annotations

import importlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from tgm.cli.fit_words import component_rows
from tgm.cli.output import print_json, print_lines, print_table
from tgm.data import read
from tgm.data.tables import default_names
from tgm.errors import ConfigError
from tgm.estimators.dask_points import DaskPoints
from tgm.estimators.sources import ParquetPoints, as_source
from tgm.experiments.harness.pool import connected
from tgm.files.atomic import write_json

COMPONENTS_FILE = "components.json"


def fit_points(
    data: str, obs: tuple[str, ...], out: Path | None, *, dask: str | None, as_json: bool
) -> int:
    """Fit a VariationalMixture, print its components, and return the exit code.

    Args:
        data: a Parquet file or a folder of such, a .npy file, a .csv or .tsv file.
        obs: columns; all columns of numbers of a Parquet file if empty.
        out: directory for the components; none is written without it.
        dask: address of a scheduler whose workers read the Parquet files.
        as_json: print one JSON object instead.
    """
    from tgm.estimators.variational_mixture import VariationalMixture

    with nullcontext() if dask is None else connected(dask):
        points, names = _points(data, obs, is_shared=dask is not None)
        model = VariationalMixture().fit(points)
    names = names or default_names(model.n_features_in_)
    facts: dict[str, Any] = {
        "rows": round(float(model.fitted_.model.moments.weight.sum())),
        "components": model.n_components_,
        "features": list(names),
        "weights": model.weights_.tolist(),
        "means": model.means_.tolist(),
        "covariances": model.covariances_.tolist(),
        "free_energy": model.free_energy_,
    }
    if out is not None:
        out.mkdir(parents=True)
        write_json(out / COMPONENTS_FILE, facts)
    if as_json:
        print_json(facts)
        return 0
    print_lines(f"{model.n_components_} components in {facts['rows']:,} rows", "")
    print_table(
        *component_rows("component", names, model.weights_, model.means_, model.covariances_)
    )
    if out is not None:
        print_lines("", f"{out / COMPONENTS_FILE} has all of them, with covariances")
    return 0


def _points(data: str, obs: tuple[str, ...], *, is_shared: bool) -> tuple[Any, tuple[str, ...]]:
    """The points and the names of their features, which are empty if there are none."""
    path = Path(data)
    if path.suffix == ".parquet" or path.is_dir():
        source = ParquetPoints(path, columns=obs or None)
        return (_on_workers(source) if is_shared else source), source.names
    if is_shared:
        raise ConfigError(f"--dask needs a Parquet file or a folder of such, not {data!r:.200}")
    if path.suffix == ".npy":
        if obs:
            raise ConfigError("a .npy file has no names of columns; leave out --obs")
        return as_source(path), ()
    log = read(data, obs)
    return np.asarray(log.observations), log.feature_names


def _on_workers(source: ParquetPoints) -> DaskPoints:
    """A Dask data frame of the file: one part for each row group, read where it is computed."""
    try:
        frames = importlib.import_module("dask.dataframe")
    except ImportError:
        raise ConfigError(
            "--dask needs Dask and pandas: pip install temporal-gaussian-mixture[cluster,data]"
        ) from None
    path = Path(source.path).resolve()
    files = sorted(map(str, path.glob("*.parquet"))) if path.is_dir() else str(path)
    return DaskPoints(frames.read_parquet(files, columns=list(source.names), split_row_groups=True))
