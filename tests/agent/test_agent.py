"""TGMAgent as a user meets it."""

import gymnasium as gym
import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import tgm
from tgm.envs import load_maze
from tgm.errors import ConfigError, DataError, RunError, SpaceError


def make_agent(maze: str = "8", seed: int = 0, **settings) -> tgm.TGMAgent:
    env = gym.make("tgm/Maze-v0", maze=maze)
    return tgm.TGMAgent(env, tgm.TGMConfig.paper(**settings), seed=seed)


@pytest.fixture(scope="module")
def trained() -> tgm.TGMAgent:
    """An agent that knows maze 8."""
    return make_agent().learn(3000)


def assert_same_knowledge(one: tgm.TGMAgent, other: tgm.TGMAgent) -> None:
    np.testing.assert_array_equal(one.means, other.means)
    np.testing.assert_array_equal(one.transition_matrix, other.transition_matrix)
    np.testing.assert_array_equal(one.state_ids, other.state_ids)
    np.testing.assert_array_equal(one.q_values([1.0, 1.0]), other.q_values([1.0, 1.0]))


def test_linear_algebra_has_one_thread_while_an_agent_learns():
    """Several threads that wait for each other make a step up to twenty times as dear."""

    def n_threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    seen = []
    with threadpool_limits(limits=2, user_api="blas"):
        before = n_threads()
        tgm.TGMAgent("tgm/Maze-v0", seed=0).learn(2, callback=lambda info: seen.append(n_threads()))
        assert n_threads() == before
    assert seen == [{1}, {1}]


def test_shapes_and_probabilities(trained):
    n = trained.n_states
    assert n >= 8
    assert trained.means.shape == (n, 2)
    assert trained.covariances.shape == (n, 2, 2)
    assert trained.transition_matrix.shape == (5, n, n)
    assert len(set(trained.state_ids.tolist())) == n
    np.testing.assert_allclose(trained.transition_matrix.sum(axis=-1), 1, atol=1e-12)
    belief = trained.belief([1.0, 1.0])
    assert belief.shape == (n,)
    assert belief.sum() == pytest.approx(1, abs=1e-12)
    assert trained.q_values([1.0, 1.0]).shape == (5,)


def test_the_belief_picks_the_state_at_the_observation(trained):
    state = int(trained.belief([1.05, 0.97]).argmax())
    assert np.abs(trained.means[state] - [1, 1]).max() < 0.3


def test_learning_in_pieces_is_learning_at_once():
    whole, pieces = make_agent(seed=5), make_agent(seed=5)
    whole.learn(450)
    for _ in range(9):
        pieces.learn(50)
    assert_same_knowledge(whole, pieces)


def test_the_same_seed_gives_the_same_agent_and_another_does_not():
    first, second, other = make_agent(seed=1), make_agent(seed=1), make_agent(seed=2)
    for agent in (first, second, other):
        agent.learn(300)
    assert_same_knowledge(first, second)
    assert not np.array_equal(first.means[0], other.means[0])


def test_predict_changes_nothing_and_takes_batches(trained):
    before = trained.q_values([1.0, 1.0]), trained.n_steps
    single, _ = trained.predict([1.0, 1.0], deterministic=True)
    batch, _ = trained.predict(np.array([[1.0, 1.0], [4.0, 3.0]]), deterministic=True)
    assert batch.shape == (2,)
    assert batch[0] == single
    np.testing.assert_array_equal(before[0], trained.q_values([1.0, 1.0]))
    assert trained.n_steps == before[1]


def test_stable_baselines_can_evaluate_it(trained):
    evaluation = pytest.importorskip("stable_baselines3.common.evaluation")
    monitor = pytest.importorskip("stable_baselines3.common.monitor")
    env = monitor.Monitor(gym.make("tgm/Maze-v0", maze="8"))
    mean_return, _ = evaluation.evaluate_policy(trained, env, n_eval_episodes=5)
    assert mean_return > -50


def test_callbacks_see_every_learning_step_and_can_stop():
    seen = []
    make_agent().learn(500, callback=seen.append)
    assert [info.step for info in seen] == [100, 200, 300, 400, 500]
    assert seen[0].moves[0].kind == "birth"
    assert sum(episode.length for info in seen for episode in info.episodes) <= 500
    assert seen[-1].n_states > 0
    assert np.isfinite(seen[-1].free_energy)
    parts = seen[-1].free_energy_terms
    total = sum(value if name.startswith("log_q_") else -value for name, value in parts.items())
    assert total == pytest.approx(seen[-1].free_energy, rel=1e-9)
    agent = make_agent()
    agent.learn(500, callback=lambda info: info.step < 200)
    assert agent.n_steps == 200


