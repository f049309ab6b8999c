"""The page of all figures with their claims, as HTML and as Markdown."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tgm.experiments.figures.drawing import Claim

PAPER = (
    'T. Champion, M. Grzes, H. Bowman, "Structure learning with Temporal Gaussian Mixture for '
    'model-based Reinforcement Learning"'
)
INTRODUCTION = (
    "Every figure of the paper, drawn from our own runs, with the paper's claims about it "
    "and whether our data confirm them. The equations are those of the paper with their errata "
    "corrected; where a correction changes the outcome, the figure shows both."
)
SIGNS = {"yes": "holds", "partly": "holds in part", "no": "does not hold"}


@dataclass(frozen=True)
class Entry:
    """One figure of the page: its number, words and claims, and the names of its files."""

    number: int
    title: str
    see: str
    claims: tuple[Claim, ...]
    png: str
    svg: str

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        return {
            "figure": self.number,
            "title": self.title,
            "files": [self.png, self.svg],
            "see": self.see,
            "claims": [
                {
                    "claim": claim.text,
                    "holds": claim.verdict,
                    "measured": claim.measured,
                    "numbers": claim.numbers,
                }
                for claim in self.claims
            ],
        }


def as_markdown(entries: Sequence[Entry], *, images: str, command: str) -> str:
    """The page in Markdown; `images` is the path of the images relative to the page."""
    lines = ["# The figures of the paper", "", INTRODUCTION, "", f"Made by `{command}`.", ""]
    lines += ["| figure | the paper's claim | holds |", "|---|---|---|"]
    lines += [
        f"| [{entry.number}](#figure-{entry.number}) | {claim.text} | **{claim.verdict}** |"
        for entry in entries
        for claim in entry.claims
    ]
    for entry in entries:
        lines += ["", f"## Figure {entry.number}", ""]
        lines += [f"![{entry.title}]({images}/{entry.png})", ""]
        lines += [f"**{entry.title}.** {entry.see}", ""]
        lines += [
            f"- {claim.text} **{claim.verdict.capitalize()}**: {claim.measured}"
            for claim in entry.claims
        ]
    return "\n".join(lines) + "\n"


def as_html(entries: Sequence[Entry]) -> str:
    """The page in HTML, for the folder of the images; it loads nothing else."""
    rows = "\n".join(
        f'<tr><td><a href="#figure-{entry.number}">{entry.number}</a></td>'
        f"<td>{_text(claim.text)}</td><td>{_badge(claim)}</td></tr>"
        for entry in entries
        for claim in entry.claims
    )
    figures = "\n".join(_figure(entry) for entry in entries)
    return _PAGE.format(
        style=_STYLE,
        introduction=_text(INTRODUCTION),
        paper=_text(PAPER),
        rows=rows,
        figures=figures,
    )


def _figure(entry: Entry) -> str:
    claims = "\n".join(
        f"<li>{_badge(claim)} <q>{_text(claim.text)}</q><p>{_text(claim.measured)}</p></li>"
        for claim in entry.claims
    )
    title = _text(entry.title)
    return f"""<section id="figure-{entry.number}">
<h2><span>Figure {entry.number}</span> {title}</h2>
<a href="{_text(entry.svg)}"><img src="{_text(entry.png)}" alt="{title}"></a>
<p class="see">{_text(entry.see)}</p>
<ul>
{claims}
</ul>
</section>"""


def _badge(claim: Claim) -> str:
    return f'<b class="{claim.verdict}">{SIGNS[claim.verdict]}</b>'


def _text(words: str) -> str:
    return html.escape(words, quote=True)


_STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.5rem 5rem; background: #fbfcfd;
  color: #22303c; font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.9rem; margin: 0 0 .4rem; }
h2 { font-size: 1.25rem; margin: 0 0 1rem; }
h2 span { color: #7a8793; font-weight: 400; margin-right: .6rem; }
a { color: #0072b2; }
table { border-collapse: collapse; margin: 1.5rem 0 2.5rem; width: 100%; font-size: .95rem; }
td, th { border-bottom: 1px solid #e9edf0; padding: .45rem .7rem; text-align: left;
  vertical-align: top; }
section { background: #fff; border: 1px solid #e3e8ec; border-radius: 10px; margin: 0 0 1.8rem;
  padding: 1.5rem 1.7rem; }
img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.see { color: #44525e; }
ul { list-style: none; margin: 0; padding: 0; }
li { border-top: 1px solid #e9edf0; padding: .8rem 0 0; margin: .8rem 0 0; }
li p { margin: .3rem 0 0; }
q { quotes: none; font-style: italic; }
b { border-radius: 999px; display: inline-block; font-size: .8rem; font-weight: 600;
  margin-right: .4rem; padding: .1rem .65rem; white-space: nowrap; }
.yes { background: #d5efe6; color: #00553e; }
.partly { background: #fbeac6; color: #6d4b00; }
.no { background: #f8dccb; color: #8a3c00; }
footer { color: #7a8793; font-size: .9rem; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The figures of the paper</title>
<style>{style}</style>
</head>
<body>
<h1>The figures of the paper</h1>
<p>{introduction}</p>
<table>
<tr><th>figure</th><th>the paper's claim</th><th>here</th></tr>
{rows}
</table>
{figures}
<footer>The paper: {paper}. Click a figure to open it as SVG.</footer>
</body>
</html>
"""
