"""The learner of worlds that flow, behind the agent: who chooses it, and what it answers."""

import gymnasium as gym
import numpy as np
import pytest

import tgm
from tgm.errors import DataError
from tgm.files.arrays import ArrayReader
from tgm.inspector import payload
from tgm.learners.events import Event
from tgm.learners.flow import FEW_PLANS, LATE_PLAN_GROWTH, OTHER_SHAPE, SLOWER, SOONER, FlowLearner
from tgm.learners.flow_schedule import SOONEST
from tgm.learners.flow_trial import LAWS_AT, FlowTrial, may_flow
from tgm.learners.scale_search import ScaleSearchLearner
from tgm.memory.flow_memory import MOST_FLOW_STEPS, FlowMemory
from tgm.planning.flow_planner import Plan
from tgm.planning.imagination import IMAGINED
from tgm.runs import Run


def mixed(world, scale=1.0, seed=0):
    """A world whose observations are scaled and rotated at random."""
    env = gym.make(world)
    n_features = env.observation_space.shape[0]
    matrix = np.random.default_rng(seed).normal(size=(n_features, n_features))
    matrix = scale * np.linalg.qr(matrix)[0]
    bound = np.full(n_features, np.inf)
    space = gym.spaces.Box(-bound, bound, dtype=np.float64)
    return gym.wrappers.TransformObservation(env, lambda x: matrix @ x, space)


def cart_pole(seed=0, n_steps=150, **options):
    return tgm.TGMAgent(gym.make("CartPole-v1"), seed=seed).learn(n_steps, **options)


@pytest.fixture(scope="module")
def agent():
    agent = cart_pole()
    while not agent.is_between_episodes:
        agent.learn(1)
    return agent


@pytest.mark.parametrize("world", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1"])
def test_laws_win_at_the_first_look_where_the_world_flows(world):
    agent = tgm.TGMAgent(gym.make(world), seed=1).learn(LAWS_AT[0] + 1)
    assert isinstance(agent.learner.inner, FlowLearner)


@pytest.mark.parametrize("world", ["CartPole-v1", "MountainCar-v0", "Acrobot-v1"])
@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_laws_win_in_other_units_and_mixtures(world, scale):
    agent = tgm.TGMAgent(mixed(world, scale), seed=1).learn(LAWS_AT[1] + 1)
    assert isinstance(agent.learner.inner, FlowLearner)


@pytest.mark.parametrize("maze", ["8", "10", "27"])
def test_cells_win_in_mazes_and_do_what_they_did(maze, monkeypatch):
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), seed=0).learn(500)
    assert isinstance(agent.learner.inner, ScaleSearchLearner)
    monkeypatch.setattr("tgm.learners.kind_search.may_flow", lambda *_: False)
    alone = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze=maze), seed=0).learn(500)
    np.testing.assert_array_equal(agent.transition_counts, alone.transition_counts)
    assert agent.state_ids.tolist() == alone.state_ids.tolist()
    ours, theirs = agent.learner.to_arrays(), alone.learner.to_arrays()
    assert ours.keys() == theirs.keys()


def test_settings_of_cells_are_kept():
    config = tgm.TGMConfig(bandwidth=0.5)
    agent = tgm.TGMAgent(gym.make("CartPole-v1"), config, seed=0).learn(100)
    assert not isinstance(agent.learner.inner, FlowLearner)


@pytest.mark.parametrize("is_mixed", [False, True])
def test_cart_pole_is_balanced_early(is_mixed):
    env = mixed("CartPole-v1") if is_mixed else gym.make("CartPole-v1")
    agent, lengths = tgm.TGMAgent(env, seed=2).learn(500), []
    for seed in range(5):
        observation, _ = env.reset(seed=seed)
        length, is_over = 0, False
        while not is_over:
            action, _ = agent.predict(observation, deterministic=True)
            observation, _, terminated, truncated, _ = env.step(action)
            length, is_over = length + 1, terminated or truncated
        lengths.append(length)
    assert np.mean(lengths) > 100.0  # 23 at random