def test_explanation_in_data_and_words(trained):
    explanation = trained.explain([1.0, 1.0])
    np.testing.assert_allclose(explanation.belief, trained.belief([1.0, 1.0]))
    np.testing.assert_allclose(explanation.q_values, trained.q_values([1.0, 1.0]))
    np.testing.assert_allclose(explanation.expected_next.sum(axis=1), 1)
    assert explanation.action == int(explanation.q_values.argmax())
    text = str(explanation)
    here = trained.state_ids[int(explanation.belief.argmax())]
    assert f"I believe I am in state {here}" in text
    assert f"The best action is '{explanation.action_names[explanation.action]}'" in text
    assert "right" in explanation.action_names


def test_a_newborn_agent_answers_too():
    agent = make_agent()
    assert agent.n_states == 0
    assert agent.belief([1.0, 1.0]).shape == (0,)
    assert agent.q_values([1.0, 1.0]).tolist() == [0] * 5
    assert "Nothing is learned yet" in str(agent.explain([1.0, 1.0]))
    action, _ = agent.predict([1.0, 1.0])
    assert action in range(5)


@pytest.mark.parametrize("exploration", ["epsilon_greedy", "softmax", "greedy"])
def test_every_exploration_learns(exploration):
    agent = make_agent(exploration=exploration).learn(300)
    assert agent.n_states > 0


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "name"),
    [
        (gym.spaces.Text(5), "Text"),
        (gym.spaces.Sequence(gym.spaces.Discrete(3)), "Sequence"),
        (gym.spaces.Graph(gym.spaces.Discrete(3), None), "Graph"),
    ],
)
def test_other_observation_spaces_are_refused_by_name(space, name):
    env = gym.make("tgm/Maze-v0")
    env.observation_space = space
    with pytest.raises(SpaceError, match=f"observation space is {name}"):
        tgm.TGMAgent(env)


def test_other_action_spaces_are_refused_by_name():
    env = gym.make("tgm/Maze-v0")
    env.action_space = gym.spaces.Box(-1, 1, (1,))
    with pytest.raises(SpaceError, match="action space is Box"):
        tgm.TGMAgent(env)


class Poisoned(gym.Wrapper):
    """An environment that says something impossible once."""

    def __init__(self, env, at, field, value):
        super().__init__(env)
        self.at, self.field, self.value = at, field, value
        self.steps = 0

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.steps += 1
        if self.steps == self.at:
            if self.field == "observation":
                observation = np.array([observation[0], self.value])
            elif self.field == "shape":
                observation = np.zeros(3)
            else:
                reward = self.value
        return observation, reward, terminated, truncated, info


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [1, 57, 100, 230])
@pytest.mark.parametrize("field", ["observation", "reward"])
def test_nan_and_infinity_never_enter(value, at, field):
    env = Poisoned(gym.make("tgm/Maze-v0", maze="8"), at, field, value)
    agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0)
    healthy = make_agent(seed=0)
    if at > 1:
        healthy.learn(at - 1)
    wanted = r"observation\[1\]" if field == "observation" else "reward"
    with pytest.raises(DataError, match=f"step {at}: .*{wanted}.* is -?(nan|inf)"):
        agent.learn(400)
    assert agent.n_steps == healthy.n_steps
    assert_same_knowledge(agent, healthy)
    agent.learn(200)  # and life goes on
    assert np.isfinite(agent.means).all()


def test_a_changed_shape_is_named():
    env = Poisoned(gym.make("tgm/Maze-v0", maze="8"), 3, "shape", None)
    with pytest.raises(DataError, match=r"step 3: the observation has shape \(3,\), not \(2,\)"):
        tgm.TGMAgent(env, seed=0).learn(10)


def test_predict_checks_its_observations(trained):
    with pytest.raises(DataError, match=r"row 1: observation\[0\] is nan"):
        trained.predict(np.array([[1.0, 1.0], [np.nan, 1.0]]))
    with pytest.raises(DataError, match="not numeric"):
        trained.belief(["here", "there"])


@pytest.mark.parametrize("n_steps", [0, -1, 2.5, True])
def test_learning_for_no_steps_is_refused(n_steps):
    with pytest.raises(ConfigError, match="n_steps is"):
        make_agent().learn(n_steps)


