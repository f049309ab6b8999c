"""A disk that loses what was not synced: the calls of a real run, cut off at any of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from campaigns.common.faults import Faults

SECTOR = 512  # bytes that are written whole or not at all


@dataclass
class File:
    """A file: the bytes that are surely there, and what was done to it since."""

    data: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)  # None: cut to the offset

    def sync(self) -> None:
        """All of it is there."""
        self.data, self.pending = self.read(self.pending), []

    def read(self, done: list[tuple[int, bytes | None]]) -> bytes:
        """The bytes if these changes reached the disk; what lies between them is zero."""
        data = bytearray(self.data)
        for offset, part in done:
            if part is None:
                del data[offset:]
                data += bytes(offset - len(data))
            else:
                data += bytes(max(0, offset - len(data)))
                data[offset : offset + len(part)] = part
        return bytes(data)

    def survivor(self, rng: np.random.Generator) -> bytes:
        """What may be found after a power cut: any part of the changes, in sectors."""
        sectors: list[tuple[int, bytes | None]] = []
        for offset, part in self.pending:
            if part is None:
                sectors.append((offset, None))
            else:
                starts = range(0, len(part), SECTOR)
                sectors += [(offset + start, part[start : start + SECTOR]) for start in starts]
        return self.read(_some(sectors, rng))


@dataclass
class Folder:
    """A directory: the names that are surely there, and what was done to them since."""

    names: dict[str, int] = field(default_factory=dict)
    pending: list[dict[str, int | None]] = field(default_factory=list)  # None: the name goes

    def sync(self) -> None:
        """All of it is there."""
        self.names, self.pending = self.read(self.pending), []

    def read(self, done: list[dict[str, int | None]]) -> dict[str, int]:
        """The names if these changes reached the disk."""
        names: dict[str, int | None] = dict(self.names)
        for change in done:
            names |= change
        return {name: number for name, number in names.items() if number is not None}

    def survivor(self, rng: np.random.Generator) -> dict[str, int]:
        """What may be found after a power cut: any of the changes."""
        return self.read(_some(self.pending, rng))


def _some(changes: list[Any], rng: np.random.Generator) -> list[Any]:
    """None, all, the first ones, or any of some changes, in their order."""
    how = rng.integers(4)
    if how < 2:
        return changes if how else []
    if how == 2:
        return changes[: int(rng.integers(len(changes) + 1))]
    return [change for change in changes if rng.random() < 0.5]


Change = Callable[["Disk"], None]


class Disk:
    """Files and directories by their numbers; the first one is the root."""

    def __init__(self) -> None:
        self.things: list[File | Folder] = [Folder()]

    def write_survivor(self, folder: Path, rng: np.random.Generator, number: int = 0) -> None:
        """Write to a real `folder` what a directory of this disk may hold after a power cut."""
        thing = self.things[number]
        assert isinstance(thing, Folder)
        folder.mkdir()
        for name, inner in thing.survivor(rng).items():
            held = self.things[inner]
            if isinstance(held, File):
                (folder / name).write_bytes(held.survivor(rng))
            else:
                self.write_survivor(folder / name, rng, inner)

    def synced_names(self, *path: str) -> dict[str, int]:
        """The names that are surely in a directory, or nothing if it may not be there."""
        names, number = {}, 0
        for name in (*path, None):
            thing = self.things[number]
            assert isinstance(thing, Folder)
            names = thing.names
            if name is None:
                return names
            if name not in names:
                return {}
            number = names[name]
        return names


class DiskRecorder(Faults):
    """Within `spread`, notes every call that changes something below `root`.

    Attributes:
        changes: what to do to a Disk, in order.
    """

    def __init__(self, root: Path) -> None:
        """A root that is there and empty."""
        super().__init__(root)
        self.changes: list[Change] = []
        self._n_things = 1
        self._tree: dict[str, int] = {str(root): 0}  # number of each path
        self._numbers: dict[int, int] = {}  # of open files

    def replay(self, n_changes: int, *, syncs: bool = True) -> Disk:
        """The disk after so many changes; without `syncs`, one that lies about them."""
        disk = Disk()
        for change in self.changes[:n_changes]:
            if syncs or change.__name__ != "sync":
                change(disk)
        return disk

    # --- changes --------------------------------------------------------------------------------

    def _name(self, changes: dict[str, int | None]) -> None:
        """Names within one directory that come or go at once."""
        parents = {str(Path(path).parent) for path in changes}
        assert len(parents) == 1, "a change of two directories at once is not simulated"
        parent = self._tree[parents.pop()]
        named = {Path(path).name: number for path, number in changes.items()}

        def rename(disk: Disk) -> None:
            folder = disk.things[parent]
            assert isinstance(folder, Folder)
            folder.pending.append(named)

        self.changes.append(rename)

    def _create(self, path: str, kind: type[File] | type[Folder]) -> None:
        number, self._n_things = self._n_things, self._n_things + 1
        self._tree[path] = number
        self.changes.append(lambda disk: disk.things.append(kind()))
        self._name({path: number})

    def _change(self, number: int, offset: int, data: bytes | None) -> None:
        def write(disk: Disk) -> None:
            file = disk.things[number]
            assert isinstance(file, File)
            file.pending.append((offset, data))

        self.changes.append(write)

    def _sync(self, number: int) -> None:
        def sync(disk: Disk) -> None:
            disk.things[number].sync()

        self.changes.append(sync)

    def _move(self, source: str, target: str) -> None:
        number = self._tree.pop(source)
        self._name({source: None, target: number})
        inner = [path for path in self._tree if path.startswith(f"{source}/")]
        for path in inner:
            self._tree[target + path.removeprefix(source)] = self._tree.pop(path)
        self._tree[target] = number

    # --- calls ----------------------------------------------------------------------------------

    def _path_call(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._is_ours(path):
                return real(path, *args, **kwargs)
            result = real(path, *args, **kwargs)
            source = str(path)
            if name in ("replace", "rename"):
                self._move(source, str(args[0]))
            elif name == "link":
                self._tree[str(args[0])] = self._tree[source]
                self._name({str(args[0]): self._tree[source]})
            elif name == "mkdir":
                self._create(source, Folder)
            else:
                self._name({source: None})
                del self._tree[source]
            return result

        return call

    def _file_call(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: int, *args: Any) -> Any:
            result = real(file, *args)
            if file in self._numbers:
                if name == "fsync":
                    self._sync(self._numbers[file])
                else:
                    self._change(self._numbers[file], args[0], None)
            return result

        return call

    def _low_opener(self, real: Callable[..., int]) -> Callable[..., int]:
        def open_file(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
            file = real(path, flags, *args, **kwargs)
            if self._is_ours(path):
                if str(path) not in self._tree:
                    self._create(str(path), File)
                self._numbers[file] = self._tree[str(path)]
            return file

        return open_file

    def _closer(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def close(file: int) -> None:
            self._numbers.pop(file, None)
            real(file)

        return close

    def _writer(self, real: Callable[[int, Any], int]) -> Callable[[int, Any], int]:
        def write(file: int, data: Any) -> int:
            offset = os.lseek(file, 0, os.SEEK_CUR) if file in self._numbers else 0
            n_bytes = real(file, data)
            if file in self._numbers:
                self._change(self._numbers[file], offset, bytes(data[:n_bytes]))
            return n_bytes

        return write

    def _opener(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def open_file(path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            file = real(path, mode, *args, **kwargs)
            if not self._is_ours(path) or "x" not in mode:
                return file
            self._create(str(path), File)
            self._numbers[file.fileno()] = self._tree[str(path)]
            return _File(file, self, self._tree[str(path)])

        return open_file


class _File:
    """A new file whose writes are noted."""

    def __init__(self, file: Any, disk: DiskRecorder, number: int) -> None:
        self._file = file
        self._disk = disk
        self._number = number

    def writelines(self, parts: Any) -> None:
        for part in parts:
            self._disk._change(self._number, self._file.tell(), bytes(part))
            self._file.write(part)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._disk._numbers.pop(self._file.fileno(), None)
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