def test_the_agent_answers_every_question(agent):
    observation = np.array([0.01, 0.0, 0.02, 0.0], dtype=np.float32)
    belief = agent.belief(observation)
    assert belief.sum() == pytest.approx(1.0)
    assert agent.means.shape == (agent.n_states, 4)
    np.testing.assert_allclose(belief @ agent.means, observation, atol=0.05)
    assert agent.covariances.shape == (agent.n_states, 4, 4)
    np.testing.assert_allclose(agent.transition_matrix.sum(axis=-1), 1.0)
    assert ((agent.end_probabilities >= 0.0) & (agent.end_probabilities <= 1.0)).all()
    components = np.array(agent.learner.snapshot().known.components).reshape(agent.n_states, -1)
    n_visited = agent.learner.inner.best.support.n_visited
    assert 0 < n_visited < agent.n_states  # visited and imagined
    assert (components[:n_visited, 1] > 0.0).all()
    assert (components[n_visited:, 1] == 0.0).any()
    explanation = agent.explain(observation)
    assert "The best action is" in str(explanation)
    total = explanation.expected_next.sum(axis=1) + explanation.expected_end
    np.testing.assert_allclose(total, 1.0)
    np.testing.assert_allclose(agent.q_values(observation), explanation.q_values)
    assert agent.advice == ()


def test_a_saved_agent_goes_on_to_the_bit(agent, tmp_path):
    agent.save(tmp_path / "agent.tgm")
    copies = [tgm.TGMAgent.load(tmp_path / "agent.tgm", gym.make("CartPole-v1")) for _ in range(2)]
    for copy in copies:
        copy.learn(60)
    first, second = (copy.learner.to_arrays() for copy in copies)
    whole = cart_pole(n_steps=agent.n_steps + 60).learner.to_arrays()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)
        np.testing.assert_array_equal(array, whole[name], err_msg=name)


def test_an_agent_saved_during_the_trial_decides_the_same(tmp_path):
    agent = cart_pole(n_steps=20)
    while not agent.is_between_episodes:
        agent.learn(1)
    assert agent.n_steps < LAWS_AT[0]
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", gym.make("CartPole-v1"))
    copy.learn(80 - copy.n_steps)
    assert isinstance(copy.learner.inner, FlowLearner)
    assert copy.state_ids.tolist() == cart_pole(n_steps=80).state_ids.tolist()


def test_a_run_shows_the_model_as_it_is(tmp_path):
    agent = cart_pole(n_steps=120, run_dir=tmp_path / "run")
    run = Run.open(tmp_path / "run")
    summary = payload.summary(run)
    assert [found for found in summary["health"] if found["level"] == "problem"] == []
    payload.chunk_bytes(run, summary["chunks"][-1])
    frame = run.chunk(summary["chunks"][-1]).frame_at(120)
    assert frame.ids.tolist() == agent.state_ids.tolist()
    np.testing.assert_allclose(frame.mean, agent.means, atol=1e-9)
    shown, known = frame.transition_counts, agent.transition_counts  # small weights are left out
    np.testing.assert_allclose(shown.sum(axis=-1), known.sum(axis=-1), atol=1e-9)
    np.testing.assert_array_equal(shown.argmax(axis=-1), known.argmax(axis=-1))
    assert (known[shown > 0] > 0).all()


def test_plans_become_rare_when_nothing_is_left_to_gain():
    learner = FlowLearner(1, 2, 0.9)
    learner.begin(np.zeros(1))
    rng, now = np.random.default_rng(0), 0.0
    for _ in range(200):  # each step pays one; beyond 1 it ends
        action = int(rng.integers(2))
        now += 0.2 * action - 0.1 + 0.01 * np.sin(5.0 * now)
        is_over = abs(now) > 1.0
        learner.observe(action, 1.0, np.array([now]), terminated=is_over)
        if is_over:
            now = 0.0
            learner.begin(np.zeros(1))
    plan = learner.newest
    assert plan.most_imagined() == pytest.approx(10.0, rel=1e-6)
    assert learner._best_return == pytest.approx(plan.most_imagined(), rel=1e-3)
    assert learner._growth == SLOWER * LATE_PLAN_GROWTH
    # An end that no imagined episode had: a new plan as soon as there may be one.
    before = learner.n_steps
    for step in range(SOONEST):
        learner.observe(0, 1.0, np.array([1.1]), terminated=step == 0)
        learner.begin(np.zeros(1))
    assert before < learner._planned_at <= before + SOONEST


def drifting(n: int, seed: int = 0) -> list[Event]:
    """A point that is pushed to and fro for ever: whatever is done, each step costs one."""
    rng = np.random.default_rng(seed)
    point = np.zeros(1)
    events = [Event(point)]
    for action in rng.integers(2, size=n).tolist():
        point = 0.8 * point + 0.1 * (2 * action - 1) + 0.01 * rng.normal(size=1)
        events.append(Event(point, action, -1.0))
    return events