@pytest.mark.parametrize("seed", [-1, 1.5, True])
def test_a_bad_seed_is_refused(seed):
    with pytest.raises(ConfigError, match="seed is"):
        tgm.TGMAgent(gym.make("tgm/Maze-v0"), seed=seed)


class Shifted(gym.ActionWrapper):
    """Actions counted from 3, as Gymnasium allows."""

    def __init__(self, env):
        super().__init__(env)
        self.action_space = gym.spaces.Discrete(5, start=3)

    def action(self, action):
        return int(action) - 3


def test_actions_need_not_start_at_zero():
    env = Shifted(gym.make("tgm/Maze-v0", maze="8"))
    agent = tgm.TGMAgent(env, tgm.TGMConfig.paper(), seed=0).learn(200)
    reference = make_agent(seed=0).learn(200)
    assert_same_knowledge(agent, reference)
    assert agent.predict([1.0, 1.0], deterministic=True)[0] >= 3


def test_it_lives_in_other_environments_too():
    agent = tgm.TGMAgent(gym.make("CartPole-v1"), tgm.TGMConfig.paper(), seed=0).learn(300)
    assert agent.n_states > 0
    assert agent.explain(np.zeros(4)).action_names == ("action 0", "action 1")


# --- model files -------------------------------------------------------------------------------


def test_a_saved_agent_comes_back_and_goes_on(trained, tmp_path):
    trained.save(tmp_path / "maze8.tgm")
    loaded = tgm.TGMAgent.load(tmp_path / "maze8.tgm", env=gym.make("tgm/Maze-v0", maze="8"))
    assert_same_knowledge(trained, loaded)
    assert loaded.n_steps == trained.n_steps
    loaded.learn(100)
    assert loaded.n_steps == trained.n_steps + 100


def test_without_an_environment_it_acts_but_does_not_learn(trained, tmp_path):
    trained.save(tmp_path / "maze8.tgm")
    loaded = tgm.TGMAgent.load(tmp_path / "maze8.tgm")
    assert loaded.predict([1.0, 1.0], deterministic=True) == trained.predict(
        [1.0, 1.0], deterministic=True
    )
    with pytest.raises(ConfigError, match="has no environment"):
        loaded.learn(10)


def test_a_model_of_another_environment_is_refused(trained, tmp_path):
    trained.save(tmp_path / "maze8.tgm")
    with pytest.raises(RunError, match="another environment"):
        tgm.TGMAgent.load(tmp_path / "maze8.tgm", env=gym.make("CartPole-v1"))


def test_broken_files_are_refused_by_name(trained, tmp_path):
    path = tmp_path / "maze8.tgm"
    trained.save(path)
    whole = path.read_bytes()
    for data in (b"", whole[:100], whole[:-8], b"\x80\x04K\x01."):
        path.write_bytes(data)
        with pytest.raises(RunError, match="not a readable tgm-model file"):
            tgm.TGMAgent.load(path)
    with pytest.raises(RunError, match="no such file"):
        tgm.TGMAgent.load(tmp_path / "nowhere.tgm")


def test_the_same_agent_is_the_same_bytes(trained, tmp_path):
    for name in ("one.tgm", "two.tgm"):
        trained.save(tmp_path / name)
    assert (tmp_path / "one.tgm").read_bytes() == (tmp_path / "two.tgm").read_bytes()


# --- what clumsy users and odd worlds do ---------------------------------------------------------


@pytest.mark.parametrize("spike", [1e3, 1e9, 1e30, 1e59])
@pytest.mark.parametrize("bandwidth", [0.5, "auto"])
def test_one_absurd_observation_is_survived(spike, bandwidth):
    env = Poisoned(gym.make("tgm/Maze-v0", maze="8"), 50, "observation", spike)
    agent = tgm.TGMAgent(env, tgm.TGMConfig(bandwidth=bandwidth), seed=0).learn(600)
    assert np.isfinite(agent.belief([1.0, 1.0])).all()
    near = [m for m in agent.means if np.abs(m).max() < 10]
    assert len(near) >= 8


