"""How fast the inspector opens and scrubs a run of 5,000 steps, and opens a log of a million lines.

Also how fast 2,000 states are zoomed and moved, and how fast 300 runs are compared. Needs chromium
and playwright, and runs both the server and the browser on this machine. Frames a second depend on
what else the machine does; processor time for each frame, of the whole browser, hardly does.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pytest
from tests.inspector.browsing import Visit, open_browser, serve
from tests.inspector.recorded import record_many_states, record_maze

STEPS = 5000
LINES = 1_000_000
STATES = 2000
RUNS = 300

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


# Zooms and moves all drawings as fast as the page draws, for two seconds; gives frames and seconds.
ZOOM = """() => new Promise((resolve) => {
    const ctx = window.tgmInspector;
    const { low, high } = ctx.summary.plane;
    const began = performance.now();
    const first = ctx.drawn;
    let k = 0;
    const tick = () => {
        const seconds = (performance.now() - began) / 1000;
        if (seconds > 2) { resolve([ctx.drawn - first, seconds]); return; }
        k += 1;
        const wide = 1 / (1.1 + 0.2 * Math.sin(k / 10));
        const at = [0, 1].map((i) => low[i] + (high[i] - low[i]) * (0.5 + 0.04 * Math.sin(k / 6)));
        const side = (i, sign) => at[i] + sign * 0.5 * wide * (high[i] - low[i]);
        ctx.setZoom({ low: [side(0, -1), side(1, -1)], high: [side(0, 1), side(1, 1)] });
        requestAnimationFrame(tick);
    };
    tick();
})"""


def browser_seconds() -> float:
    """Processor time of all processes of the browser that this process started (Linux only)."""
    parents, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, fields = path.read_text().rsplit(")", 1)
        except OSError:
            continue  # it has ended
        values = fields.split()
        parents[int(path.parent.name)] = int(values[1])
        ticks[int(path.parent.name)] = int(values[11]) + int(values[12]) if "chrom" in name else 0

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return sum(ticks[pid] for pid in ticks if is_ours(pid)) / os.sysconf("SC_CLK_TCK")


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


def draw_many(browser, root: Path) -> None:
    """Zoom and move 2,000 states."""
    record_many_states(root / "many" / "states", STATES)
    with serve(root / "many") as url:
        visit = Visit(browser, url)
        for tab in ("overview", "transitions", "replay", "whatif"):
            visit.show(tab)
            visit.page.wait_for_timeout(500)
            began = browser_seconds()
            frames, seconds = visit.page.evaluate(ZOOM)
            each = 1000 * (browser_seconds() - began) / frames
            print(
                f"{STATES:,} states, {tab}: {frames / seconds:.0f} frames a second (goal: 20), "
                f"{each:.0f} ms of processor time each (goal: 50)"
            )
        visit.close()


def compare_many(browser, root: Path) -> None:
    """Open the Compare tab with 300 runs."""
    for index in range(RUNS):
        folder = root / "runs" / f"run-{index:03d}"
        shutil.copytree(root / "short" / "maze-27", folder)
        facts = json.loads((folder / "run.json").read_text())
        facts["config"]["gamma"] = 0.9 + 0.01 * (index % 5)
        (folder / "run.json").write_text(json.dumps(facts | {"seed": index}))
    with serve(root / "runs") as url:
        seconds, visit = opening(browser, url)
        print(f"{RUNS} runs: the newest opens in {seconds:.2f} s (goal: 2)")
        began = time.perf_counter()
        visit.page.click("#tab-compare")
        visit.page.wait_for_function(
            f"() => document.querySelectorAll('#compare-runs tbody tr').length === {RUNS}"
        )
        print(f"{RUNS} runs: the table is there after {time.perf_counter() - began:.2f} s")
        visit.page.wait_for_function(
            f"() => (document.querySelector('#compare-returns .plot')?.data ?? [])"
            f".some((t) => t.name?.includes('({RUNS})'))"
        )
        print(f"{RUNS} runs: all curves are there after {time.perf_counter() - began:.2f} s")
        for words, act in (
            ("filtered", lambda: visit.page.fill("#compare-runs input[type=search]", "seed>150")),
            ("sorted", lambda: visit.page.click("#compare-runs th button:has-text('seed')")),
        ):
            began = time.perf_counter()
            act()
            visit.settle()
            print(f"{RUNS} runs: {words} in {time.perf_counter() - began:.2f} s")
        visit.close()


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
        draw_many(browser, root)
        compare_many(browser, root)


if __name__ == "__main__":
    try:
        main()
    except pytest.skip.Exception as reason:
        print(f"not measured: {reason}")
