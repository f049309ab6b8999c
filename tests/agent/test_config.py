"""Settings are checked when they are made."""

import dataclasses

import pytest

from tgm import TGMConfig
from tgm.errors import ConfigError
from tgm.planning.exploration import STRATEGIES


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gamma", 1.5),
        ("gamma", -0.1),
        ("gamma", float("nan")),
        ("learning_rate", 0.0),
        ("learning_rate", float("nan")),
        ("learn_every", 0),
        ("learn_every", 2.5),
        ("bandwidth", -1.0),
        ("bandwidth", float("inf")),
        ("kl_threshold", 0.0),
        ("fix_after", -1),
        ("epsilon_decay", 0.0),
        ("temperature", 0.0),
        ("transition_prior", 0.0),
        ("exploration", "luck"),
    ],
)
def test_a_bad_value_is_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=f"{name} is "):
        TGMConfig(**{name: value})


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_mean_shift_takes_the_strategies_that_need_no_model(name):
    if STRATEGIES[name].needs_model:
        with pytest.raises(ConfigError, match=f"exploration is '{name}'; it must be one of"):
            TGMConfig.paper(exploration=name)
    else:
        assert TGMConfig.paper(exploration=name).exploration == name


def test_the_paper_preset_has_the_published_constants():
    config = TGMConfig.paper()
    assert (config.gamma, config.learning_rate, config.epsilon_decay) == (0.99, 0.1, 2000)
    assert (config.learn_every, config.kl_threshold, config.fix_after) == (100, 0.5, 4)
    assert (config.bandwidth, config.exploration) == (0.5, "epsilon_greedy")
    assert TGMConfig.paper(gamma=0.9).gamma == 0.9


def test_settings_survive_a_round_trip_and_strangers_are_refused():
    config = TGMConfig.paper(gamma=0.9, transition_prior=0.1)
    assert TGMConfig.from_dict(dataclasses.asdict(config)) == config
    with pytest.raises(ConfigError, match="charm"):
        TGMConfig.from_dict({"charm": 1})
    with pytest.raises(ConfigError, match="there are default, paper"):
        TGMConfig.preset("best")
