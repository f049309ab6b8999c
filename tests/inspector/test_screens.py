"""Every tab on every screen: nothing is wider than the screen, and axe-core finds no violation."""

import gymnasium as gym
import numpy as np
import pytest
from tests.inspector.browsing import TABS, Visit, axe_script, serve
from tests.inspector.recorded import record_large_maze

import tgm
from tgm.experiments.hidden_worlds.environments import CueMaze
from tgm.runs import Run

OVERFLOW = """() => { const wide = document.documentElement.clientWidth;
    const found = [...document.querySelectorAll("body *")].filter((e) => {
        const box = e.getBoundingClientRect();
        return box.width && box.right > wide + 1
            && !e.closest(".scroller, .sheet-scroller, .chart, svg"); });
    return [document.documentElement.scrollWidth - wide, found.slice(0, 5).map((e) => e.outerHTML)];
}"""
VIOLATIONS = """() => axe.run(document, { resultTypes: ["violations"] }).then((found) => (
    found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)])))"""


@pytest.fixture(scope="module")
def many_worlds(tmp_path_factory):
    """Runs in FrozenLake, 16 features, places that look alike, and a maze of 1,024 cells."""
    root = tmp_path_factory.mktemp("worlds")
    tgm.TGMAgent(gym.make("FrozenLake-v1"), tgm.TGMConfig(), seed=0).learn(
        120, run_dir=root / "lake"
    )
    tgm.TGMAgent(Ring(), tgm.TGMConfig(), seed=0).learn(120, run_dir=root / "ring")
    tgm.TGMAgent(CueMaze(2), tgm.TGMConfig(), seed=0).learn(400, run_dir=root / "hidden")
    record_large_maze(root / "large")
    return root


@pytest.fixture(scope="module")
def many_served(many_worlds):
    """The address of a server of those runs."""
    with serve(many_worlds) as url:
        yield url


class Ring(gym.Env):
    """Six places in a ring; sixteen named sensors."""

    feature_names = tuple(f"sensor {letter}" for letter in "ABCDEFGHIJKLMNOP")
    action_names = ("clockwise", "back")
    observation_space = gym.spaces.Box(-20.0, 20.0, (16,))
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self._look(), {}

    def step(self, action):
        self.at = (self.at + (1, -1)[action]) % 6
        return self._look(), -1.0, self.at == 3, False, {}

    def _look(self):
        place = np.random.default_rng(self.at).normal(0.0, 2.0, 16)
        return (place + self.np_random.normal(0.0, 0.1, 16)).astype(np.float32)


RESIZED = "() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 60))"


WIDTHS = (320, 390, 600, 820, 1280)


def test_nothing_is_wider_than_the_screen(browser, served):
    visit = Visit(browser, served, has_touch=True)
    visit.open_run("d-maze")
    for tab in TABS[2:]:  # the others are tried in every world
        visit.show(tab)
        for width in reversed(WIDTHS):
            visit.page.set_viewport_size({"width": width, "height": 844})
            visit.page.evaluate(RESIZED)
            assert visit.page.evaluate(OVERFLOW) == [0, []], (tab, width)
    assert visit.troubles == []
    visit.close()


@pytest.mark.parametrize("name", ["d-maze", "lake", "b-cart-pole", "hidden", "large", "ring"])
def test_every_world_fits_every_screen_in_both_themes(browser, served, many_served, name):
    """A window is made narrower in the light and wider in the dark; axe-core at both ends."""
    script = axe_script()
    visit = Visit(browser, served if "-" in name else many_served, bypass_csp=True)
    visit.open_run(name)
    visit.page.evaluate(script)
    for tab, theme, widths in (
        ("overview", "light", tuple(reversed(WIDTHS))),
        ("transitions", "dark", WIDTHS),
    ):
        visit.show(tab)
        for width in widths:
            visit.page.set_viewport_size({"width": width, "height": 844})
            visit.page.evaluate(RESIZED)
            assert visit.page.evaluate(OVERFLOW) == [0, []], (tab, width)
        assert (
            visit.page.evaluate("() => document.documentElement.dataset.theme ?? 'light'") == theme
        )
        assert visit.page.evaluate(VIOLATIONS) == [], tab
        visit.page.keyboard.press("t")
        visit.settle()
    assert visit.troubles == []
    visit.close()


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


def test_a_maze_of_1024_cells_is_seen(browser, many_served):
    """Very many states are pixels: above the floor, and with names when they are near."""
    visit = Visit(browser, many_served)
    visit.open_run("large")
    for tab, panels in (("overview", ("observations", "policy")), ("transitions", ("graph",))):
        visit.show(tab)
        for panel in panels:
            drawn = drawn_pixels(visit, panel)
            assert drawn["order"] == ["floor-plan", "many", "space", "zoom"]
            assert (drawn["states"], drawn["floor"], drawn["covers"]) == (1024, 1, 0)
            assert drawn["painted"] > 8 * 1024
    assert drawn["edges"] == 4 * 1024  # each action but one leads to another state
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
        visit.page.evaluate(RESIZED)
        assert visit.page.evaluate(cut) == []
    assert visit.troubles == []
    visit.close()


def test_places_that_look_alike_stand_side_by_side(browser, many_worlds, many_served):
    frame = Run.open(many_worlds / "hidden").frame_at(400)
    looks = [tuple(mean) for mean in frame.mean.tolist()]
    assert len(set(looks)) < len(looks)
    visit = Visit(browser, many_served)
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


def test_a_world_of_ones_own_has_its_names(browser, many_worlds, many_served):
    visit = Visit(browser, many_served)
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
    n_states = len(Run.open(many_worlds / "lake").frame_at(120).ids)
    assert visit.page.locator("#states tbody tr").count() == n_states
    assert visit.troubles == []
    visit.close()


@pytest.mark.parametrize(("theme", "width", "tabs"), [
    ("light", 1280, ("learning", "compare")),
    ("dark", 390, ("replay", "whatif", "health")),
])  # fmt: skip
def test_axe_finds_no_violation(browser, served, theme, width, tabs):
    script = axe_script()
    size = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
    visit = Visit(browser, served, **size, bypass_csp=True)  # the page's own policy forbids axe
    visit.open_run("d-maze")
    visit.page.evaluate(script)
    for tab in tabs:
        visit.show(tab)
        visit.page.wait_for_timeout(100)
        assert visit.page.evaluate(VIOLATIONS) == [], tab
    visit.close()


def test_the_keyboard_reaches_and_works_the_controls(browser, served):
    visit = Visit(browser, served)
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
    assert visit.troubles == []
    visit.close()
