"""Every tab on every screen: nothing is wider than the screen, and axe-core finds no violation."""

import numpy as np
import pytest
from tests.inspector.browsing import TABS, Visit, axe_script

from tgm.runs import Run

OVERFLOW = """() => { const wide = document.documentElement.clientWidth;
    const found = [...document.querySelectorAll("body *")].filter((e) => {
        const box = e.getBoundingClientRect();
        return box.width && (box.right > wide + 1 || box.left < -1)
            && !e.closest(".scroller, .sheet-scroller, .chart, svg"); });
    return [document.documentElement.scrollWidth - wide, found.slice(0, 5).map((e) => e.outerHTML)];
}"""
# Hidden tabs are tried when they are shown; until then axe-core need not walk through them.
VIOLATIONS = """async (rules) => {
    const pages = [...document.querySelectorAll(".page[hidden]")];
    const hidden = pages.map((page) => [page, [...page.childNodes]]);
    for (const page of pages) page.replaceChildren();
    const found = await axe.run({ resultTypes: ["violations"], ...(rules && { runOnly: rules }) });
    for (const [page, children] of hidden) page.replaceChildren(...children);
    return found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]);
}"""

WORLDS = ("d-maze", "lake", "b-cart-pole", "hidden", "large", "ring")
WIDTHS = (320, 390, 600, 820, 1280)  # pixels
ENDS = (WIDTHS[0], WIDTHS[-1])
TOUCHED = 820  # pixels: screens up to this width are touched, wider ones have a mouse
WIDE = "(width) => window.innerWidth === width"
LOOK = """() => [matchMedia('(pointer: coarse)').matches,
    document.documentElement.dataset.theme ?? 'light']"""
ALL_RULES, RULES_OF_COLOUR = None, ["color-contrast", "link-in-text-block"]


class Screen:
    """One page for all worlds, of which width, pointer and theme change as a user changes them."""

    def __init__(self, browser, url):
        # The page's own policy forbids axe, and takes no part in what is tried here.
        self.visit = Visit(browser, url, bypass_csp=True)
        self.page = self.visit.page
        self.devtools = self.visit.context.new_cdp_session(self.page)
        self.page.evaluate(axe_script())

    def become(self, width, theme):
        """As wide as this, in this theme."""
        wanted = [width <= TOUCHED, theme]
        is_touched, before = self.page.evaluate(LOOK)
        self.page.set_viewport_size({"width": width, "height": 844})
        if is_touched != wanted[0]:
            self.devtools.send("Emulation.setTouchEmulationEnabled", {"enabled": wanted[0]})
        if before != theme:
            self.page.click(".tools [aria-label='light or dark']")
        self.page.wait_for_function(WIDE, arg=width)
        self.visit.settle()
        assert self.page.evaluate(LOOK) == wanted

    def faults(self, rules):
        """What is wider than the screen, and which of these rules of axe-core are violated."""
        wide = self.page.evaluate(OVERFLOW)
        return [*([] if wide == [0, []] else wide), *self.violations(rules)]

    def violations(self, rules):
        """Of some rules of axe-core, of all (None), or of none of them."""
        return [] if rules == [] else self.page.evaluate(VIOLATIONS, rules)


@pytest.fixture(scope="module")
def screen(browser, all_served):
    """The one page."""
    opened = Screen(browser, all_served)
    yield opened
    opened.visit.close()


@pytest.mark.parametrize("name", WORLDS)
def test_every_view_of_every_world_fits_every_screen_in_both_themes(screen, name):
    """A window is made narrower in one theme, and has both ends in the other; axe-core at both.

    What does not depend on colours is the same in both themes, and is tried once.
    """
    at_ends = {
        (320, "light"): ALL_RULES,
        (320, "dark"): RULES_OF_COLOUR,
        (1280, "light"): RULES_OF_COLOUR,
        (1280, "dark"): ALL_RULES,
    }
    screen.visit.open_run(name)
    for tab in TABS:
        screen.visit.show(tab)
        for widths, theme in ((WIDTHS[::-1], "light"), (ENDS, "dark")):
            for width in widths:
                screen.become(width, theme)
                assert screen.faults(at_ends.get((width, theme), [])) == [], (tab, width, theme)
    assert screen.visit.troubles == []


