"""Run directories: what a training run leaves behind; one writer, one reader."""

from tgm.runs.reader import Run
from tgm.runs.writer import RunWriter

__all__ = ["Run", "RunWriter"]
