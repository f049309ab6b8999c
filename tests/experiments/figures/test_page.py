"""The pages that show the figures."""

from html.parser import HTMLParser

from tgm.experiments.figures.catalogue import FIGURES
from tgm.experiments.figures.drawing import Claim
from tgm.experiments.figures.page import Entry, as_html, as_markdown

ENTRIES = [
    Entry(
        3,
        "A <b>title</b>",
        "What to see.",
        (Claim("It holds.", "yes", "It does: 3.", {"n": 3}), Claim("No.", "no", "It fails.")),
        "figure-03.png",
        "figure-03.svg",
    )
]


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.seen += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.text += data


def test_the_page_needs_nothing_from_elsewhere_and_escapes_words():
    parser = Links()
    parser.feed(as_html(ENTRIES))
    assert set(parser.seen) == {"#figure-3", "figure-03.png", "figure-03.svg"}
    assert "A <b>title</b>" in parser.text
    assert "It does: 3." in parser.text
    assert "does not hold" in parser.text


def test_the_markdown_page_has_a_table_and_every_picture():
    text = as_markdown(ENTRIES, images="images/figures", command="tgm figures")
    assert "| [3](#figure-3) | It holds. | **yes** |" in text
    assert "| [3](#figure-3) | No. | **no** |" in text
    assert "- It holds. **Yes**: It does: 3." in text
    assert "![A <b>title</b>](images/figures/figure-03.png)" in text


def test_every_figure_of_the_paper_has_a_function():
    assert list(FIGURES) == list(range(1, 14))
    assert len(set(FIGURES.values())) == 13
