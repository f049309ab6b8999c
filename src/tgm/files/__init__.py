"""Files that somebody else may have written, read with care; arrays on disk, checked."""

from tgm.files.reading import n_json_values, opened, parse_json, read_bytes

__all__ = ["n_json_values", "opened", "parse_json", "read_bytes"]
