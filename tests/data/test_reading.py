"""One reader for arrays, lists, frames, CSV, Parquet and Minari; bad values are named."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import gymnasium as gym
import minari
import numpy as np
import pandas as pd
import polars as pl
import pytest
from minari.data_collector.episode_buffer import EpisodeBuffer
from scipy import sparse

from tgm.data import from_arrays, from_frame, read
from tgm.errors import ConfigError, DataError

X = [0.5, 1.5, np.nan, 3.5, 4.5]
ACTION = ["go", "stay", "go", "go", None]
EPISODE = [7, 7, 7, 3, 3]
REWARD = [0.0, 1.0, np.nan, 2.0, np.nan]
TABLE = {"x": X, "y": [0, 1, 2, 3, 4], "a": ACTION, "id": EPISODE, "r": REWARD}
COLUMNS = {"obs": ["x", "y"], "action": "a", "episode": "id", "reward": "r"}


def check(log):
    np.testing.assert_array_equal(log.observations[:, 0], X)
    np.testing.assert_array_equal(log.observations[:, 1], range(5))
    assert log.lengths.tolist() == [3, 2]
    assert log.actions.tolist() == [0, 1, 0, 0, -1]
    assert log.action_values == ("go", "stay")
    np.testing.assert_array_equal(log.rewards, REWARD)


def test_every_source_gives_the_same_log(tmp_path):
    pandas, polars = pd.DataFrame(TABLE), pl.DataFrame(TABLE, strict=False)
    pandas.to_csv(tmp_path / "log.csv", index=False)
    pandas.to_csv(tmp_path / "log.tsv", index=False, sep="\t")
    pandas.to_parquet(tmp_path / "log.parquet")
    polars.write_parquet(tmp_path / "other.parquet")
    frames = [TABLE, pandas, polars, pandas.convert_dtypes()]
    for source in [*frames, *sorted(tmp_path.iterdir()), str(tmp_path / "log.csv")]:
        log = read(source, **COLUMNS)
        check(log)
        assert log.feature_names == ("x", "y")
    points = np.stack([X, range(5)], axis=1)
    check(from_arrays(points, ACTION, EPISODE, REWARD))
    check(from_arrays(pandas[["x", "y"]], pandas["a"], pandas["id"], pandas["r"]))
    check(from_arrays(polars[["x", "y"]], polars["a"], polars["id"], polars["r"]))
    episodes = [points[:3], points[3:]]
    check(from_arrays(episodes, [ACTION[:3], ["go"]], rewards=[REWARD[:3], [2.0]]))
    check(from_arrays([one.tolist() for one in episodes], [ACTION[:3], ["go"]],
                      rewards=[REWARD[:3], [2.0]]))  # fmt: skip


def test_truth_values_may_be_words(tmp_path):
    (tmp_path / "log.csv").write_text("x,id,done\n1,0,False\n2,0,True\n3,1,False\n")
    log = read(tmp_path / "log.csv", ["x"], episode="id", terminated="done")
    assert log.terminated.tolist() == [True, False]


def test_a_truth_value_that_is_none_is_named_with_its_column(tmp_path):
    (tmp_path / "log.csv").write_text("x,id,over\n1,1,yes\n")
    with pytest.raises(DataError, match=r"row 1 \(line 2\), column 'over': 'yes'"):
        read(tmp_path / "log.csv", obs=["x"], episode="id", terminated="over")
    episodes = [np.zeros((2, 1)), np.ones((2, 1))]
    log = from_arrays(episodes, terminated=["False", "True"])
    assert log.terminated.tolist() == [False, True]
    with pytest.raises(DataError, match="episode 1, column 'terminated': 'no'"):
        from_arrays(episodes, terminated=[True, "no"])


def test_one_column_may_stand_alone(tmp_path):
    table = pl.DataFrame({"t": [3.0], "e": [4.0], "te": [5.0]})
    table.write_csv(tmp_path / "log.csv")
    table.write_parquet(tmp_path / "log.parquet")
    for source in (table, table.lazy(), tmp_path / "log.csv", tmp_path / "log.parquet"):
        assert read(source, obs="te").observations.tolist() == [[5.0]]
    with pytest.raises(ConfigError, match="name the columns of an observation"):
        read(tmp_path / "log.parquet", obs=None)


def test_rows_of_an_episode_may_stand_apart():
    log = from_arrays([[1.0], [2.0], [3.0], [4.0]], episode_ids=["b", "a", "b", "a"])
    assert log.observations[:, 0].tolist() == [1.0, 3.0, 2.0, 4.0]
    assert log.as_given(log.observations)[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]


CSV = "x,y,a,id,r\n0.5,0,go,7,0\n1.5,1,stay,7,1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CSV + "oops,2,go,7,1\n", r"log.csv, row 3 \(line 4\), column 'x': 'oops' is no number"),
        (CSV + "\n\n1e99,2,go,7,1\n", r"row 3 \(line 6\), column 'x': '1e99'"),
        (CSV + "1,inf,go,7,1\n", r"row 3 \(line 4\), column 'y': 'inf'"),
        (CSV + "1,2,0.5,7,1\n", r"row 3 \(line 4\), column 'a': 0.5 is neither a whole number"),
        (CSV + "1,2,3,7,1\n", "column 'a': 'go' is text, and other rows have whole numbers"),
        (CSV + "1,2,go,,1\n", r"row 3 \(line 4\), column 'id': the episode is missing"),
        (CSV + "1,2,,7,1\n1,2,go,7,1\n", r"row 3 \(line 4\): the action is missing"),
        (CSV + "1,2,go,7,much\n", r"row 3 \(line 4\), column 'r': 'much'"),
        (CSV + "1,2,go\n", "line 4: 3 values, and the first line names 5 columns"),
        ("x,z\n1,2\n", "no column 'y'; it has 'x', 'z'"),
        ("x,x\n1,2\n", "log.csv: two columns are called 'x'"),
        (CSV + '1,2,"go,7,1\n1,2,go,7,1\n', "log.csv: cannot be read"),  # a quote stays open
        ("", "is empty"),
        ("x,y,a,id,r\n", "no rows"),
    ],
)
def test_a_bad_value_is_named_with_its_row_and_column(text, message, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "log.csv", **COLUMNS)


def test_files_that_cannot_be_read_are_named(tmp_path):
    for name, content, message in [
        ("a.csv", b"\xff\xfe\x00", "a.csv: cannot be read"),
        ("a.parquet", b"PAR1 no", "a.parquet: cannot be read"),
        ("a.xlsx", b"", "a.xlsx: files of this kind cannot be read; wanted .csv"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=message):
            read(tmp_path / name, ["x"])
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "nothing.csv", ["x"])
    with pytest.raises(DataError, match="is a folder, and no data set of Minari"):
        read(tmp_path, ["x"])
    with pytest.raises(ConfigError, match="name the columns of an observation; it has 'x'"):
        from_frame({"x": [1.0]}, [])


def test_odd_shapes_and_masks():
    masked = np.ma.masked_array([[1.0], [2.0]], [[False], [True]])
    assert np.isnan(from_arrays(masked).observations[1, 0])
    assert from_arrays([[1.0], [2.0]], actions=[[0], [1]]).actions.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"actions has shape \(2, 2\); wanted one value"):
        from_arrays([[1.0], [2.0]], actions=[[0, 1], [1, 0]])
    with pytest.raises(DataError, match="'y' has 1 rows, and 'x' has 2"):
        read({"x": [1, 2], "y": [1]}, ["x", "y"])
    with pytest.raises(ConfigError, match="the source is None; wanted a file"):
        read(None, ["x"])


def test_lists_of_one_dimensional_arrays_are_episodes_or_rows_and_never_guessed():
    long, short = np.arange(4.0), np.arange(3.0)
    assert from_arrays([long, short]).lengths.tolist() == [4, 3]
    moves = [["go", "go", "stay"], ["go", "stay", "stay"]]
    log = from_arrays([long, long], moves, rewards=[[0.0] * 3] * 2, terminated=[True, False])
    assert log.lengths.tolist() == [4, 4]
    assert log.observations.shape == (8, 1)
    assert log.actions.tolist() == [0, 0, 1, -1, 0, 1, 1, -1]
    # As many rows as features or more, or one action for each: rows, as NumPy has it.
    assert from_arrays([short] * 5).observations.shape == (5, 3)
    for actions in (["go", "stay"], np.array([1, 0]), pd.Series([1, 0], index=[8, 9])):
        assert from_arrays([long, long], actions).observations.shape == (2, 4)
    assert from_arrays([long, long], episode_ids=[0, 1]).observations.shape == (2, 4)
    message = r"list of 2 arrays of length 4.*np\.stack.*shape \(4, 1\)"
    with pytest.raises(DataError, match=message):
        from_arrays([long, long])
    with pytest.raises(DataError, match="list of 1 arrays of length 4"):
        from_arrays([long])
    assert from_arrays([long[:, None], long[:, None]]).lengths.tolist() == [4, 4]


def test_lists_of_episodes_are_checked():
    with pytest.raises(DataError, match=r"episode 1, row 0 \(counted from 0\), column 'x1': inf"):
        from_arrays([np.zeros((2, 2)), np.array([[0.0, np.inf]])])
    with pytest.raises(DataError, match="episode 1 has 3 features, and episode 0 has 2"):
        from_arrays([np.zeros((2, 2)), np.zeros((2, 3))])
    with pytest.raises(DataError, match="episode 1 has no rows"):
        from_arrays([np.zeros((2, 2)), np.zeros((0, 2))])
    with pytest.raises(DataError, match="actions of episode 0 has 1 rows"):
        from_arrays([np.zeros((3, 1))], [[0]])
    with pytest.raises(DataError, match="rewards has 2 episodes, and observations has 1"):
        from_arrays([np.zeros((2, 1))], rewards=[[0.0], [1.0]])
    with pytest.raises(ConfigError, match="no episode_ids"):
        from_arrays([np.zeros((2, 1))], episode_ids=[0, 0])
    ended = from_arrays([np.zeros((2, 1)), np.zeros((3, 1))], terminated=[True, False])
    assert ended.terminated.tolist() == [True, False]
    with pytest.raises(DataError, match=r"row 0 .*has ended here, and has further rows"):
        from_arrays(np.zeros((2, 1)), terminated=[True, False])


@pytest.mark.filterwarnings("ignore::UserWarning:minari")
def test_a_data_set_of_minari(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    rng = np.random.default_rng(0)
    buffers = [
        EpisodeBuffer(
            id=index,
            observations=rng.normal(size=(length + 1, 4)).astype(np.float32),
            actions=np.arange(length) % 2,
            rewards=np.ones(length),
            terminations=np.arange(length) == length - 1,
            truncations=np.zeros(length, dtype=bool),
            infos={},
        )
        for index, length in enumerate([5, 2, 9])
    ]
    env = gym.make("CartPole-v1")
    made = minari.create_dataset_from_buffers(
        "tgm/poles-v0",
        buffers,
        observation_space=env.observation_space,
        action_space=env.action_space,
    )
    folder = tmp_path / "tgm" / "poles-v0"
    for source in (made, "minari:tgm/poles-v0", folder):
        log = read(source)
        assert log.n_episodes == 3
        assert log.n_features == 4
        assert log.action_values == (0, 1)
        assert log.terminated.all()
        assert (log.actions[log.starts + log.lengths - 1] == -1).all()
    some = read(made, ["observation[2]"])
    assert some.feature_names == ("observation[2]",)
    with pytest.raises(DataError, match=r"no feature 'angle'; it has observation\[0\]"):
        read(made, ["angle"])
    with pytest.raises(DataError, match="minari:tgm/none-v0: cannot be read"):
        read("minari:tgm/none-v0")


DAYS = ["2024-03-01", "2024-03-01", "2024-03-02"]


@pytest.mark.parametrize(
    "unit", ["datetime64[D]", "datetime64[ms]", "datetime64[us]", "datetime64[ns]"]
)
def test_dates_name_episodes_and_are_no_amounts(unit, tmp_path):
    days = np.array(DAYS, dtype=unit)
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "day": days})
    frame.to_parquet(tmp_path / "log.parquet")
    for source in (
        frame,
        pl.DataFrame({"x": [1.0, 2.0, 3.0], "day": days}),
        tmp_path / "log.parquet",
    ):
        assert read(source, ["x"], episode="day").lengths.tolist() == [2, 1]
        with pytest.raises(
            DataError, match=r"row . ?.*column 'day': 2024.* is a date or .*seconds"
        ):
            read(source, ["x", "day"])
    assert from_arrays([[1.0], [2.0], [3.0]], episode_ids=days).lengths.tolist() == [2, 1]


def test_durations_are_no_amounts():
    waits = np.array([1, 2], dtype="timedelta64[ns]")
    for given in (waits, waits.astype("timedelta64[s]")):
        with pytest.raises(DataError, match=r"row 0 .*is a date or a duration"):
            from_arrays(given[:, None])


def test_labels_may_be_bytes_or_identifiers():
    assert from_arrays([[1.0], [2.0]], np.array([b"go", b"stay"])).action_values == ("go", "stay")
    ids = [UUID(int=2), UUID(int=2), UUID(int=1)]
    assert from_arrays([[1.0], [2.0], [3.0]], episode_ids=ids).lengths.tolist() == [2, 1]


@pytest.mark.parametrize("separator", [";", "|", "\t"])
def test_the_separator_is_the_one_that_the_first_line_has(separator, tmp_path):
    text = CSV.replace(",", separator) + separator.join(["", '"2"', "go", "7", "1"])
    (tmp_path / "log.csv").write_text(text)
    log = read(tmp_path / "log.csv", **COLUMNS)
    np.testing.assert_array_equal(log.observations, [[0.5, 0], [1.5, 1], [np.nan, 2]])
    (tmp_path / "log.csv").write_text(text.replace("0.5", "0,5"))
    with pytest.raises(DataError, match=r"column 'x': '0,5' .*decimal point"):
        read(tmp_path / "log.csv", **COLUMNS)


def test_names_in_quotes_may_have_other_separators(tmp_path):
    (tmp_path / "log.csv").write_text('"temperature; inside; C",y\n1,2\n')
    assert read(tmp_path / "log.csv", ["temperature; inside; C"]).observations.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("log.csv", r"observations is the path 'log.csv'; .*tgm\.data\.read"),
        (Path("log.csv"), r"tgm\.data\.read"),
        (sparse.csr_matrix(np.eye(3)), r"observations is sparse; .*toarray\(\)"),
        (pd.DataFrame([[1, 2]], columns=["x", "x"]), "observations: 2 columns are called 'x'"),
    ],
)
def test_what_is_no_array_is_said_with_a_remedy(given, message):
    with pytest.raises(DataError, match=message):
        from_arrays(given)


def test_lengths_of_episodes_are_no_actions():
    with pytest.raises(DataError, match=r"lengths of episodes.*np\.split"):
        from_arrays(np.zeros((7, 2)), [3, 4])
    with pytest.raises(DataError, match=r"must be the same$"):
        from_arrays(np.zeros((7, 2)), [3, 5])


def test_lazy_frames_are_collected():
    frame = pl.DataFrame({"x": X, "y": range(5)}, strict=False).lazy()
    assert from_arrays(frame).feature_names == ("x", "y")


def test_an_action_called_none_gets_a_remedy():
    with pytest.raises(DataError, match=r"row 1 .*action is missing.*'none'.* another name"):
        from_arrays(np.zeros((3, 1)), ["go", "none", "go"])
