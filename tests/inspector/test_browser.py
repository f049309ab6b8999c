"""In a real browser: every view draws the values of the run's files, and all views are linked."""

import csv
import json
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.inspector.browsing import TABS, Visit

from tgm.files import write_arrays
from tgm.inspector.report import report_page
from tgm.runs import Run
from tgm.runs.history import FORMAT
from tgm.runs.lock import Lock
from tgm.runs.notes import write_notes
from tgm.transition.rows import LEAST_OUTCOME_COUNT

TRIED = 0.3


@pytest.fixture(scope="module")
def visit(browser, served):
    """Our run in maze 8, served."""
    opened = Visit(browser, served)
    opened.open_run("d-maze")
    yield opened
    assert opened.troubles == []
    opened.close()


@pytest.fixture(autouse=True)
def as_found(request):
    """The visit is shared: each test finds no state selected and the overview open."""
    yield
    if "visit" in request.fixturenames:
        visit = request.getfixturevalue("visit")
        visit.page.evaluate("() => { const c = window.tgmInspector; c.selected = null; }")
        visit.show("overview")


def ids_in(visit, panel):
    """The states that a drawing shows, as nodes or, of very many, as pixels."""
    return visit.page.evaluate(
        """(panel) => { const found = [...document.querySelectorAll(`#${panel} .state`)];
            const many = document.querySelector(`#${panel} svg.space`)?.drawnIds;
            return (many ?? found.map((n) => Number(n.dataset.id))).toSorted((a, b) => a - b); }""",
        panel,
    )


def frame_in_page(visit):
    """The model that the page shows, as plain values."""
    return visit.page.evaluate(
        """() => { const f = window.tgmInspector.frame; return {
            step: f.step, components: [...f.components.values()],
            rows: [...f.rows].map(([id, rows]) => [id, rows]) }; }"""
    )


def greedy_by_sweeps(frame, gamma, bonus=()):
    """Values and best actions by plain value iteration over all of a model: the slow oracle."""
    bonus = dict(bonus)
    ids = frame.ids.tolist()
    q, value = {}, dict.fromkeys(ids, -1.0 / (1.0 - gamma))
    for _ in range(3000):
        for (state, action), row in frame.rows.items():
            total = sum(row.next.values())
            if row.visits <= TRIED:
                continue
            goes_on = sum(
                count / total * (gamma * (1 - row.end) * value[after] + bonus.get(after, 0.0))
                for after, count in row.next.items()
                if after in value
            )
            q[state, action] = row.reward + goes_on
        value = {
            state: max([v for (s, _), v in q.items() if s == state], default=value[state])
            for state in ids
        }
    return q, value


@pytest.mark.parametrize("step", [1, 37, 250, 499, 500, 501, 1100])
def test_the_slider_shows_the_model_of_that_step(visit, run, step):
    visit.go_to(step)
    expected = run.frame_at(step)
    assert ids_in(visit, "observations") == expected.ids.tolist()
    shown = frame_in_page(visit)
    assert shown["step"] == expected.step
    components = {component["id"]: component for component in shown["components"]}
    for index, id_ in enumerate(expected.ids.tolist()):
        one = components[id_]
        np.testing.assert_allclose(one["mean"], expected.mean[index], rtol=1e-6)
        np.testing.assert_allclose(one["cov"], expected.covariance[index].ravel(), rtol=1e-6)
        assert one["weight"] == pytest.approx(expected.weight[index], rel=1e-6)
        assert one["fixed"] == expected.is_fixed[index]
    rows = {
        (id_, action): row
        for id_, actions in shown["rows"]
        for action, row in enumerate(actions)
        if row is not None and id_ in components
    }
    assert set(rows) == set(expected.rows)
    for key, row in expected.rows.items():
        assert rows[key]["visits"] == pytest.approx(row.visits, rel=1e-6)
        assert rows[key]["reward"] == pytest.approx(row.reward, rel=1e-6)
        assert {n["id"]: pytest.approx(n["count"], rel=1e-6) for n in rows[key]["next"]} == row.next
    words = "1 state" if len(expected.ids) == 1 else f"{len(expected.ids)} states"
    assert words in visit.page.inner_text(".moment").split(" · ")


def test_the_model_of_the_paper_preset_is_shown_too(browser, served, paper_run):
    visit = Visit(browser, served)
    visit.open_run("c-paper")
    for step in (600, 350, 100):
        visit.go_to(step)
        expected = paper_run.frame_at(step)
        assert ids_in(visit, "observations") == expected.ids.tolist()
        assert ids_in(visit, "policy") == expected.ids.tolist()
    fixed = visit.page.query_selector_all("#observations .state.fixed")
    assert len(fixed) == expected.is_fixed.sum()
    visit.go_to(50)  # before the first fit
    assert ids_in(visit, "observations") == []
    assert visit.troubles == []
    visit.close()


