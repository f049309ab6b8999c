"""Health says in words what is wrong, and only what is."""

import json

import numpy as np
import pytest

from tgm.cli.main import main
from tgm.envs import EnvSpec, load_maze
from tgm.inspector import payload
from tgm.inspector.health import findings, separations
from tgm.inspector.log import Log
from tgm.runs import Frame, FrameRow, Run, RunStatus, find_runs

FINISHED = RunStatus("finished")


def log_with(terminated=(1, 1), problems=(), is_whole=True):
    n = len(terminated)
    episodes = {
        "episode": list(range(1, n + 1)),
        "step": [10 * index for index in range(1, n + 1)],
        "total_reward": [-1.0] * n,
        "length": [10] * n,
        "terminated": list(terminated),
    }
    return Log({"step": [10 * n]}, {}, [], episodes, [], is_whole, list(problems))


def frame_with(means, sd=0.1, weight=10.0, rows=None):
    means = np.array(means, dtype=float)
    n = len(means)
    covariance = np.broadcast_to(np.eye(2) * np.reshape(sd, (-1, 1, 1)) ** 2, (n, 2, 2)).copy()
    if rows is None:  # each state leads to the next
        rows = {(i, 0): FrameRow(5.0, -1.0, 0.0, {(i + 1) % n: 5.0}) for i in range(n)}
    weights = np.broadcast_to(np.asarray(weight, dtype=float), (n,)).copy()
    return Frame(10, np.arange(n), weights, means, covariance, np.zeros(n, bool), rows, 1)


def titles(frame, log=None, status=FINISHED, maze=None, **options):
    world = EnvSpec("") if maze is None else EnvSpec.of_maze(maze, **options)
    found = findings(status, (100, 100), log or log_with(), frame, world)
    return {finding.title: finding for finding in found}


APART = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]


def test_a_sound_model_has_no_warning():
    found = titles(frame_with(APART))
    assert {finding.level for finding in found.values()} == {"good", "note"}


def test_overlapping_states_are_named():
    finding = titles(frame_with([*APART, (4.12, 0)]))["States 4 and 5 overlap"]
    assert finding.ids == (4, 5)
    assert "1.2 standard deviations" in finding.text


def test_many_overlaps_are_told_at_once():
    twice = [*APART, *[(x + 0.05, 0) for x, _ in APART]]
    finding = titles(frame_with(twice))["5 pairs of states overlap"]
    assert set(finding.ids) == set(range(10))
    assert "(0.5)" in finding.text


def test_a_wide_state_may_be_two_places():
    finding = titles(frame_with(APART, sd=[0.1, 0.1, 0.3, 0.1, 0.1]))["State 2 is wide"]
    assert "3.0 times the usual" in finding.text


def test_a_component_without_data():
    found = titles(frame_with(APART, weight=[5, 5, 0.1, 5, 5]))
    assert found["Components without data"].ids == (2,)


def test_imagined_states_are_no_components_without_data():
    found = titles(frame_with(APART, weight=[5, 0, 0.1, 0, 5]))
    assert found["Components without data"].ids == (2,)
    assert found["Imagined states"].level == "note"
    assert "2 of 5 states were not visited" in found["Imagined states"].text


def test_states_never_left():
    rows = {(i, 0): FrameRow(5.0, -1.0, 0.0, {i: 5.0}) for i in range(4)}
    rows[0, 0] = FrameRow(5.0, -1.0, 0.0, {1: 5.0})
    rows[1, 0] = FrameRow(5.0, 1.0, 1.0, {1: 5.0})  # it ends the episode: that is a way out
    assert titles(frame_with(APART[:4], rows=rows))["States never left"].ids == (2, 3)


def test_a_goal_never_reached():
    maze = load_maze("8")
    assert "The goal was never reached" in titles(None, log_with([0, 0, 0]), maze=maze)
    assert titles(None, log_with([0, 1, 0]), maze=maze)["The goal was reached"].step == 20
    assert "The goal is no longer reached" in titles(None, log_with([1] + [0] * 30), maze=maze)
    assert "No episode has ended" in titles(None, log_with([]), maze=maze)


def test_elsewhere_an_end_is_neither_good_nor_bad():
    finding = titles(None, log_with([0, 1, 0]))["How episodes end"]
    assert finding.level == "note"
    assert finding.text.startswith("1 of 3 episodes terminated")


def test_actions_that_were_not_tried():
    rows = {(i, 0): FrameRow(5.0, -1.0, 0.0, {i + 1: 5.0}) for i in range(4)}
    assert "1 of 5 pairs" in titles(frame_with(APART, rows=rows))["Some actions are unknown"].text


@pytest.mark.parametrize(
    ("state", "title", "level"),
    [
        ("live", "The run is live", "note"),
        ("interrupted", "The run was interrupted", "warning"),
        ("failed", "The run failed", "problem"),
        ("broken", "The run is broken", "problem"),
    ],
)
def test_what_became_of_the_run(state, title, level):
    finding = titles(None, status=RunStatus(state, "because"))[title]
    assert finding.level == level


def test_damage_and_thinning_of_the_log_are_told():
    found = titles(None, log_with(problems=["line 3 is bad"], is_whole=False))
    assert "line 3 is bad" in found["The log is damaged"].text
    assert "Curves are thinned" in found


