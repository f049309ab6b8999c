"""Imagined episodes: every rival gets what a loop over its episodes says."""

import numpy as np
import pytest
from tests.planning.test_flow_planner import GAMMA, pushed

from tgm.planning.imagination import IMAGINED, Outlook, imagined_returns
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_units import FlowUnits

STARTS = np.array([[0.0, 0.0], [-0.5, 0.0], [0.7, 0.1], [0.8, 0.3]])
NEWS = np.array([[4e-4, 1e-4], [1e-4, 9e-4]])


@pytest.fixture(scope="module")
def outlook() -> Outlook:
    steps = pushed()
    units = FlowUnits.of_features(steps)
    local = units.seen(steps)
    return Outlook.of(FlowModel.of(local, 2), units, local, GAMMA)


@pytest.fixture(scope="module")
def noisy(outlook) -> Outlook:
    model = outlook.model.frozen()
    model.observation_noise, model.news = NEWS, NEWS
    return outlook._replace(model=model)


def pushes(points, rival):
    """The first rival always pushes ahead, the second back, the third away from the middle."""
    away = (points[:, 0] > 0.0).astype(np.intp)
    return np.where(rival == 0, 1, np.where(rival == 1, 0, away))


def returns_by_loop(outlook: Outlook, rival: int, n_steps: int = IMAGINED) -> float:
    """The mean over starts, one episode after the other, with the numbers that all share."""
    model, units, totals = outlook.model, outlook.units, []
    news = np.random.default_rng(0).normal(size=(n_steps, *STARTS.shape))
    for index, start in enumerate(STARTS):
        total, discount, now, action = 0.0, 1.0, start[None], None
        for step in range(n_steps):
            if step % 2 == 0:
                action = pushes(now, np.array([rival]))
            arrival, p_end, reward = model.advance(units.local(now), action)
            total += discount * reward[0]
            if p_end[0] > 0.5:
                break
            discount *= GAMMA
            if not outlook.seen.holds(arrival)[0]:
                total += discount * outlook.lowest
                break
            if discount <= 1e-3:
                break
            if model.has_noise:
                arrival = arrival + news[step, index] @ np.linalg.cholesky(model.news).T
            now = units.observations(arrival)
        totals.append(total)
    return float(np.mean(totals))


@pytest.mark.parametrize("which", ["outlook", "noisy"])
def test_returns_of_rivals_are_those_of_a_loop(which, request):
    outlook = request.getfixturevalue(which)
    found = imagined_returns(outlook, STARTS, GAMMA, pushes, 3)
    np.testing.assert_allclose(found, [returns_by_loop(outlook, k) for k in range(3)], rtol=1e-9)
    assert len(set(found.tolist())) == 3


def test_episodes_have_as_many_steps_as_are_asked_for(noisy):
    found = imagined_returns(noisy, STARTS, GAMMA, pushes, 3, n_steps=7)
    np.testing.assert_allclose(found, [returns_by_loop(noisy, k, 7) for k in range(3)], rtol=1e-9)
    assert (found != imagined_returns(noisy, STARTS, GAMMA, pushes, 3)).all()


def test_the_same_numbers_serve_all_rivals(noisy):
    found = imagined_returns(noisy, STARTS, GAMMA, lambda now, _: pushes(now, 0), 3)
    np.testing.assert_allclose(found, found[0], rtol=1e-12)


def test_imagination_ends_when_no_rival_can_be_worth_enough(outlook):
    whole = imagined_returns(outlook, STARTS, GAMMA, pushes, 3)
    steps = []

    def counted(points, rival):
        steps.append(len(points))
        return pushes(points, rival)

    enough = float(whole.max()) - 1e-9
    np.testing.assert_array_equal(
        imagined_returns(outlook, STARTS, GAMMA, counted, 3, enough), whole
    )
    n_looks = len(steps)
    steps.clear()
    found = imagined_returns(outlook, STARTS, GAMMA, counted, 3, float(whole.max()) + 1.0)
    assert len(steps) < n_looks
    assert (whole <= found).all()
    assert (found < whole.max() + 1.0).all()
