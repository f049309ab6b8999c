"""Places that look alike, found in episodes: several foldings compete, and one state per symbol."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tgm.structure.cue_model import MODELS, cued_foldings
from tgm.structure.edge_code import log_edges, log_joined_edges
from tgm.structure.folding import MOST_WORK, Folding, labelled_folding
from tgm.structure.foresight import Foresight
from tgm.structure.reckoned_map import filtered_folding, reckoned_folding
from tgm.structure.reckoning import Reckoning
from tgm.transition.automaton import BEGIN, END, Automaton, Episode, Outcome, Row
from tgm.transition.clone_evidence import Kind, OutcomeBase, log_chance, log_mixed, log_same


class Setting(NamedTuple):
    """How sure a fold must be, in nats, step by step; the strength of the base; and strictness."""

    levels: tuple[float, ...]
    strength: float
    is_strict: bool = False


LEVELS = ((3.0, 1.0), (1.5,), (6.0, 2.0))  # nats by which a fold must win, tried in turn
BASE_STRENGTHS = (0.5, 0.1, 0.02)  # places that an outcome counts for before it was seen
CHANCES = (0.01, 0.1, 0.4, 0.8)  # shares of rows of chance that compete
CUED_SHARES = (0.02, 0.1, 0.5)  # shares of rows that depend on a cue; as likely as each other
FIRST = Setting(LEVELS[0], BASE_STRENGTHS[0])


def setting_of(folding: Folding) -> Setting:
    """With which a folding is settled as more is known."""
    return Setting(LEVELS[0], folding.base.strength, folding.is_strict)


def fold_episodes(
    episodes: Sequence[Episode],
    base: OutcomeBase,
    settings: Sequence[Setting],
    most_work: float = MOST_WORK,
    before: Reckoning | None = None,
) -> tuple[Folding, Setting] | None:
    """The folding with the highest evidence, and the setting that made it.

    Foldings of the prefix tree, one for each setting, compete with those by a cue, and with a map
    by dead reckoning. None if all took too long.

    Args:
        episodes: what happened.
        base: what actions do at places that look alike, as it was believed before.
        settings: those that compete.
        most_work: rows that are laid onto others, for each node.
        before: the reckoning so far.
    """
    tree, best = Automaton.of(episodes), None
    for setting in settings:
        folding = Folding(
            tree.copy(),
            base.with_strength(setting.strength),
            most_work,
            is_strict=setting.is_strict,
        )
        folding.settle(setting.levels)
        evidence = folding_evidence(folding)
        if not folding.is_given_up and (best is None or evidence > best[0]):
            best = evidence, folding, setting
    strength = settings[0].strength
    rivals = cued_foldings(episodes, strength) + reckoned_rivals(episodes, before)
    if best is not None and rivals:  # those have no undecided nodes, which fit any outcome
        best = folding_evidence(best[1].closed()), best[1], best[2]
    for cued in rivals:
        evidence = folding_evidence(cued)
        if best is None or evidence > best[0]:
            best = evidence, cued, settings[0]
    return None if best is None else (best[1], best[2])


def reckoned_rivals(episodes: Sequence[Episode], before: Reckoning | None) -> list[Folding]:
    """The map by dead reckoning, if it explains more than one state for each symbol.

    None where no actions undo each other: how an episode began would be a cue without a price.
    """
    found = best_reckoned(episodes, before)
    has_axes = found.reckoning is not None and len(found.reckoning.axes) > 0
    return [found] if has_axes and folding_evidence(found) > sure_evidence(episodes) else []


def best_reckoned(episodes: Sequence[Episode], before: Reckoning | None) -> Folding:
    """The map by dead reckoning, with the best strength of the base."""
    found = reckoned_folding(episodes, BASE_STRENGTHS[0], folding_evidence, before)
    bases = [found.base.with_strength(one) for one in BASE_STRENGTHS]
    evidence = []
    for found.base in bases:
        evidence.append(folding_evidence(found))
    found.base = bases[int(np.argmax(evidence))]
    return found


def sure_map(episodes: Sequence[Episode]) -> tuple[Folding, float] | None:
    """A map that nothing contradicts, and nats by which it is better than one state per symbol.

    What it foresees does not count: one place for each symbol would foresee as much. None if there
    is no such map.
    """
    found = filtered_folding(episodes, BASE_STRENGTHS[0])
    if found is None:
        return None
    return found, folding_evidence(found, foresees=False) - sure_evidence(episodes)


def closed_evidence(folding: Folding | None) -> float:
    """The evidence of a folding if nothing is left undecided, which would explain anything.

    Minus infinity if there is none, or if that takes too long.
    """
    closed = None if folding is None else folding.closed()
    return -math.inf if closed is None or closed.is_given_up else folding_evidence(closed)


def better_closed(one: Folding | None, other: Folding) -> Folding | None:
    """The one of two foldings whose evidence is higher if nothing is left undecided."""
    return other if closed_evidence(other) > closed_evidence(one) else one


def folding_evidence(folding: Folding, *, foresees: bool = True) -> float:
    """ln evidence of all episodes by a folding: rows of clones, then of what is undecided.

    `foresees` is whether it counts what dead reckoning foresees.
    """
    if folding.is_cued:
        return _cued_evidence(folding)
    graph = folding.graph
    tally = _Tally(folding.base.strength)
    foresight = None
    if foresees and folding.reckoning is not None:
        foresight = Foresight(folding, folding.reckoning)
    for node in graph.reachable(folding.clones):
        for action, row in graph.rows[node].items():
            if action != BEGIN:
                if foresight is not None:
                    foresight.add(tally.base, node, action)
                tally.add((graph.symbols[node], action), row)
    foreseen = 0.0 if foresight is None else foresight.gain
    return log_edges(folding) + tally.log_evidence() + foreseen


def _cued_evidence(folding: Folding) -> float:
    """ln evidence where the cue may matter for each action at each symbol, or not.

    Where it does not, places with different cues have one row. A cue leads to no choice of edges:
    they are as likely as with one state for each symbol.
    """
    graph, by_kind = folding.graph, dict[tuple[int, int, int], list[Row]]()
    for node in graph.reachable(folding.clones):
        symbol = graph.symbols[node]
        place = folding.place_of.get(node, symbol)
        for action, row in graph.rows[node].items():
            by_kind.setdefault((symbol, action, place), []).append(row)
    together = {kind: _joined(rows) for kind, rows in by_kind.items()}
    sure = folding.edge_nats
    if not folding.place_of:
        sure = log_joined_edges((kind[0], row) for kind, row in together.items())
    kinds, base = list[tuple[_Tally, _Tally]](), OutcomeBase(folding.base.strength)
    for (symbol, action, place), rows in by_kind.items():
        if action == BEGIN:
            continue
        kind, joined = (symbol, action), together[symbol, action, place]
        expected = base.counts.get(kind, {})
        one = apart = _tally(kind, [joined], expected, base.strength)
        if len(rows) > 1:  # otherwise there is nothing to join
            apart = _tally(kind, rows, expected, base.strength)
        base.add_row(kind, joined)
        kinds.append((one, apart))
    return sure - math.log(MODELS) + max(_log_cued(kinds, chance) for chance in CHANCES)


def _joined(rows: Sequence[Row]) -> Row:
    """The outcomes of all rows."""
    together: Row = {}
    for row in rows:
        for outcome, (count, target) in row.items():
            together.setdefault(outcome, [0, target])[0] += count
    return together


def _log_cued(kinds: Sequence[tuple[_Tally, _Tally]], chance: float) -> float:
    """ln evidence of rows together or apart, averaged over the shares of those that are apart."""
    one = np.array([together.log_given(chance) for together, _ in kinds])
    apart = np.array([rows.log_given(chance) for _, rows in kinds])
    shares = np.array(CUED_SHARES)[:, None]
    found = np.logaddexp(np.log1p(-shares) + one, np.log(shares) + apart).sum(axis=1)
    return float(np.logaddexp.reduce(found)) - math.log(len(found))


def gain_of_cue(episodes: Sequence[Episode]) -> float:
    """Nats by which the best cue explains all episodes better than one state for each symbol.

    Minus infinity if no look can be a cue.
    """
    foldings = cued_foldings(episodes, FIRST.strength)
    best = max((folding_evidence(one) for one in foldings), default=-math.inf)
    return best - plain_evidence(episodes)


def gain_of_clones(folding: Folding, episodes: Sequence[Episode]) -> float:
    """Nats by which clones explain all episodes better than one state for each symbol.

    Undecided nodes fit any outcome, so each is first folded onto its most likely clone. Minus
    infinity if that takes too long. With dead reckoning it is known where edges lead; so it is then
    with one state for each symbol.
    """
    plain = plain_evidence if folding.reckoning is None else sure_evidence
    return closed_evidence(folding) - plain(episodes)


def plain_evidence(episodes: Sequence[Episode]) -> float:
    """ln evidence of all episodes with one state for each symbol."""
    return folding_evidence(_plain(episodes))


def sure_evidence(episodes: Sequence[Episode]) -> float:
    """The same where it is sure that no look has two places: it is known where edges lead."""
    plain = _plain(episodes)
    return folding_evidence(plain) - log_edges(plain)


def _plain(episodes: Sequence[Episode]) -> Folding:
    labels = [[END if one.ended else one.symbol for _, one in episode] for episode in episodes]
    # There is one row of each kind, which no other row predicts: the strength does not matter.
    return labelled_folding(episodes, labels, BASE_STRENGTHS[0])


def _tally(
    kind: Kind, rows: Sequence[Row], expected: dict[Outcome, int], strength: float
) -> _Tally:
    """Of rows of one kind, where so many other places show the outcomes that are expected."""
    tally = _Tally(strength)
    for outcome, n in expected.items():
        tally.expect(kind, outcome, n)
    for row in rows:
        tally.add(kind, row)
    return tally


class _Tally:
    """Evidence of rows in turn, each expected by those before; the share of chance is learned."""

    def __init__(self, strength: float) -> None:
        """Nothing is known."""
        self.base = OutcomeBase(strength)
        self._rows: list[tuple[float, float]] = []  # ln evidence if it is the same, or chance
        self._sure = 0.0

    def expect(self, kind: Kind, outcome: Outcome, n: int) -> None:
        """So many places show an outcome, whose rows are not counted here."""
        self.base.add(kind, outcome, n)

    def add(self, kind: Kind, row: Row) -> None:
        """One more row."""
        same = log_same(row, kind, self.base)
        if len(row) == 1:
            self._sure += same
        else:
            self._rows.append((same, log_chance(row, kind, self.base)))
        self.base.add_row(kind, row)

    def log_evidence(self) -> float:
        """With the share of chance that explains the rows best."""
        return max(self.log_given(chance) for chance in CHANCES)

    def log_given(self, chance: float) -> float:
        """With one share of chance."""
        return self._sure + sum(log_mixed(same, other, chance) for same, other in self._rows)
