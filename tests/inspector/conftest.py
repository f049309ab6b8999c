"""Runs that are recorded once, and a browser."""

import pytest
from tests.inspector.browsing import Visit, open_browser, serve
from tests.inspector.recorded import (
    in_short_chunks,
    record_cart_pole,
    record_maze,
    record_other_worlds,
    record_returns,
)

from tgm.runs import Run


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory):
    """A folder with four runs: ours, the paper's, one with four features, one with returns only."""
    root = tmp_path_factory.mktemp("runs")
    record_returns(root / "a-dqn")
    record_cart_pole(root / "b-cart-pole", 250)
    record_maze(root / "c-paper", "8", 600, preset="paper")
    with in_short_chunks():
        record_maze(root / "d-maze", "8", 1100)
    return root


@pytest.fixture(scope="session")
def other_worlds(tmp_path_factory):
    """A folder with runs in FrozenLake, 16 features, a hidden world, and a maze of 1,024 cells."""
    return record_other_worlds(tmp_path_factory.mktemp("worlds"))


@pytest.fixture(scope="session")
def run(runs_folder):
    """Our agent in maze 8."""
    return Run.open(runs_folder / "d-maze")


@pytest.fixture(scope="session")
def paper_run(runs_folder):
    """The paper's agent in maze 8."""
    return Run.open(runs_folder / "c-paper")


@pytest.fixture(scope="session")
def browser():
    """Chromium of the system, driven by playwright."""
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def served(runs_folder):
    """The address, with its token, of a server of the first four runs."""
    with serve(runs_folder) as url:
        yield url


@pytest.fixture(scope="session")
def all_served(runs_folder, other_worlds):
    """The address of a server of all runs."""
    with serve(runs_folder, other_worlds) as url:
        yield url


@pytest.fixture(scope="module")
def visit(browser, all_served):
    """One page for all worlds."""
    opened = Visit(browser, all_served)
    yield opened
    assert opened.troubles == []
    opened.close()