def test_ellipses_stand_where_the_means_are(visit, run):
    visit.go_to(1100)
    frame = run.frame_at(1100)
    places = visit.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("#observations .state")].map(n =>{
            const m = n.children[0].transform.baseVal.consolidate().matrix;
            return [n.dataset.id, [m.e, m.f, n.children[0].rx.baseVal.value, m.a, m.b]]; }))"""
    )
    pixels = np.array([places[str(id_)] for id_ in frame.ids.tolist()])
    slope, _ = np.polyfit(frame.mean[:, 0], pixels[:, 0], 1)
    for axis, sign in ((0, 1), (1, -1)):
        fitted = np.polyfit(frame.mean[:, axis], pixels[:, axis], 1)
        assert fitted[0] == pytest.approx(sign * slope, rel=1e-2)  # the same scale on both axes
        np.testing.assert_allclose(
            np.polyval(fitted, frame.mean[:, axis]), pixels[:, axis], atol=0.3
        )
    lengths, directions = np.linalg.eigh(frame.covariance)
    np.testing.assert_allclose(pixels[:, 2], 2 * np.sqrt(lengths[:, -1]) * slope, rtol=0.02)
    along = directions[..., -1] * [1, -1]  # the screen's y points down
    np.testing.assert_allclose(np.abs(np.sum(along * pixels[:, 3:], axis=1)), 1.0, atol=1e-3)


def test_as_many_points_are_shown_as_the_agent_keeps(visit, run):
    records = list(run.metrics())
    for record in records[5 :: len(records) // 6]:
        visit.go_to(record["step"])
        shown = int(visit.page.get_attribute("#observations svg.space", "data-points"))
        assert shown == pytest.approx(record["n_kept"], abs=3)


def test_the_state_card_tells_the_values_of_the_file(visit, run):
    visit.go_to(650)
    frame = run.frame_at(650)
    id_ = int(frame.ids[3])
    visit.page.click(f"#observations .state[data-id='{id_}'] ellipse")
    visit.settle()
    assert visit.page.inner_text("#state-card h2") == f"State {id_}"
    shown = float(visit.page.inner_text("#state-card [data-fact=points]"))
    assert shown == pytest.approx(frame.weight[3], rel=5e-3)
    mean = visit.page.inner_text("#state-card [data-fact=mean]").strip("()").split(",")
    np.testing.assert_allclose([float(v) for v in mean], frame.mean[3], rtol=5e-3)
    tries = visit.page.query_selector_all("#state-card tbody tr")
    for action, line in enumerate(tries):
        row = frame.rows.get((id_, action))
        cell = line.query_selector_all("td")[1].inner_text()
        assert float(cell) == pytest.approx(row.visits if row else 0, rel=5e-3, abs=5e-3)


def test_a_selection_is_marked_in_every_view(visit, run):
    visit.go_to(1100)
    id_ = int(run.frame_at(1100).ids[2])
    visit.page.click(f"#policy .state[data-id='{id_}'] ellipse", force=True)
    for tab, panels in (
        ("overview", ("observations", "policy")),
        ("transitions", ("graph",)),
        ("replay", ("replay",)),
        ("whatif", ("plan-before", "plan-after")),
        ("health", ("where",)),
    ):
        visit.show(tab)
        for panel in panels:
            marked = visit.page.query_selector_all(f"#{panel} .state.selected")
            assert [node.get_attribute("data-id") for node in marked] == [str(id_)], panel
    visit.show("learning")
    assert visit.page.get_attribute("#lineage .lane.selected", "data-id") == str(id_)
    visit.show("transitions")  # a selected state shows its own edges only
    edges = visit.page.query_selector_all("#graph .edge")
    assert edges
    for edge in edges:
        _, before, _, after = edge.get_attribute("data-edge").split(":")
        assert str(id_) in (before, after)
    edges[0].dispatch_event("mouseover", {"bubbles": True})
    assert "probability" in visit.page.get_attribute("#graph .edge >> nth=0", "data-tip")


def test_arrows_are_the_greedy_actions_and_values_are_right(visit, run):
    for step in (120, 1100):
        visit.go_to(step)
        frame = run.frame_at(step)
        q, value = greedy_by_sweeps(frame, run.metadata["config"]["gamma"])
        shown = visit.page.evaluate("() => Array.from(window.tgmInspector.plan.value)")
        np.testing.assert_allclose(shown, [value[id_] for id_ in frame.ids.tolist()], atol=2e-3)
        for state, actions in visit.page.evaluate(
            """() => [...window.tgmInspector.plan.ids].map((id, k) =>
                [id, window.tgmInspector.plan.best[k]])"""
        ):
            if actions >= 0:
                best = max(v for (s, _), v in q.items() if s == state)
                assert q[state, actions] == pytest.approx(best, abs=2e-3)
    arrows = [
        a.get_attribute("data-action") for a in visit.page.query_selector_all("#policy .arrow")
    ]
    assert len(arrows) == 8


def test_the_pages_values_are_those_the_agent_recorded(visit, run):
    """At the beginning of a chunk the recorder keeps the agent's own greedy values."""
    first = run.chunk_steps()[1]
    arrays = run.chunk(first).arrays
    n = int(arrays["frame.n_components"][0])
    visit.go_to(int(arrays["frame.step"][0]))
    ids = arrays["component.id"][:n].tolist()
    frame = run.frame_at(int(arrays["frame.step"][0]))
    shown = visit.page.evaluate(
        """() => { const p = window.tgmInspector.plan; return p.ids.map((id, k) => [id,
            Array.from(p.q.slice(k * p.nActions, (k + 1) * p.nActions))]); }"""
    )
    for id_, values in shown:
        for action, value in enumerate(values):
            row = frame.rows.get((id_, action))
            # The agent leaves out what it takes for a misread step; the page shows it.
            if row and row.visits > TRIED and min(row.next.values()) >= LEAST_OUTCOME_COUNT:
                recorded = arrays["full.q"][ids.index(id_), action]
                assert value == pytest.approx(recorded, abs=0.02)


