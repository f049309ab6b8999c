"""What a person does with the page: switch, go back, click, scroll, pinch, save."""

import csv
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.inspector.browsing import TABS, Visit, serve

from tgm.runs import Run


def shown(visit, tabs=TABS[:-1]):
    """How much of a model each tab shows; the tabs are shown in turn."""
    counts = {}
    for tab in tabs:
        visit.show(tab)
        counts |= visit.page.evaluate(
            """(tab) => { const page = document.getElementById(`page-${tab}`);
                const n = (words) => [...page.querySelectorAll(words)]
                    .filter((e) => e.getBoundingClientRect().width > 0).length;
                const inked = [...page.querySelectorAll("canvas.many")]
                    .filter((c) => c.width && c.getBoundingClientRect().width).length;
                return { [tab]: n(".state, figure, tbody tr, .bar, .steps li, .ramp, .lane") + inked
                    }; }""",
            tab,
        )
    return counts


def test_nothing_of_the_old_run_stays(visit):
    """Not of another run, in which no model was recorded, nor of a later step."""
    for name, tabs in (("large", ["overview"]), ("d-maze", TABS[:-1])):
        visit.open_run(name)
        assert min(shown(visit, tabs).values()) > 0
        visit.open_run("a-dqn")
        assert shown(visit, tabs) == dict.fromkeys(tabs, 0)
    assert visit.page.text_content("#what-if .why") == "No model is recorded at this step."
    visit.open_run("c-paper")  # its first model comes with its first fit
    visit.go_to(30)
    tabs = ("overview", "transitions", "replay", "whatif", "health")
    assert shown(visit, tabs) == dict.fromkeys(tabs, 0)


def test_back_leads_to_the_tab_and_the_run_before(browser, served):
    visit = Visit(browser, served)
    page = visit.page
    view = """() => [window.tgmInspector.summary.name, window.tgmInspector.step,
        document.querySelector(".tabs [aria-current=page]").textContent]"""

    def settled(*parts):
        visit.settle()
        page.wait_for_function(
            "(parts) => parts.every((part) => location.hash.includes(part))", arg=list(parts)
        )
        return page.evaluate(view)

    assert settled("tab=overview") == ["d-maze", 1100, "Overview"]
    visit.go_to(400)
    assert settled("step=400") == ["d-maze", 400, "Overview"]
    page.keyboard.press("2")
    assert settled("tab=transitions") == ["d-maze", 400, "Transitions"]
    visit.open_run("c-paper")
    assert settled("tab=transitions")[0] == "c-paper"
    before = page.url
    visit.show("health")
    assert settled("tab=health") == ["c-paper", 600, "Health"]
    page.go_back()
    page.wait_for_function("() => window.tgmInspector.summary.name === 'c-paper'")
    assert settled("tab=transitions") == ["c-paper", 600, "Transitions"]
    assert page.url == before
    page.go_back()
    page.wait_for_function("() => window.tgmInspector.summary.name === 'd-maze'")
    assert settled("tab=transitions", "step=400") == ["d-maze", 400, "Transitions"]
    page.go_back()
    assert settled("tab=overview", "step=400") == ["d-maze", 400, "Overview"]
    page.go_forward()
    page.go_forward()
    page.wait_for_function("() => window.tgmInspector.summary.name === 'c-paper'")
    assert settled("tab=transitions") == ["c-paper", 600, "Transitions"]
    assert visit.troubles == []
    visit.close()


def test_a_run_that_cannot_be_shown_is_named_and_not_chosen(browser, run, tmp_path):
    shutil.copytree(run.folder, tmp_path / "sound")
    shutil.copytree(run.folder, tmp_path / "spoilt", ignore=shutil.ignore_patterns("history"))
    (tmp_path / "spoilt" / "run.json").write_text("{")
    with serve(tmp_path) as url:
        visit = Visit(browser, url)
        visit.page.select_option("#run", label="spoilt (broken)")
        visit.page.wait_for_selector(".message:has-text('The run spoilt cannot be shown')")
        assert visit.page.locator("#run option:checked").inner_text() == "sound"
        assert "sound" in visit.page.title()
        visit.close()


def test_a_small_state_is_seen_and_hit_beside_its_middle(visit):
    """Places that are narrow for the range of their features are still eight pixels wide."""
    visit.open_run("ring")
    visit.show("overview")
    visit.page.evaluate(
        """() => { const c = window.tgmInspector;
            for (const one of c.frame.components.values()) one.cov = one.cov.map((v) => v / 1e4);
            c.setAxes("f0,f1"); }"""
    )
    visit.settle()
    boxes = visit.page.evaluate(
        """() => [...document.querySelectorAll("#observations .state ellipse")].map((e) => {
            const box = e.getBoundingClientRect();
            return [Number(e.parentElement.dataset.id), box.left + box.width / 2,
                box.top + box.height / 2, box.width]; })"""
    )
    assert len(boxes) > 3
    for id_, x, y, wide in boxes:
        assert 8 <= wide < 10
        visit.page.mouse.click(x + 6, y - 6)
        visit.settle()
        assert visit.page.evaluate("() => window.tgmInspector.selected") == id_
    visit.page.mouse.click(x + 6, y - 6)  # once more: none is selected
    visit.settle()
    assert visit.page.evaluate("() => window.tgmInspector.selected") is None


