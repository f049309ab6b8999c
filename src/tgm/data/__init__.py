"""Logged trajectories, from arrays, frames and files, in one form; bad values are named."""

from tgm.data.files import read
from tgm.data.log import Log
from tgm.data.tables import from_arrays, from_frame

__all__ = ["Log", "from_arrays", "from_frame", "read"]
