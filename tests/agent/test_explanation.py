"""Why this action: what leads to the end of the episode is said to do so, everywhere."""

import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
from campaigns.common.worlds import Stream
from tests.oracles import regression_predictive_covariance

import tgm
from tgm.envs.maze import EAT
from tgm.runs import Run

GOAL = [3.0, 3.0]  # of maze 25


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explained") / "run"
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="25"), seed=1)
    agent.learn(600, run_dir=folder)
    return agent, Run.open(folder)


def test_an_action_that_ends_the_episode_leads_to_the_end(run):
    agent, _ = run
    explanation = agent.explain(GOAL)
    assert explanation.action == EAT
    assert explanation.expected_end[EAT] > 0.9
    assert explanation.expected_end[:EAT].max() < 0.1
    assert "'eat', worth" in str(explanation)
    best = str(explanation).splitlines()[1]
    assert "the end" in best
    assert "state" not in best
    # What comes next is a state or the end.
    both = explanation.expected_next.sum(axis=1) + explanation.expected_end
    np.testing.assert_allclose(both, 1, atol=1e-12)


def test_the_transition_matrix_does_not_say_that_the_end_leads_back(run):
    agent, _ = run
    goal = int(agent.belief(GOAL).argmax())
    assert agent.end_probabilities.shape == (5, agent.n_states)
    assert agent.end_probabilities[EAT, goal] > 0.9
    assert agent.end_probabilities.sum() < 1.0 + agent.end_probabilities[EAT, goal]
    # Given that the episode goes on, nothing is known of where to.
    np.testing.assert_allclose(agent.transition_matrix[EAT, goal], 1 / agent.n_states, atol=0.02)
    np.testing.assert_allclose(agent.transition_matrix.sum(axis=-1), 1, atol=1e-12)


def test_a_recorded_model_gives_the_same_answer(run):
    agent, recorded = run
    frame = recorded.frame_at(600)
    order = np.argsort(agent.state_ids)
    ended = agent.end_probabilities[:, order]
    np.testing.assert_allclose(frame.end_probabilities, ended, atol=1e-9)
    goal = int(np.argmax(frame.end_probabilities[EAT]))
    assert frame.transition_matrix[EAT, goal, goal] < 0.5


def test_an_explanation_is_what_the_whole_matrix_says(run):
    agent, _ = run
    for observation in ([1.0, 1.0], [2.0, 3.4], GOAL):
        explanation, belief = agent.explain(observation), agent.belief(observation)
        goes_on = (1 - agent.end_probabilities)[:, :, None] * agent.transition_matrix
        wanted = np.einsum("k,akj->aj", belief, goes_on)
        np.testing.assert_allclose(explanation.expected_next, wanted, atol=1e-12)
        np.testing.assert_allclose(explanation.expected_end, agent.end_probabilities @ belief)
        tries = agent.transition_counts.sum(axis=-1) @ belief
        np.testing.assert_allclose(explanation.evidence, tries, atol=1e-9)


def test_the_paper_preset_knows_of_no_end():
    env = gym.make("tgm/Maze-v0", maze="25")
    agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0).learn(400)
    assert not agent.end_probabilities.any()
    explanation = agent.explain(GOAL)
    np.testing.assert_allclose(explanation.expected_next.sum(axis=1), 1, atol=1e-9)


def test_nothing_is_known_before_anything_was_seen():
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="25"), seed=0)
    assert "Nothing is learned yet" in str(agent.explain(GOAL))
    assert agent.end_probabilities.shape == (5, 0)


def test_an_explanation_takes_no_room_for_all_transitions():
    agent = tgm.TGMAgent(Stream(2, "uniform"), tgm.TGMConfig(bandwidth=0.5), seed=0).learn(900)
    n_dense = 2 * agent.n_states**2 * 8
    tracemalloc.start()
    try:
        explanation = agent.explain([50.0, 50.0])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert explanation.expected_next.shape == (2, agent.n_states)
    assert peak < n_dense / 10


# --- worlds that flow -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def balancer():
    return tgm.TGMAgent(gym.make("CartPole-v1"), seed=0).learn(200)


UPRIGHT = np.array([0.01, 0.1, 0.02, -0.1], dtype=np.float32)
FALLING = np.array(
    [0.0, 0.5, 0.207, 2.5], dtype=np.float32
)  # far beyond the end, whose place is learned


def next_in_the_world(observation, action):
    world = gym.make("CartPole-v1").unwrapped
    world.reset(seed=0)
    world.state = np.array(observation, dtype=float)
    arrival, _, terminated, _, _ = world.step(action)
    return arrival, terminated


def test_laws_say_what_each_action_leads_to(balancer):
    for observation in (UPRIGHT, FALLING):
        explanation = balancer.explain(observation)
        assert explanation.expected_observation.shape == explanation.spread.shape == (2, 4)
        for action in range(2):
            arrival, terminated = next_in_the_world(observation, action)
            off = np.abs(explanation.expected_observation[action] - arrival)
            # Laws of 200 steps are nearly linear, the world is not.
            assert (off < 4.0 * explanation.spread[action] + 0.05).all()
            assert (explanation.expected_end[action] > 0.5) == terminated
    total = explanation.expected_next.sum(axis=1) + explanation.expected_end
    np.testing.assert_allclose(total, 1.0)