def test_features_that_the_agent_left_out_come_last(visit, other_worlds):
    visit.open_run("ring")
    visit.page.evaluate(
        """() => { const c = window.tgmInspector; c.summary.interface.left_out = [0, 1, 2, 3, 4];
            c.history.chunks.forEach((chunk) => chunk.snapshots.clear());
            c.cache = {}; c.redraw("run"); }"""
    )
    visit.show("overview")
    names = visit.page.locator("#state-card dt").all_inner_texts()
    assert names[2:6] == ["sensor F", "sensor G", "sensor H", "sensor I"]
    frame = Run.open(other_worlds / "ring").frame_at(120)
    state = int(visit.page.inner_text("#state-card h2").split()[1])
    mean = frame.mean[frame.ids.tolist().index(state)]
    words = visit.page.inner_text("#state-card [data-fact='sensor F']").split(" ± ")
    assert float(words[0].replace("\u2212", "-")) == pytest.approx(mean[5], rel=0.01)
    visit.show("transitions")
    heads = visit.page.locator("#states thead th").all_inner_texts()
    assert heads[1:3] == ["sensor F", "sensor G"]
    assert "sensor A" in heads  # the twelfth
    visit.open_run("lake")


def test_what_came_before_tells_clones_apart(visit, other_worlds):
    frame = Run.open(other_worlds / "hidden").frame_at(400)
    looks = [tuple(mean) for mean in frame.mean.tolist()]
    alike = [int(id_) for id_, look in zip(frame.ids, looks, strict=True) if looks.count(look) > 1]
    names = Run.open(other_worlds / "hidden").metadata["interface"]["action_names"]
    visit.open_run("hidden")
    visit.show("overview")
    for id_ in alike:
        visit.page.evaluate("(id) => window.tgmInspector.select(id)", id_)
        visit.settle()
        ways = {
            f"{before} by {names[action]}": row.next[id_]
            for (before, action), row in frame.rows.items()
            if row.next.get(id_, 0.0) > 0 and before != id_ and before in frame.ids
        }
        told = visit.page.inner_text("#state-card [data-fact='comes after']")
        found = told.split(", ") if ways else []
        assert set(found) <= set(ways)
        assert len(found) == min(4, len(ways))
        if ways:
            assert ways[found[0]] == max(ways.values())


