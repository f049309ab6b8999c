"""The field of a world that flows is what the agent answers; worlds of places have none."""

import json
import shutil
from itertools import product

import numpy as np
import pytest
from tests.inspector.browsing import Visit

from tgm.inspector import payload
from tgm.inspector.field import ANY, field_of
from tgm.inspector.plain import to_bytes
from tgm.inspector.report import report_data, report_page
from tgm.learners.learner import Forecast
from tgm.runs import Run


@pytest.fixture(scope="module")
def flowing(runs_folder):
    return Run.open(runs_folder / "b-cart-pole")


@pytest.fixture(scope="module")
def agent(flowing):
    return flowing.agent()


@pytest.fixture(scope="module")
def field(flowing):
    return payload.field(flowing)


def observation(field, pair, levels, shares):
    """One point of the field: where held features are at `levels`, and `shares` of the two axes."""
    held = [k for k in range(4) if k not in (pair["x"], pair["y"])]
    point = np.zeros(4)
    for k, level in zip(held, levels, strict=True):
        point[k] = field["levels"][k][level]
    for k, share in zip((pair["x"], pair["y"]), shares, strict=True):
        point[k] = field["low"][k] + share * (field["high"][k] - field["low"][k])
    return point


def some_places(field, rng, n):
    """(pair, slice, levels, column, row) drawn at random."""
    for _ in range(n):
        levels = rng.integers(5, size=2)
        pair = field["pairs"][rng.integers(6)]
        yield pair, int(5 * levels[0] + levels[1]), levels, rng.integers(10**6), rng.integers(10**6)


def test_all_pairs_of_four_features_at_all_levels(field, flowing):
    assert field["features"] == [0, 1, 2, 3]
    assert [(pair["x"], pair["y"]) for pair in field["pairs"]] == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    ]  # fmt: skip
    n, n_arrows = field["grid"], field["arrows"]
    for pair in field["pairs"]:
        assert len(pair["value"]) == len(pair["action"]) == 25 * n * n
        assert len(pair["move"]) == 25 * n_arrows**2 * 2 * 2
        assert len(pair["spread"]) == 25 * n_arrows**2 * 2 * 3
        assert len(pair["end"]) == 25 * n_arrows**2 * 2
    seen = np.concatenate([flowing.chunk(s).arrays["obs.point"] for s in flowing.chunk_steps()])
    np.testing.assert_allclose(
        np.array(field["levels"]).T, np.percentile(seen, (5, 25, 50, 75, 95), axis=0), rtol=1e-5
    )
    assert (np.array(field["low"]) < seen.min(axis=0)).all()
    assert (np.array(field["high"]) > seen.max(axis=0)).all()
    assert field["step"] == 250
    assert len(to_bytes(field)) < 3_000_000


def test_values_and_actions_are_the_agents(field, agent):
    n = field["grid"]
    for pair, slice_, levels, column, row in some_places(field, np.random.default_rng(0), 40):
        column, row = column % n, row % n
        at = (slice_ * n + row) * n + column
        point = observation(field, pair, levels, (column / (n - 1), row / (n - 1)))
        values = agent.q_values(point)
        # The ends of the axes are sent with seven digits.
        assert pair["value"][at] == pytest.approx(values.max(), rel=1e-3, abs=1e-3)
        if pair["action"][at] == ANY:
            assert np.ptp(values) < 1e-3
        elif np.ptp(values) > 1e-2 * abs(values.max()):
            assert pair["action"][at] == values.argmax()


def test_arrows_and_ellipses_are_what_the_laws_say(field, agent):
    n = field["arrows"]
    for pair, slice_, levels, column, row in some_places(field, np.random.default_rng(1), 20):
        column, row = column % n, row % n
        point = observation(field, pair, levels, ((column + 0.5) / n, (row + 0.5) / n))
        explanation, drawn = agent.explain(point), [pair["x"], pair["y"]]
        for action in range(2):
            at = ((slice_ * n + row) * n + column) * 2 + action
            move = explanation.expected_observation[action] - point
            np.testing.assert_allclose(
                pair["move"][2 * at : 2 * at + 2], move[drawn], rtol=2e-3, atol=1e-5
            )
            xx, _, yy = pair["spread"][3 * at : 3 * at + 3]
            np.testing.assert_allclose(
                np.sqrt([xx, yy]), explanation.spread[action][drawn], rtol=1e-2
            )
            assert pair["end"][at] == pytest.approx(explanation.expected_end[action], abs=1e-3)


def test_of_many_features_those_that_matter_are_drawn():
    """Six features, of which the value depends on two: four are axes, among them those two."""
    stub = Resting({1: 3.0, 4: 2.0}, n_features=6)
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(300, 6))
    field = field_of(stub, points)
    assert {1, 4} <= set(field["features"])
    assert [field["features"][k] for k in field["first"]] == [1, 4]
    assert len(field["pairs"]) == 6
    rest = sorted(set(range(6)) - set(field["features"]))
    assert [one["feature"] for one in field["rest"]] == rest
    for one in field["rest"]:
        assert one["value"] == pytest.approx(np.median(points[:, one["feature"]]), rel=1e-5)