def drawn_pixels(visit, panel):
    """What a drawing of very many states holds, from below to above."""
    return visit.page.evaluate(
        """(panel) => { const box = document.querySelector(`#${panel} .figure`);
            const canvas = box.querySelector("canvas");
            const inks = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const figure = box.querySelector("svg.space");
            return { painted: inks.data.filter((ink, k) => k % 4 === 3 && ink > 0).length,
                order: [...box.children].map((e) => e.getAttribute("class")),
                covers: figure.querySelectorAll(".floor, .walls").length,
                floor: box.querySelectorAll(".floor-plan .floor").length,
                states: Number(figure.dataset.states), edges: Number(figure.dataset.edges) }; }""",
        panel,
    )


def test_a_maze_of_1024_cells_is_seen(browser, all_served):
    """Very many states are pixels: above the floor, and with names when they are near."""
    visit = Visit(browser, all_served)
    visit.open_run("large")
    for tab, panels in (("overview", ("observations", "policy")), ("transitions", ("graph",))):
        visit.show(tab)
        for panel in panels:
            drawn = drawn_pixels(visit, panel)
            assert drawn["order"] == ["floor-plan", "many", "space", "zoom"]
            assert (drawn["states"], drawn["floor"], drawn["covers"]) == (1024, 1, 0)
            assert drawn["painted"] > 8 * 1024
    assert drawn["edges"] == 4 * 1024  # each action but one leads to another state
    # Each state leads to another one in each matrix: no row of pixels is empty.
    empty = visit.page.evaluate(
        """() => [...document.querySelectorAll("#matrices canvas.fine")].map((canvas) => {
            const { data, width, height } = canvas.getContext("2d")
                .getImageData(0, 0, canvas.width, canvas.height);
            const inks = new Uint32Array(data.buffer);
            return [...Array(height).keys()].filter((row) => (
                new Set(inks.subarray(row * width, (row + 1) * width)).size < 2)).length; })"""
    )
    assert empty == [0] * 5
    for _ in range(6):
        visit.page.click("#graph .zoom button >> nth=0")
    visit.settle()
    n_near = int(visit.page.get_attribute("#graph svg.space", "data-states"))
    assert 0 < n_near < 90
    assert visit.page.locator("#graph .id").count() == n_near
    visit.show("replay")  # of steps above 12,000 and of states above 1,000 no digit is cut off
    visit.go_to(12_099)
    assert "12,099" in visit.page.inner_text("#episode-steps li.now")
    cut = """() => [...document.querySelectorAll("#episode-steps span")]
        .filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent)"""
    for width in (320, 1280):
        visit.page.set_viewport_size({"width": width, "height": 844})
        visit.page.wait_for_function(WIDE, arg=width)
        visit.settle()
        assert visit.page.evaluate(cut) == []
    assert visit.troubles == []
    visit.close()


def test_places_that_look_alike_stand_side_by_side(browser, other_worlds, all_served):
    frame = Run.open(other_worlds / "hidden").frame_at(400)
    looks = [tuple(mean) for mean in frame.mean.tolist()]
    assert len(set(looks)) < len(looks)
    visit = Visit(browser, all_served)
    visit.open_run("hidden")
    places = """() => Object.fromEntries([...document.querySelectorAll("#observations .state")]
        .map((n) => [n.dataset.id, n.firstChild.getAttribute("transform")
            .match(/-?[\\d.]+/g).slice(0, 2).map(Number)]))"""
    for axes in ("layout", "f0"):
        visit.page.select_option("#observations .axes-control select >> nth=0", axes)
        visit.settle()
        at = {int(id_): np.array(place) for id_, place in visit.page.evaluate(places).items()}
        assert sorted(at) == frame.ids.tolist()
        apart = [np.hypot(*(at[a] - at[b])) for a in at for b in at if a < b]
        assert min(apart) > 8
    alike = next(index for index, look in enumerate(looks) if looks.count(look) > 1)
    others = [k for k, look in enumerate(looks) if look == looks[alike] and k != alike]
    # Not at a place of the screen: the ellipses of places that look alike overlap.
    visit.page.dispatch_event(
        f"#observations .state[data-id='{frame.ids[alike]}'] ellipse", "click"
    )
    words = ", ".join(f"state {frame.ids[k]}" for k in others)
    card = visit.page.locator("#state-card [data-fact='looks like']")
    card.filter(has_text=words).wait_for()
    visit.show("transitions")
    assert visit.page.locator("#states tbody tr").count() == len(looks)
    assert visit.troubles == []
    visit.close()


