"""Exploration strategies by name. A new strategy is one module here, one line below and one test.

A strategy that stands outside this package is added with `register`, before its name is used in a
`TGMConfig`; tests/planning/exploration/test_new_strategy.py is a complete example.
"""

from tgm.errors import ConfigError
from tgm.planning.exploration.epsilon_greedy import EpsilonGreedy
from tgm.planning.exploration.greedy import Greedy
from tgm.planning.exploration.information_gain import InformationGain
from tgm.planning.exploration.optimism import Optimism
from tgm.planning.exploration.posterior_sampling import PosteriorSampling
from tgm.planning.exploration.softmax import Softmax
from tgm.planning.exploration.strategy import ExplorationStrategy, Settings

STRATEGIES: dict[str, type[ExplorationStrategy]] = {
    "optimism": Optimism,
    "information_gain": InformationGain,
    "posterior_sampling": PosteriorSampling,
    "epsilon_greedy": EpsilonGreedy,
    "softmax": Softmax,
    "greedy": Greedy,
}
"""The names that `TGMConfig.exploration` may have, and what they stand for."""


def register(name: str, strategy: type[ExplorationStrategy]) -> None:
    """Make a strategy known under a name; a name can be registered once."""
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigError(f"the name is {name!r}; it must be a word of letters, digits and _")
    if not (isinstance(strategy, type) and issubclass(strategy, ExplorationStrategy)):
        raise ConfigError(f"'{name}' is {strategy!r}; it must be a class of ExplorationStrategy")
    known = STRATEGIES.setdefault(name, strategy)
    if known is not strategy:
        raise ConfigError(
            f"the exploration strategy '{name}' is already registered as {known.__name__}; "
            "register the new one under another name"
        )


__all__ = ["STRATEGIES", "ExplorationStrategy", "Settings", "register"]