@pytest.mark.parametrize(("n_before", "takes_over"), [(100, True), (1500, False)])
def test_of_two_plans_that_are_as_good_the_newer_is_followed_at_first_the_older_later(
    n_before, takes_over
):
    learner, events = FlowLearner(1, 2, 0.9), drifting(n_before + 500)
    events[3] = events[3]._replace(reward=-1.0001)  # something was found
    learner.recall(events[: n_before + 1])
    first = learner.state_ids.tolist()
    later = [event.show(learner).changed_all for event in events[n_before + 1 :]]
    assert any(later) == takes_over
    assert (learner.state_ids.tolist() != first) == takes_over
    assert (learner.newest is learner.best) == takes_over


class Promising(Plan):
    """A plan that imagines more than any other."""

    def imagined_return(self, outlook, starts, enough=0.0):
        return 1e9


def test_no_plan_takes_over_while_life_could_not_be_better(monkeypatch):
    learner, events = FlowLearner(1, 2, 0.9), drifting(600)
    events = [event._replace(reward=1.0) for event in events]
    events[3] = events[3]._replace(reward=0.5)  # something was found
    learner.recall(events[:101])
    assert learner._is_better(Promising(*learner.best))
    for event in events[101 : 101 + IMAGINED]:
        event.show(learner)
    while learner._lived_well < IMAGINED:
        learner.observe(0, 1.0, learner._seen, terminated=False)
    assert not learner._is_better(Promising(*learner.best))
    monkeypatch.setattr("tgm.learners.flow.make_plan", lambda *_: Promising(*learner.best))
    for n_steps, is_made in (
        (FEW_PLANS - 1, True),
        (FEW_PLANS, False),
    ):  # then no plan is made at all
        learner.n_steps, before = n_steps, learner.newest
        learner._planned(learner._seen, 0.0)
        assert (learner.newest is not learner.best) == is_made
        assert (learner.newest is not before) == (is_made or before is not learner.best)
    learner.n_steps = 400
    learner.observe(0, 0.5, learner._seen, terminated=False)  # that could have been better
    assert learner._is_better(Promising(*learner.best))


def test_no_plan_is_made_where_imagined_episodes_cannot_be_better(monkeypatch):
    learner, events = FlowLearner(1, 2, 0.9), drifting(FEW_PLANS)
    events = [event._replace(reward=1.0) for event in events]
    events[3] = events[3]._replace(reward=0.999)  # something was found
    learner.recall(events)
    best = learner.best
    monkeypatch.setattr("tgm.learners.flow.make_plan", lambda *_: Promising(*learner.best))
    learner._planned(learner._seen, 0.0)
    assert learner.best is best
    learner.observe(0, 1.0, learner._seen, terminated=True)  # that was not imagined
    assert learner._growth == SOONER * SLOWER * LATE_PLAN_GROWTH
    learner.n_steps = FEW_PLANS - 1  # while there are few steps the newer plan knows more
    learner._planned(learner._seen, 0.0)
    assert learner.best is not best


@pytest.mark.parametrize(("n_steps", "is_refined"), [(FEW_PLANS - 1, False), (FEW_PLANS, True)])
def test_plans_are_refined_once_only_better_ones_take_over(n_steps, is_refined, monkeypatch):
    learner, events = FlowLearner(1, 2, 0.9), drifting(300)
    events[3] = events[3]._replace(reward=-1.1)  # something was found
    learner.recall(events)
    monkeypatch.setattr("tgm.planning.flow_planner.most_points", lambda n: 20)
    learner.n_steps = n_steps
    learner._planned(learner._seen, 0.0)
    support = learner.newest.support
    assert (len(support.points) > support.n_coarse) == is_refined


def planned_at(learner: FlowLearner, events: list[Event]) -> list[int]:
    """The steps at which a new plan was made."""
    found, newest = [], learner.newest
    for event in events:
        event.show(learner)
        if learner.newest is not newest:
            found.append(learner.n_steps)
            newest = learner.newest
    return found


def test_while_there_are_few_steps_the_end_of_an_episode_asks_for_a_plan():
    events = drifting(90)
    ends = [e._replace(terminated=k > 0 and k % 12 == 0) for k, e in enumerate(events)]
    without, with_ends = (planned_at(FlowLearner(1, 2, 0.9), told) for told in (events, ends))
    assert len(with_ends) > len(without)
    assert all(step % 12 == 0 for step in with_ends)


