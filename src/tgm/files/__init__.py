"""Files: measured reading of files that somebody else may have written, arrays, atomic writing."""

from tgm.files.atomic import write_atomically, write_json, write_new
from tgm.files.reading import n_json_values, opened, parse_json, read_bytes
from tgm.files.store import read_arrays, write_arrays

__all__ = [
    "n_json_values",
    "opened",
    "parse_json",
    "read_arrays",
    "read_bytes",
    "write_arrays",
    "write_atomically",
    "write_json",
    "write_new",
]
