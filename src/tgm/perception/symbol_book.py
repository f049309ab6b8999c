"""A code for each symbol: thousands of numbers become one, by a hash."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.errors import DataError
from tgm.files.arrays import LARGEST, ArrayReader, Arrays
from tgm.files.schema import Schema, Total, floats, whole

NO_CODE = -1

SCHEMA: Schema = {
    "count": whole("n_symbols"),
    "index": whole(Total("count"), below="n_features"),
    "value": floats(Total("count"), size=LARGEST),
}


class SymbolBook:
    """Owner of the symbols (n_features,) that were seen, numbered from 0 in the order of time.

    A symbol is kept as the places and values of its numbers that are not zero: a one-hot picture
    of 2,500 numbers is two.
    """

    def __init__(self, n_features: int) -> None:
        """No symbols yet."""
        self.n_features = n_features
        self._codes: dict[bytes, int] = {}
        self._places: list[IntArray] = []
        self._values: list[FloatArray] = []

    def __len__(self) -> int:
        return len(self._places)

    def code(self, symbol: FloatArray) -> int:
        """The code of a symbol (n_features,), NO_CODE if it was never added."""
        return self._codes.get(_key(symbol), NO_CODE)

    def add(self, symbol: FloatArray) -> int:
        """The code of a symbol, a new one if it was never added."""
        key = _key(symbol)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = len(self._places)
            places = np.flatnonzero(symbol)
            self._places.append(places)
            self._values.append(symbol[places])
        return code

    def symbols(self, codes: list[int]) -> FloatArray:
        """(n, n_features) the symbols of codes."""
        found = np.zeros((len(codes), self.n_features))
        for row, code in zip(found, codes, strict=True):
            row[self._places[code]] = self._values[code]
        return found

    def to_arrays(self) -> Arrays:
        """All symbols."""
        return {
            "count": np.array([len(places) for places in self._places], dtype=np.intp),
            "index": np.concatenate([np.empty(0, np.intp), *self._places]),
            "value": np.concatenate([np.empty(0), *self._values]),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked, into an empty book."""
        arrays = saved.read(SCHEMA, n_features=self.n_features)
        ends = np.cumsum(arrays["count"])[:-1]
        self._places = np.split(arrays["index"], ends) if len(arrays["count"]) else []
        self._values = np.split(arrays["value"], ends) if len(arrays["count"]) else []
        symbol = np.zeros(self.n_features)
        for code, (places, values) in enumerate(zip(self._places, self._values, strict=True)):
            symbol[places] = values
            self._codes[_key(symbol)] = code
            symbol[places] = 0.0
        if len(self._codes) != len(self._places):
            raise DataError("array 'value' holds a symbol twice")


def is_whole(values: FloatArray) -> BoolArray:
    """Which of the values are whole numbers."""
    return np.asarray(values == np.rint(values))


def _key(symbol: FloatArray) -> bytes:
    return blake2b((symbol + 0.0).tobytes(), digest_size=16).digest()  # -0.0 is 0.0
