"""Kinds of flags that several commands have."""

from __future__ import annotations

from typing import Annotated, Any

import tyro

Switch = Annotated[bool, tyro.conf.FlagCreatePairsOff]
"""A flag without a value that is off unless it is given, such as --json."""


def optional(metavar: str, default: str = "") -> Any:
    """Help of a flag whose default is None: what stands for its value, and what None means."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=default)