def test_the_graph_has_an_edge_for_each_likely_outcome(visit, run):
    visit.show("transitions")
    visit.go_to(300)
    frame = run.frame_at(300)
    expected = 0
    for (state, _), row in frame.rows.items():
        total = sum(row.next.values())
        expected += sum(
            count / total >= 0.03 and after != state and after in frame.ids
            for after, count in row.next.items()
        )
    assert len(visit.page.query_selector_all("#graph .edge")) == expected


def test_matrices_show_probabilities_counts_entropy_and_change(visit, run):
    visit.show("transitions")
    visit.go_to(1100)
    frame = run.frame_at(1100)
    ids = frame.ids.tolist()

    def picture(mode, action=0):
        visit.page.select_option("#matrices select", mode)
        visit.settle()
        return visit.page.evaluate(
            """(action) => { const c = document.querySelectorAll("#matrices canvas.matrix")[action];
                const drawn = c.getContext("2d").getImageData(0, 0, c.width, c.height);
                return [c.width, c.height, Array.from(drawn.data)]; }""",
            action,
        )

    width, height, pixels = picture("mean", 3)
    assert (width, height) == (len(ids), len(ids))
    shade = np.array(pixels).reshape(height, width, 4)[..., 0]
    shares = np.zeros((len(ids), len(ids)))
    for (state, action), row in frame.rows.items():
        if action == 3:
            for after, count in row.next.items():
                shares[ids.index(state), ids.index(after)] = count / sum(row.next.values())
    # The scale is dark for much: the order of the shades is the order of the probabilities.
    sure, unlikely = shares > 0.9, shares < 0.02
    assert sure.any()
    assert shade[sure].max() < shade[unlikely].min()
    assert picture("counts")[:2] == [len(ids), len(ids)]
    assert picture("entropy")[:2] == [5, len(ids)]
    picture("change")
    visit.page.fill("#matrices input[type=number]", "1100")
    visit.page.keyboard.press("Enter")
    visit.settle()
    _, _, same = picture("change")
    assert (
        len({tuple(same[i : i + 3]) for i in range(0, len(same), 4)}) == 1
    )  # no change, one shade
    visit.page.fill("#matrices input[type=number]", "10")
    visit.page.keyboard.press("Enter")
    visit.settle()
    _, _, other = picture("change")
    assert len({tuple(other[i : i + 3]) for i in range(0, len(other), 4)}) > 1
    visit.page.select_option("#matrices select", "mean")


def test_lineage_has_a_lane_per_component_and_leads_to_the_step(visit, run):
    visit.show("learning")
    moves = [move for record in run.metrics() for move in record["moves"]]
    born = {m["ids"][-1] for m in moves if m["accepted"] and m["kind"] in ("birth", "split")}
    lanes = visit.page.query_selector_all("#lineage .lane")
    assert {int(lane.get_attribute("data-id")) for lane in lanes} == born
    births = [m for m in moves if m["kind"] == "birth" and m["gain"]]
    mark = visit.page.query_selector(f"#lineage .mark.birth[data-id='{births[-1]['ids'][0]}']")
    assert births[-1]["cause"] in mark.get_attribute("data-tip")
    assert "gain" in mark.get_attribute("data-tip")
    mark.dispatch_event("click")
    visit.settle()
    assert visit.page.input_value("#slider") == str(births[-1]["step"])


def test_curves_are_those_of_the_log(visit, run):
    visit.show("learning")
    visit.page.wait_for_selector("#energy .js-plotly-plot .scatterlayer")
    visit.page.wait_for_selector("#surprise .js-plotly-plot .scatterlayer")
    visit.page.wait_for_selector("#ledger .js-plotly-plot .scatterlayer")
    records = list(run.metrics())

    def trace(panel, index=0):
        return visit.page.evaluate(
            """([panel, index]) => {
                const t = document.querySelector(`#${panel} .plot`).data[index];
                return [Array.from(t.x), Array.from(t.y)]; }""",
            [panel, index],
        )

    steps, energy = trace("energy")
    assert steps == [record["step"] for record in records]
    np.testing.assert_allclose(energy, [record["free_energy"] for record in records], rtol=1e-6)
    _, kept = trace("ledger")
    assert kept == [record["n_kept"] for record in records]
    steps, surprise = trace("surprise")
    arrays = [run.chunk(first).arrays for first in run.chunk_steps()]
    density = np.concatenate([a["obs.log_density"] for a in arrays])
    assert len(surprise) == len(density)
    np.testing.assert_allclose(surprise, -density, rtol=1e-6)
    for mode in ("terms", "states", "fit", "run"):
        visit.page.select_option("#energy select", mode)
        visit.settle()
    for mode in ("states", "time"):
        visit.page.select_option("#ledger select", mode)
        visit.settle()


