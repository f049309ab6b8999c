"""What a user does with the mixture, and what it must find."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import tgm
from tgm.estimators import ArrayPoints, DaskPoints, ParquetPoints
from tgm.estimators.dask_points import divided


def clusters(n_clusters, n_features, n_points, seed, separation=8.0):
    """Points and labels of clusters of different shapes, `separation` deviations apart."""
    rng = np.random.default_rng(seed)
    means = np.zeros((0, n_features))
    span = separation * max(1.0, n_clusters ** (1 / n_features))
    while len(means) < n_clusters:
        mean = rng.uniform(-span, span, size=n_features)
        if np.all(np.linalg.norm(means - mean, axis=1) > separation):
            means = np.vstack([means, mean])
        span *= 1.005
    labels = rng.integers(n_clusters, size=n_points)
    roots = rng.normal(size=(n_clusters, n_features, n_features)) / np.sqrt(2 * n_features)
    points = means[labels] + np.einsum(
        "nij,nj->ni", roots[labels], rng.normal(size=(n_points, n_features))
    )
    return points + 0.3 * rng.normal(size=points.shape), labels


@pytest.mark.parametrize(
    ("n_clusters", "n_features", "n_points"),
    [(1, 2, 400), (7, 2, 1000), (30, 5, 1500), (4, 16, 600)],
)
def test_the_number_of_clusters_is_found(n_clusters, n_features, n_points):
    points, labels = clusters(n_clusters, n_features, n_points, seed=n_features)
    model = tgm.VariationalMixture().fit(points)
    assert model.n_components_ == n_clusters
    assert adjusted_rand_score(labels, model.predict(points)) > 0.99
    assert model.converged_
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.all(np.diff(model.weights_) <= 0)
    identity = np.einsum("kij,kjl->kil", model.covariances_, model.precisions_)
    np.testing.assert_allclose(identity, np.tile(np.eye(n_features), (n_clusters, 1, 1)), atol=1e-6)


@pytest.mark.parametrize("kind", ["full", "diag", "low_rank"])
def test_units_change_nothing(kind):
    points, _ = clusters(3, 3, 150, seed=1)
    factor, offset = np.array([1e6, 1.0, 1e-6]), np.array([1e8, 0.0, 1e-5])
    plain = tgm.VariationalMixture(covariance_type=kind).fit(points)
    moved = tgm.VariationalMixture(covariance_type=kind).fit(points * factor + offset)
    assert plain.n_components_ == moved.n_components_
    np.testing.assert_allclose(moved.means_, plain.means_ * factor + offset, rtol=1e-6)
    shift = np.log(factor).sum()
    np.testing.assert_allclose(
        moved.score_samples(points * factor + offset),
        plain.score_samples(points) - shift,
        atol=1e-4,
    )
    assert moved.free_energy_ == pytest.approx(plain.free_energy_ + 150 * shift, abs=1e-2)


def test_the_same_points_give_the_same_answer_whatever_the_seed():
    points, _ = clusters(6, 2, 500, seed=2, separation=3.0)
    one = tgm.VariationalMixture(random_state=0).fit(points)
    other = tgm.VariationalMixture(random_state=99).fit(points)
    assert np.array_equal(one.means_, other.means_)
    assert one.free_energy_ == other.free_energy_


def test_clusters_that_overlap_are_told_apart():
    rng = np.random.default_rng(3)
    points = rng.normal(size=(3000, 2))
    points[:1500, 0] += 2.8
    model = tgm.VariationalMixture().fit(points)
    assert model.n_components_ == 2
    np.testing.assert_allclose(np.sort(model.means_[:, 0]), [0.0, 2.8], atol=0.2)


def test_an_upper_bound_holds_and_is_no_target():
    points, _ = clusters(5, 2, 500, seed=4)
    assert tgm.VariationalMixture(3).fit(points).n_components_ == 3
    assert tgm.VariationalMixture(20).fit(points).n_components_ == 5
    finite = tgm.VariationalMixture(weight_concentration_prior_type="dirichlet_distribution")
    assert finite.fit(points).n_components_ == 5


def test_missing_values_cost_little():
    points, labels = clusters(5, 4, 800, seed=5)
    holes = points.copy()
    holes[np.random.default_rng(0).random(points.shape) < 0.1] = np.nan
    holes[:, 3][:3] = np.nan
    whole, model = tgm.VariationalMixture().fit(points), tgm.VariationalMixture().fit(holes)
    assert model.n_components_ == 5
    assert adjusted_rand_score(labels, model.predict(holes)) > 0.98
    assert model.score(points) == pytest.approx(whole.score(points), abs=0.1)
    assert np.all(np.isfinite(model.score_samples(np.full((1, 4), np.nan))))
    np.testing.assert_allclose(
        model.predict_proba(np.full((1, 4), np.nan))[0], model.weights_, rtol=1e-9
    )


def test_rows_without_any_value_are_no_cluster():
    points, _ = clusters(3, 2, 300, seed=14)
    model = tgm.VariationalMixture().fit(np.concatenate([points, np.full((200, 2), np.nan)]))
    assert model.n_components_ == 3
    assert tgm.VariationalMixture().fit(np.full((4, 2), np.nan)).n_components_ == 1


def test_values_on_a_grid_are_not_components_of_one_value():
    points = np.round(np.random.default_rng(6).normal(size=(600, 2)), 0)
    assert tgm.VariationalMixture().fit(points).n_components_ <= 2


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((5, 2)),
        np.full((3, 1), 1e12),
        np.array([[0.0, 1.0]]),
        np.column_stack([np.arange(50.0), np.zeros(50)]),
        np.column_stack([np.arange(50.0), np.full(50, np.nan)]),
        np.column_stack([np.arange(50.0), np.arange(50.0)]),
        np.array([[0.0], [1.0], [1e100]]),
        np.random.default_rng(0).standard_cauchy(size=(100, 2)),
    ],
    ids=["equal", "far", "one", "constant", "unknown", "dependent", "outlier", "heavy"],
)
@pytest.mark.parametrize("kind", ["full", "diag", "low_rank"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_awkward_points_are_fitted(points, kind):
    model = tgm.VariationalMixture(covariance_type=kind).fit(points)
    assert np.all(np.isfinite(model.score_samples(points)))
    assert np.all(np.isfinite(model.means_))
    assert np.all(np.isfinite(model.sample(5)[0]))


def test_many_points_with_the_same_feature_twice():
    points = np.repeat(np.random.default_rng(0).normal(size=(20_000, 1)), 2, axis=1)
    assert tgm.VariationalMixture().fit(points).n_components_ == 1


def test_infinite_and_huge_values_are_refused():
    with pytest.raises(ValueError, match="infinity"):
        tgm.VariationalMixture().fit([[0.0], [np.inf]])
    with pytest.raises(
        tgm.errors.DataError, match=r"row 1, column 0 \(counted from 0\) is 1e\+200"
    ):
        tgm.VariationalMixture().fit([[0.0], [1e200]])


def test_points_far_out_have_probabilities():
    model = tgm.VariationalMixture().fit(clusters(2, 2, 100, seed=0)[0])
    for far in (1e100, 1e200, -1e307):
        shares = model.predict_proba([[far, far], [0.0, far]])
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        assert np.isfinite(model.score_samples([[far, 0.0]])).all()


@pytest.mark.parametrize("n_samples", [0, 2.5, "x", None, True])
def test_samples_are_counted(n_samples):
    model = tgm.VariationalMixture().fit(clusters(2, 2, 100, seed=0)[0])
    with pytest.raises(tgm.errors.ConfigError, match="n_samples is"):
        model.sample(n_samples)


def test_samples_look_like_the_points():
    points, _ = clusters(3, 2, 1000, seed=7)
    model = tgm.VariationalMixture(random_state=1).fit(points)
    drawn, labels = model.sample(2000)
    assert drawn.shape == (2000, 2)
    assert np.array_equal(drawn, model.sample(2000)[0])
    assert np.mean(model.predict(drawn) == labels) > 0.99
    assert model.score(drawn) == pytest.approx(model.score(points), abs=0.2)
    assert np.exp(model.score_samples(drawn)).min() > 0


def test_the_history_tells_how_the_number_was_found():
    points, _ = clusters(3, 2, 300, seed=8)
    model = tgm.VariationalMixture().fit(points)
    last = model.history_[-1]
    assert last["n_components"] == 3
    assert last["free_energy"] == pytest.approx(model.free_energy_)
    assert {"action", "n_components", "free_energy", "n_points"} == set(last)


def test_batches_lead_to_the_batch_fit():
    points, _ = clusters(6, 2, 12_500, seed=9, separation=5.0)
    model = tgm.VariationalMixture()
    for batch in np.split(points[:12_000], 60):
        model.partial_fit(batch)
    whole = tgm.VariationalMixture().fit(points[:12_000])
    held_out = points[12_000:]
    assert model.n_components_ == whole.n_components_ == 6
    assert model.score(held_out) == pytest.approx(whole.score(held_out), rel=0.01)
    assert model.free_energy_ == pytest.approx(whole.free_energy_, rel=0.01)
    assert len(model.stream_.points) <= 10_000
    again = pickle.loads(pickle.dumps(model)).partial_fit(held_out)
    assert again.score(held_out) == model.partial_fit(held_out).score(held_out)


def test_a_cluster_that_appears_late_is_found():
    points, labels = clusters(4, 2, 2000, seed=10)
    model = tgm.VariationalMixture()
    for batch in np.split(points[np.argsort(labels, kind="stable")], 20):
        model.partial_fit(batch)
    for batch in np.split(points, 20):
        model.partial_fit(batch)
    assert model.n_components_ == 4


def test_fit_forgets_the_batches():
    points, _ = clusters(3, 2, 300, seed=11)
    model = tgm.VariationalMixture().partial_fit(points[:100, :2])
    model.fit(points[:, :1])
    assert model.n_features_in_ == 1
    with pytest.raises(ValueError, match="features"):
        model.predict(points)


def test_files_and_dask_give_what_the_array_gives(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    dask_array = pytest.importorskip("dask.array")
    points, _ = clusters(4, 2, 3000, seed=12)
    points[5, 1] = np.nan
    names = ["x", "y"]
    columns = [pyarrow.array(column, from_pandas=True) for column in points.T]
    table = pyarrow.table(columns, names=names)
    parquet.write_table(table, tmp_path / "p.parquet", row_group_size=700)
    np.save(tmp_path / "p.npy", points)
    expected = tgm.VariationalMixture().fit(points)
    sources = {
        "parquet": tmp_path / "p.parquet",
        "folder": str(tmp_path),
        "some columns": ParquetPoints(tmp_path / "p.parquet", columns=["x", "y"], rows=512),
        "npy": tmp_path / "p.npy",
        "chunks": ArrayPoints(points, rows=100),
        "dask": dask_array.from_array(points, chunks=(800, 1)),
    }
    for name, source in sources.items():
        model = tgm.VariationalMixture().fit(source)
        np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-6, err_msg=name)
        assert np.array_equal(model.predict(source), expected.predict(points)), name
    assert list(tgm.VariationalMixture().fit(tmp_path).feature_names_in_) == names


def test_one_pass_over_a_source_is_batch_after_batch(tmp_path):
    dask_frame = pytest.importorskip("dask.dataframe")
    points, _ = clusters(4, 2, 3000, seed=12)
    expected = tgm.VariationalMixture()
    for batch in np.split(points, [1000, 2000]):
        expected.partial_fit(batch)
    frame = pd.DataFrame(points, columns=["x", "y"])
    frame.to_parquet(tmp_path / "p.parquet")
    sources = {
        "parquet": ParquetPoints(tmp_path / "p.parquet", rows=1000),
        "chunks": ArrayPoints(points, rows=1000),
        "dask": dask_frame.from_pandas(frame, npartitions=3),
    }
    for name, source in sources.items():
        model = tgm.VariationalMixture().partial_fit(source)
        np.testing.assert_array_equal(model.means_, expected.means_, err_msg=name)
        assert model.n_iter_ == 3
    with pytest.raises(tgm.errors.DataError, match="X has 1 features; the mixture has 2"):
        model.partial_fit(ArrayPoints(points[:, :1]))
    with pytest.raises(tgm.errors.DataError, match=r"fitted with \['x', 'y'\], in this order"):
        model.partial_fit(ParquetPoints(tmp_path / "p.parquet", columns=["y", "x"]))
    assert model.n_iter_ == 3
    again = tgm.VariationalMixture().partial_fit(tmp_path / "p.parquet")
    assert [*again.partial_fit(frame).feature_names_in_] == ["x", "y"]
    with pytest.raises(tgm.errors.DataError, match="there are no points: 0 rows"):
        tgm.VariationalMixture().partial_fit(ArrayPoints(np.zeros((0, 2))))


def test_a_value_that_cannot_be_used_is_named_in_every_batch_and_file(tmp_path):
    points = np.zeros((10, 2))
    points[7, 1] = 1e200
    frame = pd.DataFrame(points, columns=["x", "how far"])
    frame.to_parquet(tmp_path / "p.parquet")
    model = tgm.VariationalMixture().partial_fit(np.ones((20, 2)))
    before = model.means_
    for learn, source, place in (
        (tgm.VariationalMixture().fit, frame, "chunk 0, row 7, column 'how far'"),
        (tgm.VariationalMixture().fit, ParquetPoints(tmp_path / "p.parquet", rows=4),
         "chunk 1, row 3, column 'how far'"),
        (model.partial_fit, points, "row 7, column 1"),
    ):  # fmt: skip
        with pytest.raises(
            tgm.errors.DataError, match=f"{place} .*is 1e[+]200; .*at most 1e[+]150"
        ):
            learn(source)
    np.testing.assert_array_equal(model.means_, before)


def test_a_sample_of_large_data_is_searched_and_all_of_it_learned(monkeypatch):
    monkeypatch.setattr("tgm.estimators.survey.SAMPLE_SIZE", 500)
    points, labels = clusters(4, 2, 5000, seed=13)
    model = tgm.VariationalMixture().fit(ArrayPoints(points, rows=400))
    assert model.n_components_ == 4
    assert model.history_[0]["n_points"] == 500
    assert model.history_[-1]["n_points"] == 5000
    assert model.history_[-1]["free_energy"] == pytest.approx(model.free_energy_)
    shares = np.sort(np.bincount(labels) / 5000)[::-1]
    np.testing.assert_allclose(model.weights_, shares, atol=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "none.parquet", "none.parquet: no such Parquet file"),
        (lambda folder: folder / "none.npy", "none.npy: not readable"),
        (lambda folder: folder / "table.csv", "table.csv: wanted a .parquet file.*pandas.read_csv"),
        (lambda folder: folder, "no such Parquet file, nor a folder with some"),
        (lambda folder: ArrayPoints(np.zeros(3)), "shape \\(3,\\)"),
        (lambda folder: ArrayPoints(np.zeros((0, 3))), "no points"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, make, message):
    with pytest.raises(tgm.errors.DataError, match=message):
        tgm.VariationalMixture().fit(make(tmp_path))


def test_files_that_are_none_or_differ_are_named(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name in ("empty.npy", "empty.parquet"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(tgm.errors.DataError, match=f"{name}: not readable"):
            tgm.VariationalMixture().fit(tmp_path / name)
    folder = tmp_path / "folder"
    folder.mkdir()
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}), folder / "1.parquet")
    parquet.write_table(pyarrow.table({"z": [1.0, 2.0], "y": [3.0, 4.0]}), folder / "2.parquet")
    with pytest.raises(tgm.errors.DataError, match=r"2.parquet: .*\"x\".* have \['x', 'y'\]"):
        tgm.VariationalMixture().fit(folder)


def test_columns_of_a_file_come_in_the_order_of_the_fit(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    points, _ = clusters(2, 2, 100, seed=0)
    file = tmp_path / "p.parquet"
    parquet.write_table(pyarrow.table({"xy": points[:, 0], "y": points[:, 1]}), file)
    model = tgm.VariationalMixture().fit(file)
    assert len(model.predict(ParquetPoints(file, columns=["xy", "y"]))) == 100
    with pytest.raises(tgm.errors.DataError, match=r"fitted with \['xy', 'y'\], in this order"):
        model.predict(ParquetPoints(file, columns=["y", "xy"]))
    assert ParquetPoints(file, columns="xy").names == ("xy",)


def test_columns_that_are_no_numbers_are_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "p.parquet"
    parquet.write_table(pyarrow.table({"x": [1.0, 2.0], "word": ["a", "b"]}), file)
    assert ParquetPoints(file).names == ("x",)
    with pytest.raises(tgm.errors.DataError, match=r"columns \['word', 'z'\].*numbers are \['x'\]"):
        tgm.VariationalMixture().fit(ParquetPoints(file, columns=["x", "word", "z"]))


def test_a_point_far_out_is_no_component_when_clusters_are_small():
    rng = np.random.default_rng(0)
    means = 20.0 * rng.normal(size=(20, 16))
    points = np.repeat(means, 12, axis=0) + rng.standard_t(12, size=(240, 16))
    assert tgm.VariationalMixture().fit(points).n_components_ == 20


def test_workers_get_their_share_of_the_chunks_and_what_they_hold_first():
    near = [("a",), ("b",), ("a",), ("a",), ("a", "b"), (), ("gone",), ("b",)]
    tasks = divided(near, {"a": 1, "b": 1})
    own = {name: sorted(i for who, part in tasks if who == name for i in part) for name in "ab"}
    assert sorted(own["a"] + own["b"]) == list(range(8))
    assert len(own["a"]) == len(own["b"]) == 4
    assert {0, 2, 3} <= set(own["a"])
    assert {1, 7} <= set(own["b"])
    sizes = [sum(len(part) for who, part in divided([()] * 9, {"a": 2, "b": 1}) if who == "a")]
    assert sizes == [6]


def test_one_worker_and_two_that_hold_the_chunks_give_equal_bits():
    distributed = pytest.importorskip("distributed")
    dask_array = pytest.importorskip("dask.array")
    dask_frame = pytest.importorskip("dask.dataframe")
    points, _ = clusters(4, 2, 12_000, seed=12)
    points[5, 1] = np.nan
    expected = tgm.VariationalMixture().fit(ArrayPoints(points, rows=1000)).means_
    for n_workers in (1, 2):
        cluster = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=None
        )
        with cluster, distributed.Client(cluster):
            array = dask_array.from_array(points, chunks=(1000, 2)).persist()
            frame = dask_frame.from_pandas(pd.DataFrame(points), npartitions=12).persist()
            for held in (array, frame):
                assert DaskPoints(held)._futures is not None  # few tasks, not one for each chunk
                model = tgm.VariationalMixture().fit(held)
                assert np.array_equal(model.means_, expected)
            assert DaskPoints(array + 0.0)._futures is None
