"""The learner of worlds that flow: laws of displacement, and plans on support points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tgm.distributions import FloatArray
from tgm.distributions.kalman import Gaussians
from tgm.distributions.threads import one_thread
from tgm.files.arrays import ArrayReader, Arrays, number, prefixed
from tgm.inference.flow_filter import FlowFilter
from tgm.learners.events import Event
from tgm.learners.flow_acting import FlowActing
from tgm.learners.flow_forecast import FlowDensity
from tgm.learners.flow_habit import Habit
from tgm.learners.flow_knowledge import FlowKnowledge
from tgm.learners.flow_laws import continued, shaped
from tgm.learners.flow_schedule import SincePlan
from tgm.learners.learner import Learner, LearnInfo
from tgm.learners.step_info import StepInfo
from tgm.perception.component_map import Move
from tgm.perception.observation_model import NO_STATE, StateId
from tgm.planning.flow_plan_file import plans_from_arrays, plans_to_arrays
from tgm.planning.flow_planner import Plan, make_plan
from tgm.planning.imagination import AS_GOOD, IMAGINED, Outlook
from tgm.planning.policy_search import with_policy
from tgm.transition.flow_file import (
    model_from_arrays,
    model_to_arrays,
    sums_from_arrays,
    sums_to_arrays,
    units_from_arrays,
    units_to_arrays,
)
from tgm.transition.flow_model import FlowModel
from tgm.transition.flow_relations import time_limit
from tgm.transition.flow_rewards import has_found
from tgm.transition.flow_units import FlowUnits, Steps

PLAN_GROWTH = 0.1  # share of the steps so far, between two plans
FEW_PLANS = 1500  # steps from which there are fewer plans
LATE_PLAN_GROWTH = 0.25  # the share then
SLOWER = 2.0  # times as many steps after a plan that was no better
SOONER = 0.05  # times as many after an end that was not imagined
OTHER_SHAPE = 1.4  # times the steps at which the shape of the laws was chosen, until it is again
REWARD_DEVIATIONS = 5.0  # of noise, by which a reward may be below the highest expected one


class FlowLearner(FlowKnowledge):
    """Learns laws, and plans with them now and then.

    A new plan takes over from the greedy one if imagined episodes of it are better.

    Attributes:
        newest: the newest plan; it is followed where its hopeful value is clearly higher.
        next_id: the first id that was never used.
    """

    def __init__(self, n_features: int, n_actions: int, gamma: float, next_id: int = 0) -> None:
        """Know nothing."""
        super().__init__(n_features, n_actions)
        self.gamma, self.next_id = gamma, next_id
        self.newest: Plan | None = None
        self.log_evidence = 0.0
        self.n_steps = 0
        self._units: FlowUnits | None = None
        self._model: FlowModel | None = None
        self._shaped_at = 0  # the step at which units and shape were chosen
        self._planned_at = 0
        self._growth = PLAN_GROWTH
        self._best_return = -math.inf  # of imagined episodes
        self._seen: FloatArray | None = None  # the last observation
        self._now: Gaussians | None = None  # where the agent is believed to be
        self._episode_ended = False
        self._lived_well = 0  # steps with the greedy plan, none of which could be better
        self._acting, self._habit = FlowActing(), Habit()
        self._density: FlowDensity | None = None  # by the greedy plan
        self._time_limit = math.inf  # of an episode, if it is known

    # --- learning ---------------------------------------------------------------------------------

    def begin(self, observation: FloatArray) -> StepInfo:
        """Remember where an episode begins."""
        self._seen = observation.copy()
        self._acting.begin()
        self._now = None if self.filter is None else self.filter.begin(observation[None])
        self.memory.begin(observation)
        return self._info(0.0)

    def observe(
        self, action: int, reward: float, observation: FloatArray, *, terminated: bool
    ) -> StepInfo:
        """Keep a step; when it is time, learn from all new ones and plan."""
        assert self._seen is not None
        before, self._seen = self._seen, observation.copy()
        log_density = self._followed(before, action, self._seen)
        self.log_evidence += log_density
        self.memory.add(before, action, reward, observation, ended=terminated)
        self.n_steps += 1
        self._episode_ended = terminated
        # No action changes how much time is left: its end is none of the world.
        is_over = self._units is not None and self._units.time(observation) >= self._time_limit
        is_end = terminated and not is_over
        self._live(reward, terminated=is_end)
        if is_end and self._is_content:
            # No imagined episode had this end, or exploration has led to it: plan soon.
            self._growth *= SOONER if self.n_steps >= FEW_PLANS else 0.0
        if not self._is_due():
            return self._info(log_density)
        if self._is_settled:
            n_gone, self._planned_at = self.memory.let_new_go(), self.n_steps
            if self.best is not None and self.filter is None:
                least, lived = self.best.least_reward, self._lived_well
                self._habit.form(self.best, self.memory.places(), least, lived)
            return self._info(log_density)._replace(n_evicted=n_gone)
        return self._planned(observation, log_density)

    def recall(self, events: Sequence[Event]) -> StepInfo:
        """Learn from events that another learner has seen; plans once, after the last."""
        for event in events:
            if event.action is None:
                self.memory.begin(event.point)
            else:
                assert self._seen is not None
                step = (self._seen, event.action, event.reward, event.point)
                self.memory.add(*step, ended=event.terminated)
                self.n_steps += 1
                self._episode_ended = event.terminated
            self._seen = event.point.copy()
        assert self._seen is not None
        return self._planned(self._seen, 0.0)._replace(changed_all=True)

    def choose(self, n_steps: int, rng: np.random.Generator) -> int:
        """By the hopeful values where they are clearly higher, else by the greedy plan."""
        if self.best is None or self.newest is None:
            return int(rng.integers(self.n_actions))
        assert self._seen is not None
        if self._density is not None and self.filter is None:
            action = self._habit.choose(self._density.place(self._seen), self._lived_well)
            if action is not None:
                return action
        point = self._seen[None] if self._now is None else self._now.mean
        # While there are few steps, laws may imagine what is not so.
        best, n_steps, lived = self.best, self.n_steps, self._lived_well
        enough = best.enough if n_steps >= FEW_PLANS else math.inf
        return self._acting.choose(
            best, self.newest, point, n_steps, enough=enough, lived_well=lived
        )

    @property
    def active(self) -> Learner:
        """Itself."""
        return self

    def end_episode(self) -> None:
        """Note that the episode is over, by a time limit as well."""
        self._episode_ended = True

    def learn(self, moves: tuple[Move, ...], n_evicted: int) -> LearnInfo:
        """A report: the learning is done in `observe`."""
        return LearnInfo(n_evicted, -self.log_evidence, {}, (), moves)

    def _is_due(self) -> bool:
        """Whether to plan."""
        n_points = 0 if self.newest is None else len(self.newest.support.points)
        n_new, has_found = self.n_steps - self._planned_at, self._best_return > -math.inf
        since = SincePlan(self.n_steps, n_new, n_points, has_found, self._episode_ended)
        return since.is_due(self._growth)

    def _planned(self, observation: FloatArray, log_density: float) -> StepInfo:
        """Plan; if the numbers of new steps are too far apart for it, what was planned stays."""
        try:
            with one_thread():
                return self._plan(observation, log_density)
        except np.linalg.LinAlgError:
            self._planned_at, self._model = self.n_steps, None  # learned again with other units
            self.memory.all_learned()
            return self._info(log_density)

    def _plan(self, observation: FloatArray, log_density: float) -> StepInfo:
        """Learn from the new steps; plan, unless no plan can be better than the greedy one."""
        kept = self._learn_laws()
        assert self._model is not None
        assert self._units is not None
        model = self._model.frozen()
        # Without a reward or an end all plans are equal, and exploration needs the newest.
        something = has_found(kept)
        is_better, self._planned_at = False, self.n_steps
        outlook = Outlook.of(model, self._units, kept, self.gamma)
        if self.best is not None and something and self._is_proven(self.best, outlook):
            self._growth = SLOWER * LATE_PLAN_GROWTH
            self._follow(self.best)
        else:
            # While there are few steps a plan takes over that is no better: refinement could harm.
            starts = self.memory.places() if self.n_steps >= FEW_PLANS else None
            plan = make_plan(model, self._units, kept, self.gamma, self.newest, starts)
            is_better, self._growth = True, PLAN_GROWTH
            if something:
                plan = with_policy(plan, self.memory.places(), self.memory.lately(), self.best)
                is_better = self._is_better(plan)
                self._growth = PLAN_GROWTH if self.n_steps < FEW_PLANS else LATE_PLAN_GROWTH
            if not is_better:
                self._growth *= SLOWER
            self._follow(plan)
        n_evicted = self.memory.all_learned()
        if is_better:
            self.best, self._density = plan, FlowDensity(plan)
            self._lived_well, self._habit = 0, Habit()
            self.first_id, self.next_id = self.next_id, self.next_id + len(plan.support.points)
        if self._is_content:
            self._growth = SLOWER * LATE_PLAN_GROWTH
        info = self._info(log_density)
        return info._replace(changed_all=is_better, n_evicted=n_evicted)

    def _follow(self, newest: Plan) -> None:
        """Let a plan be the newest; its laws say where the agent is, if observations have noise."""
        self.newest = newest
        self.filter = FlowFilter(newest.units, newest.model) if newest.model.has_noise else None
        if self.filter is None:
            self._now = None

    @property
    def _is_content(self) -> bool:
        """Whether nothing is left to gain: imagined episodes cannot be better."""
        return self.best is not None and self._best_return > self.best.enough

    @property
    def _is_settled(self) -> bool:
        """Whether all new steps were with the greedy plan, and as good as can be.

        They say nothing that matters: laws and plans stay until a step is worse.
        """
        is_well = self._lived_well >= max(IMAGINED, self.memory.n_new)
        return is_well and self.n_steps >= FEW_PLANS

    def _is_proven(self, best: Plan, outlook: Outlook) -> bool:
        """Whether neither life nor imagined episodes can be better than with the greedy plan.

        Not while there are few steps: then hope needs the newest plan.
        """
        if self.n_steps < FEW_PLANS or self._lived_well >= IMAGINED:
            return self.n_steps >= FEW_PLANS
        self._best_return = best.imagined_return(outlook, self.memory.places())
        return self._is_content

    def _is_better(self, plan: Plan) -> bool:
        """Whether imagined episodes of a new plan are better than those of the greedy one.

        Both are imagined from the same places by the same laws. Of two that imagination cannot
        tell apart the newer one is better while there are few steps, because it knows more; later
        the older one, because the agent has lived with it. None is better while life was as good
        as it can be for as long as episodes are imagined.
        """
        starts, outlook, best = self.memory.places(), plan.outlook, self.best
        if best is not None and self._lived_well >= IMAGINED:
            return False
        # Late, `_is_proven` has found what the greedy plan is worth by these laws.
        favours_new = best is None or self.n_steps < FEW_PLANS
        value = plan.imagined_return(outlook, starts) if favours_new else self._best_return
        enough, rival = value + AS_GOOD * plan.range, best if favours_new else plan
        other = rival.imagined_return(outlook, starts, enough) if rival is not None else -math.inf
        self._best_return = other if other >= enough else value
        return favours_new != (other >= enough)

    def _live(self, reward: float, *, terminated: bool) -> None:
        """Count the steps with the greedy plan that went on with the highest reward."""
        if self.best is not None:
            least = self.best.least_reward
            if self._model is not None:
                least -= REWARD_DEVIATIONS * self._model.rewards.noise
            is_best = not terminated and reward >= least
            self._lived_well = self._lived_well + 1 if is_best else 0

    def _learn_laws(self) -> Steps:
        """Add the new steps to the laws; returns the kept steps in their units."""
        kept, before, units = self.memory.steps(), self._model, self._units
        if before is None or units is None or self.n_steps > OTHER_SHAPE * self._shaped_at:
            self._shaped_at = self.n_steps
            laws = shaped(kept, self.n_actions, units, before, self.memory.n_new)
        else:
            laws = continued(kept, self.memory.n_new, units, before)
        self._units, self._model = laws.units, laws.model
        self._time_limit = time_limit(kept, laws.units.chart)
        return laws.steps

    # --- report -----------------------------------------------------------------------------------

    def _info(self, log_density: float) -> StepInfo:
        if self._density is None or self._seen is None:
            return StepInfo(NO_STATE, log_density)
        state = StateId(self.first_id + self._density.place(self._seen).nearest)
        return StepInfo(state, log_density, belief=((state, 1.0),))

    def _followed(self, before: FloatArray, action: int, after: FloatArray) -> float:
        """Follow a step by the laws; returns ln predictive density of where it led."""
        if self.filter is not None:
            now = self.filter.begin(before[None]) if self._now is None else self._now
            self._now, log_density = self.filter.step(now, np.array([action]), after[None])
            return float(log_density[0])
        return 0.0 if self._density is None else self._density.log_density(before, action, after)

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """All that matters between two episodes."""
        arrays = prefixed("memory", self.memory.to_arrays()) | {
            "counts": np.array(
                [self.n_steps, self._shaped_at, self._planned_at, self.first_id, self.next_id]
            ),
            "growth": number(self._growth),
            "best_return": number(self._best_return),
            "log_evidence": number(self.log_evidence),
            "episode_ended": np.array([self._episode_ended]),
            "lived_well": np.array([self._lived_well, self._acting.best_until]),
            "time_limit": number(self._time_limit),
            "habit": self._habit.to_numbers(),
        }
        if self._model is not None and self._units is not None:
            arrays |= prefixed("units", units_to_arrays(self._units))
            arrays |= prefixed("model", model_to_arrays(self._model))
            arrays |= prefixed("sums", sums_to_arrays(self._model.total))
        return arrays | plans_to_arrays(self.best, self.newest)

    def restore(self, saved: ArrayReader) -> None:
        """Take over what `to_arrays` gave, checked."""
        n_features, n_actions = self.n_features, self.n_actions
        self.memory.restore(saved.part("memory"), n_actions)
        counts = saved.whole("counts", 5).tolist()
        self.n_steps, self._shaped_at, self._planned_at, self.first_id, self.next_id = counts
        self._growth = saved.number("growth", low=0.0)
        self._best_return = saved.number("best_return", low=-1e90, high=1e90, infinite=-math.inf)
        self.log_evidence = saved.number("log_evidence")
        self._episode_ended = bool(saved.flags("episode_ended", 1)[0])
        self._lived_well, self._acting.best_until = saved.whole("lived_well", 2).tolist()
        self._time_limit = saved.number("time_limit", infinite=math.inf)
        if saved.has("units.axes"):
            self._units = units_from_arrays(saved.part("units"), n_features)
            n_coordinates = len(self._units.origin)
            self._model = model_from_arrays(saved.part("model"), n_coordinates, n_actions)
            n_inputs = len(self._model.law.prior.precision)
            self._model.total = sums_from_arrays(saved.part("sums"), n_inputs, n_coordinates)
        plans = plans_from_arrays(saved, n_features, n_actions, self.gamma)
        if plans is not None:
            self.best, self._density = plans[0], FlowDensity(plans[0])
            self._follow(plans[1])
            self._habit.restore(saved.whole("habit", 3), plans[0])
