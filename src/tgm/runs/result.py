"""What result.json says of an agent at the end of its run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tgm.agent import TGMAgent
from tgm.agent.diagnosis import relevance_in_words

MOST_TEXTS = 10  # of a list in a file: more are not believed
LONGEST_TEXT = 2000  # characters


def result_of(agent: TGMAgent, returns: Collection[float]) -> dict[str, Any]:
    """The counts, the mean of the last `returns`, the advice, and the features left out."""
    relevance = agent.relevance
    result: dict[str, Any] = {
        "steps": agent.n_steps,
        "episodes": agent.n_episodes,
        "states": agent.n_states,
        "recent_return": sum(returns) / len(returns) if returns else None,
        "advice": [str(advice) for advice in agent.advice],
    }
    if not all(relevance.values()):
        result["left_out"] = [name for name, is_used in relevance.items() if not is_used]
        result["features"] = relevance_in_words(relevance)
    return result


def texts(values: object, most: int = MOST_TEXTS) -> tuple[str, ...]:
    """A list of texts from a file, as far as it is one; at most `most` of them."""
    if not isinstance(values, list):
        return ()
    return tuple(one[:LONGEST_TEXT] for one in values[:most] if isinstance(one, str))
