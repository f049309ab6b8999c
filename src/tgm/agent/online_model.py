"""Learning at every step: a step is explained, added, and doubted when later ones contradict it."""

from __future__ import annotations

import math

import numpy as np

from tgm.agent.config import TGMConfig
from tgm.agent.inference import Explainer, Inference
from tgm.agent.scale import Scale
from tgm.agent.structure_moves import (
    HARDLY_KNOWN,
    merge_gain,
    missed_chances,
    split_gain,
    spread_ratio,
    two_sides,
)
from tgm.distributions import BoolArray, FloatArray, IntArray
from tgm.memory.step_memory import Belief, Step, StepMemory, relabel
from tgm.perception.component_map import ComponentMap, Move
from tgm.perception.component_prior import ComponentPrior
from tgm.perception.online_components import (
    LEAST_WEIGHT,
    Moments,
    OnlineComponents,
    moments_of,
    pooled,
)
from tgm.planning.model_planner import ModelPlanner
from tgm.transition.displacements import Displacements
from tgm.transition.state_actions import NO_ACTION, START, StateActionModel

PRIOR_DOF = 20.0  # points that the common covariance of states is worth in each of them
FIRST_SCALE_WEIGHT = 10.0  # points that the first guess of that covariance is worth
FIRST_POOL = 20.0  # step at which it is learned for the first time
POOL_GROWTH = 1.3  # the common covariance is learned anew at 1.3 times the steps of the last time
SURE = 0.9  # belief in a step from which a change of the world may be read
CHANGE_CHANCE = 0.005  # chance of failures in a row below which a row has changed
ONE_CHANGE = 50  # steps within which changes are one and the same
BIRTH = 0.9  # probability of "none of the known" that makes a state
DOUBT = 2.0  # standard deviations from its state at which a kept step is explained anew
NEAR = 22.0  # squared distance within which two states are worth comparing
WIDE = 2.0  # times the believed variance that make a split worth a look
GROWN = 1.15  # a state is checked again when it has this much more data
NO_SPLIT_UNTIL = 1.5  # times the weight at which two states became one
YOUNG = 4.0  # points below which a state is checked every time
STRUCTURE_EVERY = 5  # steps between two checks


