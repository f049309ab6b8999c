"""Rows of a transition model, weighed: what each does, whether it is random, how sure that is."""

from __future__ import annotations

import math

from tgm.distributions import FloatArray
from tgm.transition.chance import (
    RANDOM_ROWS,
    WORLD_OF_CHANCE,
    chances_of_rows,
    log_odds_of_chance,
    probability_of_chance,
    share_of_random_rows,
    whole_tries,
)
from tgm.transition.noisy_rows import NoisyRows
from tgm.transition.planned_rows import Key
from tgm.transition.rows import (
    LEAST_OUTCOME_COUNT,
    NO_COUNT,
    Outcomes,
    Row,
    certainty,
    evened,
    goes_on,
    outcomes,
)

START = -1  # the state before an episode's first one
ENDED = -2  # the outcome "the episode ended", wherever


class WeighedRows(NoisyRows):
    """Counts of rows, and what follows from them for the planner.

    Certainty is what a row is worth as knowledge: of a row that always does the same, see
    `rows.certainty`; of a random one, its tries. A row that waits for a retry has none, nor has one
    that always did the same and just has not. Which it is, the evidence says (`transition.chance`).

    Attributes:
        rows: tries of each (state, action, next state).
        ended: those of them that ended the episode.
        predecessors: the rows that lead to each state.
        log_fade: ln of the factor by which the first step has faded.
        retries: rows that wait for one more try.
        runs: of rows that fail, the unusual outcomes since the usual one was seen last.
        unweighed: rows that always did the same, whose tries since were not weighed yet.
        counted: rows whose tries have changed since somebody cleared it.
        share_random: share of the rows that are random.
        evenness: tries by which each outcome of a random row is worth more.
        favour: tries by which its usual outcome is worth more than that.
    """

    def __init__(self, n_actions: int, gamma: float) -> None:
        """Know of no state."""
        super().__init__(n_actions, gamma)
        self.rows: dict[Key, Row] = {}
        self.ended: dict[Key, Row] = {}
        self.predecessors: list[set[Key]] = []
        self.log_fade = 0.0
        self.retries: set[Key] = set()
        self.runs: dict[Key, list[int]] = {}
        self.unweighed: set[Key] = set()
        self.counted: set[Key] = set()
        self.share_random = RANDOM_ROWS
        self.evenness = self.favour = 0.0

    def _outcome_counts(self, key: Key) -> Row:
        """Tries of each outcome of a row; all that ended the episode are one."""
        row = self.rows.get(key, {})
        ended = self.ended.get(key)
        if ended is None:
            return dict(row)
        return goes_on(row, ended) | {ENDED: sum(ended.values())}

    @property
    def _places(self) -> int:
        """Number of possible outcomes of a row: an action leads to few places."""
        return 2 * self.n_actions

    # --- chance -----------------------------------------------------------------------------------

    def learn_chance(self) -> None:
        """Learn the share of random rows; rows that are taken for something else now follow."""
        self.weigh_all()
        judged = self.log_chance != 0.0
        self.share_random = share_of_random_rows(self.log_chance, judged, self.share_random)
        odds = math.log(self.share_random / (1.0 - self.share_random))
        is_random = (self.log_chance + odds > 0.0) & (self.visits > NO_COUNT)
        for key in zip(*(i.tolist() for i in (is_random != self.is_random).nonzero()), strict=True):
            self._refresh(key)

    def weigh_all(self) -> None:
        """Weigh the rows that were counted since without it."""
        for key in self.unweighed:
            self._weigh_chance(key)
        self.unweighed.clear()

    def learn_evenness(self) -> None:
        """Learn how the chances of random rows are shared; all of them follow if that changes."""
        keys = [key for key in self.rows if key[0] != START and self.is_random[key]]
        counts = [self._outcome_counts(key).values() for key in keys]
        chances = chances_of_rows([[c for c in row if c >= LEAST_OUTCOME_COUNT] for row in counts])
        if chances != (self.evenness, self.favour):
            self.evenness, self.favour = chances
            for key in keys:
                self._refresh(key)

    def chance(self, n_slots: int) -> FloatArray:
        """(n_slots, n_actions) probability that each row is random."""
        return probability_of_chance(self.log_chance[:n_slots], self.share_random)

    # --- the planner's arrays ---------------------------------------------------------------------

    def _refresh(self, key: Key) -> None:
        """Bring the planner's arrays up to date with one row."""
        self.touched.add(key)
        self.unweighed.discard(key)
        visits, row = self.visits.item(key), self.rows.get(key)
        if visits <= NO_COUNT or not row:
            self.is_random[key] = False
            self._clear(key)
            return
        end = min(1.0, self.end_sum.item(key) / visits)
        reward = self.reward_sum.item(key) / visits
        is_random = self._weigh_chance(key)
        if len(row) == 1:  # the usual case: one successor
            ((after, sure),) = row.items()
            items = [(after, 1.0)]
        else:
            onward = goes_on(row, self.ended[key]) if key in self.ended else row
            if is_random and onward:
                sure = visits
                items, end, reward = self._evened(key, onward)
            else:
                sure, items = certainty(row, visits), outcomes(onward or row, visits)
        is_doubted = key in self.runs and not is_random and self.share_random < WORLD_OF_CHANCE
        if key in self.retries or is_doubted:
            sure = 0.0
        self.certainty[key] = sure
        expected = None if self.noise is None else self._posterior_reward(key)
        self._plan_with(key, items, reward if expected is None else expected, end)

    def _evened(self, key: Key, onward: Row) -> tuple[Outcomes, float, float]:
        """Outcomes, probability of an end and expected reward of a random row."""
        visits, ended = float(self.visits[key]), float(self.end_sum[key])
        items, end = evened(onward, ended, self.evenness, self.favour)
        if end == 0.0 or visits - ended <= NO_COUNT:
            return items, end, float(self.reward_sum[key]) / visits
        last = float(self.end_reward[key])
        others = (float(self.reward_sum[key]) - last) / (visits - ended)
        return items, end, end * last / ended + (1.0 - end) * others

    def _weigh_chance(self, key: Key) -> bool:
        """Whether a row is taken for random; its evidence is noted."""
        tries = whole_tries(self._outcome_counts(key).values())
        odds = log_odds_of_chance(tries, self._places) if sum(tries) > 1 else 0.0
        self.log_chance[key] = odds
        share = self.share_random
        is_random = odds + math.log(share / (1.0 - share)) > 0.0
        self.is_random[key] = is_random
        return is_random
