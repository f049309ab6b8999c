"""What the page says of moves and values, what it prints, and that it moves nothing by itself."""

import json
import re
import shutil

import pytest
from tests.inspector.browsing import Visit, serve


@pytest.fixture(scope="module")
def changed_run(run, tmp_path_factory):
    """A copy of the run, in whose log an action has changed and no state has ended."""
    folder = tmp_path_factory.mktemp("changed") / "changed"
    shutil.copytree(run.folder, folder)
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line["moves"] = [move for move in line["moves"] if move["kind"] in ("birth", "split")]
    birth = next(move for line in lines for move in line["moves"] if move["accepted"])
    lines[-2]["moves"].append({**birth, "kind": "change", "step": lines[-2]["step"]})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder, [move for line in lines for move in line["moves"] if move["accepted"]]


def test_moves_are_drawn_and_counted_by_their_kind(browser, changed_run):
    folder, moves = changed_run
    n_begun = sum(move["kind"] in ("birth", "split") for move in moves)
    with serve(folder.parent) as url:
        visit = Visit(browser, url)
        ticks = {
            kind: visit.page.get_attribute(f".track .mark-{kind}", "d").count("M")
            for kind in ("birth", "end", "change")
        }
        assert ticks == {"birth": n_begun, "end": 0, "change": 1}
        story = visit.page.inner_text("#story")
        n_states = visit.page.evaluate("() => window.tgmInspector.frame.components.size")
        assert "1 found to do something else than before" in story
        assert n_begun > n_states  # the log does not say how the others ended; the page does
        assert f"{n_begun - n_states} given up when the agent began anew" in story
        visit.show("learning")
        assert visit.page.locator("#lineage svg.lineage .mark.change").count() == 1
        assert visit.page.locator("#lineage svg.lineage .mark.birth").count() > 1
        assert visit.troubles == []
        visit.close()


def test_equal_values_have_equal_bars(browser, served):
    visit = Visit(browser, served)
    visit.open_run("d-maze")
    visit.show("replay")
    n_compared = 0
    for step in (60, 200, 420, 700, 1000):
        visit.go_to(step)
        bars = visit.page.evaluate(
            """() => [...document.querySelectorAll(".replay .bars")].at(-1)
                .querySelectorAll(".bar").values().toArray().map((bar) => [
                    bar.querySelector(".num").textContent,
                    parseFloat(bar.querySelector(".fill").style.width)])"""
        )
        number = {
            words: float(words.replace("\N{MINUS SIGN}", "-"))
            for words, _ in bars
            if words != "unknown"
        }
        known = [(number[words], wide) for words, wide in bars if words in number]
        for one, wide in known:
            for other, narrow in known:
                n_compared += one != other
                assert (one > other) == (wide > narrow), (step, bars)
    assert n_compared
    visit.close()


def test_edges_lie_above_states_and_show_how_sure_they_are(browser, served):
    visit = Visit(browser, served)
    visit.open_run("d-maze")
    visit.show("transitions")
    groups = visit.page.evaluate(
        """() => [...document.querySelector("#graph .states").parentElement.children]
            .map((group) => group.getAttribute("class"))"""
    )
    assert groups.index("edges") > groups.index("states")
    edges = visit.page.evaluate(
        """() => [...document.querySelectorAll("#graph .edge")].map((node) => [
            node.drawn.next.p, node.drawn.row.visits, Number(node.getAttribute("opacity"))])"""
    )
    sure = [opacity for p, visits, opacity in edges if p > 0.99 and visits > 10]
    tried_once = [opacity for p, visits, opacity in edges if visits < 1.5]
    assert sure
    assert min(sure) > 0.85
    assert all(opacity < 0.66 for opacity in tried_once)
    visit.close()


def test_paper_is_light_and_has_no_controls(browser, served):
    visit = Visit(browser, served, color_scheme="dark", reduced_motion="reduce")
    visit.open_run("d-maze")
    visit.page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("() => document.documentElement.dataset.theme") == "light"
    seen = """(selector) => [...document.querySelectorAll(selector)]
        .filter((e) => e.getBoundingClientRect().height > 0).length"""
    assert visit.page.evaluate(seen, ".zoom, .transport, .tools, .tabs button, .help") == 0
    assert visit.page.evaluate(seen, "#observations .state") > 0
    paper = visit.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) <= 6
    visit.page.emulate_media(media="screen")
    visit.page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert visit.page.evaluate("() => document.documentElement.dataset.theme ?? null") is None
    assert "theme" not in visit.page.url
    assert visit.page.evaluate("() => document.getAnimations().length") == 0
    assert visit.troubles == []
    visit.close()