def test_noise_is_looked_for_when_shapes_are_chosen(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "tgm.learners.flow_laws.with_noise", lambda *_: asked.append(learner.n_steps)
    )
    learner, events = FlowLearner(1, 2, 0.9), drifting(200)
    learner.recall(events[:101])
    plans = planned_at(learner, events[101:])
    later = [step for step in plans if step > OTHER_SHAPE * 100]
    assert len(plans) > 2
    assert asked == [100, later[0]]


def test_after_a_plan_that_was_no_better_the_next_one_takes_twice_as_long():
    events = drifting(2800)
    events[3] = events[3]._replace(reward=-1.0001)  # something was found
    learner = FlowLearner(1, 2, 0.9)
    learner.recall(events[:1501])
    first = learner.best
    assert planned_at(learner, events[1501:]) == [2000]  # a quarter of them new; then half
    assert learner.best is first


@pytest.mark.parametrize(("n_features", "may"), [(12, True), (13, False)])
def test_worlds_of_more_than_twelve_features_do_not_flow(n_features, may):
    assert may_flow(n_features, tgm.TGMConfig()) == may


def test_memory_is_bounded_and_keeps_ends():
    memory = FlowMemory(1)
    for step in range(3 * MOST_FLOW_STEPS):
        memory.add(np.zeros(1), 0, 0.0, np.ones(1), ended=step % 1000 == 0)
        if memory.n_new == 500:
            memory.all_learned()
        assert len(memory) < MOST_FLOW_STEPS + 500
    assert memory.steps().ended.sum() == 3 * MOST_FLOW_STEPS // 1000


def test_a_trial_is_over_when_cells_predict_as_well():
    rng = np.random.default_rng(0)
    trial = FlowTrial(2, 1)
    relevant = np.ones(2, dtype=bool)
    trial.add(Event(rng.normal(size=2)), 0.0, relevant)
    wins = []
    for _ in range(LAWS_AT[1]):
        point = rng.normal(size=2)
        log_density = float(-0.5 * point @ point - np.log(2.0 * np.pi))
        wins.append(trial.add(Event(point, 0, 0.0, False), log_density, relevant))
    assert not any(wins)
    assert trial.is_over


def weighed(gain: float, n_compared: int, n_steps: int) -> tuple[bool, bool]:
    """Whether laws win at a look, and whether the trial is over, if they predict so much better."""
    trial, relevant = FlowTrial(1, 1), np.ones(1, dtype=bool)
    trial.gain = lambda _: (1.5 * n_compared, n_compared)  # undecided
    trial.add(Event(np.zeros(1)), 0.0, relevant)
    for _ in range(n_steps - 1):
        assert not trial.add(Event(np.zeros(1), 0), 0.0, relevant)
    assert not trial.is_over
    trial.gain = lambda _: (gain, n_compared)
    return trial.add(Event(np.zeros(1), 0), 0.0, relevant), trial.is_over


@pytest.mark.parametrize(
    ("gain", "n_compared", "wins"),
    [(99.0, 10, False), (101.0, 10, True), (119.0, 60, False), (121.0, 60, True)],
)
def test_laws_must_win_by_a_hundred_nats_and_by_two_for_each_step(gain, n_compared, wins):
    assert weighed(gain, n_compared, 48) == (wins, False)


def looked(ahead: list[float], of_noise: float = 0.0) -> tuple[int | None, int | None]:
    """The steps at which laws win and at which they lose, if ever.

    Args:
        ahead: nats for each step by which they are ahead since the look before, at each look.
        of_noise: nats for each step that they gain with noise of observations.
    """
    trial, relevant = FlowTrial(1, 1), np.ones(1, dtype=bool)
    compared = np.array([look - 32 for look in LAWS_AT])
    gains = np.cumsum(np.diff(compared, prepend=0) * ahead)
    found = iter(zip(gains.tolist(), compared.tolist(), strict=True))
    trial.gain = lambda _: next(found)
    trial.gain_of_noise = lambda: of_noise
    trial.add(Event(np.zeros(1)), 0.0, relevant)
    for step in range(1, LAWS_AT[-1] + 1):
        if trial.add(Event(np.zeros(1), 0), 0.0, relevant):
            return step, None
        if trial.is_over:
            return None, step
    return None, None


