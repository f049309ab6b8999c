"""Tags and a note that a person gives a run; they stay in its directory, in notes.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tgm.errors import ConfigError, RunError
from tgm.files import parse_json, read_bytes
from tgm.files.atomic import write_json
from tgm.runs.folder import RUN_FILE, is_own_file

NOTES_FILE = "notes.json"
LARGEST_NOTES = 65_536  # bytes
MOST_TAGS, LONGEST_TAG, LONGEST_NOTE = 50, 60, 2000


@dataclass(frozen=True)
class Notes:
    """What a person says about a run.

    Attributes:
        tags: short words, each once, to filter and group runs by.
        note: a text.
    """

    tags: tuple[str, ...] = ()
    note: str = ""


def read_notes(folder: Path) -> Notes:
    """The notes in a run's directory; empty if there are none, or none that can be believed."""
    path = folder / NOTES_FILE
    if not is_own_file(path):
        return Notes()
    try:
        values = parse_json(read_bytes(path, LARGEST_NOTES), path, 2 * MOST_TAGS)
    except RunError:
        return Notes()
    tags, note = (values.get("tags"), values.get("note")) if isinstance(values, dict) else ((), "")
    kept = [one for one in tags if isinstance(one, str)] if isinstance(tags, list) else []
    return Notes(
        tuple(dict.fromkeys(tag[:LONGEST_TAG] for tag in kept[:MOST_TAGS])),
        note[:LONGEST_NOTE] if isinstance(note, str) else "",
    )


def write_notes(
    folder: Path,
    *,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    note: str | None = None,
) -> Notes:
    """Change the notes of a run and return them.

    Args:
        folder: the run's directory; one that is still written may be named too.
        add: tags that are added after those that it has.
        remove: tags that are taken away; ConfigError if it lacks one.
        note: the new note; None keeps the old one.
    """
    if not is_own_file(folder / RUN_FILE):
        raise RunError(f"{folder}: is not the directory of a run; it has no {RUN_FILE}")
    old = read_notes(folder)
    for tag in remove:
        if tag not in old.tags:
            has = ", ".join(old.tags) or "none"
            raise ConfigError(f"the run has no tag '{tag}'; its tags: {has}")
    for tag in add:
        if not tag.strip() or len(tag) > LONGEST_TAG or not tag.isprintable():
            raise ConfigError(f"a tag is {tag!r:.80}; wanted 1 to {LONGEST_TAG} printable letters")
    tags = tuple(dict.fromkeys(tag for tag in (*old.tags, *add) if tag not in remove))
    if len(tags) > MOST_TAGS:
        raise ConfigError(f"the run would have {len(tags)} tags; at most {MOST_TAGS} are kept")
    if note is not None and len(note) > LONGEST_NOTE:
        raise ConfigError(f"the note has {len(note)} letters; at most {LONGEST_NOTE} are kept")
    new = Notes(tags, old.note if note is None else note)
    path = folder / NOTES_FILE
    if path.is_symlink():
        raise RunError(f"{path}: leads elsewhere; nothing is written through a link")
    write_json(path, asdict(new))
    return new
