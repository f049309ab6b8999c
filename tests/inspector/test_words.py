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
        assert f"{n_begun - n_states} given up when the agent started again" in story
        visit.show("learning")
        assert visit.page.locator("#lineage svg.lineage .mark.change").count() == 1
        assert visit.page.locator("#lineage svg.lineage .mark.birth").count() > 1
        assert visit.troubles == []
        visit.close()


def test_equal_values_have_equal_bars(browser, served):
    visit = Visit(browser, served)
    visit.open_run("d-maze")
    visit.show("replay")
    visit.go_to(700)
    # Three values that are written alike, and one that is not.
    visit.page.evaluate(
        """() => { const c = window.tgmInspector; const [{ id }] = c.row.chunk.belief(c.row.index);
            const first = c.plan.ids.indexOf(id) * c.plan.nActions;
            [-2, -2.0001, -2.0002, -2, -5].forEach((q, k) => { c.plan.q[first + k] = q; });
            c.redraw("option"); }"""
    )
    visit.settle()
    bars = visit.page.evaluate(
        """() => [...document.querySelectorAll(".replay .bar:has(.outlook)")]
            .map((bar) => [bar.querySelector(".num").textContent,
                parseFloat(bar.querySelector(".fill").style.width)])"""
    )
    known = [bar for bar in bars if bar[0] != "unknown"]
    assert len({words for words, _ in known}) == 2
    for words, wide in known:
        assert {other for same, other in known if same == words} == {wide}
    assert visit.troubles == []
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