def test_clicking_a_surprise_goes_there(visit):
    visit.show("learning")
    visit.page.wait_for_selector("#surprise .js-plotly-plot .scatterlayer")
    visit.page.evaluate(
        """() => { const p = document.querySelector("#surprise .plot");
            p.emit("plotly_click", { points: [{ x: 123 }] }); }"""
    )
    visit.settle()
    assert visit.page.input_value("#slider") == "123"


def test_replay_lists_the_steps_of_the_episode_and_says_why(visit, run):
    visit.show("replay")
    visit.go_to(420)
    arrays = [run.chunk(first).arrays for first in run.chunk_steps()]
    column = {
        name: np.concatenate([a[f"obs.{name}"] for a in arrays])
        for name in ("step", "episode", "action", "state", "reward")
    }
    here = np.flatnonzero((column["step"] == 420) & (column["action"] >= 0))[0]
    rows = np.flatnonzero(column["episode"] == column["episode"][here])
    lines = visit.page.query_selector_all("#episode-steps li")
    assert len(lines) == len(rows)
    names = run.metadata["interface"]["action_names"]
    for line, row in zip(lines, rows, strict=True):
        words = line.inner_text()
        action = column["action"][row]
        assert (names[action] if action >= 0 else "start") in words
        assert f"state {column['state'][row]}" in words
    now = visit.page.query_selector("#episode-steps li.now").inner_text()
    assert now.startswith("420")
    why = visit.page.inner_text("#why")
    assert "The most likely state is" in why
    assert "best known action" in why
    visit.page.click("#replay button:has-text('next')")
    visit.settle()
    later = visit.page.evaluate("() => window.tgmInspector.row.episode")
    assert later == column["episode"][here] + 1
    visit.page.click("#replay button:has-text('previous')")
    visit.settle()
    assert visit.page.evaluate("() => window.tgmInspector.row.episode") == later - 1


def test_the_belief_names_the_state_that_was_recorded(visit, run):
    visit.show("replay")
    for step in range(400, 440):
        visit.go_to(step)
        recorded = visit.page.evaluate("() => window.tgmInspector.row.state")
        assert f"likely state is {recorded} (" in visit.page.inner_text("#why")


def bars_in(visit):
    """Name -> words of each bar of the belief."""
    bars = visit.page.query_selector_all("#belief .bar")
    return {
        bar.query_selector(".name").inner_text(): bar.query_selector(".num").inner_text()
        for bar in bars
    }


@pytest.mark.parametrize("place", ["served", "report"])
def test_the_belief_is_the_one_that_was_recorded(browser, run, tmp_path, place):
    from tests.inspector.browsing import serve

    folder = tmp_path / "root" / "run"
    shutil.copytree(run.folder, folder)
    ids = run.frame_at(499).ids.tolist()
    other = {400: [(ids[2], 0.6), (ids[0], 0.3)], 410: [(ids[1], 0.0)], 411: [(10**9, 0.9)]}
    write_beliefs(folder / "history" / "0000000000.safetensors", other)
    if place == "report":
        page = tmp_path / "report.html"
        page.write_text(report_page([Run.open(folder)]))
    with serve(tmp_path / "root") as url:
        visit = Visit(browser, url if place == "served" else page.as_uri())
        visit.show("replay")
        visit.go_to(400)
        expected = {f"state {ids[2]}": "60 %", f"state {ids[0]}": "30 %", "no known state": "10 %"}
        assert bars_in(visit) == expected
        tips = [
            node.get_attribute("data-tip")
            for node in visit.page.query_selector_all("#replay .state.filled")
        ]
        assert sorted(tips) == sorted(
            [f"state {ids[2]}\nbelief 60 %", f"state {ids[0]}\nbelief 30 %"]
        )
        visit.go_to(401)
        state = visit.page.evaluate("() => window.tgmInspector.row.state")
        assert bars_in(visit) == {f"state {state}": "100 %"}
        visit.go_to(410)
        assert bars_in(visit) == {f"state {ids[1]}": "< 1 %", "no known state": "100 %"}
        visit.go_to(411)
        assert "not part of the model" in visit.page.inner_text("#why")
        assert visit.troubles == []
        visit.close()


def test_action_values_are_averaged_over_the_known_states_of_the_belief(visit, run):
    visit.go_to(500)
    ids = run.frame_at(500).ids.tolist()
    q, _ = greedy_by_sweeps(run.frame_at(500), run.metadata["config"]["gamma"])
    known = [id_ for id_ in ids if (id_, 0) in q]
    belief = [{"id": known[0], "p": 0.6}, {"id": 10**9, "p": 0.1}, {"id": known[1], "p": 0.2}]
    shown = visit.page.evaluate(
        """async (belief) => (await import("/static/belief.js")).beliefValues(
            window.tgmInspector.plan, belief)""",
        belief,
    )
    assert shown[0] == pytest.approx(0.75 * q[known[0], 0] + 0.25 * q[known[1], 0], abs=1e-3)