class OnlineModel:
    """States, transitions, memory and values of one agent that learns at every step."""

    def __init__(self, n_features: int, n_actions: int, config: TGMConfig, scale: Scale) -> None:
        """Know nothing, on the given scale."""
        self._config = config
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
        self.components = OnlineComponents(prior)
        self.model = StateActionModel(n_actions, config.gamma)
        self.memory = StepMemory(config.kept_per_state)
        self.planner = ModelPlanner(self.model, config.gamma, config.exploration, config.row_prior)
        self._explainer = Explainer(
            self.components,
            self.model,
            self.displacements,
            config.row_prior,
            filtering=config.filtering,
            max_states=config.max_states,
        )
        self.belief: Belief = []
        self.log_evidence = 0.0
        self.moves: list[Move] = []  # since the last time somebody asked
        self.n_steps = 0
        self._last: Step | None = None
        self._touched: set[int] = set()
        self._young: set[int] = set()
        self._checked = np.zeros(0)  # weight of each state at its last check
        self.born = np.zeros(0)  # step of each state's birth
        self._changed_at = -math.inf
        self._whole_until: dict[int, float] = {}  # weight below which no split is tried
        # A scale that was given is kept; one that was learned is learned on.
        self._pool_at = FIRST_POOL if config.bandwidth == "auto" else math.inf

    # --- learning -----------------------------------------------------------------------------

    def begin(self, point: FloatArray) -> None:
        """The first observation of an episode."""
        self.planner.begin_episode()
        self._observe(Step(None, [], None, 0.0, 0.0, point, log_fade=self.model.log_fade))

    def observe(self, action: int, reward: float, point: FloatArray, *, terminated: bool) -> None:
        """One step from the current belief."""
        assert self._last is not None
        self.n_steps += 1
        self.planner.see_reward(reward)
        step = Step(
            self._last.arrival,
            self.belief,
            action,
            reward,
            float(terminated),
            point,
            log_fade=self.model.log_fade,
        )
        self._last.next = step
        self._observe(step)
        if self.n_steps >= self._pool_at:
            self.pool_scale()
            self._pool_at = self.n_steps * POOL_GROWTH
        if self.n_steps % STRUCTURE_EVERY == 0:
            self._check_structure()
        self._fade()

    def _observe(self, step: Step) -> None:
        self._explain(step, is_news=True)
        self.belief, self._last = step.after, step

    def _explain(self, step: Step, *, is_news: bool) -> None:
        """Infer one step from what is known and add it: birth, points, counts, memory."""
        if not is_news:
            step.before = [(s, p) for s, p in step.before if self.components.is_alive[s]]
        if self.components.n_alive == 0:
            inference = Inference([], [], 1.0, [], 0.0)
        else:
            inference = self._explainer.infer(
                step.arrival, step.before, step.action, step.departure
            )
        if is_news:
            self.log_evidence += inference.log_density
        step.entries, step.after = inference.entries, inference.after
        # Nothing is ever done from where an episode ended: that place needs no state of its own,
        # and the step is counted as if it had stayed.
        if inference.newness > BIRTH:
            if step.end and self.components.n_alive > 0:
                step.entries = [(state, state, weight) for state, weight in step.before]
            else:
                self._give_birth(step, inference)
        for state, weight in step.after:
            self.components.add(state, step.arrival, weight)
            self._touched.add(state)
        if is_news:
            self._notice_change(step)
        self._count(step, +1.0)
        if is_news:
            self._learn_displacement(step)
        if step.after:
            home = step.after[0][0]
            step.weight_then = float(self.components.weight[home])
            self.memory.keep(step, home)

    def _give_birth(self, step: Step, inference: Inference) -> None:
        """The step leads to a state that was never seen."""
        state = self._new_state()
        odds = math.log(inference.newness / max(1.0 - inference.newness, 1e-300))
        self._tell("birth", (state,), "no known state explains the observation", odds)
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

    def _new_state(self) -> int:
        state = self.components.birth()
        self.model.make_room(state + 1)
        self.planner.birth(state)
        if state >= len(self._checked):
            room = np.zeros(max(16, len(self._checked)))
            self._checked = np.concatenate([self._checked, room])
            self.born = np.concatenate([self.born, room])
        self._checked[state] = 0.0
        self.born[state] = self.n_steps
        return state

    def _count(self, step: Step, sign: float) -> None:
        """Add a step to the counts, or take it back as far as it has not faded."""
        sign *= math.exp(self.model.log_fade - step.log_fade)
        if step.action is None:
            for state, weight in step.after:
                self.model.add(START, NO_ACTION, state, sign * weight, 0.0, 0.0)
        else:
            for before, after, weight in step.entries:
                self.model.add(before, step.action, after, sign * weight, step.reward, step.end)

    def _learn_displacement(self, step: Step) -> None:
        """A step that changed the state tells what its action does in observation space."""
        if step.action is None or step.end or not step.before:
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
        self._tell(
            "change", (state,), f"action {step.action} does not do what it did", -math.log(chance)
        )
        self.model.forget_row(state, step.action)
        for kept in self.memory.naming(state):
            if kept.action == step.action:
                kept.entries = [entry for entry in kept.entries if entry[0] != state]
        step.entries = [(state, after, step.entries[0][2])]
        if self.n_steps - self._changed_at > ONE_CHANGE:
            self.model.doubt_all()
            self.planner.forget_certainty()
        self._changed_at = self.n_steps

    def _fade(self) -> None:
        """In a world that changes, what was seen long ago counts less."""
        if self._config.half_life is not None and self.n_steps % STRUCTURE_EVERY == 0:
            self.model.fade(math.log(0.5) * STRUCTURE_EVERY / self._config.half_life)
            self.planner.forget_certainty()

    # --- second thoughts ------------------------------------------------------------------------

    def _withdraw(self, step: Step) -> None:
        """Take back what a kept step added."""
        self._count(step, -1.0)
        self.memory.take_out(step)
        for state, weight in step.after:
            self.components.take_back(state, step.arrival, weight)
            if self.components.weight[state] <= LEAST_WEIGHT and not self._has_rows(state):
                self._tell("removal", (state,), "nothing is left of it")
                self._remove(state)

    def _has_rows(self, state: int) -> bool:
        actions = range(self.n_actions)
        return bool(self.model.into[state]) or any(self.model.row(state, a) for a in actions)

    def _explain_anew(self, step: Step) -> None:
        """Explain a kept step again, without itself, and then the one that followed."""
        follower = step.next if step.next is not None and step.next.home is not None else None
        self._withdraw(step)
        if follower is not None:
            self._withdraw(follower)
        self._explain(step, is_news=False)
        if follower is not None:
            follower.before = step.after
            self._explain(follower, is_news=False)
        if self._last is not None:
            self.belief = self._last.after

    def _doubt(self, states: list[int]) -> None:
        """Steps that came when a state was young and lie far from it now are explained anew."""
        components, precision = self.components, self.components.prior.precision
        for state in states:
            weight = components.weight[state]
            if not components.is_alive[state] or not 3 <= weight <= 2 * self._config.kept_per_state:
                continue
            steps = [s for s in self.memory.into(state) if weight > 1.4 * s.weight_then]
            if not steps:
                continue
            offsets = np.array([step.arrival for step in steps]) - components.mean[state]
            far = np.sum(offsets @ precision * offsets, axis=1) > DOUBT**2
            for step in (s for s, is_far in zip(steps, far, strict=True) if is_far):
                if step.home == state and components.weight[state] >= 2:
                    self._explain_anew(step)

    # --- structure ------------------------------------------------------------------------------

    def _check_structure(self) -> None:
        """Compare states with their neighbours, and wide ones with two: those that have grown."""
        components = self.components
        grown = {
            state
            for state in self._touched
            if components.is_alive[state]
            and components.weight[state] > GROWN * self._checked[state]
        }
        states = sorted(grown | {state for state in self._young if components.is_alive[state]})
        self._touched.clear()
        self._young = {state for state in states if components.weight[state] < YOUNG}
        if not states:
            return
        self._checked[states] = components.weight[states]
        if self._config.second_thoughts:
            self._doubt(states)
        if not self._config.moves:
            return
        self._refresh_prior()
        states = sorted(s for s in self._touched.union(states) if components.is_alive[s])
        self._young |= {state for state in states if components.weight[state] < YOUNG}
        self._touched.clear()
        for one, other in self._neighbours(states):
            if components.is_alive[one] and components.is_alive[other]:
                self._try_merge(one, other)
        for state in states:
            least = max(3.0, self._whole_until.get(state, 0.0))
            if components.is_alive[state] and components.weight[state] >= least:
                self._try_split(state)

    def _refresh_prior(self) -> None:
        """The density of states follows the typical step; no component looks different for it."""
        prior = self.components.prior
        density = self.displacements.log_state_density
        self.components.prior = ComponentPrior(prior.covariance, prior.dof, density, prior.radius)

    def _neighbours(self, states: list[int]) -> list[tuple[int, int]]:
        """Pairs of near states, one of which is in `states`."""
        components = self.components
        alive = components.alive
        offsets = components.mean[alive][None] - components.mean[states][:, None]
        precision = components.prior.precision
        square = np.einsum("tko,op,tkp->tk", offsets, precision, offsets)
        pairs = {
            (min(states[i], int(alive[j])), max(states[i], int(alive[j])))
            for i, j in np.argwhere(square < NEAR)
            if states[i] != alive[j]
        }
        return sorted(pairs)

    def _try_merge(self, one: int, other: int) -> None:
        gain = self._merge_gain(one, other)
        self._tell("merge", (one, other), "one state explains both", gain, accepted=gain > 0)
        if gain > 0:
            self._merge(one, other)

    def _merge_gain(self, one: int, other: int) -> float:
        age = 1.0 - self.born / max(self.n_steps, 1)
        return merge_gain(
            self.components,
            self.model,
            one,
            other,
            row_prior=self._config.row_prior,
            missed=missed_chances(self.components, one, other, age),
        )

    def _merge(self, one: int, other: int) -> None:
        """The second state becomes part of the first."""
        components = self.components
        rarer = one if components.weight[one] < components.weight[other] else other
        doubtful = self.model.into[rarer] if components.weight[rarer] < HARDLY_KNOWN else set()
        doubtful = {(one if state == other else state, action) for state, action in doubtful}
        merged = pooled(components.moments(one), components.moments(other))
        components.set_moments(one, merged)
        sources = np.arange(components.n_slots)
        targets = np.where(sources == other, one, sources)
        self._follow(targets, sources)
        components.remove(other)
        # What was hardly seen may have been a place after all: a way there is tried again.
        self.model.try_again(doubtful)
        self._whole_until[one] = NO_SPLIT_UNTIL * float(components.weight[one])

    def _remove(self, state: int) -> None:
        slots = np.arange(self.components.n_slots)
        kept = slots[slots != state]
        self._follow(kept, kept)
        self.components.remove(state)

    def _follow(self, new: IntArray, old: IntArray) -> None:
        """Transitions, values, memory and belief follow one map."""
        n_slots = self.components.n_slots
        change = ComponentMap(n_slots, n_slots, new, old, np.ones(len(new)))
        self.model.apply(change)
        self.planner.apply(change)
        self.memory.apply(change)
        self.belief = relabel(self.belief, change.changed())
        if self._last is not None and self._last.home is None:
            self._last.after = self.belief

    def _try_split(self, state: int) -> None:
        prior = self.components.prior
        if self.components.n_alive == self._config.max_states:
            return
        if spread_ratio(prior, self.components.moments(state)) <= WIDE:
            return
        steps = self.memory.into(state)
        if len(steps) < 3:
            return
        points = np.array([step.arrival for step in steps])
        side = two_sides(points)
        if side is None:
            return
        gain = split_gain(prior, points, side, self.components.n_alive)
        if gain <= 0:
            self._tell("split", (state,), "two states explain it", gain, accepted=False)
            return
        child = self._split(state, points, side)
        # The transitions have a say too, and they are known only after the split.
        loss = self._merge_gain(state, child)
        self._tell("split", (state, child), "two states explain it", gain, accepted=loss <= 0)
        if loss > 0:
            self._merge(state, child)

    def _split(self, state: int, points: FloatArray, side: BoolArray) -> int:
        """The state keeps the side of what it has forgotten; the other side becomes a new one."""
        components = self.components
        child = self._new_state()
        stays, leaves = moments_of(points[~side]), moments_of(points[side])
        weight, mean, _ = components.moments(state)
        kept = pooled(stays, leaves)
        folded = weight - kept[0]
        if folded > 0.5:
            folded_mean = (weight * mean - kept[0] * kept[1]) / folded
            near, far = (np.sum((folded_mean - m[1]) ** 2) for m in (stays, leaves))
            if near > far:
                stays, leaves = leaves, stays
            rest = (folded, folded_mean, components.prior.covariance * folded)
            stays = pooled(stays, rest)
        components.set_moments(state, stays)
        components.set_moments(child, leaves)
        self._share_out(state, child)
        return child

    def _share_out(self, state: int, child: int) -> None:
        """Kept steps from and into a state that was split are counted for the right half of it."""
        for step in self.memory.naming(state):
            self._count(step, -1.0)
            after = {state: self._halves(step.arrival, state, child)}
            before = after
            if step.departure is not None:
                before = {state: self._halves(step.departure, state, child)}
            self.memory.relabel(step, before, after)
            self._count(step, +1.0)
        if self._last is not None:
            if self._last.home is None:
                halves = {state: self._halves(self._last.arrival, state, child)}
                self._last.after = relabel(self._last.after, halves)
            self.belief = self._last.after

    def _halves(self, point: FloatArray, state: int, child: int) -> list[tuple[int, float]]:
        """Probability of either half for a point of the whole."""
        log = self.components.log_densities(point)
        odds = math.exp(min(700.0, max(-700.0, float(log[state] - log[child]))))
        share = 1.0 / (1.0 + odds)
        return [(s, p) for s, p in ((state, 1.0 - share), (child, share)) if p > 0.01]

    def _tell(
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
        """Empirical Bayes: the common covariance follows the scatter within states.

        Only the narrower half of the data has a say: a state that is really two would make all
        look wider than they are, and then never be found out.
        """
        components, prior = self.components, self.components.prior
        alive = components.alive
        alive = alive[components.weight[alive] > 1]
        freedom = components.weight[alive] - 1
        spread = np.einsum("ij,kji->k", prior.precision, components.scatter[alive]) / freedom
        order = np.argsort(spread)
        half = np.searchsorted(np.cumsum(freedom[order]), freedom.sum() / 2) + 1
        chosen = order[:half]
        covariance = (
            FIRST_SCALE_WEIGHT * self.first_covariance
            + components.scatter[alive[chosen]].sum(axis=0)
        ) / (FIRST_SCALE_WEIGHT + float(freedom[chosen].sum()))
        density = self.displacements.log_state_density
        components.set_prior(ComponentPrior(covariance, prior.dof, density, prior.radius))

    def settle_scale(self) -> None:
        """What was learned of the scale so far is what later data is added to."""
        self.first_covariance = self.components.prior.covariance
        self.pool_scale()

    # --- acting -----------------------------------------------------------------------------------

    def exploring_values(self, rng: np.random.Generator) -> FloatArray:
        """(n_actions,) values of the actions in the current belief, for exploring."""
        if not self.belief:
            return np.zeros(self.n_actions)
        states = [state for state, _ in self.belief]
        values = self.planner.exploring_values(states, self.n_steps, self.components.alive, rng)
        if len(states) == 1:
            return np.asarray(values[0])
        return np.array([p for _, p in self.belief]) @ values

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

    # --- taking over what was saved ---------------------------------------------------------------

    def restore_scale(self, first: FloatArray, now: FloatArray, radius: float) -> None:
        """The covariance of a state (n_features, n_features), as first guessed and as learned."""
        self.first_covariance = first
        density = self.displacements.log_state_density
        self.components.prior = ComponentPrior(now, self.components.prior.dof, density, radius)

    def restore_states(
        self,
        n_steps: int,
        moments: list[Moments],
        ids: IntArray,
        next_id: int,
        born: FloatArray,
    ) -> None:
        """States in the first slots, with their names (n_states,) and steps of birth."""
        self.n_steps = n_steps
        for known in moments:
            self.components.set_moments(self._new_state(), known)
        self.components.ids[: len(ids)] = ids
        self.components.next_id = next_id
        self.born[: len(born)] = born
        self._pool_at = max(self._pool_at, n_steps * POOL_GROWTH)
