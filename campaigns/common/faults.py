"""Calls that write, counted, and one of them going wrong: it fails, or the process dies in it."""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

Act = Callable[["Faults"], None]

TWO_PATHS = ("replace", "rename", "link")
ONE_PATH = ("mkdir", "unlink", "rmdir")
OF_FILES = ("fsync", "ftruncate")


def die(faults: Faults) -> None:
    """What a power cut does to a process."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(number: int) -> Act:
    """What a full or read-only disk does to a call: it raises the error of this number."""

    def act(faults: Faults) -> None:
        raise OSError(number, os.strerror(number))

    return act


class Faults:
    """Within `spread`, the calls that write below `root` are counted, and one goes wrong.

    A write that goes wrong has written half of its data before. Any other call has done nothing
    or, with `late`, everything.

    Attributes:
        calls: what was called, in order: "write metrics.jsonl" and so on.
    """

    def __init__(
        self, root: Path, at: int = 0, act: Act = die, *, stays: bool = False, late: bool = False
    ) -> None:
        """Let call number `at` (from 1; 0 for none) go wrong, and with `stays` all that follow."""
        self._root = str(root)
        self._at = at
        self._act = act
        self._stays = stays
        self._late = late
        self._names: dict[int, str] = {}  # of open files
        self.calls: list[str] = []

    @property
    def has_struck(self) -> bool:
        """Whether anything went wrong."""
        return 0 < self._at <= len(self.calls)

    @contextlib.contextmanager
    def spread(self) -> Iterator[Faults]:
        """Watch over the calls of this process."""
        real = {name: getattr(os, name) for name in (*TWO_PATHS, *ONE_PATH, *OF_FILES)}
        real |= {"open": os.open, "write": os.write, "close": os.close}
        patches = [
            mock.patch.object(io, "open", self._opener(io.open)),
            mock.patch.object(os, "open", self._low_opener(real["open"])),
            mock.patch.object(os, "write", self._writer(real["write"])),
            mock.patch.object(os, "close", self._closer(real["close"])),
        ]
        for name in (*TWO_PATHS, *ONE_PATH):
            patches.append(mock.patch.object(os, name, self._path_call(name, real[name])))
        for name in OF_FILES:
            patches.append(mock.patch.object(os, name, self._file_call(name, real[name])))
        with contextlib.ExitStack() as stack:
            for patch in patches:
                stack.enter_context(patch)
            yield self

    def goes_wrong(self, call: str) -> bool:
        """Count a call; whether it is one that goes wrong."""
        self.calls.append(call)
        number = len(self.calls)
        return self._at > 0 and (number == self._at or (self._stays and number > self._at))

    def strike(self) -> None:
        """Fail or die."""
        self._act(self)

    def _is_ours(self, path: Any) -> bool:
        return isinstance(path, str | Path) and str(path).startswith(self._root)

    def _do(self, call: str, do: Callable[[], Any]) -> Any:
        if not self.goes_wrong(call):
            return do()
        if self._late:
            do()
        self.strike()
        return do()

    def _path_call(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._is_ours(path):
                return real(path, *args, **kwargs)
            target = args[0] if name in TWO_PATHS else path
            label = f"{name} {Path(target).parent.name}/{Path(target).name}"
            return self._do(label, lambda: real(path, *args, **kwargs))

        return call

    def _file_call(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: int, *args: Any) -> Any:
            if file not in self._names:
                return real(file, *args)
            return self._do(f"{name} {self._names[file]}", lambda: real(file, *args))

        return call

    def _low_opener(self, real: Callable[..., int]) -> Callable[..., int]:
        def open_file(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            if not self._is_ours(path) or not flags & (os.O_WRONLY | os.O_RDWR):
                return real(path, flags, *args, **kwargs)
            name = Path(path).name
            file: int = self._do(f"open {name}", lambda: real(path, flags, *args, **kwargs))
            self._names[file] = name
            return file

        return open_file

    def _closer(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def close(file: int) -> None:
            self._names.pop(file, None)
            real(file)

        return close

    def _writer(self, real: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
        def write(file: int, data: Any) -> int:
            if file not in self._names:
                return real(file, data)
            if self.goes_wrong(f"write {self._names[file]}"):
                real(file, data[: len(data) // 2])
                self.strike()
            return real(file, data)

        return write

    def _opener(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def open_file(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if not self._is_ours(path) or not set(mode) & set("wax+"):
                return real(path, mode, *args, **kwargs)
            name = Path(path).name
            file = self._do(f"open {name}", lambda: real(path, mode, *args, **kwargs))
            self._names[file.fileno()] = name
            return _File(file, self, name)

        return open_file


class _File:
    """An open file whose writes can go wrong."""

    def __init__(self, file: Any, faults: Faults, name: str) -> None:
        self._file = file
        self._faults = faults
        self._name = name

    def write(self, data: Any) -> int:
        if self._faults.goes_wrong(f"write {self._name}"):
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            self._faults.strike()
        return int(self._file.write(data))

    def writelines(self, parts: Any) -> None:
        self.write(b"".join(parts))

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._faults._names.pop(self._file.fileno(), None)
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