@pytest.mark.parametrize(
    ("ahead", "of_noise", "expected"),
    [
        ([-9.0, -0.1, 0.0, 0.0, 0.0], 0.0, (None, 96)),  # cells predict better: they have won
        ([-9.0, 1.6, -0.1, 0.0, 0.0], 0.0, (None, 160)),  # as soon as most cells are known
        ([1.0, 1.0, 1.0, 1.9, 1.9], 0.0, (None, 480)),  # without noise laws win early or not
        ([1.0, 1.0, 1.0, 1.9, 1.9], 0.3, (None, 480)),  # nor where it explains too little
        ([1.0, 1.0, 1.0, 0.9, 0.9], 0.4, (320, None)),  # noise hides what laws know
        ([1.0, 1.0, 1.0, 0.7, 1.1], 0.4, (480, None)),
        ([1.0, 1.0, 1.0, 0.7, 0.8], 0.4, (None, 480)),  # not enough, however long
        ([1.0, 1.0, 1.0, -0.1, 0.0], 2.0, (None, 320)),
    ],
)
def test_laws_that_stay_ahead_win_late(ahead, of_noise, expected):
    assert looked(ahead, of_noise) == expected


class Noisy(gym.ObservationWrapper):
    """A world seen with noise of its own generator."""

    def __init__(self, env, deviation, seed):
        super().__init__(env)
        self.deviation, self.rng = np.array(deviation), np.random.default_rng(seed)
        bound = np.full(len(deviation), np.inf)
        self.observation_space = gym.spaces.Box(-bound, bound, dtype=np.float64)

    def observation(self, observation):
        return observation + self.deviation * self.rng.normal(size=len(self.deviation))


def test_laws_win_where_noise_hides_each_step():
    env = Noisy(gym.make("MountainCar-v0"), [0.019, 0.0018], seed=11)  # 5 % of what is visited
    agent = tgm.TGMAgent(env, seed=11).learn(LAWS_AT[-1] + 1)
    assert isinstance(agent.learner.inner, FlowLearner)
    assert agent.learner.inner.filter is not None


@pytest.fixture(scope="module")
def noisy_agent():
    env = Noisy(gym.make("CartPole-v1"), [0.012, 0.04, 0.005, 0.06], seed=0)
    return tgm.TGMAgent(env, seed=0).learn(400)


def test_noise_of_observations_is_learned_and_filtered(noisy_agent):
    learner, env = noisy_agent.learner.inner, noisy_agent.env
    deviation = np.sqrt(np.diag(learner.filter.noise))
    np.testing.assert_allclose(deviation, env.deviation, rtol=0.4)
    off = []
    for seed in range(1, 6):
        seen, _ = env.reset(seed=seed)
        state = None
        for _ in range(100):
            action, state = noisy_agent.predict(seen, state, deterministic=True)
            placed, true = np.array(state[0].observation), np.array(env.unwrapped.state)
            off.append((placed - true, seen - true))
            seen, _, is_over, _, _ = env.step(action)
            if is_over:
                break
    ours, theirs = np.array(off).transpose(1, 0, 2)
    assert (ours.std(axis=0) < 0.8 * theirs.std(axis=0)).all()
    explained = noisy_agent.explain(seen, state)
    np.testing.assert_allclose(explained.q_values, noisy_agent.q_values(seen, state))
    assert (explained.belief != noisy_agent.belief(seen)).any()  # the state matters


def test_a_learner_in_noise_goes_on_from_a_file_to_the_bit(noisy_agent):
    first = noisy_agent.learner.inner
    second = FlowLearner(4, 2, first.gamma)
    second.restore(ArrayReader(first.to_arrays()))
    rng = np.random.default_rng(0)
    for learner in (first, second):
        learner.begin(np.zeros(4))
    for _ in range(60):
        action, point = int(rng.integers(2)), 0.05 * rng.normal(size=4)
        for learner in (first, second):
            learner.observe(action, 1.0, point, terminated=False)
    ours, theirs = first.to_arrays(), second.to_arrays()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def test_what_observations_change_in_the_belief_is_in_the_file(noisy_agent):
    first = noisy_agent.learner.inner
    second = FlowLearner(4, 2, first.gamma)
    second.restore(ArrayReader(first.to_arrays()))
    assert first.best.model.news.any()
    np.testing.assert_array_equal(second.best.model.news, first.best.model.news)


def test_a_covariance_that_is_none_is_refused(noisy_agent):
    arrays = dict(noisy_agent.learner.inner.to_arrays())
    arrays["model.observation_noise"] = -np.eye(4)
    with pytest.raises(DataError, match="observation_noise"):
        FlowLearner(4, 2, 0.9).restore(ArrayReader(arrays))
