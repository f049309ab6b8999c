"""Writing that survives a crash: a file or directory is there whole, or it is not there."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tgm.errors import RunError, RunExistsError

BUFFER_BYTES = 1 << 16  # of a file while it is written: few calls, and little memory
# Errors of file systems that sync files only, and of those that keep names in order themselves.
NO_FOLDER_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF, errno.ENOSYS)
TAKEN = (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR)  # why a directory cannot have a name
TEMPORARY = ".*.tmp"  # the pattern of all temporary names


# --- names ----------------------------------------------------------------------------------------


def temporary_name(path: Path) -> Path:
    """The name beside `path` under which this process writes it; the same at each call."""
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def unique_temporary_name(path: Path) -> Path:
    """A temporary name beside `path` that no other thread or process uses."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


# --- files ----------------------------------------------------------------------------------------


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` at `path`, whole or not at all."""
    write_parts(path, [data])


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON object with a line for each of its values, whole or not at all."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in values.items())
    write_atomically(path, f"{{\n{lines}\n}}\n".encode())


def write_parts(
    path: Path,
    parts: Iterable[bytes | memoryview],
    *,
    sync: bool = True,
    check: Callable[[Path], object] | None = None,
) -> None:
    """Put parts one after the other at `path`, whole or not at all.

    The file is written under a temporary name, synced and renamed: a reader or a crash sees the old
    file or the new one, never a part.

    Args:
        path: the file.
        parts: its content.
        sync: wait until content and name are on the disk, in this order. Without it a power cut can
            leave the new name with a part of the content.
        check: reads the file back before it gets its name; a RunError of it keeps the old file.
    """
    if not path.name:
        raise RunError(f"'{path}' is not the name of a file")
    temporary = temporary_name(path)
    try:
        temporary.unlink(missing_ok=True)
        # "x": a link that somebody left under this name is an error, not a way to another file.
        with temporary.open("xb", buffering=BUFFER_BYTES) as file:
            file.writelines(parts)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if check is not None:
            check(temporary)
        temporary.replace(path)
        if sync:
            sync_folder(path.parent)
    except OSError as error:
        _remove(temporary)
        raise RunError(f"{path}: cannot be written ({error.strerror or error})") from error
    except RunError as error:
        _remove(temporary)
        reason = str(error).removeprefix(f"{temporary}: ")
        raise RunError(
            f"{path}: was written but cannot be loaded ({reason}); it was removed, and what was "
            "saved before is kept"
        ) from error


def write_new(path: Path, data: bytes) -> bool:
    """Put `data` at `path`, whole or not at all, unless a file is there: False, and that one stays.

    Missing directories above it are made.
    """
    temporary = unique_temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(temporary, data)
        try:
            os.link(temporary, path)  # unlike a rename, a link fails if the name is taken
        except FileExistsError:
            return False
        finally:
            temporary.unlink()
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error.strerror})") from None
    return True


def link_or_copy(path: Path, source: Path) -> None:
    """Put a file that never changes at another `path` too.

    The new name is on the disk after the next sync of its directory.
    """
    try:
        path.unlink(missing_ok=True)
        os.link(source, path)
    except OSError:  # a file system without links
        write_atomically(path, source.read_bytes())


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    file = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _remove(path: Path) -> None:
    """Remove a file if that is possible."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return


# --- directories ----------------------------------------------------------------------------------


def make_folder(path: Path, fill: Callable[[Path], object]) -> None:
    """Make a directory with what `fill` puts into it, whole or not at all.

    Args:
        path: the directory; a RunExistsError if something has this name.
        fill: is called with the directory under its temporary name.
    """
    if os.path.lexists(path):
        raise _exists(path)
    temporary = unique_temporary_name(path)
    try:
        _make_parents(path.parent)
        temporary.mkdir()
        fill(temporary)
        _rename_to_free(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise RunError(f"{path}: cannot be made ({error.strerror})") from None
    except RunError:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def remove_temporary_files(folder: Path) -> None:
    """Remove the files that a writer had begun when it was killed, and sync the directory."""
    for file in folder.glob(TEMPORARY):
        file.unlink()
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a directory are on the disk, where the system can do that."""
    if sys.platform == "win32":
        return  # it cannot open directories
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(file)


def _make_parents(path: Path) -> None:
    """Make a directory and those above it, and wait until they are on the disk."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in reversed(missing):
        sync_folder(folder.parent)


def _rename_to_free(temporary: Path, path: Path) -> None:
    """Give a directory its name; a RunExistsError if another process took the name meanwhile.

    An empty directory that was made in this very moment is replaced, which loses nothing.
    """
    try:
        temporary.rename(path)
    except OSError as error:
        if error.errno in TAKEN:
            raise _exists(path) from None
        raise


def _exists(path: Path) -> RunExistsError:
    return RunExistsError(f"{path}: exists already; choose another directory")