def test_the_spread_is_that_of_the_predictive_distribution(balancer):
    flow = balancer.learner.inner
    units, law = flow.best.units, flow.best.model.law
    assert flow.best.model.wall is None
    steps = flow.memory.steps()
    before, after = units.local(steps.departure), units.local(steps.arrival)
    inputs, moved = law.inputs(before, steps.action), (after - before) / law.unit
    axes = units.observations(np.eye(4)) - units.observations(np.zeros(4))
    z = units.local(UPRIGHT[None].astype(float))
    for action in range(2):
        at = law.inputs(z, np.array([action]))[0]
        prior = law.prior
        local = regression_covariance(inputs, moved, prior, at) * np.outer(law.unit, law.unit)
        wanted = np.sqrt(np.diag(axes.T @ local @ axes))
        np.testing.assert_allclose(balancer.explain(UPRIGHT).spread[action], wanted, rtol=1e-3)


def regression_covariance(inputs, targets, prior, at):
    """The oracle where inputs are few, else the same in its form for points: (n, n) matrices."""
    if inputs.shape[1] <= 20:
        return regression_predictive_covariance(
            inputs, targets, prior.precision, prior.scale, prior.dof, at
        )
    gram = np.eye(len(inputs)) + (inputs / prior.precision) @ inputs.T
    across = (inputs / prior.precision) @ at
    doubt = at @ (at / prior.precision) - across @ np.linalg.solve(gram, across)
    scale = np.diag(prior.scale) + targets.T @ np.linalg.solve(gram, targets)
    freedom = prior.dof + len(inputs) - targets.shape[1] - 1.0
    return scale * (1.0 + doubt) / freedom


def test_where_nothing_was_seen_the_spread_is_larger(balancer):
    here, far = balancer.explain(UPRIGHT).spread, balancer.explain([2.3, 3.0, -0.2, 3.0]).spread
    assert (far > 2.0 * here).all()


def test_an_explanation_of_laws_in_words(balancer):
    words = str(balancer.explain(FALLING))
    assert "state" not in words
    assert words.count("±") == 8
    assert "observation[3]" in words
    assert "the episode ends (100%)" in words
    assert "ends" not in str(balancer.explain(UPRIGHT))


def test_a_saved_agent_explains_to_the_bit(balancer, tmp_path):
    balancer.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm")
    mine, others = balancer.explain(UPRIGHT), copy.explain(UPRIGHT)
    np.testing.assert_array_equal(mine.expected_observation, others.expected_observation)
    np.testing.assert_array_equal(mine.spread, others.spread)
    # Asked again after more steps, it knows more.
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", gym.make("CartPole-v1"))
    copy.explain(UPRIGHT)
    copy.learn(20)
    assert (copy.explain(UPRIGHT).spread != mine.spread).any()


def test_steps_that_are_too_far_apart_leave_the_spread_unknown(balancer, tmp_path):
    balancer.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm")
    copy.learner.inner.memory.add(np.full(4, 1e200), 0, 1.0, np.full(4, -1e200), ended=False)
    explanation = copy.explain(UPRIGHT)
    assert np.isfinite(explanation.expected_observation).all()
    assert np.isnan(explanation.spread).all()
    assert "spread unknown" in str(explanation)


def test_places_have_no_laws(run):
    agent, _ = run
    explanation = agent.explain(GOAL)
    assert explanation.expected_observation is None
    assert explanation.spread is None
    assert explanation.feature_names == agent.interface.feature_names


class Cue(gym.Env):
    """A cue at the beginning tells which action is right three steps later."""

    observation_space = gym.spaces.Discrete(4)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.cue, self.place = int(self.np_random.integers(2)), 0
        return self.cue, {}

    def step(self, action):
        if self.place == 3:
            return 3, (1.0 if action == self.cue else -1.0), True, False, {}
        self.place += 1
        return (3 if self.place == 3 else 2), 0.0, False, False, {}


def test_with_the_state_of_predict_the_explanation_remembers_the_cue():
    env = Cue()
    agent = tgm.TGMAgent(Cue(), seed=1).learn(600)
    for seed in range(4):
        observation, _ = env.reset(seed=seed)
        state, is_start = None, True
        for _ in range(3):
            action, state = agent.predict(observation, state, is_start, deterministic=True)
            observation, *_ = env.step(int(action))
            is_start = False
        explanation = agent.explain(observation, state)
        assert explanation.action == env.cue
        assert explanation.belief.max() > 0.9
        assert (agent.belief(observation, state) == explanation.belief).all()
        assert (agent.q_values(observation, state) == explanation.q_values).all()
    assert agent.explain(observation).belief.max() < 0.9  # by itself it tells nothing
    with pytest.raises(tgm.errors.TGMError, match="explain: state is 5"):
        agent.explain(observation, 5)