class Resting:
    """An agent with a value that is linear in some features, in a world that is at rest."""

    def __init__(self, slopes, n_features):
        self.slopes = slopes
        self.learner, self.n_steps, self.n_actions = self, 7, 3
        self.interface, self.state_ids = self, np.arange(2)
        self.n_features, self.feature_names = n_features, tuple("abcdefgh"[:n_features])

    def values_of(self, observations, belief):
        value = sum(slope * observations[:, k] for k, slope in self.slopes.items())
        return np.stack([value, value - 1.0, value - 2.0], axis=1)

    def forecast(self, observations):
        n, d, a = *observations.shape, self.n_actions
        still = np.repeat(observations[:, None], a, axis=1)
        return Forecast(still, np.zeros((n, a, d, d)), np.zeros((n, a)), np.zeros((n, a)))


def test_two_features_are_one_pair():
    field = field_of(Resting({0: 1.0}, n_features=2), np.random.default_rng(0).normal(size=(50, 2)))
    assert [(pair["x"], pair["y"]) for pair in field["pairs"]] == [(0, 1)]
    assert len(field["pairs"][0]["value"]) == field["grid"] ** 2
    assert set(field["pairs"][0]["action"]) == {0}
    assert field["rest"] == []


def test_places_have_no_field(run, paper_run, runs_folder):
    assert payload.field(run) is None
    assert payload.field(paper_run) is None
    assert payload.field(Run.open(runs_folder / "a-dqn")) is None


def test_a_run_whose_model_is_broken_has_no_field(flowing, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(flowing.folder, copy)
    for path in [copy / "model.safetensors", *(copy / "checkpoints").glob("*")]:
        path.write_bytes(path.read_bytes()[:1000])
    assert payload.field(Run.open(copy)) is None
    json.dumps(report_data([Run.open(copy)]))


# --- in a browser ---------------------------------------------------------------------------------


def shown(visit):
    """Which of the two panels is there to see."""
    return [panel for panel in ("policy", "field") if visit.page.locator(f"#{panel}").is_visible()]


def test_the_page_shows_the_field_of_a_flowing_world_only(browser, served, field):
    visit = Visit(browser, served)
    visit.open_run("b-cart-pole")
    visit.page.wait_for_selector("#field:not([hidden])")
    visit.settle()
    assert shown(visit) == ["field"]
    for pair in product(range(4), repeat=2):
        if pair[0] != pair[1]:
            visit.page.select_option("#field select[aria-label=across]", str(pair[0]))
            visit.page.select_option("#field select[aria-label=up]", str(pair[1]))
            visit.settle()
            assert visit.page.get_attribute("#field", "data-pair") == f"{pair[0]},{pair[1]}"
    visit.page.select_option("#field select[aria-label=laws]", "all")
    visit.settle()
    assert visit.page.locator("#field .law-mark").count() % 2 == 0
    assert visit.page.locator("#field .field-mark").count() > 10
    box = visit.page.locator("#field .law-mark .law").nth(40).bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "law of action" in visit.page.inner_text("#tooltip")
    tips = visit.page.locator("#field .law-mark").evaluate_all(
        "(nodes) => nodes.map((node) => node.dataset.tip)"
    )
    assert all("law of action" in tip and tip.count("±") == 2 for tip in tips)
    visit.open_run("d-maze")
    assert shown(visit) == ["policy"]
    assert visit.troubles == []
    visit.close()


def test_a_report_draws_the_field_and_its_levels(browser, flowing, field, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(report_page([flowing]))
    visit = Visit(browser, path.as_uri())
    assert shown(visit) == ["field"]
    visit.page.locator("#field .held input[type=range]").first.focus()
    visit.page.keyboard.press("ArrowLeft")  # the level, not the step
    visit.settle()
    state = visit.page.evaluate(
        """() => { const c = document.querySelector("#field canvas");
            const p = document.querySelector("#field");
            const image = c.getContext("2d").getImageData(0, 0, c.width, c.height);
            return { step: window.tgmInspector.step, pair: p.dataset.pair,
                slice: Number(p.dataset.slice), text: p.querySelector(".legend").textContent,
                pixels: Array.from(image.data) }; }"""
    )
    assert state["step"] == 250
    x, y = sorted(int(k) for k in state["pair"].split(","))
    pair = next(one for one in field["pairs"] if (one["x"], one["y"]) == (x, y))
    n = field["grid"]
    values = np.array(pair["value"]).reshape(-1, n, n)[state["slice"]]
    drawn = np.array(state["pixels"]).reshape(n, n, 4)[::-1]  # the first row is the top
    # The colours get lighter with the value, from the lowest to the highest.
    assert tuple(drawn[np.unravel_index(values.argmin(), values.shape)]) == (68, 1, 84, 255)
    assert tuple(drawn[np.unravel_index(values.argmax(), values.shape)]) == (253, 231, 37, 255)
    order = np.argsort(values, axis=None)
    green = drawn[..., 1].ravel()[order]
    assert (np.diff(green) >= 0).all()
    assert "imagined state" in state["text"]
    assert visit.troubles == []
    visit.close()
