"""The page as one HTML file that holds its data: it opens from disk, without a network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Any

from tgm.inspector import payload
from tgm.inspector.assets import bundled, page_files, plotly_script
from tgm.inspector.catalogue import check_files, run_id
from tgm.inspector.entries import entry
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
    app, charts = bundled(), plotly_script().decode("utf-8")
    policy = POLICY.format(scripts=" ".join(f"'{_digest(script)}'" for script in (app, charts)))
    head = (
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<style>\n{page_files()['style.css'].decode('utf-8')}</style>\n"
    )
    # The chart library comes last: the page draws before its four megabytes are parsed.
    foot = (
        f'<script type="application/json" id="tgm-data">{_in_script(to_bytes(data))}</script>\n'
        f"<script>{app}</script>\n<script>{charts}</script>\n"
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
    listed = [{"id": id_, **entry(run)} for id_, run in zip(ids, runs, strict=True)]
    return {
        "runs": {"runs": listed, "left_out": 0},
        "summary": {ids[0]: summary},
        "outline": {id_: payload.outline(run) for id_, run in zip(ids, runs, strict=True)},
        "field": {ids[0]: payload.field(first)},
        "chunks": {ids[0]: {str(step): payload.chunk(first, step) for step in kept}},
    }


def _fitting(run: Run, steps: list[int]) -> list[int]:
    """The chunks that fit into a report: all, or evenly spaced ones."""
    if not steps:
        return []
    last = len(to_bytes(payload.chunk(run, steps[-1])))
    middle = len(to_bytes(payload.chunk(run, steps[len(steps) // 2])))
    return thinned(steps, max(LEAST_CHUNKS, MOST_HISTORY // max(last, middle, 1)))


def _in_script(data: bytes) -> str:
    """JSON that cannot close its script element, whatever the run holds."""
    return data.decode("utf-8").replace("<", "\\u003c").replace(">", "\\u003e")


def _digest(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
