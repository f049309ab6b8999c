"""A run of very many states opens in a real browser, in every view."""

import pytest
from tests.inspector.browsing import TABS, Visit, serve
from tests.inspector.recorded import record_many_states

from tgm.inspector import payload
from tgm.runs import Run


@pytest.mark.parametrize("n_states", [200, 20_000])
def test_every_view_is_drawn(tmp_path, browser, n_states):
    record_many_states(tmp_path / "many", n_states)
    with serve(tmp_path) as url:
        visit = Visit(browser, url)
        for tab in TABS:
            visit.show(tab)
        visit.show("transitions")
        drawn = visit.page.evaluate(
            """() => ({
                sides: [...document.querySelectorAll("#matrices .matrix")].map((c) => c.width),
                notes: document.querySelector("#matrices").innerText,
                nodes: document.querySelectorAll("#graph .state").length,
                states: Number(document.querySelector("#graph svg.space").dataset.states) })"""
        )
        assert visit.troubles == []
        visit.close()
    is_many = n_states > 2000
    assert max(drawn["sides"]) == (800 if is_many else n_states)
    assert ("a cell is 25 states" in drawn["notes"]) == is_many
    assert drawn["states"] == (2000 if is_many else n_states)
    assert drawn["nodes"] == (0 if is_many else n_states)  # very many states are pixels


def test_a_cell_of_several_states_shows_the_largest_value(tmp_path, browser):
    """The first action leads to the next state: of each group of 3, the last leaves the group."""
    record_many_states(tmp_path / "many", 2400)
    with serve(tmp_path) as url:
        visit = Visit(browser, url)
        visit.show("transitions")
        cells = visit.page.evaluate(
            """() => [...document.querySelector("#matrices canvas.matrix").getContext("2d")
                .getImageData(0, 0, 4, 1).data]"""
        )
        visit.close()
    colours = [cells[4 * column : 4 * column + 4] for column in range(4)]
    assert colours[0] == colours[1] != colours[2] == colours[3]


def test_too_many_states_to_compare_is_a_note(tmp_path):
    run = Run.open(record_many_states(tmp_path / "many", 2000))
    titles = [finding["title"] for finding in payload.summary(run)["health"]]
    assert "Overlaps were not searched" in titles
