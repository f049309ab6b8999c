"""Optimism: a row (state, action) that is not known yet is worth more than any known reward.

The agent goes where the unknown is nearest. When no unknown row can be reached, the rows that are
trusted least are asked for one more try: a row that was misread may block the way to a reward.

A random row is not known by one try, but by degrees: a share of its tries, which falls as it is
tried, shows what it has not shown yet, and each try has a bonus for the error of its numbers.
"""

from __future__ import annotations

import numpy as np

from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.files.arrays import ArrayReader, Arrays, number
from tgm.memory.step import Belief
from tgm.planning.exploration.strategy import ExplorationStrategy, Settings, expected_values
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.chance import WORLD_OF_CHANCE, unseen_share
from tgm.transition.sparse import SparseTransitions

FIRST_TRY = 0.5  # certainty, in tries: a row is unknown below it
RETRY_GROWTH = 1.2  # factor of n_steps between two times at which known rows are tried again
RETRY_SHARE = 10  # one in so many known rows is tried again: the least trusted
LOOK_EVERY = 10  # steps between two searches for unknown rows, if nothing asks for one earlier
SWEEP_TOLERANCE = 0.02  # steps: values are exact to what so many steps more or less are worth
LEAST_CHANGE = 1e-6  # ranges of reward: values that differ by less are the same
CHANCE_BONUS = 0.02  # ranges of reward: least bonus of a random row that was tried once
FIRST_BONUS = 0.03  # the least bonus while all rewards were equal: nothing else ranks rows then
REWARD_CONFIDENCE = 2.0  # standard errors of a random reward that are added to it
CONFIDENCE = 0.3  # standard errors of the value of a random row that are added to it
UNSEEN_WAY = 0.2  # tries that "leads somewhere unknown" is worth in a random row
BONUS_MOVED = 0.1  # share of a bonus by which it must change to be planned with again
VALUE_GROWTH = 1.2  # factor of n_steps after which the best known value is computed again
TIES = 1e-9  # share of (best value - lowest value): nearer values are equally good


