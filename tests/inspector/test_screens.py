"""Every tab on every screen: nothing is wider than the screen, and axe-core finds no violation."""

import gymnasium as gym
import numpy as np
import pytest
from tests.inspector.browsing import TABS, Visit, axe_script, serve

import tgm
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
    """Runs in FrozenLake, and in a world of its own with 16 features."""
    root = tmp_path_factory.mktemp("worlds")
    tgm.TGMAgent(gym.make("FrozenLake-v1"), tgm.TGMConfig(), seed=0).learn(
        120, run_dir=root / "lake"
    )
    tgm.TGMAgent(Ring(), tgm.TGMConfig(), seed=0).learn(120, run_dir=root / "ring")
    return root


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


@pytest.mark.parametrize(("name", "tabs"), [
    ("d-maze", TABS), ("ring", ("overview", "transitions")),
])  # fmt: skip
def test_nothing_is_wider_than_the_screen(browser, served, many_worlds, name, tabs):
    with serve(many_worlds) as url:
        visit = Visit(browser, url if name == "ring" else served, has_touch=True)
        visit.open_run(name)
        for tab in tabs:
            visit.show(tab)
            for width in (320, 390, 600, 820):
                visit.page.set_viewport_size({"width": width, "height": 844})
                visit.page.evaluate(RESIZED)
                assert visit.page.evaluate(OVERFLOW) == [0, []], (tab, width)
        assert visit.troubles == []
        visit.close()


def test_a_world_of_ones_own_has_its_names(browser, many_worlds):
    with serve(many_worlds) as url:
        visit = Visit(browser, url)
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
    ("light", 1280, ("overview", "transitions", "compare")),
    ("dark", 390, ("learning", "replay", "whatif", "health")),
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
