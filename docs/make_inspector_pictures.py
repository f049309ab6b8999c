"""Makes the pictures of the inspector: `.venv/bin/python docs/make_inspector_pictures.py`.

Needs chromium and playwright. The runs are recorded first, with fixed seeds.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.inspector.browsing import Visit, open_browser, serve
from tests.inspector.recorded import record_maze

IMAGES = Path(__file__).parent / "images"
SIZE = {"width": 1280, "height": 800}
RUN = "maze-27"

# Name of the picture -> (tab, theme, step, action before the screenshot).
PICTURES = {
    "inspector-overview": ("overview", "light", 700, "select"),
    "inspector-transitions": ("transitions", "light", 700, ""),
    "inspector-learning": ("learning", "light", 400, ""),
    "inspector-replay": ("replay", "dark", 655, ""),
    "inspector-what-if": ("whatif", "light", 700, "reward"),
    "inspector-compare": ("compare", "light", 700, ""),
}


def record(root: Path) -> None:
    """Three runs of the default preset and two of the paper's in maze 27; the newest is shown."""
    for seed in range(2):
        record_maze(root / f"a-paper-seed-{seed}", "27", 1500, preset="paper", seed=seed)
    for seed in (1, 2):
        record_maze(root / f"b-tgm-seed-{seed}", "27", 1500, seed=seed)
    record_maze(root / RUN, "27", 1500)


def act(visit: Visit, what: str) -> None:
    """Select a state, or give one a reward."""
    if not what:
        return
    panel, place = ("observations", [3, 2]) if what == "select" else ("plan-before", [5, 1])
    id_ = visit.page.evaluate(
        """([x, y]) => { const away = ({ mean }) => Math.hypot(mean[0] - x, mean[1] - y);
            return [...window.tgmInspector.frame.components.values()]
                .sort((a, b) => away(a) - away(b))[0].id; }""",
        place,
    )
    visit.page.click(f"#{panel} .state[data-id='{id_}'] ellipse", force=True)
    if what == "reward":
        visit.page.fill("#reward", "5")
        visit.page.keyboard.press("Enter")


def main() -> None:
    """Record, open, and take the pictures."""
    with tempfile.TemporaryDirectory() as name, open_browser() as browser:
        record(Path(name))
        with serve(Path(name)) as url:
            for picture, (tab, theme, step, what) in PICTURES.items():
                visit = Visit(browser, url, viewport=SIZE, color_scheme=theme)
                visit.open_run(RUN)
                visit.show(tab)
                visit.go_to(step)
                act(visit, what)
                visit.page.mouse.move(2, 2)
                visit.page.wait_for_timeout(1500)  # the curves are drawn last
                visit.settle()
                visit.page.screenshot(path=IMAGES / f"{picture}.png")
                visit.close()


if __name__ == "__main__":
    main()
