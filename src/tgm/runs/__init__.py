"""Run directories: what a training run leaves behind; one writer, one reader."""

from tgm.agent.recording import set_opener
from tgm.runs.chunk import Chunk, Frame, FrameRow
from tgm.runs.folder import RunFolder
from tgm.runs.reader import Run, RunStatus, find_runs
from tgm.runs.recorder import RunRecorder
from tgm.runs.resume import open_run, resume

__all__ = [
    "Chunk",
    "Frame",
    "FrameRow",
    "Run",
    "RunFolder",
    "RunRecorder",
    "RunStatus",
    "find_runs",
    "open_run",
    "resume",
]

set_opener(open_run)
