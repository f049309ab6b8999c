"""Frozen dataclasses as plain values of JSON, and back."""

from __future__ import annotations

import re
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tgm.errors import RunError

Value = TypeVar("Value")


def to_plain(value: Any) -> Any:
    """A dataclass as a dict, a tuple (a named one too) as a list; all else as it is."""
    if is_dataclass(value):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    return [to_plain(item) for item in value] if isinstance(value, tuple | list) else value


def from_plain(kind: type[Value], value: Any) -> Value:
    """What `to_plain` made of a `kind`; a RunError if a field without a default is missing."""
    try:
        made: Value = _read(kind, value)
        return made
    except (KeyError, TypeError, AttributeError) as error:
        raise RunError(f"not a {kind.__name__} ({error})") from None


def as_folder(text: str) -> str:
    """Any text as the name of a file or folder."""
    return re.sub(r"[^\w.-]", "_", text).lstrip(".") or "_"


def _read(hint: Any, value: Any) -> Any:
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return hint(  # type: ignore[operator]  # a class, not an instance
            **{
                field.name: _read(hints[field.name], value[field.name])
                for field in fields(hint)
                if field.name in value or _is_required(field)
            }
        )
    if get_origin(hint) is tuple:
        kinds = get_args(hint)
        if kinds[-1] is Ellipsis:
            return tuple(_read(kinds[0], item) for item in value)
        return tuple(_read(kind, item) for kind, item in zip(kinds, value, strict=True))
    if isinstance(hint, type) and issubclass(hint, tuple):
        return hint(*value)
    return value


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