def write_beliefs(path, beliefs):
    """Give the outcomes of these steps of a chunk other beliefs than the recorded ones."""
    arrays = dict(load_file(path))
    outcome = arrays["obs.action"] >= 0
    entries = [
        (int(np.flatnonzero(outcome & (arrays["obs.step"] == step))[0]), state, probability)
        for step, belief in sorted(beliefs.items())
        for state, probability in belief
    ]
    columns = list(zip(*entries, strict=True))
    arrays["belief.observation"] = np.array(columns[0], dtype=np.int64)
    arrays["belief.state"] = np.array(columns[1], dtype=np.int64)
    arrays["belief.probability"] = np.array(columns[2], dtype=np.float64)
    write_arrays(path, arrays, FORMAT, {"first_step": int(path.stem)})


def test_another_gamma_and_another_reward_change_the_plan(visit, run):
    visit.go_to(1100)
    visit.show("whatif")
    frame = run.frame_at(1100)
    assert visit.page.get_attribute(".what-if", "data-changed") == "0"
    target = int(frame.ids[0])
    visit.page.click(f"#plan-before .state[data-id='{target}'] ellipse", force=True)
    visit.page.fill("#reward", "10")
    visit.page.keyboard.press("Enter")
    visit.settle()
    gamma = run.metadata["config"]["gamma"]
    q, _ = greedy_by_sweeps(frame, gamma, {target: 10.0})
    base, _ = greedy_by_sweeps(frame, gamma)
    nodes = visit.page.query_selector_all("#plan-after .arrow")
    chosen = [int(node.get_attribute("data-action")) for node in nodes]
    moved = 0
    order = visit.page.evaluate("() => [...window.tgmInspector.frame.components.keys()]")
    for state, action in zip(order, chosen, strict=True):
        best = max(v for (s, _), v in q.items() if s == state)
        assert q[state, action] == pytest.approx(best, abs=5e-3)
        own = {a: v for (s, a), v in base.items() if s == state}
        moved += own[action] < max(own.values()) - 0.1
    assert moved > 0
    assert int(visit.page.get_attribute(".what-if", "data-changed")) >= moved
    visit.page.click("#what-if button:has-text('reset')")
    visit.settle()
    assert visit.page.get_attribute(".what-if", "data-changed") == "0"


def test_health_tells_what_python_found(visit, served):
    visit.show("health")
    shown = visit.page.inner_text("#health")
    assert "The map is exact" in shown
    assert "The goal was reached" in shown


def test_compare_groups_runs_and_shows_those_without_history(visit, runs_folder):
    visit.show("compare")
    visit.page.wait_for_selector("#compare-returns .js-plotly-plot .scatterlayer")
    visit.page.select_option("#compare-returns select >> nth=0", "maze 8")
    visit.page.wait_for_function(
        "() => document.querySelectorAll('#compare-runs tbody tr').length === 3"
    )
    words = visit.page.inner_text("#compare-runs")
    for name in ("a-dqn", "c-paper", "d-maze"):
        assert name in words
    names = visit.page.evaluate(
        "() => document.querySelector('#compare-returns .plot').data.map((t) => t.name)"
    )
    assert {"dqn (1)", "tgm (1)", "tgm-paper (1)", "best possible"} <= set(names)
    solved = visit.page.evaluate(
        """() => [...document.querySelectorAll('#compare-runs tbody tr')].map((row) => [
            row.cells[0].textContent,
            row.cells[[...document.querySelectorAll('#compare-runs th')]
                .findIndex((head) => head.textContent.startsWith("solved"))].textContent])"""
    )
    assert dict(solved) == {"a-dqn": "no", "c-paper": "\u2013", "d-maze": "\u2013"}


def test_keys_move_in_time_and_between_states(visit, run):
    visit.go_to(100)
    page = visit.page
    page.evaluate("() => document.activeElement.blur()")
    for key, step in (("ArrowRight", 101), ("Shift+ArrowRight", 111), ("ArrowLeft", 110)):
        page.keyboard.press(key)
        visit.settle()
        assert page.input_value("#slider") == str(step)
    moves = [m for r in run.metrics() for m in r["moves"] if m["accepted"]]
    page.keyboard.press("Home")
    page.keyboard.press(".")
    visit.settle()
    assert page.input_value("#slider") == str(moves[0]["step"])
    page.keyboard.press("End")
    page.keyboard.press(",")
    visit.settle()
    assert page.input_value("#slider") == str(moves[-1]["step"])
    page.keyboard.press("]")
    visit.settle()
    first = page.inner_text("#state-card h2")
    page.keyboard.press("]")
    visit.settle()
    assert page.inner_text("#state-card h2") != first
    page.keyboard.press("Escape")
    page.keyboard.press("3")
    visit.settle()
    assert page.is_visible("#lineage")


def test_play_goes_on_by_itself_and_pauses(visit):
    visit.go_to(50)
    visit.page.click(".play")
    visit.page.wait_for_function("() => window.tgmInspector.step > 53")
    visit.page.click(".play")
    stopped = visit.page.evaluate("() => window.tgmInspector.step")
    visit.page.wait_for_timeout(200)
    assert visit.page.evaluate("() => window.tgmInspector.step") == stopped


