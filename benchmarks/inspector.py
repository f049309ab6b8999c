"""How fast the inspector opens and scrubs a run of 5,000 steps, and opens a log of a million lines.

Needs chromium and playwright, and runs both the server and the browser on this machine.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from tests.inspector.browsing import Visit, open_browser, serve
from tests.inspector.recorded import record_maze

STEPS = 5000
LINES = 1_000_000

# Moves the slider as fast as the page draws, for two seconds, and counts the pictures.
SCRUB = """() => new Promise((resolve) => {
    const slider = document.getElementById("slider");
    const ctx = window.tgmInspector;
    const began = performance.now();
    const first = ctx.drawn;
    const tick = () => {
        const seconds = (performance.now() - began) / 1000;
        if (seconds > 2) { resolve((ctx.drawn - first) / seconds); return; }
        slider.value = (Number(slider.value) + 37) % Number(slider.max);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        requestAnimationFrame(tick);
    };
    tick();
})"""


def lengthen(folder: Path) -> None:
    """Give a run a log of a million lines."""
    line = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    line |= {"moves": [], "episodes": []}
    before = json.dumps(line).split(f'"step": {line["step"]}')
    with (folder / "metrics.jsonl").open("w") as file:
        for step in range(LINES):
            file.write(f'{before[0]}"step": {step}{before[1]}\n')


def opening(browser, url: str) -> tuple[float, Visit]:
    """Seconds until a run is drawn, and the page."""
    began = time.perf_counter()
    visit = Visit(browser, url)
    return time.perf_counter() - began, visit


def main() -> None:
    """Print seconds and frames per second."""
    with tempfile.TemporaryDirectory() as name, open_browser() as browser:
        root = Path(name)
        short, long = root / "short", root / "long"
        record_maze(short / "maze-27", "27", STEPS)
        record_maze(long / "maze-8", "8", 600)
        lengthen(long / "maze-8")
        with serve(short) as url:
            opening(browser, url)[1].close()  # the browser's own first page is not ours to count
            seconds, visit = opening(browser, url)
            print(f"a run of {STEPS} steps opens in {seconds:.2f} s (goal: 2)")
            for tab in ("overview", "transitions", "learning", "replay", "whatif"):
                visit.show(tab)
                visit.page.wait_for_timeout(700)
                print(f"{tab}: {visit.page.evaluate(SCRUB):.0f} frames a second (goal: 10)")
            visit.close()
        with serve(long) as url:
            seconds, visit = opening(browser, url)
            size = (long / "maze-8" / "metrics.jsonl").stat().st_size
            print(f"a log of {LINES:,} lines, {size / 1e6:.0f} MB, opens in {seconds:.2f} s")
            visit.close()


if __name__ == "__main__":
    try:
        main()
    except pytest.skip.Exception as reason:
        print(f"not measured: {reason}")
