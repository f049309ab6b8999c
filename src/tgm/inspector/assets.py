"""The files of the page, and the bundle of all its scripts for a single-file report."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec

from tgm.errors import ConfigError

MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PLOTLY = "plotly.js"
EXTRA = ("starlette", "uvicorn", "plotly")
ENTRY = "main.js"

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)


def has_extra() -> bool:
    """Whether the packages that the inspector needs are installed."""
    return all(find_spec(name) is not None for name in EXTRA)


def need_extra() -> None:
    """Raise a ConfigError that names the first missing package."""
    for name in EXTRA:
        if find_spec(name) is None:
            raise ConfigError(
                f"the inspector needs {name}: pip install temporal-gaussian-mixture[inspect]"
            )


@cache
def page_files() -> dict[str, bytes]:
    """Name -> content of every file of the page; names are relative, with forward slashes."""
    found: dict[str, bytes] = {}

    def collect(folder: Traversable, prefix: str) -> None:
        for item in folder.iterdir():
            if item.is_dir():
                collect(item, f"{prefix}{item.name}/")
            elif posixpath.splitext(item.name)[1] in MEDIA_TYPES:
                found[prefix + item.name] = item.read_bytes()

    collect(resources.files("tgm.inspector") / "static", "")
    return found


@cache
def plotly_script() -> bytes:
    """The JavaScript file inside the plotly package, read without importing the package."""
    try:
        return (resources.files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    except (ModuleNotFoundError, OSError):
        raise ConfigError(
            "the inspector needs plotly: pip install temporal-gaussian-mixture[inspect]"
        ) from None


def bundled() -> str:
    """All modules as one script, each in its own function, in the order of their imports.

    The modules use two forms only, so that no parser of JavaScript is needed: `import { a, b } from
    "./file.js";` and `export` before a function, a class or a const.
    """
    order: list[str] = []
    _visit(ENTRY, order, ())
    parts = [_wrapped(name) for name in order]
    return '"use strict";\nconst modules = {};\n' + "".join(parts)


def _source(name: str) -> str:
    return page_files()[name].decode("utf-8")


def _target(name: str, relative: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), relative))


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join((*above, name))}")
    if name in order:
        return
    for match in _IMPORT.finditer(_source(name)):
        _visit(_target(name, match[2]), order, (*above, name))
    order.append(name)


def _wrapped(name: str) -> str:
    source = _source(name)
    exported = [match[2] for match in _EXPORT.finditer(source)]
    body = _IMPORT.sub(
        lambda match: f'const {{{match[1]}}} = modules["{_target(name, match[2])}"];\n', source
    )
    body = _EXPORT.sub(r"\1 \2", body)
    return f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {", ".join(exported)} }};\n}})();\n'