def test_every_view_of_other_agents_draws(browser, served):
    """The paper's agent, and one that records returns only; ours is in test_screens.py."""
    visit = Visit(browser, served)
    for name in ("a-dqn", "c-paper"):
        visit.open_run(name)
        for tab in TABS:
            visit.show(tab)
    for panel, drawn in (
        ("observations", ".state ellipse"),
        ("policy", ".arrow"),
        ("graph", ".edge"),
        ("matrices", "canvas"),
        ("lineage", ".lane"),
        ("replay", ".state"),
        ("plan-after", ".arrow"),
        ("health", ".finding"),
    ):
        assert visit.page.query_selector_all(f"#{panel} {drawn}"), panel
    assert visit.troubles == []
    visit.close()


def test_four_features_are_shown_on_any_axes(browser, served, runs_folder):
    """Features by name, principal components, and places by the transitions."""
    visit = Visit(browser, served)
    visit.open_run("b-cart-pole")
    run = Run.open(runs_folder / "b-cart-pole")
    choosers = "#observations .axes-control select"
    words = visit.page.locator(choosers).nth(1).locator("option").all_inner_texts()
    assert words == ["principal 1", "principal 2", "x1", "x2", "x3", "x4"]
    ids = run.frame_at(250).ids.tolist()
    for chooser, axis in ((0, "p1"), (0, "f0"), (1, "f2"), (0, "layout")):
        visit.page.select_option(f"{choosers} >> nth={chooser}", axis)
        visit.settle()
        shown = ids_in(visit, "observations")  # of many states the first 2,000 by their weight
        assert len(shown) == min(2000, len(ids))
        assert set(shown) <= set(ids)
    assert visit.page.evaluate("() => window.tgmInspector.axes") == "layout"
    assert visit.troubles == []
    visit.close()


@pytest.mark.parametrize("n_first", [0, 1])
def test_a_live_run_is_followed(browser, run, tmp_path, n_first):
    """From its first record, or from its beginning, when there is no history yet."""
    from tests.inspector.browsing import serve

    root = tmp_path / "root"
    folder = root / "live"
    shutil.copytree(run.folder, folder)
    (tmp_path / "later").mkdir()
    later = sorted((folder / "history").iterdir())[n_first:]
    for path in later:
        path.rename(tmp_path / "later" / path.name)
    (folder / "result.json").unlink()
    log = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    until = [line for line in log if json.loads(line)["step"] < int(later[0].stem)]
    (folder / "metrics.jsonl").write_text("".join(until))
    lock = Lock(folder)
    try:
        with serve(root) as url:
            visit = Visit(browser, url)
            assert "live" in visit.page.inner_text(".run-facts")
            assert visit.page.evaluate("() => window.tgmInspector.lastStep") < 1100
            for path in later:
                (tmp_path / "later" / path.name).rename(path)
            (folder / "metrics.jsonl").write_text("".join(log))
            visit.page.wait_for_function("() => window.tgmInspector.lastStep === 1100")
            visit.settle()
            assert visit.page.input_value("#slider") == "1100"  # it stood at the end and follows
            assert ids_in(visit, "observations") == run.frame_at(1100).ids.tolist()
            assert visit.troubles == []
            visit.close()
    finally:
        lock.release()


def test_the_report_opens_from_disk_with_the_network_cut(browser, run, paper_run, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(report_page([run, paper_run]), encoding="utf-8")
    requests = []
    visit = Visit(browser, file.as_uri(), offline=True)
    visit.page.on("request", lambda request: requests.append(request.url))
    assert visit.page.is_hidden("#run")  # the other run is in the comparison only
    assert visit.page.inner_text(".run-facts").startswith("d-maze")
    for tab in TABS:
        visit.show(tab)
    visit.page.wait_for_function(
        "() => document.querySelectorAll('#compare-runs tbody tr').length > 1"
    )
    visit.show("learning")
    visit.page.wait_for_selector("#energy .js-plotly-plot .scatterlayer")
    visit.show("overview")
    visit.go_to(333)
    assert ids_in(visit, "observations") == run.frame_at(333).ids.tolist()
    assert [url for url in requests if not url.startswith(("data:", "blob:", "file:"))] == []
    assert visit.troubles == []
    visit.close()


HOSTILE = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>{{7*7}}'


def test_hostile_names_and_contents_run_no_script(browser, run, tmp_path):
    from tests.inspector.browsing import serve

    root = tmp_path / "root"
    folder = root / '"><img src=x onerror=window.hacked=1>'
    shutil.copytree(run.folder, folder)
    facts = json.loads((folder / "run.json").read_text())
    facts |= {"agent": HOSTILE, "started": HOSTILE, "versions": {HOSTILE: HOSTILE}}
    facts["world"]["maze"]["name"] = HOSTILE
    facts["config"][HOSTILE] = HOSTILE
    facts["interface"]["action_names"] = [f"{HOSTILE}{k}" for k in range(5)]
    (folder / "run.json").write_text(json.dumps(facts))
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps(result | {"reason": HOSTILE}))
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line["free_energy_terms"] = {HOSTILE: 1.0, f"{HOSTILE}2": 2.0}
        for move in line["moves"]:
            move["cause"] = HOSTILE
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    file = tmp_path / "report.html"
    file.write_text(report_page([Run.open(folder)]), encoding="utf-8")
    with serve(root) as url:
        for address in (url, file.as_uri()):
            visit = Visit(browser, address)
            for tab in TABS:
                visit.show(tab)
                visit.page.wait_for_timeout(50)
            visit.show("learning")
            visit.page.select_option("#energy select", "terms")
            visit.page.wait_for_selector("#energy .js-plotly-plot .legendtext")
            legend = visit.page.text_content("#energy .legendtext >> nth=0")
            assert legend == HOSTILE  # as it stands, and not as marks
            visit.page.hover("#lineage .mark.birth >> nth=0", force=True)
            assert HOSTILE[:20] in visit.page.inner_text("#tooltip")
            assert visit.page.evaluate("() => window.hacked") is None
            assert visit.page.query_selector_all("img[src=x]") == []
            assert visit.troubles == []
            visit.close()


