"""Arrays and metadata come back from a file as they were; a file of another kind is refused."""

import numpy as np
import pytest
import safetensors.numpy

from tgm.errors import RunError
from tgm.files.store import read_arrays, write_arrays

ARRAYS = {
    "flags": np.array([True, False, True]),
    "matrix": np.arange(6.0).reshape(2, 3),
    "none": np.zeros((0, 4)),
    "whole": np.array([-1, 2**62]),
}


def test_there_and_back(tmp_path):
    path, metadata = tmp_path / "file", {"a": [1, None], "b": "text"}
    write_arrays(path, ARRAYS, "tgm-model", metadata)
    arrays, found = read_arrays(path, "tgm-model")
    assert found == metadata
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_any_safetensors_reader_can_read_it(tmp_path):
    write_arrays(tmp_path / "file", ARRAYS, "tgm-model", {})
    found = safetensors.numpy.load_file(tmp_path / "file")
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array)


def test_columns_of_a_larger_array_are_written_as_they_are(tmp_path):
    table = np.arange(12.0).reshape(4, 3)
    write_arrays(tmp_path / "file", {"column": table[:, 1]}, "tgm-model", {})
    assert read_arrays(tmp_path / "file", "tgm-model")[0]["column"].tolist() == [1, 4, 7, 10]


def test_another_kind_of_file_is_refused(tmp_path):
    write_arrays(tmp_path / "file", ARRAYS, "tgm-model", {})
    with pytest.raises(RunError, match="file: not a tgm-history file"):
        read_arrays(tmp_path / "file", "tgm-history")
    with pytest.raises(RunError, match="other: there is no such file"):
        read_arrays(tmp_path / "other", "tgm-model")
    with pytest.raises(RunError, match=r"is a directory; the agent of a run is Run\.open"):
        read_arrays(tmp_path, "tgm-model")


@pytest.mark.parametrize("at", [-1, -30])
def test_damage_is_noticed(tmp_path, at):
    path = tmp_path / "file"
    write_arrays(path, ARRAYS, "tgm-model", {})
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(RunError, match=r"damaged|not a readable tgm-model file"):
        read_arrays(path, "tgm-model")
