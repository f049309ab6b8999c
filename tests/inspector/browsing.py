"""A server in a thread and a real browser, for tests, pictures and measurements."""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TABS = ("overview", "transitions", "learning", "replay", "whatif", "health", "compare")


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """The system's chromium; a test that has none is skipped, or fails if one is required."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next((found for name in names if (found := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sync_playwright = None
    if program is None or sync_playwright is None:
        lacking = "playwright" if program else "chromium"
        if os.environ.get("TGM_REQUIRE_BROWSER") == "1":
            pytest.fail(f"TGM_REQUIRE_BROWSER is 1 and there is no {lacking}")
        pytest.skip(f"there is no {lacking} here")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextlib.contextmanager
def serve(*places: Path) -> Iterator[str]:
    """A server of the runs in `places`, as `tgm inspect` starts it; gives its address."""
    from tgm.inspector.catalogue import Catalogue
    from tgm.inspector.server import allowed_hosts, listen, make_app, new_token
    from tgm.inspector.serving import make_server

    listening, token = listen("127.0.0.1", 0), new_token()
    server = make_server(make_app(Catalogue(places), allowed_hosts(listening), token))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/#token={token}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        listening.close()


# Resolves when nothing was left to load or to draw for some pictures in a row.
SETTLED = """() => new Promise((resolve, reject) => {
    const began = performance.now();
    let quiet = 0;
    const look = () => {
        const c = window.tgmInspector;
        const isQuiet = c.summary && !c.isWaiting && c.history.waiting.size === 0
            && c.history.isLoaded(c.step) && !c.isFieldComing;
        quiet = isQuiet ? quiet + 1 : 0;
        if (quiet > 2) resolve();
        else if (performance.now() - began > 60000) reject(new Error("the page does not settle"));
        else requestAnimationFrame(look);
    };
    look();
})"""


def axe_script() -> str:
    """axe-core, which `make axe` fetches; a test without it is skipped, or fails if required."""
    path = Path(sys.prefix) / "axe-core" / "axe.min.js"
    if not path.is_file():
        if os.environ.get("TGM_REQUIRE_BROWSER") == "1":
            pytest.fail(f"TGM_REQUIRE_BROWSER is 1 and there is no {path}: make axe")
        pytest.skip("there is no axe-core here: make axe")
    return path.read_text(encoding="utf-8")


class Visit:
    """A page of its own, and everything that went wrong on it."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        """Open `url` and wait until the page has drawn a run."""
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.troubles: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.goto(url)
        self.page.wait_for_selector("html[data-ready]")
        self.settle()

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.troubles.append(message.text)

    def _dismiss(self, dialog: Any) -> None:
        self.troubles.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def settle(self) -> None:
        """Wait until everything that was asked for is loaded and drawn."""
        self.page.evaluate(SETTLED)

    def open_run(self, name: str) -> None:
        """Choose a run by its name, unless it is shown already."""
        if self.page.evaluate("() => window.tgmInspector.summary.name") == name:
            return
        self.page.select_option("#run", label=name)
        self.page.wait_for_function("(n) => window.tgmInspector.summary.name === n", arg=name)
        self.settle()

    def show(self, tab: str) -> None:
        """Show a tab."""
        self.page.click(f"#tab-{tab}")
        self.settle()

    def go_to(self, step: int) -> None:
        """Move the slider, as a hand would."""
        self.page.evaluate(
            """(step) => { const s = document.getElementById("slider"); s.value = step;
                s.dispatchEvent(new Event("input", { bubbles: true })); }""",
            step,
        )
        self.settle()

    def close(self) -> None:
        """Close it."""
        self.context.close()
