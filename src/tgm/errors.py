"""One small tree of errors. Each names what was seen, where, and how to mend it."""

from __future__ import annotations


class TGMError(Exception):
    """Everything that tgm raises on purpose; the command line turns it into one line."""


class ConfigError(TGMError, ValueError):
    """A setting or an argument that cannot be used."""


class NotFittedError(TGMError, ValueError, AttributeError):
    """An estimator that was asked before it was fitted."""


class DataError(TGMError, ValueError):
    """An observation, reward, action or logged row that cannot be used."""


class NumericsError(TGMError, ArithmeticError):
    """Arithmetic of the model that failed: a fault of tgm, never of the data."""


class SpaceError(TGMError, TypeError):
    """An environment whose spaces the agent cannot work with."""


class MazeError(TGMError, ValueError):
    """A maze that cannot be read, with the place in its file (both counted from 1)."""

    def __init__(
        self, message: str, *, source: str, line: int | None = None, column: int | None = None
    ) -> None:
        place = ":".join(str(part) for part in (source, line, column) if part is not None)
        super().__init__(f"{place}: {message}")
        self.source = source
        self.line = line
        self.column = column


class RunError(TGMError):
    """A run directory or a model file that cannot be used."""


class RunExistsError(RunError):
    """A directory for a new run that is there already."""


class FailedRunError(TGMError):
    """A run that began well and failed: the command line exits with 1, not 2."""


class TGMWarning(UserWarning):
    """Something that works but is not what the user wants; it says what to do."""