def test_nonsense_in_a_history_breaks_no_view(browser, run, tmp_path):
    from tests.inspector.broken import change_arrays
    from tests.inspector.browsing import serve

    for seed in range(8):
        folder = tmp_path / "root" / f"run-{seed:02}"
        shutil.copytree(run.folder, folder)
        for path in sorted((folder / "history").iterdir()):
            change_arrays(path, np.random.default_rng([seed, int(path.stem)]))
    with serve(tmp_path / "root") as url:
        visit = Visit(browser, url)
        for seed in range(8):
            visit.open_run(f"run-{seed:02}")
            for tab in ("overview", "transitions", "replay", "whatif"):
                visit.show(tab)
                visit.go_to(100 + 80 * seed)
        # The browser itself tells of each piece that the server refused, and of nothing else.
        assert [words for words in visit.troubles if "status of 422" not in words] == []
        visit.close()


def test_without_the_token_the_page_shows_nothing(browser, served):
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.split("#")[0])
    page.wait_for_selector(".message:not([hidden])")
    assert "token" in page.inner_text(".message")
    context.close()


def test_the_token_leaves_the_address_and_survives_a_reload(browser, served):
    visit = Visit(browser, served)
    assert "token" not in visit.page.url
    visit.page.reload()
    visit.page.wait_for_selector("html[data-ready]")
    assert visit.page.evaluate("() => window.tgmInspector.runs.length") == 4
    visit.close()


def view_of(visit):
    """What a link to a view must bring back."""
    return visit.page.evaluate(
        """() => { const c = window.tgmInspector; return [
            c.summary.name, c.step, c.selected, c.axes,
            document.querySelector(".tabs [aria-current=page]").textContent,
            document.documentElement.dataset.theme ?? null]; }"""
    )


def test_the_address_brings_back_the_view_and_the_newest_run_is_first(browser, served, run):
    visit = Visit(browser, served)
    assert view_of(visit)[0] == "d-maze"  # started last
    chosen = int(run.frame_at(420).ids[1])
    visit.show("transitions")
    visit.go_to(420)
    visit.page.click(f"#graph .state[data-id='{chosen}'] ellipse", force=True)
    visit.page.select_option("#graph .axes-control select >> nth=0", "layout")
    visit.page.keyboard.press("t")
    visit.settle()
    expected = ["d-maze", 420, chosen, "layout", "Transitions", "dark"]
    assert view_of(visit) == expected
    visit.page.wait_for_function("() => location.hash.includes('theme=dark')")
    assert "token" not in visit.page.url
    visit.page.reload()
    visit.page.wait_for_selector("html[data-ready]")
    visit.settle()
    assert view_of(visit) == expected
    # Without the right to use the clipboard the link is shown; it holds the token for a new tab.
    visit.page.evaluate(
        "() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }"
    )
    visit.page.keyboard.press("c")
    visit.page.wait_for_selector("dialog[open] input")
    link = visit.page.input_value("dialog[open] input")
    other = Visit(browser, link)
    assert view_of(other) == expected
    other.page.evaluate(
        "() => { location.hash = 'run=nonsense&step=-1&state=x&axes=f9,f9&tab=?'; }"
    )
    other.settle()
    assert view_of(other)[:3] == expected[:3]
    visit.close()
    wrong = Visit(browser, served + "&run=nonsense&tab=none&step=9e9&axes=f0,f77")
    assert view_of(wrong) == ["d-maze", 1100, None, None, "Overview", None]
    assert "not here" in wrong.page.inner_text(".message")
    assert [*visit.troubles, *other.troubles, *wrong.troubles] == []
    other.close()
    wrong.close()


def test_zoom_and_pan_are_shared_and_reach_the_keyboard(visit):
    visit.go_to(1100)
    whole = len(ids_in(visit, "observations"))
    page = visit.page
    for _ in range(5):
        page.click("#observations .zoom button >> nth=0")
    visit.settle()
    near = page.evaluate("() => window.tgmInspector.zoom")
    assert near["high"][0] - near["low"][0] < 2
    assert len(ids_in(visit, "observations")) == len(ids_in(visit, "policy")) < whole
    page.keyboard.press("ArrowRight")  # the focus is on the buttons: the view moves, not the time
    visit.settle()
    assert page.evaluate("() => window.tgmInspector.zoom.low[0]") > near["low"][0]
    assert page.input_value("#slider") == "1100"
    page.click("#observations .zoom button >> nth=2")
    visit.settle()
    assert len(ids_in(visit, "observations")) == whole


