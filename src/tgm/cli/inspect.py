"""`tgm inspect`: the web page that shows what the agent learned, and how."""

from __future__ import annotations

import contextlib
import html
import ipaddress
import os
import tempfile
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from tgm.cli.flags import Switch
from tgm.cli.output import print_json, print_lines, say
from tgm.cli.streams import flush_out
from tgm.inspector.assets import need_extra
from tgm.inspector.catalogue import Catalogue

RUNS = Path("runs")


@dataclass(frozen=True)
class Inspect:
    """Show runs in the browser, from a server on this machine; Ctrl-C ends it."""

    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="RUN")] = ()
    """Run directories, or directories that hold some; runs/ by default."""

    host: str = "127.0.0.1"
    """Address to listen on. Any other than loopback lets other machines in, if they know the
    token."""

    port: int = 0
    """Port to listen on; 0 takes a free one."""

    no_browser: Switch = False
    """Only print the address."""

    json: Switch = False
    """Print one JSON object instead."""

    def run(self) -> int:
        """Serve until interrupted, and return the exit code."""
        need_extra()
        from tgm.inspector import serving
        from tgm.inspector.server import allowed_hosts, listen, make_app, new_token

        catalogue = Catalogue(self.runs or (RUNS,))
        listening, token = listen(self.host, self.port), new_token()
        hosts = allowed_hosts(listening)
        address, port = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        # A browser sends a fragment to no server, and not to linked pages.
        url = f"http://{shown}:{port}/#token={token}"
        if not ipaddress.ip_address(address).is_loopback:
            warning = "tgm: other machines can reach this server; anyone with the token sees the"
            say(f"{warning} runs, and the connection is not encrypted")
        if self.json:
            print_json({"url": url, "runs": len(catalogue.folders())})
        else:
            n_runs = len(catalogue.folders())
            print_lines(f"{n_runs} run{'s' * (n_runs != 1)} at {url}", "Ctrl-C ends it.")
        flush_out()
        with contextlib.nullcontext() if self.no_browser else _shown(url):
            serving.serve(make_app(catalogue, hosts, token), listening)
        return 0


@contextlib.contextmanager
def _shown(url: str) -> Iterator[None]:
    """Open the browser at `url` by way of a private file.

    A browser's arguments can be read by every user of the machine, and the token must not be.
    """
    handle, name = tempfile.mkstemp(suffix=".html", prefix="tgm-inspect-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            there = html.escape(url, quote=True)
            file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={there}">')
        webbrowser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)