def test_parts_of_a_world_share_the_drawing(visit):
    """Four rings that no transition connects, and ten states alone: not all in one row."""
    places = visit.page.evaluate(
        """async () => { const { layoutOf } = await import("/static/layout.js");
            const [components, rows] = [new Map(), new Map()];
            for (let id = 0; id < 90; id += 1) {
                components.set(id, {});
                const next = id - (id % 20) + ((id + 1) % 20);
                if (id < 80) rows.set(id, [{ next: [{ id: next, p: 1 }] }]);
            }
            return [...layoutOf({ components, rows })]; }"""
    )
    assert len(places) == 90
    at = [place for _, place in places]
    wide, high = (max(p[k] for p in at) - min(p[k] for p in at) for k in (0, 1))
    assert 0.7 < wide / high < 1.4
    rings = [[place for id_, place in places if id_ // 20 == ring] for ring in range(4)]
    boxes = [[(min(p[k] for p in ring), max(p[k] for p in ring)) for k in (0, 1)] for ring in rings]
    for one in range(4):
        for other in range(one):
            assert any(
                boxes[one][k][0] > boxes[other][k][1] or boxes[other][k][0] > boxes[one][k][1]
                for k in (0, 1)
            )


def test_keys_scroll_the_table_that_has_the_focus(visit):
    visit.open_run("ring")
    visit.show("transitions")
    page = visit.page
    table = "#states .scroller"
    page.focus(table)
    step = page.input_value("#slider")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(t) => document.querySelector(t).scrollLeft > 0", arg=table)
    assert page.input_value("#slider") == step
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("(t) => document.querySelector(t).scrollLeft === 0", arg=table)
    page.focus("#tab-transitions")
    page.keyboard.press("ArrowLeft")
    visit.settle()
    assert page.input_value("#slider") == str(int(step) - 1)
    page.keyboard.press("End")
    page.check("#matrices input[type=checkbox]")
    visit.settle()
    assert page.get_attribute("#matrices .sheet-scroller", "tabindex") == "0"
    page.uncheck("#matrices input[type=checkbox]")


@pytest.mark.parametrize("name", ["d-maze", "b-cart-pole"])
def test_tab_reaches_every_control_and_each_has_a_name(visit, name):
    """From the last tab button on, through the panels; at a focused control its tip is shown."""
    visit.open_run(name)
    page = visit.page
    for tab in TABS if name == "d-maze" else ("overview",):
        visit.show(tab)
        n_controls, nameless = page.evaluate(
            """(tab) => { const all = [...document.querySelectorAll(
                    `#page-${tab} :is(button, select, input, a, [tabindex])`)]
                    .filter((e) => e.clientWidth && !e.disabled);
                all.forEach((e, index) => { e.dataset.place = `${tab}${index}`; });
                const nameOf = (e) => e.getAttribute("aria-label")
                    ?? e.closest("label")?.textContent ?? e.textContent;
                return [all.length, all.filter((e) => !nameOf(e).trim()).map((e) => e.outerHTML)];
            }""",
            tab,
        )
        assert nameless == []
        page.focus("#tab-compare")
        reached = set()
        for _ in range(n_controls):
            page.keyboard.press("Tab")
            place, hidden_tip = page.evaluate(
                """() => { const e = document.activeElement; const tip = e.closest("[data-tip]");
                    const box = document.getElementById("tooltip");
                    return [e.dataset.place, Boolean(tip) && (box.hidden
                        || box.textContent !== tip.getAttribute("data-tip"))]; }"""
            )
            assert not hidden_tip, place
            reached.add(place)
        assert reached == {f"{tab}{index}" for index in range(n_controls)}


def test_no_name_in_the_steps_is_cut(visit):
    visit.open_run("lake")
    visit.open_run("ring")
    visit.page.evaluate(
        """() => { window.tgmInspector.summary.interface.action_names =
            ["wait for it to cool down", "back"]; }"""
    )
    visit.show("replay")
    assert "wait for it to cool down" in visit.page.inner_text("#episode-steps")
    for width in (320, 1280):
        visit.page.set_viewport_size({"width": width, "height": 800})
        visit.page.wait_for_function("(w) => document.documentElement.clientWidth === w", arg=width)
        visit.settle()
        cut = visit.page.evaluate(
            """() => [...document.querySelectorAll("#episode-steps span")]
                .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"""
        )
        assert cut == []


def test_two_fingers_zoom_and_one_moves(browser, served):
    visit = Visit(browser, served, viewport={"width": 390, "height": 844}, has_touch=True)
    touch = visit.context.new_cdp_session(visit.page)
    visit.page.locator("#observations .figure").scroll_into_view_if_needed()
    box = visit.page.locator("#observations svg.space").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    def fingers(kind, *places):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": a, "y": b, "id": k} for k, (a, b) in
                                           enumerate(places)]},
        )  # fmt: skip

    zoom = "() => window.tgmInspector.zoom"
    assert visit.page.evaluate(zoom) is None
    fingers("touchStart", (x - 20, y), (x + 20, y))
    for apart in (30, 45, 60):
        fingers("touchMove", (x - apart, y), (x + apart, y))
    fingers("touchEnd")
    visit.settle()
    near = visit.page.evaluate(zoom)
    whole = visit.page.evaluate("() => window.tgmInspector.summary.plane")
    assert near["high"][0] - near["low"][0] < 0.5 * (whole["high"][0] - whole["low"][0])
    fingers("touchStart", (x, y))
    for way in (15, 30, 45):
        fingers("touchMove", (x + way, y))
    fingers("touchEnd")
    visit.settle()
    moved = visit.page.evaluate(zoom)
    assert moved["low"][0] < near["low"][0]
    assert moved["high"][0] - moved["low"][0] == pytest.approx(near["high"][0] - near["low"][0])
    assert visit.page.evaluate("() => window.tgmInspector.selected") is None
    assert visit.troubles == []
    visit.close()


