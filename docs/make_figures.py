"""Makes docs/figures.md and its pictures: `.venv/bin/python docs/make_figures.py`.

`--results FOLDER` takes the learning curves of figure 13 from the folder of a `tgm compare`.
"""

import argparse
from pathlib import Path

from tgm.experiments.figures.catalogue import FIGURES
from tgm.experiments.figures.drawing import Settings
from tgm.experiments.figures.gallery import draw_figures
from tgm.experiments.figures.page import as_markdown

DOCS = Path(__file__).parent
IMAGES = Path("images/figures")
SMALL = 80  # dots per inch: no picture above 150 KB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=None)
    results = parser.parse_args().results
    entries = draw_figures(DOCS / IMAGES, tuple(FIGURES), Settings(results=results), dpi=SMALL)
    for entry in entries:
        (DOCS / IMAGES / entry.svg).unlink()  # the command makes them; here they would weigh
    flags = "" if results is None else " --results FOLDER"
    page = as_markdown(entries, images=IMAGES.as_posix(), command=f"tgm figures{flags}")
    (DOCS / "figures.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
