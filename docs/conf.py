"""Settings of the documentation site: `make docs` builds it; any warning is an error."""

import re
import sys
from pathlib import Path
from typing import Any

from tgm import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "tgm"
author = "The tgm developers"
copyright = "2026, The tgm developers"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "offline_math"]
html_math_renderer = "mathml"  # docs/_extensions/offline_math.py: no script from elsewhere
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_extensions"]

html_theme = "furo"
html_title = f"tgm {version}"
html_show_sourcelink = False
html_copy_source = False
html_extra_path: list[str] = []
html_static_path = ["_static"]
html_css_files = ["copy.css"]

# Docstrings name things in single backquotes.
default_role = "code"
autodoc_default_options = {"members": True, "show-inheritance": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_use_ivar = True


def setup(app: Any) -> None:
    """Docstrings of environments have the headings of Gymnasium, which are Markdown."""
    app.connect("autodoc-process-docstring", _plain_headings)
    app.connect("autodoc-process-docstring", _plain_underscores, priority=600)  # after napoleon


def _plain_headings(
    app: Any, kind: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    changed = [
        part for row in lines for part in ((f"**{row[3:]}**", "") if row[:3] == "## " else (row,))
    ]
    lines[:] = changed


def _plain_underscores(
    app: Any, kind: str, name: str, obj: Any, opts: Any, lines: list[str]
) -> None:
    """`weights_` of an estimator is a name, not a link."""
    lines[:] = [re.sub(r"(?<![`\w\\])(\w*[a-z0-9])_(?![\w`])", r"\1\\_", row) for row in lines]
