"""Learning and acting where places look alike, from symbols, actions, rewards and ends alone."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tgm.files.arrays import ArrayReader, Arrays, prefixed
from tgm.learners.clone_habits import Habits
from tgm.learners.clone_reckoning import Reckoner
from tgm.memory.symbol_history import SymbolHistory
from tgm.planning.clone_planner import ClonePlanner
from tgm.structure.clone_model import (
    FIRST,
    LEVELS,
    Setting,
    better_closed,
    closed_evidence,
    fold_episodes,
    setting_of,
)
from tgm.structure.clone_search import merged_again, surplus_folding
from tgm.structure.clone_track import CloneTrack
from tgm.structure.cue_model import cued_places, uncued
from tgm.structure.folding import MOST_WORK, Folding
from tgm.structure.folding_file import folding_from_arrays, folding_to_arrays
from tgm.structure.kept_path import kept_episode, with_path
from tgm.structure.refolding import improved, refolded
from tgm.transition.automaton import (
    BEGIN,
    Automaton,
    Episode,
    Outcome,
    episodes_from_arrays,
    episodes_to_arrays,
)
from tgm.transition.clone_evidence import OutcomeBase

SETTLED_BY = 1.0  # nats by which one clone must explain a tail better than any other
LONG_TAIL = 10  # steps of a tail after which it is settled in any case
TRIAL_WORK = 15.0  # rows for each node, while it is not known whether clones are needed
FOLD_GROWTH = 1.25  # times the steps at the last folding, until all is folded again
SURE_GROWTH = 2.0  # times the steps then, until foldings compete with a map that explains all
SEARCH_FROM = 400  # steps from which on surplus clones compete
AFTER_GAIN, AFTER_LOSS = 1.7, 3.0  # times the steps of a search that won or lost, until the next
FIRST_TRIES = 50  # steps from which on foldings are improved by tries
TRIES = 20.0  # tries to improve a folding while the steps become 2.7 times as many
PAUSE = 0.02  # steps between two foldings, for each step that is kept


class CloneLife:
    """Owner of the best folding of the kept episodes.

    Attributes:
        history: the kept episodes; the newest goes on.
        folding: clones, and what is undecided.
        track: where the newest episode is.
        habits: the path that is repeated, and walks at random.
        n_steps: so far.
        version: changes whenever the folding does.
        revision: changes whenever clones are accepted or folded.
        path: the best episode, while it can be repeated; else empty.
        read_again: gives kept points their names again.
        search_at: step before which surplus clones do not compete.
        is_searched: whether they have won: folding cannot make these clones again.
    """

    def __init__(self, n_actions: int, gamma: float, history: SymbolHistory) -> None:
        """Know what is in the history, but nothing of the clones yet."""
        self.n_actions, self.gamma, self.history = n_actions, gamma, history
        self.setting = FIRST
        self.folding = Folding(Automaton(), OutcomeBase(FIRST.strength))
        self.track = CloneTrack(self.folding)
        self.planner = ClonePlanner(self.folding, n_actions, gamma)
        self.path: Episode = []
        self._greedy_planner: ClonePlanner | None = None
        self.habits = Habits()
        self.n_steps = self.version = self.revision = self.folded_at = 0
        self.reckoner = Reckoner(FOLD_GROWTH, PAUSE)
        self.read_again: Callable[[], object] = lambda: None
        self.search_at, self.improved_at, self.is_searched = SEARCH_FROM, FIRST_TRIES, False

    # --- learning ---------------------------------------------------------------------------------

    def recall(self, found: Folding | None = None, *, is_trial: bool = False) -> bool:
        """Learn from all kept episodes, by a map if one is given; else as `fold_again` does."""
        self.habits = Habits.of(self.history.episodes)
        self.n_steps = max(self.n_steps, self.history.n_steps)
        if found is None:
            return self.fold_again(is_trial=is_trial)
        self.folded_at = self.n_steps
        self._adopt(found, is_searched=False)
        return True

    def forget(self) -> None:
        """Begin again with the newest episode alone."""
        del self.history.episodes[:-1], self.history.points[:-1]
        self.history.n_steps = len(self.history.episodes[-1]) - 1
        self.fold_again(is_trial=True)

    def begin(self) -> None:
        """An episode begins; the history has it already."""
        self.habits.begin()
        self.track = CloneTrack(self.folding)
        self._learn(*self.history.episodes[-1][0])

    def go_on(self) -> None:
        """Another piece of an episode begins where it is; the history has it already."""
        if self.track.below is not None:
            self.begin()
            return
        self.habits.begin()
        beginnings = self.folding.graph.rows[0].setdefault(BEGIN, {})
        beginnings[self.history.newest] = [1, self.track.node]

    def observe(self, action: int, outcome: Outcome) -> None:
        """A step was taken; the history has it already."""
        kept = self.habits.kept, self.habits.doubts(self.folding, self.n_steps)
        self.n_steps += 1
        self.habits.see(action, outcome, self.n_steps)
        if kept != (self.habits.kept, self.habits.doubts(self.folding, self.n_steps)):
            self._revise()
        self._learn(action, outcome)

    def _learn(self, action: int, outcome: Outcome) -> None:
        """Follow what happened; fold again where it contradicts what was settled."""
        folding, node = self.folding, self.track.node
        row = folding.graph.rows[node].get(action)
        is_new = row is not None and outcome not in row
        if self._is_reckoned((node, action, outcome)):
            return
        is_due = action != BEGIN and self._is_due(is_new and node in folding.is_clone)
        if is_due and self.fold_again():
            return
        folding.base.add((folding.graph.symbols[node], action), outcome, 0)
        if row is None or is_new:
            is_more = folding.lead_on(node, action, outcome)
            (self._revise if is_more else self._changed)()
        folding.graph.advance(node, action, outcome)
        self.track.follow(action, outcome)
        if self.track.below is not None and self._must_settle(outcome):
            self._settle()

    def _is_reckoned(self, key: tuple[int, int, Outcome]) -> bool:
        """Whether the map was made again by dead reckoning; now and then others compete with it."""
        if not self.reckoner.is_due(self.folding, key, self.n_steps, self.history.n_steps):
            return False
        self.read_again()  # what contradicts the map may have been misread
        self._adopt(self.reckoner.again(self.folding, self.history.episodes), is_searched=False)
        growth = FOLD_GROWTH if self.habits.sees_chance else SURE_GROWTH
        if self.n_steps >= growth * self.folded_at + 20:
            self.fold_again()
        return True

    def _hopes(self) -> bool:
        """Whether a map was adopted that is less likely, but not known to lead nowhere."""
        found = self.reckoner.hope(self.folding, self.history.episodes, self.n_steps)
        if found is not None:
            self._adopt(found, is_searched=False)
        return found is not None

    def _is_due(self, is_surprise: bool) -> bool:
        """Whether to fold all episodes again; not too often, because that takes long."""
        if is_surprise:
            self.habits.surprised_at = self.n_steps
            if not self.habits.sees_chance:
                self.habits.sees_chance = True
                self._revise()
            return self._may_fold
        if self.is_searched and self.n_steps >= self.search_at:
            return True
        is_doubtful = self.habits.sees_chance or self.is_searched
        return is_doubtful and self.n_steps >= FOLD_GROWTH * self.folded_at + 20

    @property
    def _may_fold(self) -> bool:
        if self.folding.reckoning is not None:
            return self.n_steps >= FOLD_GROWTH * self.folded_at + 20
        return self.n_steps >= self.folded_at + PAUSE * self.history.n_steps

    def _must_settle(self, outcome: Outcome) -> bool:
        """Whether to decide now which clones the newest undecided steps went between."""
        below = self.track.below or {}
        is_long = self.track.length % LONG_TAIL == LONG_TAIL - 1
        return outcome.ended or len(below) <= 1 or is_long or self.track.is_clear(SETTLED_BY)

    def _settle(self) -> None:
        """Decide on what hangs below the clones; if a symbol has one more, fold all again."""
        folding = self.folding
        before = {symbol: len(alike) for symbol, alike in folding.by_symbol.items()}
        folding.settle(self.setting.levels)
        self.habits.sees_chance = self.folding.has_chance
        self._revise()
        is_more = any(
            len(alike) > max(1, before.get(symbol, 0))
            for symbol, alike in folding.by_symbol.items()
        )
        if not (is_more and self._may_fold and self.fold_again()):
            self.track = CloneTrack(folding, self.history.episodes[-1])

    def fold_again(self, *, is_trial: bool = False) -> bool:
        """Fold all kept episodes from the beginning; several settings compete by evidence.

        A trial takes the first setting alone. Otherwise the clones of before compete, too, and now
        and then surplus clones. Returns whether it was done: it may take too long.
        """
        levels = LEVELS[:1] if is_trial else LEVELS
        settings = [Setting(one, self.setting.strength) for one in levels]
        self.folded_at = self.n_steps
        work = TRIAL_WORK if is_trial else MOST_WORK
        best = fold_episodes(
            self.history.episodes, self.folding.base, settings, work, self.folding.reckoning
        )
        folding = None if best is None else best[0]
        is_searched = False
        if not is_trial:
            folding, is_searched = self._better(folding)
        if folding is None:
            return False
        self._adopt(folding, is_searched=is_searched)
        if not is_trial and (self.habits.sees_chance or self.is_searched):
            self.search()
        return True

    def _better(self, folding: Folding | None) -> tuple[Folding | None, bool]:
        """The best of a folding, of the clones of before, and of what some tries make of it.

        Also whether surplus clones still win.
        """
        episodes, is_searched = self.history.episodes, False
        before = uncued(self.folding, episodes)
        if before is not None:
            old = refolded(before, episodes, self.setting)
            if self.is_searched:
                old = better_closed(old, merged_again(old, episodes)) or old
            if better_closed(folding, old) is old:
                folding, is_searched = old, self.is_searched
        if folding is None or folding.is_labelled or is_searched:
            return folding, is_searched
        n_tries = int(TRIES * math.log(self.n_steps / max(1, self.improved_at)))
        if n_tries > 0:
            self.improved_at = self.n_steps
            folding = improved(folding, episodes, np.random.default_rng(self.n_steps), n_tries)
        for cued in cued_places(folding.closed(), episodes, folding.base.strength):
            folding = better_closed(folding, cued) or folding
        return folding, is_searched

    def search(self) -> bool:
        """Let surplus clones compete, if that was not done for long; returns whether they won."""
        if self.n_steps < self.search_at:
            return False
        rng = np.random.default_rng(self.n_steps)
        found = surplus_folding(self.history.episodes, rng, closed_evidence(self.folding))
        self.search_at = int(self.n_steps * (AFTER_LOSS if found is None else AFTER_GAIN))
        if found is not None:
            self._adopt(found, is_searched=True)
        return found is not None

    def _adopt(self, folding: Folding, *, is_searched: bool) -> None:
        self.is_searched = is_searched
        self.folding, self.setting = folding, setting_of(folding)
        self.reckoner.note(folding, self.n_steps)
        self.habits.sees_chance = self.folding.has_chance
        self._revise()
        self.track = CloneTrack(folding, self.history.episodes[-1])

    def _revise(self) -> None:
        self.revision += 1
        # The path itself stays, after its episodes were let go.
        self.path = kept_episode(self.habits.kept, (*reversed(self.history.episodes), self.path))
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self.planner = ClonePlanner(self.folding, self.n_actions, self.gamma)
        self._greedy_planner = None

    # --- acting -----------------------------------------------------------------------------------

    def choose(self, rng: np.random.Generator) -> int:
        """Tell clones apart, try unknown actions, walk at random now and then; else be greedy."""
        habits, track = self.habits, self.track
        repeated = habits.repeated(rng)
        if repeated is not None:
            return repeated
        if track.below:
            rivals = track.rivals
            action = self.planner.telling_apart(rivals)
            if action is None and rivals and not habits.is_walking:
                action = self.planner.towards_unknown(rivals[0][1])
                if action is None and rng.random() < habits.restlessness_below:
                    habits.start_walk(rng, self.n_actions)
            if action is not None:
                return action
        is_free = not (habits.is_walking and track.below)
        action = self.planner.towards_unknown(track.node) if is_free else None
        if action is not None:
            return action
        if is_free and habits.only_pays and self._hopes():
            return self.choose(rng)
        if habits.is_walking:
            return habits.walk(rng, self.n_actions)
        if rng.random() < habits.restlessness(self.n_steps):
            habits.start_walk(rng, self.n_actions)
        values = self.planner.greedy_values(track.node)
        return 0 if values is None else int(values.argmax())

    @property
    def greedy_planner(self) -> ClonePlanner:
        """Greedy plans: while rows look random, the best episode is one of the ways."""
        if self._greedy_planner is None:
            self._greedy_planner = self.planner
            if self.path and self.habits.doubts(self.folding, self.n_steps):
                folding = with_path(self.folding, self.path)
                self._greedy_planner = ClonePlanner(folding, self.n_actions, self.gamma)
        return self._greedy_planner

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """All that matters between two episodes, without the history: its owner saves it."""
        return {
            "counts": np.array([
                self.n_steps, self.version, self.revision,
                self.folded_at, self.search_at, self.improved_at, self.is_searched,
            ]),
            **prefixed("folding", folding_to_arrays(self.folding)),
            **prefixed("habits", self.habits.to_arrays()),
            **prefixed("reckoner", self.reckoner.to_arrays()),
            **prefixed("path", episodes_to_arrays([self.path] if self.path else [])),
        }  # fmt: skip

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        self.n_steps, self.version, self.revision, *at = saved.whole("counts", 7).tolist()
        self.folded_at, self.search_at, self.improved_at, is_searched = at
        self.is_searched = bool(is_searched)
        self.folding = folding_from_arrays(saved.part("folding"), self.n_actions)
        self.setting = setting_of(self.folding)
        self.track = CloneTrack(self.folding)
        self.planner = ClonePlanner(self.folding, self.n_actions, self.gamma)
        self.habits.restore(saved.part("habits"), self.n_actions)
        self.reckoner.restore(saved.part("reckoner"))
        path = episodes_from_arrays(saved.part("path"), self.n_actions)
        self.path = path[0] if path else []
