"""The default learner: it learns at every step, and revises what later steps contradict."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.inference.filtering import NOTHING
from tgm.inference.outlier_evidence import OutlierEvidence
from tgm.inference.step_posterior import StepPosterior
from tgm.learners.change_log import ChangeLog
from tgm.learners.learner import Learner, LearnInfo
from tgm.learners.online_files import OnlineFiles
from tgm.learners.revising import Reviser
from tgm.learners.step_info import StepInfo
from tgm.learners.world_editor import WorldEditor
from tgm.learners.world_kinds import GaussianKind, WorldKind
from tgm.memory.step import Step
from tgm.perception.component_map import Move
from tgm.perception.coordinates import Coordinates
from tgm.perception.observation_model import StateId
from tgm.planning.exploration import STRATEGIES
from tgm.planning.model_planner import ModelPlanner
from tgm.structure.scale import Scale
from tgm.structure.search import StructureSearch
from tgm.transition.displacements import SETTLED

FIRST_POOL = 20.0  # step at which the common covariance is learned for the first time
POOL_GROWTH = 1.3  # times the steps at which it was learned last, until it is learned again
ONE_CHANGE = 50  # steps within which several changed rows are one change of the world
BIRTH = 0.9  # probability of "none of the known states", if it is no outlier, that makes a state
BIRTH_ODDS = 2.0  # times the probability of an outlier: what a new state needs too
OUTLIER = 0.5  # probability of "no state at all" from which an observation is not learned from
MOVED = 0.5  # probability of a change of state from which a step shows a displacement
STRUCTURE_EVERY = 5  # steps between two checks of structure


class OnlineLearner(OnlineFiles):
    """Filters, assigns, counts, revises structure and plans, at every step.

    Works in coordinates whose origin is the first observation, so that no digits are lost far from
    zero, and in the features that a search for the scale found relevant, if there was one.
    """

    def __init__(
        self,
        n_features: int,
        n_actions: int,
        config: TGMConfig,
        scale: Scale | None = None,
        kind: WorldKind | None = None,
    ) -> None:
        """Know nothing; by default states are Gaussian, on the scale of the bandwidth."""
        if scale is None:
            assert config.bandwidth != "auto"
            scale = Scale.of_bandwidth(config.bandwidth, n_features)
        kind = GaussianKind() if kind is None else kind
        self.first_covariance = scale.covariance
        world = kind.world(n_actions, config, scale)
        most = config.max_states or kind.most_states(n_features)
        planner = ModelPlanner(world.transitions, config.gamma, partial(kind.trust, world))
        super().__init__(world, planner, kind.step_filter(world, config, most), config, most)
        self.exploration = STRATEGIES[config.exploration](config)
        self._search = StructureSearch(world, config.row_prior)
        self._log = ChangeLog(world.states)
        self.edit = WorldEditor(world, planner, self._search, self._log)
        self._outliers = OutlierEvidence(world, self.filter, config.row_prior)
        self._reviser = Reviser(
            self._search, self.edit, self._assign_again, self._outliers, config, self.most_states
        )
        self.log_evidence = 0.0  # ln density of all observations, each before it was learned
        self.n_steps = 0
        self._doubted: StepPosterior | None = None  # of the newest step, if it is an outlier
        self._changed_at = -math.inf  # the step of the last change of the world
        # A scale that was given is kept; one that was learned is learned on.
        self._pool_at = FIRST_POOL if config.bandwidth == "auto" else math.inf

    # --- the loop -----------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Learn from the first observation of an episode."""
        if self.coordinates is None:
            self.coordinates = Coordinates.about(observation.copy())
        self.exploration.begin_episode()
        point, log_fade = self.coordinates.local(observation), self.world.transitions.log_fade
        return self._learn_from(Step(None, [], None, 0.0, 0.0, point, log_fade))

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Learn from one step from the current belief."""
        world, planner, coordinates = self.world, self.planner, self.coordinates
        newest = world.newest
        assert newest is not None
        assert coordinates is not None
        self.n_steps += 1
        if not planner.worst_reward <= reward <= planner.best_reward:
            planner.see_reward(reward)
        point = observation - coordinates.origin
        if coordinates.chosen is not None:
            point = point[coordinates.chosen]
        end, log_fade = 1.0 if terminated else 0.0, world.transitions.log_fade
        step = Step(newest.arrival, newest.after, action, reward, end, point, log_fade)
        if newest.kept_in is not None:  # so that a chain of steps that are not kept can end
            newest.next = step
        return self._learn_from(step)

    def _learn_from(self, step: Step) -> StepInfo:
        """Filter, assign, count; revise structure now and then. Planning waits for `choose`."""
        world, action = self.world, step.action
        before = step.before[0][0] if step.before else None
        posterior = self.filter.posterior(step.arrival, step.before, action, step.departure)
        self.log_evidence += posterior.log_density
        world.background.n_points += 1.0
        newest = world.newest
        if newest is not None and newest.is_outlier and action is not None:
            posterior = self._judge_outlier(newest, step, posterior)
        is_known = posterior.newness == 0.0 == posterior.outlier
        if is_known and len(posterior.entries) == 1 == len(posterior.after):
            self._learn_usual_step(step, posterior)
        else:
            self._learn_step(step, posterior)
        world.newest = step
        is_due = self.n_steps % STRUCTURE_EVERY == 0 or self.n_steps >= self._pool_at
        if is_due and action is not None:
            self._revise()
        return self._info(step, before, posterior.log_density)

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """The action to try in the current belief: planning."""
        world = self.world
        belief = [] if world.newest is None else world.newest.after
        return self.exploration.act(self.planner, belief, world.states.alive, n_steps, rng)

    def end_episode(self) -> None:
        """Nothing to do: the next `begin` says so."""

    @property
    def active(self) -> Learner:
        """Itself."""
        return self

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A report: the learning was done at every step."""
        return LearnInfo(n_evicted, -self.log_evidence, {}, (), moves)

    # --- assign -----------------------------------------------------------------------------------

    def _learn_step(
        self, step: Step, posterior: StepPosterior, *, may_be_outlier: bool = True
    ) -> None:
        """Assign, count and keep a new step."""
        self._assign(step, posterior, self.n_steps, may_be_outlier=may_be_outlier)
        self._doubted = posterior if step.is_outlier else None
        if step.action is None or step.is_outlier:
            self.world.count(step, +1.0)
        else:
            self._count(step, step.action)
        self._keep(step)

    def _learn_usual_step(self, step: Step, posterior: StepPosterior) -> None:
        """The same of a step from one known state to one known state, in fewer calls."""
        world, action = self.world, step.action
        assert action is not None
        step.entries, step.after = posterior.entries, posterior.after
        step.is_outlier, self._doubted = False, None
        ((before, reached, weight),), ((state, share),) = posterior.entries, posterior.after
        world.states.add(state, step.arrival, share)
        self._search.touched.add(state)
        gain = world.transitions.observe(before, action, reached, weight, step.reward, step.end)
        if gain is not None:
            self._change_of_world(before, action, gain)
        if before != reached and weight > MOVED and not step.end:
            self._learn_displacement(step, action, weight)
        step.weight_then = world.states.weight.item(state)
        world.memory.keep(step, state)

    def _judge_outlier(self, last: Step, step: Step, posterior: StepPosterior) -> StepPosterior:
        """Decide whether the last step was an outlier, now that the next one was seen.

        If it was none, it is learned from, and the posterior of the new step follows it.
        """
        doubted = self._doubted
        if doubted is None:  # it became an outlier when it was assigned again
            return posterior
        if not self._outliers.was_real(doubted, step, posterior):
            self.world.background.n_outliers += 1.0
            return posterior
        self._learn_step(last, doubted, may_be_outlier=False)
        self._log.step(last)
        step.before = last.after
        if last.kept_in is not None:
            last.next = step
        return self.filter.posterior(step.arrival, step.before, step.action, step.departure)

    def _assign(
        self,
        step: Step,
        posterior: StepPosterior,
        born: float,
        *,
        may_be_outlier: bool = True,
    ) -> None:
        """Add the observation of a step to the states that explain it, or to a new one.

        `born` is the birth of a new state. A step that was part of another state is as old as
        that: how rarely a state is seen for its age speaks for a merge, and without this a merge
        would be undone as often as it is made.
        """
        states = self.world.states
        step.entries, step.after = posterior.entries, posterior.after
        # How an episode ended is known, whatever was seen of where.
        may_be_outlier = may_be_outlier and not step.end
        is_likely = posterior.outlier > OUTLIER and posterior.outlier > posterior.newness
        step.is_outlier = is_likely and may_be_outlier
        if step.is_outlier:  # nothing is added, and the belief is what was expected
            step.entries, step.after = [], self.filter.expected(step.before, step.action)
            return
        if step.end and states.n_alive > 0:
            if posterior.newness + posterior.outlier > BIRTH or posterior.outlier > OUTLIER:
                # Nothing is ever done from where an episode ended: that place needs no state of
                # its own, and the step is counted as if it had stayed.
                step.entries = [(state, state, weight) for state, weight in step.before]
        elif posterior.newness > BIRTH * (1.0 - posterior.outlier) and (
            not may_be_outlier or posterior.newness > BIRTH_ODDS * posterior.outlier
        ):
            self._give_birth(step, posterior, born)
        for state, weight in step.after:
            states.add(state, step.arrival, weight)
            self._search.touched.add(state)

    def _give_birth(self, step: Step, posterior: StepPosterior, born: float) -> None:
        """The step leads to a state that was never seen."""
        state = self.edit.add_state(born)
        odds = math.log(posterior.newness / max(1.0 - posterior.newness, NOTHING))
        self._log.move("birth", (state,), "no known state explains the observation", odds)
        left: dict[int, float] = {}
        for before, weight in posterior.new_from:
            left[before] = left.get(before, 0.0) + weight
        for before, _, weight in posterior.entries:
            left[before] = left.get(before, 0.0) + weight
        total, sure = sum(left.values()), sum(p for _, p in step.before)
        step.entries = [
            (before, state, weight / total * sure) for before, weight in left.items() if total > 0
        ]
        step.after = [(state, 1.0)]

    def _keep(self, step: Step) -> None:
        """Keep a step that belongs to a state, so that it can be taken back."""
        if step.after and not step.is_outlier:
            state = step.after[0][0]
            step.weight_then = self.world.states.weight.item(state)
            self.world.memory.keep(step, state)

    # --- count ------------------------------------------------------------------------------------

    def _count(self, step: Step, action: int) -> None:
        """Count the transition of a new step, and learn its displacement."""
        entries, reward, end, moved = step.entries, step.reward, step.end, 0.0
        observe, is_one = self.world.transitions.observe, len(entries) == 1
        for before, after, weight in entries:
            gain = observe(before, action, after, weight, reward, end, may_surprise=is_one)
            if gain is not None:
                self._change_of_world(before, action, gain)
            if before != after:
                moved += weight
        if moved > MOVED and not end:
            self._learn_displacement(step, action, moved)

    def _learn_displacement(self, step: Step, action: int, weight: float) -> None:
        """Learn where an action leads from a step that changed the state."""
        laws = self.world.displacements
        if laws.weight.item(action) < SETTLED:
            origin = self.world.states.mean[step.before[0][0]]
            laws.add(action, step.arrival - origin, weight)

    def _change_of_world(self, state: int, action: int, gain: float) -> None:
        """A row has changed and was forgotten: doubt all others, once for each change."""
        self.edit.follow_change(state, action, gain)
        if self.n_steps - self._changed_at > ONE_CHANGE:
            self.edit.doubt_rows(but=(state, action))
        self._changed_at = self.n_steps

    # --- revise -----------------------------------------------------------------------------------

    def _revise(self) -> None:
        """Scale, structure and fading, each when it is due."""
        if self.n_steps >= self._pool_at:
            self.edit.learn_scale(self.first_covariance)
            self._pool_at = self.n_steps * POOL_GROWTH
        if self.n_steps % STRUCTURE_EVERY == 0:
            self._reviser.revise(self.n_steps)
            if self._config.half_life is not None:
                self.edit.fade(math.log(0.5) * STRUCTURE_EVERY / self._config.half_life)

    def _assign_again(self, step: Step, born: float) -> None:
        step.before = [(s, p) for s, p in step.before if self.world.states.is_alive[s]]
        posterior = self.filter.posterior(step.arrival, step.before, step.action, step.departure)
        self._assign(step, posterior, born)
        self.world.background.n_outliers += step.is_outlier
        self.world.count(step, +1.0)
        self._keep(step)
        self._log.step(step)

    # --- report -----------------------------------------------------------------------------------

    def _info(self, step: Step, before: int | None, log_density: float) -> StepInfo:
        """What the step did. `before` is the slot of the most likely state before it."""
        world, log, entries, after = self.world, self._log, step.entries, step.after
        n_evicted, world.memory.n_evicted = world.memory.n_evicted, 0
        assert self.coordinates is not None
        # An outlier adds nothing, and the means of some of the features do not follow from a step.
        follows = log.is_empty and self.coordinates.chosen is None and not step.is_outlier
        if follows and len(after) == 1 and len(entries) <= 1:
            ((slot, share),) = after
            source, reached, weight = entries[0] if entries else (before, slot, 0.0)
            if source == before and reached == slot:
                state: StateId = world.states.ids.item(slot)  # type: ignore[assignment]
                moves, belief = log.take_moves() if log.moves else (), ((state, share),)
                return StepInfo(
                    state, log_density, share, weight, belief, moves, n_evicted=n_evicted
                )
        return log.info(step, log_density, n_evicted)