def contrast(one, other):
    """Of two colours (red, green, blue) up to 255, as WCAG defines it."""

    def light(colour):
        parts = [c / 255 for c in colour]
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_in_drawings_has_contrast(visit, theme):
    """axe-core does not look at text in SVG, nor at buttons that nobody has pressed."""
    page = visit.page
    visit.open_run("d-maze")
    if page.evaluate("() => document.documentElement.dataset.theme ?? 'light'") != theme:
        page.keyboard.press("t")
    visit.show("transitions")
    chip = page.locator("#graph .chip").first
    chip.click()
    page.keyboard.press("]")
    visit.show("learning")
    visit.show("transitions")
    pairs = page.evaluate(
        """async () => { const { inkOn, sequential } = await import("/static/format.js");
            const shades = [...Array(101).keys()].map((k) => sequential(k / 100));
            const hex = (ink) => [1, 3, 5].map((k) => parseInt(ink.slice(k, k + 2), 16));
            const rgb = (words) => words.match(/[0-9.]+/g).slice(0, 3).map(Number);
            const style = (words) => getComputedStyle(document.querySelector(words));
            const ground = rgb(style(".panel").backgroundColor);
            return [...shades.map((shade) => [shade, hex(inkOn(shade))]),
                [ground, rgb(style("#graph .id.selected").fill)],
                [ground, rgb(style("#graph .id:not(.selected)").fill)],
                [ground, rgb(style("#graph .tick").fill)],
                [ground, rgb(style("#lineage .lane.selected text").fill)],
                [ground, rgb(style("#lineage .lane:not(.selected) text").fill)],
                [ground, rgb(style("#graph .chip[aria-pressed=false]").color)]]; }"""
    )
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []
    assert page.evaluate(
        "() => getComputedStyle(document.querySelector('#graph .chip')).opacity"
    ) == "1"  # fmt: skip
    chip.click()
    page.keyboard.press("Escape")


def saved(visit, panel):
    """Everything that a panel saves: ending -> content."""
    page, found = visit.page, {}
    page.click(f"#{panel} .save")
    words = page.locator("dialog[open] .save-list button").all_inner_texts()
    page.keyboard.press("Escape")
    for word in words:
        page.click(f"#{panel} .save")
        with page.expect_download() as wanted:
            page.click(f"dialog[open] .save-list button:text-is('{word}')")
        name = wanted.value.suggested_filename
        found[word] = content = Path(wanted.value.path()).read_bytes()
        if name.endswith(".svg"):
            root = ElementTree.fromstring(content)
            assert root.tag.endswith("svg")
            assert len(list(root.iter())) > 3
        elif name.endswith(".png"):
            assert content.startswith(b"\x89PNG")
            assert len(content) > 500
        else:
            rows = list(csv.reader(content.decode().splitlines()))
            assert len(rows) > 1
            assert len({len(row) for row in rows}) == 1
    return found


PICTURE = {"picture as SVG", "picture as PNG"}
STATES = PICTURE | {"states as CSV"}
CURVES = PICTURE | {"curves as CSV"}
TABLE = {"table as CSV"}
SAVED = {
    "overview": {"observations": STATES, "policy": STATES, "state-card": TABLE},
    "transitions": {
        "graph": STATES,
        "matrices": PICTURE | {"cells as CSV"},
        "states": TABLE | {"all states as CSV"},
    },
    "learning": {"lineage": PICTURE, "energy": CURVES, "surprise": CURVES, "ledger": CURVES},
    "replay": {
        "replay": STATES,
        "belief": {"bars as CSV"},
        "action-values": {"bars as CSV"},
        "episode-steps": {"steps as CSV"},
    },
    "whatif": {"plan-before": STATES, "plan-after": STATES},
    "health": {"where": STATES},
    "compare": {"compare-returns": CURVES, "compare-states": CURVES, "compare-runs": TABLE},
}


@pytest.mark.parametrize("tab", TABS)
def test_each_picture_and_each_table_is_saved(visit, tab):
    visit.page.set_viewport_size({"width": 1280, "height": 800})
    visit.open_run("d-maze")
    visit.show(tab)
    if tab in ("learning", "compare"):
        visit.page.wait_for_function(
            """(tab) => [...document.querySelectorAll(`#page-${tab} .chart .plot`)]
                .every((plot) => plot.querySelector(".scatterlayer"))""",
            arg=tab,
        )
    panels = visit.page.evaluate(
        """(tab) => [...document.querySelectorAll(`#page-${tab} .panel:has(.save)`)]
            .filter((one) => one.clientWidth).map((one) => one.id)""",
        tab,
    )
    found = {panel: saved(visit, panel) for panel in panels}
    assert {panel: set(files) for panel, files in found.items()} == SAVED[tab]
    if tab == "compare":  # of another agent no settings are known
        rows = csv.DictReader(found["compare-runs"]["table as CSV"].decode().splitlines())
        assert next(row for row in rows if row["run"] == "a-dqn")["bandwidth"] == ""


def test_the_field_and_all_states_are_saved(visit):
    visit.open_run("b-cart-pole")
    visit.show("overview")
    assert set(saved(visit, "field")) == PICTURE
    assert set(saved(visit, "features")) == TABLE
    visit.open_run("large")
    visit.show("transitions")
    rows = saved(visit, "states")
    assert rows["all states as CSV"].count(b"\r\n") == 1025
    assert rows["table as CSV"].count(b"\r\n") == 301
