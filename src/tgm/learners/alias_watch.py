"""Do places look alike? Tests whether outcomes depend on more than the newest observation.

The watch does not change the ordinary learner. Episodes are folded only if an action had two
outcomes at the same symbol, and the history before it predicts them better than chance or a change
of the world. Clones win if they explain all kept episodes better than one state for each symbol.
While they are likely, but not by enough, what they have never tried is tried.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np

from tgm.config import TGMConfig
from tgm.files.arrays import ANY, ArrayReader, Arrays, prefixed
from tgm.learners.clone_life import SEARCH_FROM, CloneLife
from tgm.learners.clone_rival import Rival
from tgm.learners.events import Event
from tgm.learners.learner import Learner
from tgm.learners.scale_search import WATCHED, ScaleSearchLearner
from tgm.learners.step_info import StepInfo
from tgm.learners.symbols import Reader, symbol_of, symbols_of
from tgm.memory.symbol_history import MOST_HISTORY_STEPS, SymbolHistory
from tgm.structure.clone_model import gain_of_clones, gain_of_cue, sure_map
from tgm.structure.cue_features import Cue, find_cue
from tgm.structure.history_test import gain_of_history
from tgm.transition.automaton import Outcome

QUIET = 500  # steps in which every row did the same as before: then no places look alike
LONGEST_WATCH = 20_000  # steps after which one state for each symbol has won
FIRST_HISTORY_TEST = 24  # steps before the first look at histories
FIRST_LOOKS = 100  # steps in which looks at histories are cheap
FIRST_LOOK_GROWTH = 1.1  # times the steps of the last look, until the next one, in FIRST_LOOKS
WATCH_GROWTH = 1.2  # times the steps of the last look, until the next one, up to QUIET
QUIET_LOOK_GROWTH = 1.4  # times the steps of the last look, until the next one, after QUIET
VAIN = 1.4  # times that growth, where chance is not rare and history predicts little better
LAST_VAIN = 1500  # steps after which such a look is the last one
MOST_REWARD_CLASSES = 16  # different rewards; with more they are amounts, and clones do not compete
WORTH_A_FOLD = 2.0  # nats by which histories must predict better, before episodes are folded
ALWAYS = 10.0  # nats at which they are folded in any case
FOLD_OF_EACH = 0.125  # nats before a fold, for each row of several outcomes: chance may reach it
FOLD_AGAIN = 1.3  # times the nats, and the steps, of a loss of clones: episodes are folded again
SAME_WON = -0.5  # nats for each row of several outcomes, at which one state per symbol has won
RARE = 4  # rows for each one that had several outcomes, where chance is rare
IDLE = 1.5  # times the step of the last gain, or of the last action that was new at its symbol
LEAST_IDLE = 100  # steps after these IDLE times, until one state per symbol finds nothing new
IDLE_TRIES = 4.0  # steps for each row instead, if that is more: misread rows are tried again
RECENT_POINTS = 1000  # newest points that are looked at for misreading
CLEAR = 0.99  # probability of the likeliest state of a point, below which it may be misread
MOST_UNCLEAR = 0.01  # share of points that may be misread, from which clones do not compete
RENAMING = ("split", "merge", "removal")  # moves after which points may have other names
CLONES_NEEDED = 5.0  # nats by which clones must win
CERTAIN_NEEDED = 4.0  # nats by which they must win where no symbol can be misread
LOST = -40.0  # nats by which one state per symbol has won, after QUIET steps
PROMISE = 3.0  # nats that clones may be behind, for each one by which history predicts better


def may_alias(config: TGMConfig) -> bool:
    """Whether clones may compete: not if settings of states were given."""
    is_default = config.max_states is None and config.half_life is None
    return is_default and config.exploration == "optimism" and config.filtering


class AliasWatch:
    """The episodes so far, and the rows that did not do the same again.

    Attributes:
        history: the kept episodes.
        is_over: whether one state for each symbol has won.
    """

    def __init__(self, n_features: int, n_actions: int, gamma: float) -> None:
        """Nothing happened yet."""
        self._n_actions, self._gamma = n_actions, gamma
        self.history = SymbolHistory(n_features)
        self.is_over = False
        self._newest: dict[tuple[int, int], Outcome] = {}  # of each symbol and action
        self._n_steps = 0
        self._look_at = FIRST_HISTORY_TEST
        self._is_surprised = self._is_stale = False
        self._worth_a_fold = WORTH_A_FOLD
        self._surprised_at = 0  # the step at which a row last did something else than before
        self._new_at = 0  # the step at which an action was tried at a symbol for the first time
        self._is_stuck, self._is_vain, self._worth = False, False, 0.0  # at the last look
        self._may_fold = self._is_deep = False  # whether a fold, and a search, were worth it then
        self._fold_at = 0.0  # step before which episodes are not folded again
        self._search_at = SEARCH_FROM  # step before which surplus clones do not compete
        self._outliers: list[tuple[float, float]] = []  # steps, and outliers among them, at looks
        self._rewards: set[float] = set()
        self._costs: set[float] = set()  # rewards of steps after which the episode went on
        self._ended_at = 0  # the step at which an episode last ended, not by a limit of time
        self._rival: Rival | None = None  # clones that are in doubt, in one episode

    def go_on_from(self, history: SymbolHistory) -> None:
        """Watch again, after clones have won and lost."""
        self.history, self._is_surprised, self._n_steps = history, True, history.n_steps
        self._look_at = int(QUIET_LOOK_GROWTH * self._n_steps) + 1
        self._fold_at, self._surprised_at = FOLD_AGAIN * self._n_steps, self._n_steps
        self._find_rows()

    def add(self, event: Event, info: StepInfo, learner: Reader) -> None:
        """Something happened, of which the ordinary learner said this."""
        self._is_stale = self._is_stale or changes_names(info)
        action, reward, ended = event.action, event.reward, event.terminated
        symbol = symbol_of(info, event.point, learner, ended)
        if action is None:
            self.history.begin(symbol, event.point)
            self._follow(*self.history.episodes[-1][0])
            return
        before, outcome = self.history.newest.symbol, Outcome(symbol, reward, ended)
        self.history.add(action, outcome, event.point)
        if self.history.is_long:
            self.history.split()
        self._follow(action, outcome)
        self._n_steps += 1
        key = (before, action)
        if key not in self._newest:
            self._new_at = self._n_steps
        elif self._newest[key] != outcome:
            self._is_surprised, self._surprised_at = True, self._n_steps
        self._newest[key] = outcome
        self._note_outcome(outcome, self._n_steps)
        is_quiet = self._n_steps >= self._surprised_at + QUIET and not self._leads_nowhere
        is_long = self._n_steps >= LONGEST_WATCH or len(self._rewards) > MOST_REWARD_CLASSES
        self.is_over = is_quiet or is_long

    def cue(self) -> Cue | None:
        """Features of the first look that later ones ask for, if the evidence is for that."""
        is_due = self._n_steps >= self._look_at and self._is_surprised
        return find_cue(self.history.episodes, self.history.points) if is_due else None

    def won(self, learner: Reader, *, is_certain: bool) -> CloneLife | None:
        """The clones that were learned from the episodes, if they have won; None if not.

        `is_certain` is whether no symbol can be misread.
        """
        is_due = self._n_steps >= self._look_at or self._is_early_end
        if not is_due or not (self._is_surprised or self._leads_nowhere):
            return None
        growth = WATCH_GROWTH if self._n_steps < QUIET else QUIET_LOOK_GROWTH
        growth = FIRST_LOOK_GROWTH if self._n_steps < FIRST_LOOKS else growth
        self._look_at, self._rival = int(growth * self._n_steps) + 1, None
        if self._is_stale:
            self.history.relabel(lambda points: symbols_of(points, learner))
            self._look_at_rows()
        if not (self._is_surprised or self._leads_nowhere):
            return None
        is_clear = self._reads_clearly(learner)
        is_worth_it = self._is_worth_a_fold(0.0 if is_certain else WORTH_A_FOLD, is_clear=is_clear)
        if self._is_vain:
            self._look_at = int(VAIN * growth * self._n_steps) + 1
            self.is_over = self.is_over or self._n_steps >= LAST_VAIN
        needed = CERTAIN_NEEDED if is_certain else CLONES_NEEDED
        if is_clear and (found := sure_map(self.history.episodes)) and found[1] >= needed:
            life = self._new_life()
            life.recall(found[0])
            return life
        if is_worth_it and is_clear:
            life = self._new_life()
            needed = -math.inf if self._is_stuck else needed
            life.search_at = self._search_at
            is_folded = life.recall(is_trial=True) and self._may_fold
            gain = self._gain_of(life) if is_folded else -math.inf
            if is_certain and gain > 0.0:
                self._rival = Rival(life, self.history.episodes[-1])
            if is_folded and gain >= needed and life.fold_again():
                return life
            if self._is_deep and life.search() and self._gain_of(life) >= needed:
                return life
            self._fold_at, self._search_at = FOLD_AGAIN * self._n_steps, life.search_at
        return None

    @property
    def is_doubtful(self) -> bool:
        """Whether a row did something else than before, or all that is known leads nowhere."""
        return not self.is_over and (self._is_surprised or self._leads_nowhere)

    def _reads_clearly(self, learner: Reader) -> bool:
        """Whether symbols are certain; misread ones would be taken for places that look alike."""
        shares = learner.belief(self.history.recent_points(RECENT_POINTS)).max(axis=1)
        # Where some observations are outliers, others of them look like a place.
        return bool((shares < CLEAR).mean() + self._outlier_share(learner) < MOST_UNCLEAR)

    def _outlier_share(self, learner: Reader) -> float:
        """Share of outliers in the newer half of the steps, or in all if that is less.

        The first observations of a place may be outliers until there is a state for it.
        """
        n_steps, share = self._n_steps, learner.outlier_share
        self._outliers.append((float(n_steps), share * n_steps))
        old = [one for one in self._outliers if one[0] <= 0.5 * n_steps]
        if not old or n_steps - old[-1][0] < LEAST_IDLE:
            return share
        newer = (share * n_steps - old[-1][1]) / (n_steps - old[-1][0])
        return min(share, max(0.0, newer))

    def _new_life(self) -> CloneLife:
        return CloneLife(self._n_actions, self._gamma, self.history)

    def _gain_of(self, life: CloneLife) -> float:
        """Nats for clones; the watch ends if these are few."""
        gain = gain_of_clones(life.folding, self.history.episodes)
        # Where history predicts much better, clones may need many episodes to pay for themselves.
        has_lost = gain < min(LOST, -PROMISE * self._worth) and self._n_steps >= QUIET
        self.is_over = has_lost and not self._is_stuck and not self._is_deep
        return gain

    def choose(self) -> int | None:
        """What clones in doubt would try; None if there are none, or nothing is unknown to them."""
        return None if self._rival is None else self._rival.choose()

    def _follow(self, action: int, outcome: Outcome) -> None:
        """Clones in doubt are asked until an episode ends; there may be new ones after it."""
        if self._rival is not None:
            self._rival.follow(action, outcome)
        if outcome.ended:
            self._rival = None

    def _is_worth_a_fold(self, least_of_cue: float, *, is_clear: bool) -> bool:
        """Whether history or a cue predicts outcomes, or one state per symbol finds nothing new.

        After each fold the nats that the next one needs grow, but not those of a cue. `is_clear` is
        whether symbols are certain; if not, nothing is folded, whatever is worth it.
        """
        worth, n_rows = gain_of_history(self.history.episodes)
        self._worth = worth
        is_rare, of_each = RARE * n_rows <= len(self._newest), FOLD_OF_EACH * n_rows
        self._is_stuck = is_rare and self._is_idle
        self._is_vain = not is_rare and worth < of_each
        self.is_over = not self._is_stuck and (self._n_steps >= QUIET and worth < SAME_WON * n_rows)
        self._is_deep = worth > 2.0 * max(WORTH_A_FOLD, of_each)  # a search takes longer than folds
        if not is_clear and FOLD_AGAIN * worth <= self._worth_a_fold:
            return False  # nothing would follow from it, and it takes long to look for a cue
        enough = max(self._worth_a_fold, of_each)
        is_cued = not self._is_vain and gain_of_cue(self.history.episodes) > least_of_cue
        self._may_fold = self._is_stuck or is_cued or worth > enough
        is_predicted = (self._may_fold or self._is_deep) and self._n_steps >= self._fold_at
        if not (self._is_stuck or is_cued or is_predicted):
            return False
        self._worth_a_fold = min(ALWAYS, max(self._worth_a_fold, FOLD_AGAIN * worth))
        return True

    @property
    def _is_early_end(self) -> bool:
        """Whether an episode has just ended, while looks are cheap: then a cue has paid, or not."""
        is_early = FIRST_HISTORY_TEST <= self._n_steps < FIRST_LOOKS
        return is_early and self.history.newest.ended

    @property
    def _leads_nowhere(self) -> bool:
        """Whether each step costs the same, none ended an episode lately, and nothing was new.

        One state for each symbol goes in circles then, even if it explains every step.
        """
        latest = max(self._new_at, self._ended_at)
        costs = len(self._costs) == 1 and max(self._costs) < 0.0
        return costs and self._n_steps > self._idle_until(latest)

    @property
    def _is_idle(self) -> bool:
        """Whether nothing new was tried for long, and no step was better than usual."""
        rewards = [outcome.reward for one in self.history.episodes for _, outcome in one[1:]]
        usual = Counter(rewards).most_common(1)[0][0]
        gains = (i for i, reward in enumerate(rewards) if reward > usual)
        latest = max(self._new_at, max(gains, default=0))
        return len(rewards) > self._idle_until(latest)

    def _idle_until(self, latest: int) -> float:
        """The step after which nothing new is expected, if the latest was at step `latest`."""
        return IDLE * latest + max(LEAST_IDLE, IDLE_TRIES * len(self._newest))

    def _look_at_rows(self) -> None:
        """After points got other names: has any row had several outcomes?"""
        self._is_stale, self._is_surprised = False, self._find_rows()

    def _find_rows(self) -> bool:
        """Find the newest outcome of each row; returns whether any had another one."""
        self._newest, is_surprised, n_steps = {}, False, 0
        n_evicted = self._n_steps - self.history.n_steps
        for episode in self.history.episodes:
            for (_, before), (action, outcome) in pairwise(episode):
                n_steps += 1
                last = self._newest.get((before.symbol, action))
                if last is None:
                    self._new_at = n_steps
                is_surprised = is_surprised or (last is not None and last != outcome)
                self._newest[before.symbol, action] = outcome
                self._note_outcome(outcome, n_evicted + n_steps)
        return is_surprised

    def _note_outcome(self, outcome: Outcome, n_steps: int) -> None:
        """Keep what a step cost, or that it ended the episode."""
        self._rewards.add(outcome.reward)
        if outcome.ended:
            self._ended_at = n_steps
        else:
            self._costs.add(outcome.reward)

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything."""
        return {
            **prefixed("history", self.history.to_arrays()),
            "n_steps": np.array([
                self._n_steps, self._look_at, self._new_at, self._surprised_at, self._search_at
            ]),
            "worth_a_fold": np.array([self._worth_a_fold, self._fold_at]),
            "flags": np.array([self._is_surprised, self._is_stale, self._rival is not None]),
            "outliers": np.array(self._outliers, dtype=np.float64).reshape(-1, 2),
        }  # fmt: skip

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.history.restore(saved.part("history"), self._n_actions)
        self._n_steps, self._look_at, *at = saved.whole("n_steps", 5).tolist()
        self._worth_a_fold, self._fold_at = saved.floats("worth_a_fold", 2).tolist()
        self._is_surprised, self._is_stale, has_rival = saved.flags("flags", 3).tolist()
        self._outliers = [(n, found) for n, found in saved.floats("outliers", ANY, 2).tolist()]
        self._find_rows()
        self._new_at, self._surprised_at, self._search_at = at
        if has_rival:
            life = self._new_life()
            life.recall(is_trial=True)
            self._rival = Rival(life, self.history.episodes[-1])


def changes_names(info: StepInfo) -> bool:
    """Whether a step may have changed what earlier points are called."""
    is_other = info.changed_all or info.changed_scale
    return is_other or any(one.accepted and one.kind in RENAMING for one in info.moves)


def look_longer(learner: Learner, watch: AliasWatch | None) -> None:
    """Where rows differ and no one knows why, a feature that was left out may be the reason."""
    if isinstance(learner, ScaleSearchLearner):
        is_doubtful = watch is not None and watch.is_doubtful
        learner.watched = MOST_HISTORY_STEPS if is_doubtful else WATCHED
