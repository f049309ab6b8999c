"""Equations as MathML, which current browsers draw by themselves: nothing is loaded."""

from typing import Any

import latex2mathml.converter
from docutils import nodes
from sphinx.application import Sphinx


def _inline(self: Any, node: Any) -> None:
    self.body.append(latex2mathml.converter.convert(node.astext()))
    raise nodes.SkipNode


def _display(self: Any, node: Any) -> None:
    self.body.append('<div class="math">')
    self.body.append(latex2mathml.converter.convert(node.astext(), display="block"))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"version": "1", "parallel_read_safe": True}
