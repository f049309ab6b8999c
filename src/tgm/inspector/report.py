"""The page as one HTML file that holds its data: it opens from disk, without a network.

The data and the chart library are packed (gzip as base64): a world that flows has ten megabytes of
numbers, which become two or three.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Sequence
from typing import Any

from tgm.inspector import payload
from tgm.inspector.assets import bundled, page_files, plotly_script
from tgm.inspector.catalogue import check_files, run_id
from tgm.inspector.entries import entry
from tgm.inspector.finding import Finding
from tgm.inspector.log import thinned
from tgm.inspector.plain import to_bytes
from tgm.runs import Run

MOST_HISTORY = 24_000_000  # bytes of history in a report; of more, some chunks are left out
LEAST_CHUNKS = 2
POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)

_LINKED = re.compile(r"[ ]*<link [^>]*rel=\"stylesheet\"[^>]*>\n|[ ]*<script [^>]*></script>\n")


def report_page(runs: Sequence[Run]) -> str:
    """The page of the first run; the other runs are in its Compare tab."""
    data = report_data(runs)
    app, charts = bundled(), plotly_script()
    allowed = (app.encode("utf-8"), charts)
    policy = POLICY.format(scripts=" ".join(f"'{_digest(script)}'" for script in allowed))
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>\n{page_files()['style.css'].decode('utf-8')}</style>\n"
    )
    # The page draws before the four megabytes of the chart library are unpacked and parsed.
    foot = (
        f'<script type="application/gzip" id="tgm-data">{_packed(to_bytes(data))}</script>\n'
        f'<script type="application/gzip" id="tgm-charts">{_packed(charts)}</script>\n'
        f"<script>{app}</script>\n"
    )
    page = _LINKED.sub("", page_files()["index.html"].decode("utf-8"))
    head_at, foot_at = page.index("</head>"), page.index("</body>")
    return page[:head_at] + head + page[head_at:foot_at] + foot + page[foot_at:]


def report_data(runs: Sequence[Run]) -> dict[str, Any]:
    """All answers that the server would give for these runs."""
    ids = []
    for run in runs:
        check_files(run.folder)
        ids.append(run_id(run.folder.resolve()))
    first = runs[0]
    summary = payload.summary(first)
    kept = _fitting(first, summary["chunks"])
    summary["chunks_left_out"] = len(summary["chunks"]) - len(kept)
    summary["chunks"] = kept
    chunks = {step: payload.chunk_or_problem(first, step) for step in kept}
    known = [finding["text"] for finding in summary["health"]]
    summary["health"] = [
        Finding("problem", payload.UNREADABLE, one["error"]).to_dict()
        for one in chunks.values()
        if "error" in one and one["error"] not in known
    ] + summary["health"]
    listed = [{"id": id_, **entry(run)} for id_, run in zip(ids, runs, strict=True)]
    return {
        "runs": {"runs": listed, "left_out": 0},
        "summary": {ids[0]: summary},
        "outline": {id_: payload.outline(run) for id_, run in zip(ids, runs, strict=True)},
        "field": {ids[0]: payload.field(first)},
        "chunks": {ids[0]: {str(step): chunk for step, chunk in chunks.items()}},
    }


def _fitting(run: Run, steps: list[int]) -> list[int]:
    """The chunks that fit into a report: all, or evenly spaced ones."""
    if not steps:
        return []
    last = len(to_bytes(payload.chunk_or_problem(run, steps[-1])))
    middle = len(to_bytes(payload.chunk_or_problem(run, steps[len(steps) // 2])))
    return thinned(steps, max(LEAST_CHUNKS, MOST_HISTORY // max(last, middle, 1)))


def _packed(data: bytes) -> str:
    """Bytes as a text that cannot close its script element, whatever the run holds."""
    return base64.b64encode(gzip.compress(data, mtime=0)).decode("ascii")


def _digest(script: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script).digest()).decode("ascii")