def test_the_worst_comes_first():
    found = findings(RunStatus("failed"), (1, 2), log_with([0]), frame_with(APART), EnvSpec(""))
    levels = [finding.level for finding in found]
    order = ["problem", "warning", "note", "good"]
    assert levels == sorted(levels, key=order.index)
    assert levels[0] == "problem"


def test_a_goal_beyond_the_limit_is_told():
    found = titles(None, log_with([0, 0]), maze=load_maze("8"), max_episode_steps=6)
    finding = found["The goal is out of reach"]
    assert finding.level == "problem"
    assert "the goal is 7 steps away and an episode has only 6" in finding.text
    assert "The goal was never reached" not in found
    within = titles(None, log_with([0, 0]), maze=load_maze("8"), max_episode_steps=7)
    assert "The goal is out of reach" not in within
    assert "The goal was never reached" in within


def test_against_the_true_maze(run):
    maze = load_maze("8")
    frame = run.frame_at(1100)
    assert "The map is exact" in titles(frame, maze=maze)
    without = Frame(
        frame.step,
        frame.ids[1:],
        frame.weight[1:],
        frame.mean[1:],
        frame.covariance[1:],
        frame.is_fixed[1:],
        {key: row for key, row in frame.rows.items() if key[0] in frame.ids[1:]},
        frame.n_actions,
    )
    assert "1 without any state" in titles(without, maze=maze)["Compared with the true maze"].text


def test_separations_by_hand():
    covariance = np.array([np.diag([1.0, 4.0]), np.diag([3.0, 4.0])])
    distance = separations(np.array([[0.0, 0.0], [2.0, 2.0]]), covariance)
    assert distance[0, 1] == pytest.approx(np.sqrt(4 / 2 + 4 / 4))
    assert distance[0, 0] == 0


# --- what the agent said --------------------------------------------------------------------------

ADVICE = "one state explains all 400 observations. The observations look like noise"


def test_the_advice_of_the_agent_is_a_finding_in_its_words():
    for status in (
        RunStatus("finished", result={"advice": [ADVICE]}),
        RunStatus("live", last={"advice": [ADVICE]}),
    ):
        found = titles(frame_with(APART), status=status)
        finding = found["One state explains all 400 observations"]
        assert (finding.level, finding.text) == ("warning", "The observations look like noise.")
        assert "The states look sound" not in found
    ended = RunStatus("finished", result={"advice": []}, last={"advice": [ADVICE]})
    assert "The states look sound" in titles(frame_with(APART), status=ended)


def test_features_that_were_left_out_are_named():
    words = "2 of 22 features tell states apart: x, y"
    found = titles(frame_with(APART), status=RunStatus("finished", result={"features": words}))
    assert found["Features were left out"].text == f"{words}."
    assert "Features were left out" not in titles(frame_with(APART))


@pytest.mark.parametrize(
    "junk", [None, 3, "text", {"a": 1}, [1, None, [ADVICE]], ["x" * 10**6] * 99]
)
def test_junk_in_place_of_advice_is_no_trouble(junk):
    status = RunStatus("finished", result={"advice": junk, "features": junk})
    found = findings(status, (1, 1), log_with(), frame_with(APART), EnvSpec(""))
    assert all(len(finding.text) + len(finding.title) < 5000 for finding in found)


def test_the_commands_say_what_the_page_says(tmp_path, monkeypatch, capsys):
    """One place decides: the Health tab, `tgm runs` and `tgm train` have the same words."""
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--maze", "27", "--steps", "60", "--no-report", "--json"]) == 0
    trained = json.loads(capsys.readouterr().out)
    (folder,) = find_runs(tmp_path / "runs")
    page = payload.summary(Run.open(folder))["health"]
    shown = [one["title"] for one in page if one["level"] in ("warning", "problem")]
    assert shown  # so few steps leave something to say
    assert trained["health"] == shown
    assert main(["runs", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["health"] == shown
    assert main(["runs"]) == 0
    assert shown[0][1:] in capsys.readouterr().out


def test_many_overlaps_are_a_scale_that_does_not_fit():
    """Eight states in one place: it was cut into pieces."""
    near = np.random.default_rng(0).normal(0.0, 0.05, (8, 2))
    assert "The scale may not fit" in titles(frame_with(near))
    assert "The scale may not fit" not in titles(frame_with([*APART, (4.1, 0), (3.1, 0)]))


def test_a_goal_that_greedy_episodes_reach_is_not_called_never_reached():
    solved = RunStatus("finished", result={"solved": True, "mean_return": -5.0})
    found = titles(frame_with(APART), log_with((0, 0)), solved, load_maze("8"))
    assert "The goal was never reached" not in found
    assert found["The goal was reached after learning only"].level == "note"


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        ((1, 1), "All 2 episodes terminated; none ran into a limit."),
        ((0, 0), "All 2 episodes ran into their limit; none terminated."),
        ((1, 0), "1 of 2 episodes terminated; the other one ran into a limit."),
        ((1,), "The one episode terminated."),
    ],
)
def test_how_episodes_end_is_told_of_those_that_there_are(ended, words):
    assert titles(frame_with(APART), log_with(ended))["How episodes end"].text == words