def test_a_world_of_ones_own_has_its_names(browser, other_worlds, all_served):
    visit = Visit(browser, all_served)
    visit.open_run("ring")
    assert "Ring" in visit.page.inner_text(".run-facts")
    assert visit.page.locator("#features tbody tr").count() == 16
    visit.page.click("#features button:has-text('sensor C')")
    visit.settle()
    assert visit.page.evaluate("() => window.tgmInspector.axes") == "f2,f0"
    assert "sensor C" in visit.page.text_content("#observations svg .axis >> nth=0")
    assert "clockwise" in visit.page.inner_text("#state-card")
    visit.open_run("lake")  # categories have no distance: transitions give the places
    assert visit.page.locator("#observations .axes-control select").count() == 1
    visit.show("transitions")
    n_states = len(Run.open(other_worlds / "lake").frame_at(120).ids)
    assert visit.page.locator("#states tbody tr").count() == n_states
    assert visit.troubles == []
    visit.close()


def test_a_tab_that_was_hidden_fits_the_screen_when_it_is_shown(browser, served):
    """The curves are as wide as their panel, and the step of a long episode is in sight."""
    visit = Visit(browser, served)
    visit.open_run("d-maze")
    widths = """() => [...document.querySelectorAll("#page-learning .js-plotly-plot")]
        .map((plot) => plot.querySelector(".main-svg").getBoundingClientRect().width
            - plot.parentElement.clientWidth)"""
    in_sight = """() => { const list = document.querySelector("ol.steps").getBoundingClientRect();
        const step = document.querySelector("ol.steps .now").getBoundingClientRect();
        return step.top >= list.top && step.bottom <= list.bottom + 1; }"""
    for width in (1280, 390, 820):
        visit.show("learning")
        visit.page.wait_for_selector("#ledger .js-plotly-plot .scatterlayer")
        visit.page.wait_for_function(f"() => ({widths})().every((over) => Math.abs(over) < 1)")
        visit.show("replay")
        visit.go_to(45)
        assert visit.page.evaluate(in_sight)
        visit.page.set_viewport_size({"width": width, "height": 844})
        visit.page.wait_for_function(WIDE, arg=width)
        visit.settle()
    assert visit.troubles == []
    visit.close()


def test_the_keyboard_reaches_and_works_the_controls(browser, served):
    visit = Visit(browser, served)
    visit.open_run("d-maze")
    page = visit.page
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                """() => { const e = document.activeElement;
                    return e.getAttribute("aria-label") ?? e.textContent.slice(0, 30); }"""
            )
        )
    wanted = {"run", "play", "step", "copy a link to this view", "light or dark", "Transitions"}
    assert wanted <= reached
    assert {"nearer", "Save: Observation space", "across"} <= reached
    focused = "() => document.activeElement.getAttribute('aria-label')"
    page.focus("#observations select[aria-label=across]")
    for key, axes in (("ArrowUp", "layout"), ("ArrowDown", "f0,f1"), ("ArrowDown", "f1,f1")):
        page.keyboard.press(key)  # the choices are made again, and the focus stays
        page.wait_for_function("(axes) => window.tgmInspector.axes === axes", arg=axes)
        visit.settle()
        assert page.evaluate(focused) == "across"
    assert visit.troubles == []
    visit.close()