class Optimism(ExplorationStrategy):
    """Keeps the optimistic values up to date as the model changes; the default strategy."""

    needs_model = True

    def __init__(self, settings: Settings) -> None:
        """Look for unknown rows at the first call."""
        super().__init__(settings)
        self._retry_at = 0.0  # step from which known rows may be tried again
        self._look_at = 0.0  # step of the next search for unknown rows
        self._is_due = True  # whether that search is due at once
        self._is_stuck = False  # whether no unknown row can be reached
        self._may_retry = True  # whether another search may find more than the last one
        self._n_revisions = 0  # planner.n_revisions at the last search
        self._value_at = 0.0  # step from which the best known value is computed again

    def values(
        self,
        planner: ModelPlanner,
        belief: Belief,
        alive: IntArray,
        n_steps: int,
        rng: np.random.Generator,
    ) -> FloatArray:
        """(n_actions,) optimistic values of the actions in a belief."""
        options, _ = self._options(planner, belief, alive, n_steps)
        return np.array(level_ties(options, planner.lowest))

    def _options(
        self, planner: ModelPlanner, belief: Belief, alive: IntArray, n_steps: int
    ) -> tuple[list[float], float]:
        """The same with ties as they are, and the best of them.

        As plain numbers, which are faster for few actions.
        """
        if not belief:
            return [0.0] * planner.model.n_actions, 0.0
        self._update(planner, n_steps, alive)
        sweeper = planner.sweeper
        q = sweeper.q
        values = q[belief[0][0]] if len(belief) == 1 else expected_values(q, belief)
        options: list[float] = values.tolist()
        top = max(options)
        if not sweeper.active:  # otherwise the values are not final
            self._note_best(planner, top, n_steps)
        return options, top

    def act(
        self,
        planner: ModelPlanner,
        belief: Belief,
        alive: IntArray,
        n_steps: int,
        rng: np.random.Generator,
    ) -> int:
        """One of the best actions; defined here so that an ordinary step stays in this module."""
        options, top = self._options(planner, belief, alive, n_steps)
        return one_of_the_best(options, rng, top - TIES * abs(top - planner.lowest))

    def choose(self, values: FloatArray, n_steps: int, rng: np.random.Generator) -> int:
        """One of the best actions."""
        return one_of_the_best(values.tolist(), rng)

    def to_arrays(self) -> Arrays:
        """When to look for unknown rows, and when to try known ones again."""
        return {
            "retry_at": number(self._retry_at),
            "look_at": number(self._look_at),
            "value_at": number(self._value_at),
            "is_due": np.array([self._is_due]),
            "is_stuck": np.array([self._is_stuck]),
            "may_retry": np.array([self._may_retry]),
            "n_revisions": np.array([self._n_revisions]),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave."""
        self._retry_at, self._look_at = saved.number("retry_at"), saved.number("look_at")
        self._value_at = saved.number("value_at")
        self._is_due = bool(saved.flags("is_due", 1)[0])
        self._is_stuck = bool(saved.flags("is_stuck", 1)[0])
        self._may_retry = bool(saved.flags("may_retry", 1)[0])
        self._n_revisions = saved.count("n_revisions")

    def _update(self, planner: ModelPlanner, n_steps: int, alive: IntArray) -> None:
        """Bring the values up to date, at a cost that depends on what changed."""
        model, sweeper = planner.model, planner.sweeper
        if model.changed:
            sweeper.active |= model.changed
            model.changed.clear()
        if model.touched:
            # While all rewards are equal, nothing was gained yet: look again as soon as the last
            # unknown row has become known.
            if self._mark_touched(planner) and planner.best_reward == planner.worst_reward:
                self._is_due = self._is_due or not sweeper.is_set[alive].any()
            model.touched.clear()
        if self._is_due or n_steps >= self._look_at or self._n_revisions != planner.n_revisions:
            self._look_again(planner, n_steps, alive)
        if sweeper.active:
            by_chance = planner.best_known is not None
            # One step more or less changes a value by the share 1 - gamma.
            tolerance = SWEEP_TOLERANCE * (1.0 - planner.gamma)
            least = LEAST_CHANGE * planner.reward_range
            sweeper.sweep(alive, tolerance, planner.lowest, least, by_chance=by_chance)

    def _mark_touched(self, planner: ModelPlanner) -> bool:
        """Whether rows that were counted have become known, or unknown; marks them.

        Their value if unknown, `sweeper.set_to`, is the highest one already: from the birth of the
        state, or from the search that follows every change of the highest value.
        """
        is_changed, sweeper = False, planner.sweeper
        certainty, is_set = planner.model.certainty.item, sweeper.is_set.item
        for row in planner.model.touched:
            unknown = certainty(row) < FIRST_TRY
            if unknown != is_set(row):
                is_changed = True
                sweeper.is_set[row] = unknown
                sweeper.active.add(row[0])
        return is_changed

    def _look_again(self, planner: ModelPlanner, n_steps: int, alive: IntArray) -> None:
        """Search all rows for unknown ones; ask for retries if none is left or in reach."""
        planner.model.learn_chance()
        planner.model.learn_noise()
        planner.limit_range()
        self._is_due, self._n_revisions = False, planner.n_revisions
        self._look_at = max(self._retry_at, n_steps + LOOK_EVERY)
        n_slots = int(alive.max(initial=-1)) + 1
        self._limit_optimism(planner, n_steps, alive)
        if planner.best_known is not None:
            self._look_at = n_steps + LOOK_EVERY  # bonuses fall as rows are tried
        certainty = planner.model.certainty[:n_slots]
        is_alive = np.zeros((n_slots, 1), dtype=bool)
        is_alive[alive] = True
        unknown = (certainty < FIRST_TRY) & is_alive
        is_over = self._is_stuck or not unknown.any()
        nothing_gained = planner.best_reward == planner.worst_reward
        may_retry = self._is_stuck or nothing_gained or n_steps >= self._retry_at
        if is_over and may_retry and n_steps > 0:
            trust = planner.trust(n_slots)
            is_known = (certainty >= FIRST_TRY) & is_alive & ~planner.model.is_random[:n_slots]
            doubtful = is_known & np.isfinite(trust)
            is_random = planner.model.is_random
            self._may_retry = bool(doubtful.any() or nothing_gained or is_random.any())
            _retry_least_trusted(planner.model, doubtful, trust)
            self._retry_at = n_steps * RETRY_GROWTH
            self._is_stuck = False
            unknown = (certainty < FIRST_TRY) & is_alive
        planner.sweeper.set_rows(unknown, np.full(unknown.shape, planner.highest))
        _pay_for_chance(planner, n_slots)

    def _limit_optimism(self, planner: ModelPlanner, n_steps: int, alive: IntArray) -> None:
        """In a world of chance, measure the unknown from the best known value."""
        if planner.model.share_random < WORLD_OF_CHANCE:
            planner.limit_optimism(None)
        elif planner.best_known is None or n_steps >= self._value_at:
            self._value_at = n_steps * VALUE_GROWTH
            planner.model.learn_evenness()
            best = float(planner.greedy_values(alive)[alive].max(initial=planner.lowest))
            if planner.best_known is None:
                planner.sweeper.restart(alive, planner.lowest)
            planner.limit_optimism(best)

    def _note_best(self, planner: ModelPlanner, value: float, n_steps: int) -> None:
        """Decide from the best value in reach whether known rows must be tried again.

        At once if it is the lowest value there is; if it holds no unknown row, then from
        `_retry_at` on. Unknown rows that cannot be reached do not count. The next search waits if
        the last one found nothing to try again, and nothing is random.
        """
        is_lowest = value <= planner.lowest + LEAST_CHANGE * planner.reward_range
        if is_lowest or (n_steps >= self._retry_at and value <= planner.most_known):
            self._is_stuck, self._is_due = True, self._may_retry


def _pay_for_chance(planner: ModelPlanner, n_slots: int) -> None:
    """Give rows that are random, or have random rewards, what one more try may be worth."""
    model, sweeper = planner.model, planner.sweeper
    is_random, error = model.is_random[:n_slots], model.reward_error(n_slots)
    bonus, hope = sweeper.bonus[:n_slots], sweeper.hope[:n_slots]
    if error is None and not is_random.any() and not bonus.any():
        return
    shown = _shown_values(planner, n_slots)
    gain, share = np.zeros(shown.shape), np.zeros(shown.shape)
    if is_random.any():
        gain, share = _hope_of_chance(planner, shown)
    if error is not None:
        gain += REWARD_CONFIDENCE * error
    before = bonus - hope * shown
    moved = np.abs(gain - before) > BONUS_MOVED * np.maximum(gain, np.abs(before))
    hope[moved] = share[moved]
    bonus[moved] = (gain + hope * shown)[moved]
    sweeper.active.update(np.flatnonzero(moved.any(axis=1)).tolist())


def _hope_of_chance(planner: ModelPlanner, shown: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What one more try of random rows may be worth beyond what they have `shown`.

    A share of the tries (`Sweeper.hope`) shows something new. That may be as good as the best that
    is known to follow from the state of the row; while the row was tried little, as good as the
    unknown. A share cannot add up over many steps to more than the unknown, as a reward for each
    try would. The rest is one: the standard error of the value, and a little for any row.

    Args:
        shown: (n_slots, n_actions) as `_shown_values`.

    Returns:
        (n_slots, n_actions) the gain and the share; both 0 for rows that are not random.
    """
    model, n_slots = planner.model, len(shown)
    is_random = model.is_random[:n_slots]
    tries, seen = np.maximum(model.visits[:n_slots], FIRST_TRY), model.n_outcomes(n_slots)
    chance = np.where(is_random, model.chance(n_slots), 0.0)
    unknown = chance * UNSEEN_WAY / (tries + UNSEEN_WAY)
    known = chance - unknown
    known[is_random] *= unseen_share(
        tries[is_random], seen[is_random], model.evenness, _hopeful_part(tries)[is_random]
    )
    top = shown + planner.reward_range
    if planner.best_known is not None:  # otherwise the unknown is worth more than all else
        top = np.maximum(planner.highest, shown)
    best = np.clip(_best_after(planner, n_slots), shown, top)
    error = np.sqrt(_variances(planner, n_slots) / (tries + model.evenness * seen))
    nothing_gained = planner.best_reward == planner.worst_reward
    little = chance * (FIRST_BONUS if nothing_gained else CHANCE_BONUS) / np.sqrt(tries)
    gain = chance * CONFIDENCE * error + little * np.minimum(top - shown, planner.reward_range)
    gain += known * (best - shown) + unknown * (top - shown)
    return gain, known + unknown + little


def _hopeful_part(tries: FloatArray) -> FloatArray:
    """(n_slots, n_actions) part of a posterior that is hoped for: one in the tries of the state.

    So hope in a row that was tried little does not end as the others of its state are tried, and
    what it costs grows with the logarithm of these tries.
    """
    of_state = np.maximum(tries.sum(axis=1, keepdims=True), 1.0)
    return np.broadcast_to(1.0 / of_state, tries.shape)


def _shown_values(planner: ModelPlanner, n_slots: int) -> FloatArray:
    """(n_slots, n_actions) values of what each row has shown."""
    model = planner.model
    after = planner.sweeper.value[model.successor[:n_slots]]
    values = np.einsum("sab,sab->sa", model.discounted[:n_slots], after)
    return np.asarray(values + model.reward[:n_slots])


def _best_after(planner: ModelPlanner, n_slots: int) -> FloatArray:
    """(n_slots, 1) the value of the best that was seen to follow from each state."""
    model = planner.model
    visits, rewards = model.visits[:n_slots].sum(axis=1), model.reward_sum[:n_slots].sum(axis=1)
    ends, last = model.end_sum[:n_slots].sum(axis=1), model.end_reward[:n_slots].sum(axis=1)
    after = planner.gamma * planner.sweeper.value[model.successor[:n_slots]]
    after = np.where(model.probability[:n_slots] > 0.0, after, planner.lowest).max(axis=(1, 2))
    onward = after + (rewards - last) / np.maximum(visits - ends, FIRST_TRY)
    ended = np.where(ends > 0.0, last / np.maximum(ends, FIRST_TRY), planner.lowest)
    return np.asarray(np.maximum(onward, ended)[:, None])


def _variances(planner: ModelPlanner, n_slots: int) -> FloatArray:
    """(n_slots, n_actions) variance of what a try of each row brings: reward, and value after."""
    model = planner.model
    tries = np.maximum(model.visits[:n_slots], FIRST_TRY)
    mean = model.reward_sum[:n_slots] / tries
    rewards = np.maximum(model.reward_square[:n_slots] / tries - mean**2, 0.0)
    share = model.discounted[:n_slots] / planner.gamma
    after = planner.gamma * planner.sweeper.value[model.successor[:n_slots]]
    mean = (share * after).sum(axis=-1)
    values = np.maximum((share * after**2).sum(axis=-1) - mean**2, 0.0)
    return np.asarray(rewards + values)


def _retry_least_trusted(model: SparseTransitions, is_known: BoolArray, trust: FloatArray) -> None:
    """Ask for one more try of the least trusted of the known rows; both (n_slots, n_actions)."""
    known = np.sort(trust[is_known])
    if len(known):
        chosen = is_known & (trust <= known[len(known) // RETRY_SHARE])
        model.retry(zip(*(index.tolist() for index in chosen.nonzero()), strict=True))


def least_of_the_best(options: list[float], lowest: float) -> float:
    """The value from which others differ from the best by rounding only."""
    top = max(options)
    return top - TIES * abs(top - lowest)


def level_ties(options: list[float], lowest: float) -> list[float]:
    """The same values, with those that differ by rounding from the best made equal to it."""
    top, least = max(options), least_of_the_best(options, lowest)
    return [top if value >= least else value for value in options]


def one_of_the_best(
    options: list[float], rng: np.random.Generator, least: float | None = None
) -> int:
    """The index of the best value, or of one from `least` on; a random number for ties only."""
    least = max(options) if least is None else least
    best = [action for action, value in enumerate(options) if value >= least]
    return best[0] if len(best) == 1 else best[int(rng.random() * len(best))]
