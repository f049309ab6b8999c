"""A digest of the code that results depend on, so that results of other code are not reused."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import tgm

WITHOUT_INFLUENCE = ("cli", "inspector", "experiments/figures", "experiments/results")
"""Packages that change no result of a study."""


@cache
def code_fingerprint() -> str:
    """Twelve hexadecimal digits; comments and layout of the code do not change them."""
    root = Path(tgm.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name.startswith(WITHOUT_INFLUENCE) or path.name == "analysis.py":
            continue
        digest.update(name.encode())
        digest.update(ast.dump(ast.parse(path.read_bytes())).encode())
    return digest.hexdigest()[:12]
