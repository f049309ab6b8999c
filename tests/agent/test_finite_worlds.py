"""What a user would do first: toy text, pictures, bits, dictionaries, several actions at once."""

import gymnasium as gym
import numpy as np
import pytest
from tests.finite_worlds import DeepSea, Grid, Rooms, Wheel, mean_return, one_hot

import tgm
from tgm.errors import ConfigError, DataError, SpaceError

MAKERS = {
    "cliff": lambda: gym.make("CliffWalking"),
    "lake": lambda: gym.make("FrozenLake-v1"),
    "blackjack": lambda: gym.make("Blackjack-v1"),
    "rooms": Rooms,
    "wheel": Wheel,
    "sea": lambda: DeepSea(9),  # 81 features: recorded by the ids of the states
}

every_world = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("see", [lambda env: env, one_hot], ids=["Discrete", "one-hot"])
def test_cliff_walking_is_solved_in_a_thousand_steps(see, seed):
    agent = tgm.TGMAgent(see(gym.make("CliffWalking")), seed=seed).learn(1000)
    assert agent.n_states == 37  # the cliff leads back, and the goal is the end
    assert mean_return(agent, see(gym.make("CliffWalking")), 2) == -13


@pytest.mark.parametrize("seed", range(2))
def test_taxi_is_solved_in_six_thousand_steps(seed):
    agent = tgm.TGMAgent(gym.make("Taxi"), seed=seed).learn(6000)
    assert agent.n_states == 400
    assert mean_return(agent, gym.make("Taxi"), 100) >= 7.5


@pytest.mark.parametrize(("n", "most"), [(10, 68), (20, 132)])
def test_the_deep_sea_is_solved_soon_and_for_good(n, most):
    """At most twice the episodes of R-max, told the cell: 34 and 66."""
    env = DeepSea(n, seed=1)
    agent = tgm.TGMAgent(env, seed=0)
    solved = []
    for _ in range(most):
        agent.learn(n)
        solved.append(mean_return(agent, DeepSea(n, seed=1), 1) > 0.9)
    assert all(solved[-10:])
    assert agent.n_states == n * (n + 1) // 2


@every_world
def test_everything_can_be_asked(make):
    agent = tgm.TGMAgent(make(), seed=0)
    env = make()
    observation, _ = env.reset(seed=1)
    assert env.action_space.contains(agent.predict(observation)[0])  # knowing nothing
    agent.learn(200)
    action, state = agent.predict(observation, episode_start=np.array([True]), deterministic=True)
    assert env.action_space.contains(action)
    agent.predict(observation, state)
    belief = agent.belief(observation)
    assert belief.sum() == pytest.approx(1.0)
    assert agent.q_values(observation).shape == (agent.interface.n_actions,)
    text = str(agent.explain(observation))
    assert text.startswith("I believe I am in state")
    n = agent.n_states
    assert agent.means.shape == (n, agent.interface.n_features)
    assert agent.covariances.shape == (n, *agent.means.shape[1:] * 2)
    assert agent.transition_matrix.shape == (agent.interface.n_actions, n, n)


@every_world
def test_an_agent_goes_on_to_the_bit_after_a_file(make, tmp_path):
    agent = tgm.TGMAgent(make(), seed=0).learn(100)
    while not agent.is_between_episodes:
        agent.learn(1)
    agent.save(tmp_path / "agent.tgm")
    copy = tgm.TGMAgent.load(tmp_path / "agent.tgm", make())
    assert tgm.TGMAgent.load(tmp_path / "agent.tgm").n_states == agent.n_states
    agent.learn(100)
    copy.learn(100)
    assert copy.state_ids.tolist() == agent.state_ids.tolist()
    np.testing.assert_array_equal(copy.means, agent.means)
    np.testing.assert_array_equal(copy.transition_counts, agent.transition_counts)


def test_evaluate_policy_of_stable_baselines_works():
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    for name in ("cliff", "blackjack", "rooms", "wheel"):
        agent = tgm.TGMAgent(MAKERS[name](), seed=0).learn(600)
        env = MAKERS[name]()
        mean, _ = evaluation.evaluate_policy(agent, env, n_eval_episodes=3, warn=False)
        assert {"cliff": -13, "rooms": -5, "wheel": 1}.get(name, mean) == mean


def test_batches_of_observations():
    agent = tgm.TGMAgent(Wheel(), seed=0).learn(300)
    bits = np.eye(1000, dtype=np.int8)[:4]
    actions, _ = agent.predict(bits, deterministic=True)
    assert actions.shape == (4, 2)
    assert actions[1].tolist() == agent.predict(bits[1], deterministic=True)[0].tolist()
    assert agent.interface.action_names[:2] == ("action 1, 0", "action 1, 1")
    rooms = tgm.TGMAgent(Rooms(), seed=0).learn(300)
    seen = {"room": np.array([5, 7]), "position": np.array([[0.0, 0.0], [2.0, 0.1]])}
    assert rooms.predict(seen, deterministic=True)[0].shape == (2,)
    with pytest.raises(DataError, match="differ in length"):
        rooms.predict(seen | {"room": np.array([5])})


def test_an_observation_never_seen_is_no_reason_to_fail():
    agent = tgm.TGMAgent(gym.make("CliffWalking"), seed=0).learn(300)
    assert agent.belief(47) == pytest.approx(np.full(agent.n_states, 1 / agent.n_states))
    agent.predict(47, deterministic=True)
    with pytest.raises(DataError, match=r"predict: observation is 1\.5"):
        agent.predict(1.5)


def test_the_paper_wants_amounts():
    with pytest.raises(SpaceError, match=r"1 are categorical; structure 'mean_shift' wants a Box"):
        tgm.TGMAgent(gym.make("CliffWalking"), tgm.TGMConfig.paper(), seed=0)


def test_states_that_were_seen_once_decide():
    """No outlier looks exactly like another state."""
    space = gym.spaces.Discrete(9)
    agent = tgm.TGMAgent(Grid(3, lambda env: 3 * env.row + env.column, space), seed=0).learn(30)
    assert agent.learner.world.states.surely_seen == 0.0


def test_bad_steps_cost_nothing():
    class Broken(Wheel):
        def step(self, action):
            seen, *rest = super().step(action)
            return (seen[:5] if self.t == 3 else seen), *rest

    agent = tgm.TGMAgent(Broken(), seed=0)
    with pytest.raises(DataError, match=r"step 3: the observation has shape \(5,\), not \(1000,\)"):
        agent.learn(10)
    assert agent.n_steps == 2
    with pytest.raises(ConfigError):
        agent.learn(0)