def test_an_observation_beyond_all_measure_is_refused():
    env = Poisoned(gym.make("tgm/Maze-v0", maze="8"), 5, "observation", 1e200)
    with pytest.raises(DataError, match=r"step 5: observation\[1\] is 1e\+200"):
        tgm.TGMAgent(env, seed=0).learn(10)


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e6])
def test_the_unit_of_reward_does_not_matter(unit):
    env = gym.wrappers.TransformReward(gym.make("tgm/Maze-v0", maze="25"), lambda r: unit * r)
    agent = tgm.TGMAgent(env, seed=0).learn(400)
    path = [agent.predict([x, y], deterministic=True)[0] for x, y in ((1, 1), (3, 2), (3, 3))]
    assert path[0] in (1, 3)
    assert path[1:] == [1, 4]


def test_after_an_interruption_life_goes_on():
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0).learn(100)
    observe = agent._active.observe
    agent._active.observe = lambda *a, **k: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        agent.learn(1)
    agent._active.observe = observe
    agent.learn(300)
    assert agent.n_steps == 400


def test_batches_of_no_rows_and_of_odd_rows(trained):
    actions, _ = trained.predict(np.zeros((0, 2)), deterministic=True)
    assert actions.shape == (0,)
    with pytest.raises(DataError, match="differ in length"):
        trained.predict([[0.0, 0.0], [0.0]])


def test_a_numpy_seed_is_a_seed():
    assert tgm.TGMAgent(gym.make("tgm/Maze-v0"), seed=np.int64(3)).seed == 3


@pytest.mark.parametrize(
    ("key", "value"), [("n_steps", -1), ("n_episodes", -1), ("n_steps", float("inf"))]
)
def test_impossible_facts_are_refused(trained, tmp_path, key, value):
    from tgm.agent.model_file import read_model, write_model

    path = tmp_path / "maze8.tgm"
    trained.save(path)
    arrays, facts = read_model(path)
    write_model(path, arrays, facts | {key: value})
    with pytest.raises(RunError):
        tgm.TGMAgent.load(path)


def test_predict_refuses_a_state_that_is_not_its_own(trained):
    points = [[1.0, 1.0], [2.0, 1.0]]
    _, two = trained.predict(points)
    for state in (two, 5, [5], "x"):
        with pytest.raises(DataError, match="it must be what predict returned"):
            trained.predict(points[0], state)
    for wrong in ([True, False, True], "x"):
        with pytest.raises(DataError, match="episode_start"):
            trained.predict(points, two, wrong)


def test_where_an_episode_starts_is_known_row_by_row():
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0).learn(400)
    maze = load_maze("8")
    start = np.array(maze.start, dtype=float)
    other = np.array(next(c for c in maze.moves[maze.start] if c != maze.start), dtype=float)
    between = 0.48 * start + 0.52 * other
    _, both = agent.predict([between, between], None, [True, False])
    _, first = agent.predict(between, None, [True])
    _, second = agent.predict(between)
    for one, alone in zip(both, [*first, *second], strict=True):
        assert one.action == alone.action
        assert dict(one.belief) == pytest.approx(dict(alone.belief))
    assert dict(first[0].belief) != pytest.approx(dict(second[0].belief))
    # The most likely state comes first: what an action does is measured from there.
    for one in both:
        shares = [share for _, share in one.belief]
        assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize("answer", [False, np.bool_(False)])
def test_a_callback_stops_with_false_of_either_kind(answer):
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0)
    agent.learn(50, callback=lambda info: answer if info.step == 7 else None)
    assert agent.n_steps == 7


def test_callbacks_that_are_no_functions_are_refused_before_the_first_step():
    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0)
    for wrong in (5, [5], [print, "x"]):
        with pytest.raises(ConfigError, match="it must be a function"):
            agent.learn(10, callback=wrong)
    assert agent.n_steps == 0


def test_an_episode_that_ended_is_over_even_if_the_recorder_raises():
    class Failing:
        due_at, look_at, episodes = 0, 0, []

        def observed(self, point, action, reward, end, info):
            if end:
                raise OSError("disk full")

        def learned(self, learn_info, agent):
            pass

        def within_episode(self, agent):
            return True

        def episode_ended(self, agent):
            return True

        def close(self, ending, reason=""):
            pass

    agent = tgm.TGMAgent(gym.make("tgm/Maze-v0", maze="8"), seed=0)
    with pytest.raises(OSError, match="disk full"):
        agent.learn(200, run_dir=Failing())
    assert agent.is_between_episodes


@pytest.mark.parametrize("env", [None, 5, object()])
def test_what_is_no_environment_is_refused(env):
    with pytest.raises(SpaceError, match=r"gymnasium\.make"):
        tgm.TGMAgent(env)
