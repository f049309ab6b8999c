"""Short versions of campaigns/hostile_files.py: a file that lies is refused by name, or does not
matter."""

import gymnasium as gym
import numpy as np
import pytest
from campaigns.common.attacks import ATTACKS
from campaigns.common.lives import Life
from campaigns.common.mutations import encode
from campaigns.common.tally import Tally
from campaigns.hostile_files import (
    COMMANDS,
    attempt,
    mutated_models,
    mutated_runs,
    sound_runs,
    warm_up,
)

import tgm
from tgm.agent.model_file import MODEL_FORMAT
from tgm.errors import DataError, RunError
from tgm.files import read_arrays
from tgm.files.arrays import ArrayReader
from tgm.transition.sparse import PLANNED, SUMS

CONFIGS = {
    "noisy": tgm.TGMConfig(exploration="epsilon_greedy"),
    "paper": tgm.TGMConfig.paper(learn_every=40),
}
SOME_ATTACKS = (
    "a renamed pickle",
    "a header of nested lists",
    "an array of 2^40 numbers",
    "arrays that overlap",
    "another random generator",
    "steps beyond counting",
    "a history that grows when it is read",
    "result.json is a link",
    "run.json is a pipe",
    "a world with a module to import",
    "unfinished files are links",
)


def test_mutated_models(tmp_path):
    tally = mutated_models(120, 11, tmp_path)
    assert tally.tried == 120
    assert tally.lost == []


def test_runs_with_a_mutated_file(tmp_path):
    tally = mutated_runs(16, 12, tmp_path)
    assert tally.tried == 16
    assert tally.lost == []


def test_hand_made_attacks(tmp_path):
    tally = Tally("attacks")
    sound = sound_runs(tmp_path)[0]
    warm_up(sound, tmp_path / "copy" / "run")
    for number, name in enumerate(SOME_ATTACKS):
        attempt(tally, name, ATTACKS[name], sound, tmp_path, commands=[number % len(COMMANDS)])
    assert tally.tried == len(SOME_ATTACKS)
    assert tally.lost == []


def test_an_attack_that_succeeds_is_noticed(tmp_path, monkeypatch):
    # The oracle itself: a loader that unpickles must be found out.
    import pickle

    def careless(path, env=None):
        return pickle.loads(path.read_bytes())

    sound = sound_runs(tmp_path)[0]  # which are loaded again while they are written
    monkeypatch.setattr(tgm.TGMAgent, "load", careless)
    tally = Tally("attacks")
    attempt(tally, "pickle", ATTACKS["a renamed pickle"], sound, tmp_path)
    assert len(tally.lost) == 1


# --- what these trials found ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The arrays and facts of a model of each kind."""
    found = {}
    for settings in ("half life", "paper"):
        path = tmp_path_factory.mktemp("model") / "sound.tgm"
        Life(settings).agent().learn(200).save(path)
        found[settings] = read_arrays(path, MODEL_FORMAT)
    return found


def full_name(name, arrays):
    """The name of an array of the learner, which a search for the scale may own."""
    return name if name in arrays else f"learner.{name}"


def put(given, value, place=-1):
    def change(arrays):
        name = full_name(given, arrays)
        arrays[name] = arrays[name].copy()
        arrays[name].flat[place] = value

    return change


def double(given):
    def change(arrays):
        name = full_name(given, arrays)
        arrays[name] = arrays[name].copy()
        arrays[name][1] = arrays[name][0]

    return change


def lead_nowhere(arrays):
    """Room for one more state, which is not there, and a successor of that name."""
    prefix = full_name("world.transition.", arrays)
    n_slots = len(arrays[f"{prefix}visits"])
    for name in {*SUMS, *PLANNED, "is_random"}:
        array = arrays[prefix + name]
        arrays[prefix + name] = np.concatenate([array, np.zeros_like(array[:1])])
    arrays[f"{prefix}successor"][0, 0, 0] = n_slots


def exchange_homes(arrays):
    name = full_name("world.memory.home.state", arrays)
    arrays[name] = arrays[name][::-1].copy()


def doubted(states):
    """States of which the file says that they were seen once."""

    def change(arrays):
        arrays["learner.revising.doubted.state"] = np.array(states)
        arrays["learner.revising.doubted.tries"] = np.full(len(states), 2.0)

    return change


