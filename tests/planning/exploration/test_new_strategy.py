"""How to add a strategy: a class, one line that registers it, and its name in TGMConfig."""

import gymnasium as gym
import pytest

import tgm
from tgm.errors import ConfigError
from tgm.planning.exploration import STRATEGIES, ExplorationStrategy, register
from tgm.planning.exploration.greedy import Greedy
from tgm.planning.exploration.strategy import expected_values


class LeastTried(ExplorationStrategy):
    """Takes the action that was tried least in the current state."""

    needs_model = True  # the numbers of tries come from the model

    def values(self, planner, belief, alive, n_steps, rng):
        """(n_actions,) minus the expected number of tries."""
        return expected_values(-planner.model.visits, belief)

    def choose(self, values, n_steps, rng):
        """The first of the best."""
        return int(values.argmax())


@pytest.fixture
def least_tried():
    register("least_tried", LeastTried)
    yield "least_tried"
    del STRATEGIES["least_tried"]


def test_a_registered_strategy_is_used_by_its_name(least_tried, tmp_path):
    config = tgm.TGMConfig(exploration=least_tried)
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), config, seed=0).learn(400)
    assert agent.n_states == 8
    tries = agent.transition_counts.sum(axis=-1)  # (n_actions, n_states)
    assert (tries.max(axis=0) - tries.min(axis=0)).max() < 3
    agent.save(tmp_path / "agent.tgm")
    loaded = tgm.TGMAgent.load(tmp_path / "agent.tgm")
    assert loaded.config.exploration == "least_tried"


def test_without_its_registration_the_name_is_refused():
    with pytest.raises(ConfigError, match=r"'least_tried'; it must be one of optimism, .*greedy"):
        tgm.TGMConfig(exploration="least_tried")


def test_a_strategy_that_needs_a_model_is_refused_without_one(least_tried):
    with pytest.raises(ConfigError, match="one of epsilon_greedy, softmax, greedy with mean shift"):
        tgm.TGMConfig.paper(exploration=least_tried)


def test_a_name_is_registered_once():
    register("greedy", Greedy)  # the same class again changes nothing
    with pytest.raises(ConfigError, match="'greedy' is already registered as Greedy"):
        register("greedy", LeastTried)
    assert STRATEGIES["greedy"] is Greedy


def test_what_is_no_strategy_cannot_be_registered():
    for name, strategy in ((7, LeastTried), ("two words", LeastTried), ("fine", 5), ("fine", int)):
        with pytest.raises(ConfigError, match="it must be"):
            register(name, strategy)
    assert 7 not in STRATEGIES