def test_a_forged_host_gets_403_from_the_running_server(served):
    address = served.split("#")[0]
    request = urllib.request.Request(address, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 403


def test_runs_are_filtered_sorted_and_grouped_by_a_setting(browser, run, tmp_path):
    """Three runs that differ in gamma and length; what is dotted is where one has ended."""
    from tests.inspector.browsing import serve

    for name, gamma, until in (("one", 0.9, 600), ("other", 0.9, 1100), ("third", 0.5, 1100)):
        folder = tmp_path / name
        shutil.copytree(run.folder, folder, ignore=shutil.ignore_patterns("history"))
        facts = json.loads((folder / "run.json").read_text())
        facts["config"]["gamma"] = gamma
        (folder / "run.json").write_text(json.dumps(facts | {"seed": len(name)}))
        lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["step"] <= until]
        (folder / "metrics.jsonl").write_text("".join(kept))
    write_notes(tmp_path / "third", add=["odd"])
    with serve(tmp_path) as url:
        visit = Visit(browser, url + "&tab=compare")
        page = visit.page
        page.wait_for_selector("#compare-returns .js-plotly-plot .scatterlayer")

        def names():
            visit.settle()
            return page.locator("#compare-runs tbody tr td:first-child").all_inner_texts()

        assert "gamma" in page.inner_text("#compare-runs thead")
        page.click("#compare-runs th button:has-text('gamma')")
        assert names()[0] == "third"
        page.click("#compare-runs th button:has-text('gamma')")
        assert names()[-1] == "third"
        for words, left in (
            ("gamma=0.9", 2),
            ("odd", 1),
            ("seed>3 gamma<0.6", 1),
            ("nothing", 0),
            ("", 3),
        ):
            page.fill("#compare-runs input[type=search]", words)
            assert len(names()) == left, words
        page.select_option("#compare-returns select >> nth=0", "gamma")
        visit.settle()
        page.wait_for_function(
            """() => document.querySelector('#compare-states .plot').data
                .some((t) => t.name === 'gamma 0.9 (2)')"""
        )
        group = page.evaluate(
            """() => document.querySelector('#compare-states .plot').data.filter((t) =>
                t.name === 'gamma 0.9 (2)' && t.text)
                .map((t) => [t.line.dash, t.text[1], Math.max(...t.x)])"""
        )
        assert [words for _, words, _ in group] == ["2 of 2 runs", "1 of 2 runs"]
        assert group[1][0] == "dot"
        assert group[0][2] < 650
        assert visit.troubles == []
        visit.close()


def test_pictures_and_tables_are_saved(visit, run):
    """As SVG and PNG, and as CSV; a text that would be a formula elsewhere is text there too."""
    visit.go_to(1100)
    visit.show("transitions")

    def saved(panel, words):
        visit.page.click(f"#{panel} .save")
        with visit.page.expect_download() as wanted:
            visit.page.click(f"dialog[open] button:has-text('{words}')")
        return Path(wanted.value.path()).read_bytes(), wanted.value.suggested_filename

    svg, name = saved("graph", "SVG")
    assert name == "d-maze-graph-1100.svg"
    root = ElementTree.fromstring(svg)
    n_ellipses = len(list(root.iter("{http://www.w3.org/2000/svg}ellipse")))
    assert n_ellipses == len(run.frame_at(1100).ids)
    assert saved("graph", "PNG")[0].startswith(b"\x89PNG")
    assert saved("matrices", "PNG")[0].startswith(b"\x89PNG")
    rows = list(csv.reader(saved("states", "table as CSV")[0].decode().splitlines()))
    assert rows[0][:3] == ["state", "x", "y"]
    assert len(rows) == 1 + n_ellipses
    np.testing.assert_allclose(  # numbers that a spreadsheet can read
        np.array(rows[1:])[:, 1:4].astype(float),
        np.column_stack([run.frame_at(1100).mean, run.frame_at(1100).weight]),
        rtol=1e-6,
    )
    cells = list(csv.reader(saved("matrices", "cells as CSV")[0].decode().splitlines()))
    assert cells[0] == ["matrix", "row", "column", "value"]
    visit.show("compare")
    visit.page.wait_for_selector("#compare-returns .js-plotly-plot .scatterlayer")
    assert saved("compare-returns", "SVG")[0].lstrip().startswith(b"<svg")
    guarded = visit.page.evaluate(
        """async () => { const { csvText } = await import("/static/export.js");
            return csvText([["=1+1", "@x", "-3", 'a"b,c', null, 2.5]]); }"""
    )
    assert guarded == '\'=1+1,\'@x,-3,"a""b,c",,2.5\r\n'


def test_matrices_of_many_states_have_labels(visit, run):
    visit.go_to(1100)
    visit.show("transitions")
    visit.page.select_option("#matrices select >> nth=1", "3")
    visit.page.check("#matrices input[type=checkbox]")
    visit.settle()
    shown = visit.page.locator("#matrices .labels-beside:visible span").all_inner_texts()
    assert shown == [str(id_) for id_ in run.frame_at(1100).ids.tolist()]
    box = visit.page.locator("#matrices canvas.matrix:visible").bounding_box()
    assert box["height"] >= 14 * len(shown)
    visit.page.uncheck("#matrices input[type=checkbox]")
    visit.page.select_option("#matrices select >> nth=1", "all")
