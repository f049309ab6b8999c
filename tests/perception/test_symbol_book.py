"""A code for each symbol, whatever its length."""

import numpy as np
import pytest

from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.perception.symbol_book import NO_CODE, SymbolBook, is_whole


@pytest.mark.parametrize("n_features", [1, 8, 40, 3000])
def test_each_symbol_has_one_code_and_comes_back(n_features):
    rng = np.random.default_rng(0)
    symbols = rng.integers(0, 3, (20, n_features)).astype(float)
    symbols[:, 0] = np.arange(20)
    book = SymbolBook(n_features)
    assert book.code(symbols[0]) == NO_CODE
    assert [book.add(symbol) for symbol in symbols] == list(range(20))
    assert [book.add(symbol.copy()) for symbol in symbols] == list(range(20))
    assert len(book) == 20
    np.testing.assert_array_equal(book.symbols([3, 19]), symbols[[3, 19]])
    copy = SymbolBook(n_features)
    copy.restore(ArrayReader(book.to_arrays()))
    assert [copy.code(symbol) for symbol in symbols] == list(range(20))
    assert copy.code(symbols[0] + 0.5) == NO_CODE


def test_minus_zero_is_zero():
    book = SymbolBook(2)
    assert book.add(np.array([0.0, 1.0])) == book.add(np.array([-0.0, 1.0])) == 0


def test_a_picture_of_one_bit_is_two_numbers_in_a_file():
    book = SymbolBook(2500)
    for place in range(100):
        book.add(np.eye(2500)[place])
    assert sum(array.size for array in book.to_arrays().values()) == 300


@pytest.mark.parametrize(
    ("name", "value"),
    [("index", np.array([0, 9])), ("value", np.array([1.0])), ("count", np.array([2, 0]))],
)
def test_files_are_checked(name, value):
    book = SymbolBook(2)
    book.add(np.array([1.0, 0.0]))
    book.add(np.array([0.0, 1.0]))
    arrays = book.to_arrays() | {name: value}
    if name == "count":
        arrays["index"] = np.array([0, 0])  # twice the same place, and then nothing at all
        arrays["count"], arrays["value"] = np.array([1, 1]), np.array([1.0, 1.0])
    with pytest.raises(DataError):
        SymbolBook(2).restore(ArrayReader(arrays))


def test_whole_numbers_are_seen():
    assert is_whole(np.array([1.0, -3.0, 0.0, 0.5, 1e300])).tolist() == [True] * 3 + [False, True]
