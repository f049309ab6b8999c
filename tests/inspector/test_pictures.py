"""What is drawn of each world, counted: states, names, arrows, edges, cells, lanes, steps, runs."""

import math

import numpy as np
import pytest

from tgm.inspector import payload
from tgm.runs import Run

LEAST = 0.03  # probability of an outcome that is drawn as an edge
MANY = 250  # states: more are pixels
MOST_NODES = 600  # edges: more are pixels
MOST_SIDE = 800  # cells of a matrix: of more states, several share one
MOST_NAMES = 90  # states in sight that have names

COUNTED = """() => {
    const all = (words) => document.querySelectorAll(words);
    const space = (panel) => { const one = document.querySelector(`#${panel} svg.space`);
        return { states: Number(one.dataset.states), edges: Number(one.dataset.edges),
            nodes: one.querySelectorAll(".state ellipse").length,
            names: one.querySelectorAll(".id").length,
            arrows: one.querySelectorAll(".arrow").length,
            lines: one.querySelectorAll(".edge").length }; };
    return { observations: space("observations"), policy: space("policy"), graph: space("graph"),
        before: space("plan-before"), after: space("plan-after"), where: space("where"),
        replay: space("replay"),
        matrices: [...all("#matrices figure:not([hidden]) .matrix")]
            .map((c) => [c.width, c.height]),
        rows: all("#states tbody tr").length, card: all("#state-card tbody tr").length,
        lanes: all("#lineage .lane").length, steps: all("#episode-steps li").length,
        bars: all("#page-replay .bar .outlook").length, findings: all("#health .finding").length,
        features: all("#features:not([hidden]) tbody tr").length,
        charts: all("#page-learning .js-plotly-plot").length,
        runs: all("#compare-runs tbody tr").length }; }"""


def counted(visit, name):
    """What every tab of a run draws."""
    visit.open_run(name)
    for tab in ("transitions", "learning", "replay", "whatif", "health", "compare", "overview"):
        visit.show(tab)
    return visit.page.evaluate(COUNTED)


def n_edges(frame):
    """Outcomes that are likely enough and lead to another state."""
    ids = set(frame.ids.tolist())
    return sum(
        count / sum(row.next.values()) >= LEAST and after != state and after in ids
        for (state, _), row in frame.rows.items()
        for after, count in row.next.items()
        if state in ids
    )


def episode_length(run):
    """Recorded observations of the last episode."""
    episode = np.concatenate(
        [run.chunk(first).arrays["obs.episode"] for first in run.chunk_steps()]
    )
    return int((episode == episode[-1]).sum())


@pytest.mark.parametrize(("name", "n_runs"), [
    ("d-maze", 3), ("lake", 1), ("hidden", 1), ("large", 1), ("ring", 1)
])  # fmt: skip
def test_the_drawings_of_a_world_of_places(visit, runs_folder, other_worlds, name, n_runs):
    run = Run.open((runs_folder if "-" in name else other_worlds) / name)
    summary = payload.summary(run)
    frame = run.frame_at(summary["last_step"])
    n, n_actions = len(frame.ids), summary["interface"]["n_actions"]
    edges, is_many = n_edges(frame), n > MANY
    drawn = counted(visit, name)
    for panel in ("observations", "policy", "graph", "before", "after", "where", "replay"):
        assert (panel, drawn[panel]["states"]) == (panel, n)
        assert (panel, drawn[panel]["nodes"]) == (panel, 0 if is_many else n)
    for panel in ("observations", "graph", "where", "replay"):
        assert (panel, drawn[panel]["names"]) == (panel, n if n <= MOST_NAMES else 0)
    for panel in ("policy", "before", "after"):
        assert (panel, drawn[panel]["arrows"]) == (panel, 0 if is_many else n)
    assert drawn["graph"]["edges"] == edges
    assert drawn["graph"]["lines"] == (0 if is_many or edges > MOST_NODES else edges)
    side = math.ceil(n / math.ceil(n / MOST_SIDE))
    assert drawn["matrices"] == [[side, side]] * n_actions
    assert (drawn["rows"], drawn["card"]) == (min(n, 300), n_actions)
    assert drawn["lanes"] == len(summary["lanes"])
    assert drawn["steps"] == episode_length(run)
    assert drawn["bars"] == n_actions
    assert drawn["findings"] == len(summary["health"]) > 0
    n_features = summary["interface"]["n_features"]
    assert drawn["features"] == (n_features if n_features > 2 else 0)
    assert drawn["runs"] == n_runs


def test_the_drawings_of_a_world_that_flows(visit, runs_folder):
    """Support points instead of places, and a field instead of arrows."""
    run = Run.open(runs_folder / "b-cart-pole")
    frame, summary, field = run.frame_at(250), payload.summary(run), payload.field(run)
    drawn = counted(visit, "b-cart-pole")
    n = min(2000, len(frame.ids))
    for panel in ("observations", "graph", "before", "after", "where", "replay"):
        assert (panel, drawn[panel]["states"]) == (panel, n)
        assert (panel, drawn[panel]["names"]) == (panel, 0)
    assert drawn["before"]["arrows"] == drawn["after"]["arrows"] == 0
    assert visit.page.is_hidden("#policy")
    assert (drawn["card"], drawn["bars"]) == (2, 2)
    assert (drawn["features"], drawn["runs"]) == (4, 1)
    assert drawn["steps"] == episode_length(run)
    assert drawn["findings"] == len(summary["health"]) > 0
    visit.page.select_option("#field select[aria-label=laws]", "0")
    visit.settle()
    shown = visit.page.evaluate(
        """() => { const c = document.querySelector("#field canvas");
            return [c.width, c.height, document.querySelectorAll("#field .law-mark").length,
                document.querySelectorAll("#field .held [type=range]").length]; }"""
    )
    assert shown == [field["grid"], field["grid"], field["arrows"] ** 2, 2]


def test_compare_follows_the_run(visit):
    """The world, the table and the curves are those of the run that was opened last."""
    page = visit.page

    def shown(world, run):
        visit.settle()
        page.wait_for_function(
            """([world, run]) => document.querySelector("#compare-returns select")?.value === world
                && document.querySelector("#compare-runs tr.best td")?.textContent === run""",
            arg=[world, run],
        )
        assert page.locator("#run option:checked").inner_text() == run
        rows = page.locator("#compare-runs tbody tr td:first-child").all_inner_texts()
        return sorted(rows)

    visit.open_run("d-maze")
    visit.show("compare")
    assert shown("maze 8", "d-maze") == ["a-dqn", "c-paper", "d-maze"]
    page.select_option("#compare-returns select >> nth=1", "run")
    visit.open_run("lake")
    assert shown("FrozenLake-v1", "lake") == ["lake"]
    page.wait_for_function(
        """() => document.querySelector("#compare-states .plot").data
            .every((trace) => trace.name.startsWith("lake"))"""
    )
    # A world of the user's choice stays until another run is opened.
    page.select_option("#compare-returns select >> nth=0", "maze 8")
    visit.settle()
    assert page.locator("#compare-runs tbody tr").count() == 3
    visit.page.click("#compare-runs button:has-text('c-paper')")
    assert shown("maze 8", "c-paper") == ["a-dqn", "c-paper", "d-maze"]
    visit.show("overview")
    visit.open_run("hidden")
    visit.show("compare")
    assert shown("CueMaze", "hidden") == ["hidden"]
    page.select_option("#compare-returns select >> nth=1", "agent")
    visit.show("overview")