LIES = [
    ("half life", double("world.memory.home.state"), "holds a state twice"),
    ("half life", exchange_homes, "keeps a step where it did not lead"),
    ("half life", put("world.transition.discounted", 0.7), "'discounted' does not fit"),
    ("half life", put("world.transition.probability", 1.0, slice(None)), "sums to more than one"),
    ("half life", put("world.transition.end", 7.0), "'learner.world.transition.end' holds 7.0"),
    ("half life", put("world.transition.next.count", 9e9), r"has 9e\+09|has 9000000"),
    ("half life", put("world.transition.log_fade", 1e20), "'log_fade' holds"),
    ("half life", lead_nowhere, "'successor' names a state that is not there"),
    ("half life", put("planner.worst_reward", 1e9), "below 1000000000.0"),
    (
        "half life",
        put("world.memory.step.action", -1, slice(None)),
        "a start has a past|the start of an episode follow a step",
    ),
    ("half life", put("prior.covariance", 9.0, 1), "is not symmetric"),
    ("half life", put("world.component.scatter", -1e9, 0), "leaves no covariance"),
    ("half life", put("coordinates.relevant", False, 0), "'relevant' does not name the features"),
    (
        "half life",
        put("coordinates.common_variance", -1.0),
        "'learner.coordinates.common_variance'",
    ),
    ("half life", put("world.background.counts", 1e9, 0), r"'counts' holds 1000000000\.0 outliers"),
    ("half life", put("choice.deviation", 0.0), "'deviation' is no scale"),
    ("half life", put("choice.relevant", False), "'covariance'|'relevant'"),
    ("half life", put("choice.typical_step", -1.0), "'choice.typical_step' holds"),
    ("half life", doubted([2, 1]), "out of order"),
    ("half life", doubted([3, 3]), "holds a state twice"),
    ("half life", doubted([999]), "'learner.revising.doubted.state' holds 999"),
    ("paper", put("memory.actions", 2**31, 0), "'memory.actions' holds 2147483648"),
    ("paper", put("memory.actions", 2), "has no successor"),
    ("paper", double("ids"), "holds a name twice"),
    ("paper", put("next_id", 0), "not below 0"),
    ("paper", put("q", 1e200), "'q' holds 1e.200"),
    ("paper", put("posterior.inverse_scale", -5.0, 0), "not positive definite"),
]


@pytest.mark.parametrize(("settings", "lie", "reason"), LIES)
def test_lies_are_refused_by_name(models, settings, lie, reason, tmp_path):
    arrays, facts = models[settings]
    arrays = dict(arrays)
    lie(arrays)
    (tmp_path / "lie.tgm").write_bytes(encode(arrays, MODEL_FORMAT, facts))
    with pytest.raises(RunError, match=reason):
        tgm.TGMAgent.load(tmp_path / "lie.tgm")


def test_a_truth_is_not_refused(models, tmp_path):
    for arrays, facts in models.values():
        (tmp_path / "truth.tgm").write_bytes(encode(arrays, MODEL_FORMAT, facts))
        assert tgm.TGMAgent.load(tmp_path / "truth.tgm").n_steps == 200


def test_a_small_file_gets_little_room(tmp_path):
    path = tmp_path / "model.tgm"
    Life().agent().learn(20).save(path)
    arrays, facts = read_arrays(path, MODEL_FORMAT)
    facts["interface"] |= {"n_features": 1000, "parts": [], "given_names": []}
    path.write_bytes(encode(arrays, MODEL_FORMAT, facts))
    with pytest.raises(RunError, match="too few for 1000 features"):
        tgm.TGMAgent.load(path)


def test_the_number_of_an_action_is_a_number_of_this_machine(tmp_path):
    path = tmp_path / "model.tgm"
    Life().agent().learn(10).save(path)
    arrays, facts = read_arrays(path, MODEL_FORMAT)
    facts["interface"]["first_action"] = 10**30
    path.write_bytes(encode(arrays, MODEL_FORMAT, facts))
    with pytest.raises(RunError, match="first action is 1000000"):
        tgm.TGMAgent.load(path)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"episode": 1}, "an episode has"),
        ([], "an episode has"),
        (
            {"episode": 1, "step": 2, "total_reward": "x", "length": 2, "terminated": True},
            "total_reward",
        ),
    ],
)
def test_episodes_in_a_file_are_checked(told, reason, tmp_path):
    path = tmp_path / "model.tgm"
    Life().agent().learn(10).save(path)
    arrays, facts = read_arrays(path, MODEL_FORMAT)
    facts["pending_episodes"] = [told]
    path.write_bytes(encode(arrays, MODEL_FORMAT, facts))
    with pytest.raises(RunError, match=reason):
        tgm.TGMAgent.load(path)


def test_a_scatter_may_be_a_little_less_than_nothing():
    # Points that were taken back leave rounding and doubt behind; the covariance is what counts.
    matrices = np.array([[[1.0, 0.0], [0.0, -0.05]]])
    with pytest.raises(DataError, match="not a scatter"):
        ArrayReader({"s": matrices}).scatter("s", 1, 2, 2)
    assert ArrayReader({"s": matrices}).scatter("s", 1, 2, 2, beside=np.eye(2)).shape == (1, 2, 2)
    with pytest.raises(DataError, match="leaves no covariance"):
        ArrayReader({"s": 30 * matrices}).scatter("s", 1, 2, 2, beside=np.eye(2))


@pytest.mark.parametrize("config", [CONFIGS["noisy"], CONFIGS["paper"]])
def test_models_of_noisy_worlds_can_be_loaded(config, tmp_path):
    env = gym.make("tgm/Maze-v0", maze="20", noise=1.0)
    agent = tgm.TGMAgent(env, config, seed=1)
    for part in range(4):
        agent.learn(100).save(tmp_path / f"{part}.tgm")
        again = tgm.TGMAgent.load(tmp_path / f"{part}.tgm")
        np.testing.assert_array_equal(again.covariances, agent.covariances)


def test_what_each_component_adds_is_kept(tmp_path):
    # A frame that is told after a resumed run's last LearnInfo has it from the file.
    agent = Life("paper").agent().learn(90)
    agent.save(tmp_path / "model.tgm")
    again = tgm.TGMAgent.load(tmp_path / "model.tgm")
    told, kept = agent.learner.snapshot().log_evidence, again.learner.snapshot().log_evidence
    assert np.abs(told).max() > 0
    np.testing.assert_array_equal(kept, told)
