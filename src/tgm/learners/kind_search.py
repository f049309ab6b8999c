"""Which features are exact: found out from the first observations, which are learned from again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import BoolArray, FloatArray
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader, Arrays, prefixed
from tgm.learners.alias_watch import AliasWatch, look_longer, may_alias
from tgm.learners.clones import CloneLearner
from tgm.learners.coded import CodedLearner
from tgm.learners.cued import CuedLearner
from tgm.learners.events import Event, events_from_arrays, events_to_arrays
from tgm.learners.exact_trial import ExactTrial
from tgm.learners.flow import FlowLearner
from tgm.learners.flow_trial import FlowTrial, may_flow
from tgm.learners.learner import Learner
from tgm.learners.limits import MOST_CONTINUOUS, too_many
from tgm.learners.online import OnlineLearner
from tgm.learners.outer import OuterLearner
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.learners.step_info import StepInfo
from tgm.perception.coordinates import Coordinates
from tgm.perception.feature_kinds import EPISODE_START, feature_kinds
from tgm.perception.symbol_book import is_whole

KINDS_AT = (16, 32, 64, 128, 256)  # observations after which the kinds are judged; then no more
MOST_AT_ONCE = 50  # features for which covariances are made before anything was seen

GaussianLearner = OnlineLearner | ScaleSearchLearner
AnyLearner = GaussianLearner | CodedLearner | FlowLearner | CloneLearner | CuedLearner
MakeGaussian = Callable[[], GaussianLearner]


class KindSearchLearner(OuterLearner):
    """Owner of the learner, and of the first events until the kinds of the features are sure.

    Features that the space calls categorical are exact. Others are if all of the first observation
    are whole numbers, until one has a value that is not; and from then on if their values are seen
    to repeat (`feature_kinds`). When the kinds change, another learner learns from the same
    events; its states have new ids. So it does when exact features turn out to be noise.
    """

    def __init__(
        self,
        is_categorical: BoolArray,
        n_actions: int,
        config: TGMConfig,
        make_gaussian: MakeGaussian,
    ) -> None:
        """Know nothing.

        Args:
            is_categorical: (n_features,) what the space says.
            n_actions: number of actions.
            config: the settings.
            make_gaussian: makes the learner of worlds without exact features.
        """
        self._is_categorical = is_categorical
        self._n_actions = n_actions
        self._config = config
        self._make_gaussian = make_gaussian
        n_features = len(is_categorical)
        self.is_over = bool(is_categorical.all())
        self._was_whole = np.ones(n_features, dtype=bool)  # features whose values all were
        self._events: list[Event] = []  # while it is not over
        self._use: Coordinates | None = None  # which exact features are noise, once some are
        # While it is weighed whether all exact features matter.
        self._exact_trial = ExactTrial(n_features, n_actions) if n_features > 1 else None
        # As it is believed now; before the first observation it does not matter.
        self.is_exact = is_categorical if n_features <= MOST_AT_ONCE else np.ones(n_features, bool)
        self.inner: AnyLearner = self._made(self.is_exact)
        # While it is weighed whether the world flows.
        self._trial: FlowTrial | None = None
        if not is_categorical.any() and may_flow(n_features, config):
            self._trial = FlowTrial(n_features, n_actions)
        # While it is watched whether places look alike.
        self._aliases = self._new_watch() if may_alias(config) else None
        self._is_watching = self._may_change()
        self._is_settled = False  # is the kind of world known, but for places that look alike?

    def _new_watch(self) -> AliasWatch:
        return AliasWatch(len(self._is_categorical), self._n_actions, self._config.gamma)

    def _made(self, is_exact: BoolArray) -> GaussianLearner | CodedLearner:
        """A learner that knows nothing, for features of these kinds."""
        if (n_continuous := int((~is_exact).sum())) > MOST_CONTINUOUS:
            raise too_many(n_continuous)
        if not is_exact.any():
            return self._make_gaussian()
        return CodedLearner(is_exact, self._n_actions, self._config, self._use)

    def _cued(self) -> CuedLearner:
        """One that knows nothing, whose looks ask for features of the first one."""
        return CuedLearner(self.is_exact, self._n_actions, self._config)

    # --- learning ---------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        if isinstance(self.inner, CloneLearner) and self.inner.has_lost():
            self._inner_again(self.inner)
        if self._is_watching:
            return self._watch(Event(observation))
        return self.inner.begin(observation)

    def _inner_again(self, clones: CloneLearner) -> None:
        """One state for each look explains everything better after all: go on with that."""
        self.inner, self._aliases = clones.inner, self._new_watch()
        self._aliases.go_on_from(clones.life.history)
        look_longer(self.inner, self._aliases)
        self._is_watching = True

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step."""
        if self._is_watching:
            return self._watch(Event(observation, action, reward, terminated))
        return self.inner.observe(action, reward, observation, terminated=terminated)

    def _watch(self, event: Event) -> StepInfo:
        """Learn from an event, after it was seen what it says of the kinds."""
        if self._is_settled and self._aliases is not None:
            info = self._told_apart(self._aliases, event, event.show(self.inner))
            self._is_watching = self._aliases is not None
            return info
        is_first = not self._events and not self.is_over
        is_exact = self._after(event.point, is_first=is_first)
        is_exact, is_other = self._tried(event, is_exact)
        if not self.is_over:
            self._events.append(event.kept())
            if len(self._events) in KINDS_AT:
                is_exact = self._judged(is_exact)
        if is_first or is_other or (is_exact != self.is_exact).any():
            info = self._learn_again(is_exact, event)
        else:
            info = event.show(self.inner)
        if self._trial is not None:
            info = self._weighed(self._trial, event, info)
        if self._aliases is not None:
            info = self._told_apart(self._aliases, event, info)
        if self.is_over:
            self._events = []
            self._end_exact_trial()
            self._is_watching = self._may_change()
            self._is_settled = self._is_watching and not self._may_change_kinds()
        return info

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try; while places may look alike, perhaps one that clones do not know."""
        action = None if self._aliases is None else self._aliases.choose()
        return self.inner.choose(n_steps, rng) if action is None else action

    def _tried(self, event: Event, is_exact: BoolArray) -> tuple[BoolArray, bool]:
        """The kinds, where what is left out is exact; and whether other features matter now."""
        if (trial := self._exact_trial) is None:
            return is_exact, False
        if has_changed := trial.add(event, is_exact, self.inner):
            self._use = trial.use()
        return is_exact | trial.left_out, has_changed

    def _end_exact_trial(self) -> None:
        """Let its events go when they can decide nothing any more."""
        trial, inner = self._exact_trial, self.inner
        if trial is not None and (trial.is_over or not isinstance(inner, CodedLearner)):
            self._exact_trial = None

    def _may_change(self) -> bool:
        """Whether observations may still decide what kind of world this is."""
        return self._aliases is not None or self._may_change_kinds()

    def _may_change_kinds(self) -> bool:
        """The same, whether places look alike apart."""
        is_open = not self.is_over or self._trial is not None or self._exact_trial is not None
        return is_open or bool(self._refutable(self.is_exact).any())

    def _told_apart(self, watch: AliasWatch, event: Event, info: StepInfo) -> StepInfo:
        """Watch whether places look alike; if clones have won, a learner of them takes over."""
        if isinstance(self.inner, (FlowLearner, CloneLearner, CuedLearner)):
            self._aliases = None
            return info
        watch.add(event, info, self.inner)
        # Places that were joined look alike to the states, but not to a narrower scale.
        inner = self.inner
        is_joined = isinstance(inner, ScaleSearchLearner) and inner.is_strained
        look_longer(inner, watch)
        is_settled = self.is_over and self._trial is None and not is_joined
        is_certain = bool(self.is_exact.all())
        if is_settled and is_certain and (cue := watch.cue()) is not None:
            self._aliases = self._exact_trial = None
            next_id, self.inner = self.world.states.next_id, self._cued()
            return self.inner.take_over(cue, watch.history, next_id)
        if is_settled and (life := watch.won(self.inner, is_certain=is_certain)) is not None:
            self._aliases, learner = None, CloneLearner(self.inner, life)
            info, self.inner = learner.take_over(info), learner
        elif watch.is_over:
            self._aliases = None
            look_longer(inner, None)
        return info

    def _weighed(self, trial: FlowTrial, event: Event, info: StepInfo) -> StepInfo:
        """Let laws compete with cells; if they have won, a learner of laws takes over."""
        if self.is_over and self.is_exact.all():
            self._trial = None
            return info
        relevant = self.inner.feature_use.relevant
        if trial.add(event, info.log_density, relevant, self.is_exact):
            learner = self._flowing(self.world.states.next_id)
            info, self.inner = learner.recall(trial.events), learner
            self.is_over, self._trial, self._exact_trial = True, None, None
            self.is_exact = np.zeros_like(self.is_exact)
        elif trial.is_over:
            self._trial = None
        return info

    def _flowing(self, next_id: int) -> FlowLearner:
        """A learner of laws that knows nothing."""
        return FlowLearner(len(self._is_categorical), self._n_actions, self._config.gamma, next_id)

    def _after(self, point: FloatArray, *, is_first: bool) -> BoolArray:
        """The kinds after one more point: a feature is refuted by a number that is not whole."""
        whole = is_whole(point)
        if is_first:
            self._was_whole = whole
            return whole if (whole | self._is_categorical).all() else self._is_categorical
        refuted = self.is_exact & self._was_whole & ~whole
        self._was_whole = self._was_whole & whole
        return self.is_exact & ~refuted if refuted.any() else self.is_exact

    def _judged(self, is_exact: BoolArray) -> BoolArray:
        """The kinds of the features by all events; (n_features,) those of before it are known."""
        points = np.array([event.point for event in self._events])
        is_last = len(points) == KINDS_AT[-1]
        actions = [
            EPISODE_START if event.action is None else event.action for event in self._events
        ]
        is_exact = is_exact.copy()
        used = np.ones(len(is_exact), dtype=bool) if self._use is None else self._use.relevant
        kinds = feature_kinds(points[:, used], actions, is_last=is_last)
        is_exact[used] = kinds.is_exact | self._is_categorical[used]
        # What may still be refuted by the next number is refuted best while the events are kept.
        self.is_over = is_last or (kinds.is_sure and not self._refutable(is_exact).any())
        return is_exact

    def _refutable(self, is_exact: BoolArray) -> BoolArray:
        """(n_features,) those that are exact because all their values were whole numbers."""
        return is_exact & self._was_whole & ~self._is_categorical

    def _learn_again(self, is_exact: BoolArray, event: Event) -> StepInfo:
        """Let a new learner learn from all events; from the last alone if they are not kept."""
        learner = self._made(is_exact)
        learner.world.states.next_id = self.world.states.next_id
        kept = self._events if self._exact_trial is None else self._exact_trial.events
        events = kept or [Event(event.point)]
        infos = [one.show(learner) for one in events]
        self.inner, self.is_exact = learner, is_exact
        if len(infos) == 1 and kept:
            return infos[0]
        return infos[-1]._replace(share=0.0, weight=0.0, changed_all=True)

    @property
    def active(self) -> Learner:
        """The learner alone, once no observation can change the kinds."""
        is_self = self._is_watching or isinstance(self.inner, CloneLearner)
        return self if is_self else self.inner.active

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """What the learner knows, and the search while it goes on or has found exact features."""
        arrays = self.inner.to_arrays()
        if isinstance(self.inner, FlowLearner):
            return prefixed("flow", arrays)
        if arrays and self._trial is not None:
            arrays |= prefixed("trial", self._trial.to_arrays())
        if arrays and self._aliases is not None:
            arrays |= prefixed("aliases", self._aliases.to_arrays())
        if not arrays or (self.is_over and not self.is_exact.any()):
            return arrays
        if self._exact_trial is not None:
            arrays |= prefixed("exact", self._exact_trial.to_arrays())
        if self._use is not None:
            arrays |= prefixed("kind.use", self._use.to_arrays())
        return arrays | {
            "kind.is_over": np.array([self.is_over]),
            "kind.is_exact": self.is_exact,
            "kind.was_whole": self._was_whole,
            **prefixed("kind.event", events_to_arrays(self._events, len(self.is_exact))),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        if saved.is_empty:
            return
        n_features = len(self._is_categorical)
        self.is_exact, self.is_over = np.zeros(n_features, dtype=bool), True
        trial, self._trial = self._trial, None
        exact_trial, self._exact_trial = self._exact_trial, None
        if saved.has("flow.counts"):
            self.inner, self._is_watching = self._flowing(0), False
            self.inner.restore(saved.part("flow"))
            return
        if trial is not None and saved.has("trial.point"):
            trial.restore(saved.part("trial"))
            self._trial = trial
        if saved.has("kind.is_over"):
            self.is_over = bool(saved.flags("kind.is_over", 1)[0])
            self.is_exact = saved.flags("kind.is_exact", n_features)
            self._was_whole = saved.flags("kind.was_whole", n_features)
            events = saved.part("kind.event")
            self._events = events_from_arrays(events, n_features, self._n_actions)
        if (self._is_categorical & ~self.is_exact).any():
            raise DataError("array 'kind.is_exact' does not name a feature of a categorical space")
        if self.is_over == bool(self._events) or len(self._events) > KINDS_AT[-1]:
            raise DataError(f"array 'kind.event.point' has {len(self._events)} events")
        if not (use := saved.part("kind.use")).is_empty:
            self._use = Coordinates.from_arrays(use, use.flags("relevant", n_features))
        if exact_trial is not None and saved.has("exact.point"):
            exact_trial.restore(saved.part("exact"), self._use)
            self._exact_trial = exact_trial
        n_continuous, n_numbers = int((~self.is_exact).sum()), saved.n_numbers
        if n_continuous**2 > max(n_numbers, MOST_AT_ONCE**2):
            raise DataError(f"{n_numbers} numbers are too few for {n_continuous} features")
        if saved.part("cued").is_empty:
            self.inner = inner = self._made(self.is_exact)
            inner.restore(saved)
            self._restore_aliases(saved, inner)
        else:
            self.inner, self._aliases = self._cued(), None
            self.inner.restore(saved)
        self._is_watching = self._may_change()

    def _restore_aliases(self, saved: ArrayReader, inner: GaussianLearner | CodedLearner) -> None:
        """Take over whether places look alike, or the clones that have won."""
        watch, self._aliases = self._aliases, None
        if watch is not None and not saved.part("aliases").is_empty:
            watch.restore(saved.part("aliases"))
            self._aliases = watch
            look_longer(inner, watch)
        elif not saved.part("clones").is_empty:
            n_features, gamma = len(self._is_categorical), self._config.gamma
            clones = CloneLearner.empty(inner, n_features, self._n_actions, gamma)
            clones.restore(saved)
            self.inner = clones
