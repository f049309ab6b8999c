"""Learning at every step: a step is explained, added, and doubted when later ones contradict it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tgm.config import TGMConfig
from tgm.distributions import FloatArray
from tgm.files.arrays import ArrayReader, Arrays, number, prefixed
from tgm.inference.step_filter import StepFilter, StepPosterior
from tgm.inference.trust import trust_in_rows
from tgm.learners.limits import most_states
from tgm.learners.online_checks import check_names
from tgm.memory.step import Belief, Step, difference, relabel
from tgm.memory.step_memory import StepMemory
from tgm.perception.component_map import ComponentMap, Move
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.gaussian_states import LEAST_WEIGHT, GaussianStates
from tgm.planning.exploration import STRATEGIES
from tgm.planning.model_planner import ModelPlanner
from tgm.structure.scale import Scale, pooled_covariance
from tgm.structure.search import StructureSearch
from tgm.transition.displacements import Displacements
from tgm.transition.sparse import NO_ACTION, START, SparseTransitions

PRIOR_DOF = 20.0  # points that the common covariance of states is worth in each of them
FIRST_POOL = 20.0  # step at which it is learned for the first time
POOL_GROWTH = 1.3  # the common covariance is learned anew at 1.3 times the steps of the last time
SURE = 0.9  # belief in a step from which a change of the world may be read
CHANGE_CHANCE = 0.005  # chance of failures in a row below which a row has changed
ONE_CHANGE = 50  # steps within which changes are one and the same
BIRTH = 0.9  # probability of "none of the known" that makes a state
SECOND_THOUGHT = 0.1  # a change of belief that makes the next step be explained anew as well
STRUCTURE_EVERY = 5  # steps between two checks


class OnlineModel:
    """States, transitions, memory and values of one agent that learns at every step."""

    def __init__(self, n_features: int, n_actions: int, config: TGMConfig, scale: Scale) -> None:
        """Know nothing, on the given scale."""
        self.config = config
        self.n_actions = n_actions
        self.first_covariance = scale.covariance
        self.displacements = Displacements(
            n_actions,
            scale.step_square,
            scale.covariance,
            tells_actions_apart=config.displacement_prior,
        )
        prior = ComponentPrior(
            scale.covariance,
            PRIOR_DOF + n_features,
            self.displacements.log_state_density,
            scale.radius,
        )
        self.components = GaussianStates(prior)
        self.most_states = config.max_states or most_states(n_features)
        self.model = SparseTransitions(n_actions, config.gamma)
        self.memory = StepMemory(config.kept_per_state)
        self.planner = ModelPlanner(
            self.model,
            config.gamma,
            partial(trust_in_rows, self.components, self.model, self.memory),
        )
        self.exploration = STRATEGIES[config.exploration](config)
        self._explainer = StepFilter(
            self.components,
            self.model,
            self.displacements,
            config.row_prior,
            filtering=config.filtering,
            max_states=config.max_states,
            most_states=self.most_states,
        )
        self.belief: Belief = []
        self.log_evidence = 0.0
        self.log_density = 0.0  # of the newest observation, before it was seen
        self.moves: list[Move] = []  # since the last time somebody asked
        self.n_steps = 0
        self.last: Step | None = None
        self.structure = StructureSearch(self)
        self.born = np.zeros(0)  # step of each state's birth
        self._changed_at = -math.inf
        # A scale that was given is kept; one that was learned is learned on.
        self._pool_at = FIRST_POOL if config.bandwidth == "auto" else math.inf

    # --- learning -----------------------------------------------------------------------------

    def begin(self, point: FloatArray) -> None:
        """The first observation of an episode."""
        self.exploration.begin_episode()
        self._observe(Step(None, [], None, 0.0, 0.0, point, log_fade=self.model.log_fade))

    def observe(self, action: int, reward: float, point: FloatArray, *, terminated: bool) -> None:
        """One step from the current belief."""
        assert self.last is not None
        self.n_steps += 1
        self.planner.see_reward(reward)
        step = Step(
            self.last.arrival,
            self.belief,
            action,
            reward,
            float(terminated),
            point,
            log_fade=self.model.log_fade,
        )
        if self.last.home is not None:  # or steps that are not kept would hold on to each other
            self.last.next = step
        self._observe(step)
        if self.n_steps >= self._pool_at:
            self.pool_scale()
            self._pool_at = self.n_steps * POOL_GROWTH
        if self.n_steps % STRUCTURE_EVERY == 0:
            self.structure.check()
        self._fade()

    def _observe(self, step: Step) -> None:
        self._explain(step)
        self.belief, self.last = step.after, step

    def _explain(self, step: Step, born: float | None = None) -> None:
        """Infer one step from what is known and add it: birth, points, counts, memory.

        `born` is the birth of the state that it was part of, if it is explained anew.
        """
        is_news = born is None
        if not is_news:
            step.before = [(s, p) for s, p in step.before if self.components.is_alive[s]]
        if self.components.n_alive == 0:
            inference = StepPosterior([], [], 1.0, [], 0.0)
        else:
            inference = self._explainer.infer(
                step.arrival, step.before, step.action, step.departure
            )
        if is_news:
            self.log_density = inference.log_density
            self.log_evidence += inference.log_density
        step.entries, step.after = inference.entries, inference.after
        # Nothing is ever done from where an episode ended: that place needs no state of its own,
        # and the step is counted as if it had stayed.
        if inference.newness > BIRTH:
            if step.end and self.components.n_alive > 0:
                step.entries = [(state, state, weight) for state, weight in step.before]
            else:
                self._give_birth(step, inference, born)
        for state, weight in step.after:
            self.components.add(state, step.arrival, weight)
            self.structure.touch(state)
        if is_news:
            self._notice_change(step)
            for before, _, weight in step.entries:
                if step.action is not None and weight > 0.5:
                    self.model.note_try(before, step.action)
        self.count(step, +1.0)
        if is_news:
            self._learn_displacement(step)
        else:
            self.note(step)
        if step.after:
            home = step.after[0][0]
            step.weight_then = float(self.components.weight[home])
            self.memory.keep(step, home)

    def _give_birth(self, step: Step, inference: StepPosterior, born: float | None) -> None:
        """The step leads to a state that was never seen."""
        state = self.new_state(born)
        odds = math.log(inference.newness / max(1.0 - inference.newness, 1e-300))
        self.log_move("birth", (state,), "no known state explains the observation", odds)
        left: dict[int, float] = {}
        for before, weight in inference.new_from:
            left[before] = left.get(before, 0.0) + weight
        for before, _, weight in inference.entries:
            left[before] = left.get(before, 0.0) + weight
        total, sure = sum(left.values()), sum(p for _, p in step.before)
        step.entries = [
            (before, state, weight / total * sure) for before, weight in left.items() if total > 0
        ]
        step.after = [(state, 1.0)]

    def new_state(self, born: float | None = None) -> int:
        """The slot of a state without points, born now or at the step that is given.

        What was part of another is as old as that: how rarely a state is seen for its age speaks
        for a merge, and without this a merge would be undone as often as it is made.
        """
        state = self.components.birth()
        self.model.make_room(state + 1)
        self.planner.birth(state)
        self.structure.birth(state)
        if state >= len(self.born):
            self.born = np.concatenate([self.born, np.zeros(max(16, len(self.born)))])
        self.born[state] = self.n_steps if born is None else born
        return state

    def count(self, step: Step, sign: float) -> None:
        """Add a step to the counts, or take it back as far as it has not faded."""
        if step.retracted:
            return
        if step.log_fade != self.model.log_fade:
            sign *= math.exp(self.model.log_fade - step.log_fade)
        if step.action is None:
            for state, weight in step.after:
                self.model.add(START, NO_ACTION, state, sign * weight, 0.0, 0.0)
        else:
            for before, after, weight in step.entries:
                self.model.add(before, step.action, after, sign * weight, step.reward, step.end)

    def note(self, step: Step) -> None:
        """What a step added to is to be recorded as it is."""
        self.components.dirty.update(state for state, _ in step.after)
        if step.action is not None:
            self.model.dirty.update((before, step.action) for before, _, _ in step.entries)

    def _learn_displacement(self, step: Step) -> None:
        """A step that changed the state tells what its action does in observation space."""
        if step.action is None or step.end or not step.before:
            return
        if self.displacements.is_settled(step.action):
            return
        moved = sum(weight for before, after, weight in step.entries if before != after)
        if moved > 0.5:
            origin = self.components.mean[step.before[0][0]]
            self.displacements.add(step.action, step.arrival - origin, moved)

    def _notice_change(self, step: Step) -> None:
        """A sure row that fails again and again has changed: forget it, and doubt all others."""
        if step.action is None or len(step.entries) != 1 or step.entries[0][2] < SURE:
            return
        state, after, _ = step.entries[0]
        chance = self.model.surprise(state, step.action, after)
        if chance is None or chance > CHANGE_CHANCE:
            return
        self.log_move(
            "change", (state,), f"action {step.action} does not do what it did", -math.log(chance)
        )
        self.model.forget_row(state, step.action)
        self.memory.forget_row(state, step.action)
        step.entries = [(state, after, step.entries[0][2])]
        if self.n_steps - self._changed_at > ONE_CHANGE:
            self.model.doubt_all()
            self.planner.forget_certainty()
        self._changed_at = self.n_steps

    def _fade(self) -> None:
        """In a world that changes, what was seen long ago counts less."""
        if self.config.half_life is not None and self.n_steps % STRUCTURE_EVERY == 0:
            self.model.fade(math.log(0.5) * STRUCTURE_EVERY / self.config.half_life)
            self.planner.forget_certainty()

    # --- second thoughts ------------------------------------------------------------------------

    def _withdraw(self, step: Step) -> float:
        """Take back what a kept step added; returns when the state was born that it was part of."""
        born = float(self.born[step.home])
        self.note(step)
        self.count(step, -1.0)
        self.memory.take_out(step)
        for state, weight in step.after:
            self.components.take_back(state, step.arrival, weight)
            if self.components.weight[state] <= LEAST_WEIGHT and not self._has_rows(state):
                self.log_move("removal", (state,), "nothing is left of it")
                self._remove(state)
        return born

    def _has_rows(self, state: int) -> bool:
        actions = range(self.n_actions)
        return bool(self.model.predecessors[state]) or any(
            self.model.row(state, a) for a in actions
        )

    def explain_anew(self, step: Step) -> None:
        """Explain a kept step again, without itself, and those that followed.

        The next one always; then on, as long as what is believed of where a step led has changed.
        """
        born = self._withdraw(step)
        follower = step.kept_next  # if it is kept still, now that a state may be gone
        born_next = 0.0 if follower is None else self._withdraw(follower)
        self._explain(step, born)
        while follower is not None:
            follower.before = step.after
            self._explain(follower, born_next)
            step, follower = follower, follower.kept_next
            if follower is not None:
                if difference(step.after, follower.before) < SECOND_THOUGHT:
                    break
                born_next = self._withdraw(follower)
        if self.last is not None:
            self.belief = self.last.after

    def _remove(self, state: int) -> None:
        self.follow(ComponentMap.of_removal(self.components.n_slots, state))
        self.components.remove(state)

    def follow(self, change: ComponentMap) -> None:
        """Transitions, values, memory and belief follow one map."""
        self.model.apply(change)
        self.planner.apply(change)
        self.memory.apply(change)
        self.belief = relabel(self.belief, change.changed)
        if self.last is not None and self.last.home is None:
            self.last.after = self.belief

    def share_out(
        self, change: ComponentMap, state: int, halves: Callable[[FloatArray], Belief]
    ) -> None:
        """Follow the split of a state: `halves` tells the shares of a point that belonged to it.

        Each kept step is taken back and counted again for the right half; what is left then is
        only in the counts, and goes where the map says.
        """
        steps = self.memory.steps_naming(state)
        for step in steps:
            self.note(step)  # it goes back into these rows, or into those of the new half
            self.count(step, -1.0)
        self.model.apply(change)
        self.planner.apply(change)
        for step in steps:
            after = {state: halves(step.arrival)}
            before = after if step.departure is None else {state: halves(step.departure)}
            self.memory.relabel(step, before, after)
            self.count(step, +1.0)
        if self.last is not None:
            if self.last.home is None:
                self.last.after = relabel(self.last.after, {state: halves(self.last.arrival)})
            self.belief = self.last.after

    def log_move(
        self,
        kind: str,
        states: tuple[int, ...],
        cause: str,
        gain: float | None = None,
        *,
        accepted: bool = True,
    ) -> None:
        ids = tuple(int(self.components.ids[state]) for state in states)
        self.moves.append(Move(kind, ids, cause, gain, accepted))  # type: ignore[arg-type]

    # --- scale ------------------------------------------------------------------------------------

    def pool_scale(self) -> None:
        """Empirical Bayes: the common covariance follows the scatter within states."""
        prior, density = self.components.prior, self.displacements.log_state_density
        covariance = pooled_covariance(self.components, self.first_covariance)
        self.components.set_prior(ComponentPrior(covariance, prior.dof, density, prior.radius))

    def refresh_prior(self) -> None:
        """The density of states follows the typical step; no component looks different for it."""
        prior = self.components.prior
        density = self.displacements.log_state_density
        if density != prior.log_state_density:
            self.components.prior = replace(prior, log_state_density=density)

    def settle_scale(self) -> None:
        """What was learned of the scale so far is what later data is added to."""
        self.first_covariance = self.components.prior.covariance
        self.pool_scale()

    # --- acting -----------------------------------------------------------------------------------

    def beliefs(self, points: FloatArray, expected: FloatArray | None = None) -> FloatArray:
        """(n_points, n_alive) probability of each state given each observation.

        `expected` (n_points, n_alive) is what was believed before; all the same if not given.
        """
        log = self.components.log_densities_of(points)[:, self.components.alive]
        if expected is not None:
            log = log + np.log(expected)
        weights = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def greedy_values(self) -> FloatArray:
        """(n_alive, n_actions) values of the model as it is known."""
        alive = self.components.alive
        return self.planner.greedy_values(alive)[alive]

    # --- files ------------------------------------------------------------------------------------

    def to_arrays(self) -> Arrays:
        """Everything that matters between two episodes, as named arrays."""
        prior, n_slots = self.components.prior, self.components.n_slots
        return {
            "prior.covariance": prior.covariance,
            "prior.dof": number(prior.dof),
            "prior.log_state_density": number(prior.log_state_density),
            "prior.radius": number(prior.radius),
            "first_covariance": self.first_covariance,
            "log_evidence": number(self.log_evidence),
            "n_steps": np.array([self.n_steps]),
            "born": self.born[:n_slots],
            "changed_at": number(self._changed_at),
            "pool_at": number(self._pool_at),
            **prefixed("component", self.components.to_arrays()),
            **prefixed("transition", self.model.to_arrays()),
            **prefixed("displacement", self.displacements.to_arrays()),
            **prefixed("planner", self.planner.to_arrays()),
            **prefixed("exploration", self.exploration.to_arrays()),
            **prefixed("memory", self.memory.to_arrays(self.components.n_features)),
            **prefixed("structure", self.structure.to_arrays()),
        }

    def restore(self, saved: ArrayReader) -> None:
        """Take over, into a model that knows nothing, what `to_arrays` gave; checked before use."""
        components, n_features = self.components, self.components.n_features
        components.prior = ComponentPrior(
            saved.positive_definite("prior.covariance", n_features, n_features),
            saved.number("prior.dof", low=n_features + 1.0),
            saved.number("prior.log_state_density"),
            saved.number("prior.radius", low=0.1, high=100.0),
        )
        self.first_covariance = saved.positive_definite("first_covariance", n_features, n_features)
        components.restore(saved.part("component"))
        n_slots = components.n_slots
        self.model.restore(saved.part("transition"), n_slots)
        self.displacements.restore(saved.part("displacement"))
        self.planner.restore(saved.part("planner"), n_slots)
        self.exploration.restore(saved.part("exploration"))
        self.memory.restore(saved.part("memory"), n_features, self.n_actions, n_slots)
        self.structure.restore(saved.part("structure"), n_slots)
        check_names(components, self.model, self.memory)
        self.log_evidence = saved.number("log_evidence")
        self.n_steps = saved.count("n_steps")
        self.born = saved.floats("born", n_slots)
        self._changed_at = saved.number("changed_at", infinite=-math.inf)
        self._pool_at = saved.number("pool_at", infinite=math.inf)
