"""The results page: made of the tables, and verdicts that follow the numbers."""

import json
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tgm.envs import load_maze, maze_names
from tgm.experiments.baselines import PAPER_AGENTS
from tgm.experiments.behaviour_suite.scoring import facts_of
from tgm.experiments.comparison import make_trials
from tgm.experiments.comparison.analysis import grouped
from tgm.experiments.comparison.trial_store import read_csv, write_csv
from tgm.experiments.results.campaign import (
    campaign_trials,
    figure_curves,
    page_of,
    run_campaign,
)
from tgm.experiments.results.claims import CLAIMS, judge_all
from tgm.experiments.results.command import main
from tgm.experiments.results.kept_suite import read_kept
from tgm.experiments.results.page import write_page
from tgm.experiments.results.weak_points import weak_points

ROOT = Path(__file__).parents[3]
ABOUT = {
    "steps": 5000,
    "cores": 2,
    "jobs": 2,
    "minutes": 12.3,
    "finished_before": 0,
    "load": 0.1,
    "versions": {"Python": "3.11"},
}

# (solved at, mean reward of the last 100 episodes, regret) by which every claim holds.
AS_THE_PAPER_SAYS = {
    "tgm-paper": {
        "8": (1600, -6.0, 300.0),
        "10": (None, -50.0, 100.0),
        "20": (1800, -6.0, 500.0),
        "25": (1100, -4.0, 200.0),
        "26": (3800, -14.0, 300.0),
        "27": (None, -40.0, 900.0),
    },
    "dqn": {
        "8": (None, -30.0, 600.0),
        "10": (None, -50.0, 100.0),
        "20": (2500, -6.0, 400.0),
        "25": (2400, -4.0, 300.0),
        "26": (2400, -8.0, 300.0),
        "27": (2900, -9.0, 300.0),
    },
    "a2c": dict.fromkeys(maze_names(), (None, -50.0, 999.0)),
}


def rows_by_hand(**changes):
    """Five runs of each agent; `changes` are {agent: {maze: outcome}} beside the above."""
    ours = dict.fromkeys(maze_names(), (100, -7.0, 50.0))
    table = dict.fromkeys(PAPER_AGENTS, ours) | AS_THE_PAPER_SAYS
    for agent, mazes in changes.items():
        name = agent.replace("_", "-")
        table[name] = table[name] | mazes
    return [
        {
            "maze": maze,
            "agent": agent,
            "seed": seed,
            "steps": 5000,
            "max_episode_steps": 50,
            "solved_at": outcome[0],
            "final_return": -50.0 if outcome[0] is None else load_maze(maze).optimal_return,
            "optimal_return": load_maze(maze).optimal_return,
            "regret": outcome[2],
            "recent_reward": outcome[1],
            "n_episodes": 100,
            "n_states": 9 if agent in ("tgm", "tgm-paper", "oracle") else None,
            "is_exact": True if agent in ("tgm", "tgm-paper") else None,
            "seconds": 0.5 if agent == "tgm" else 2.0,
        }
        for agent, mazes in table.items()
        for maze, outcome in mazes.items()
        for seed in range(5)
    ]


def verdicts(rows):
    return [verdict.holds for _, verdict in judge_all(grouped(rows, "maze", "agent"))]


def test_every_claim_holds_where_the_numbers_are_the_papers():
    assert verdicts(rows_by_hand()) == [True] * len(CLAIMS)


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (0, {"tgm_paper": {"26": (None, -14.0, 300.0)}}),
        (1, {"tgm_paper": {"10": (900, -50.0, 100.0)}}),
        (2, {"tgm_paper": {"27": (900, -40.0, 900.0)}}),
        (3, {"dqn": {"8": (None, -6.5, 600.0)}}),
        (4, {"a2c": {"10": (4000, -50.0, 999.0)}}),
        (5, {"dqn": {"20": (2500, -6.0, 501.0)}}),
        (6, {"dqn": {"25": (2400, -4.0, 199.0)}}),
        (6, {"dqn": {"25": (2400, -5.5, 300.0)}}),
        (7, {"a2c": {"25": (None, -4.5, 999.0)}}),
        (8, {"dqn": {"27": (2900, -39.5, 300.0)}}),
        (9, {"a2c": {"26": (None, -14.0, 999.0)}}),
        (10, {"dqn": {"10": (None, -40.0, 100.0)}}),
    ],
)
def test_a_claim_fails_when_its_numbers_change(number, changes):
    assert verdicts(rows_by_hand(**changes))[number] is False


def test_a_race_that_is_too_close_is_not_called():
    rows = rows_by_hand()
    for row in rows:
        if (row["maze"], row["agent"]) == ("20", "dqn") and row["seed"] < 2:
            row["regret"] = 900.0
    assert verdicts(rows)[5] is None
    assert "| undecided |" in write_page(rows, ABOUT)


def table_after(page, heading):
    """The rows of the first table under a heading, as lists of cells."""
    lines = page.split(f"## {heading}\n", 1)[1].splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[0], {row[0]: row[1:] for row in rows[2:]}


def test_the_page_shows_shares_steps_and_ratios():
    page = write_page(rows_by_hand(), ABOUT)
    heads, shares = table_after(page, "Share of seeds that solve each maze")
    assert heads == ["agent", "8", "10", "20", "25", "26", "27"]
    assert list(shares) == list(PAPER_AGENTS)
    assert shares["dqn"] == ["0/5", "0/5", "5/5", "5/5", "5/5", "5/5"]
    _, steps = table_after(page, "Steps to solve")
    assert steps["tgm"][0] == "100 [100, 100]"
    assert steps["dqn"][:3] == ["never", "never", "2500 [2500, 2500]"]
    _, ratios = table_after(page, "Ratios to tgm")
    assert ratios["dqn"][:3] == ["never solves", "never solves", "25 [25, 25]"]
    assert "needs at least 24 times the steps" in page
    assert "| dqn | 4.0 | 4.0 | 4.0 | 4.0 | 4.0 | 4.0 |" in page  # wall-clock
    assert "All of it took 12 minutes with 2 processes" in page
    assert "left after 7 trials took" in write_page(rows_by_hand(), ABOUT | {"finished_before": 7})
    assert "Of 11 claims of the paper 11 hold, 0 do not, and 0 cannot" in page
    assert "Other work" not in page
    assert "Other work" in write_page(rows_by_hand(), ABOUT | {"load": 3.0})


def test_a_median_run_that_never_solves_gives_a_lower_bound():
    rows = rows_by_hand()
    for row in rows:
        if (row["maze"], row["agent"]) == ("20", "dqn") and row["seed"] > 1:
            row["solved_at"] = None
    _, ratios = table_after(write_page(rows, ABOUT), "Ratios to tgm")
    assert ratios["dqn"][2] == "> 50"


def test_the_campaign_has_the_runs_that_were_asked_for():
    counts = Counter((trial.maze.name, trial.agent) for trial in campaign_trials())
    assert {maze for maze, _ in counts} == set(maze_names())
    assert {agent for _, agent in counts} == set(PAPER_AGENTS)
    assert all(n >= (20 if agent == "tgm" else 5) for (_, agent), n in counts.items())
    assert {trial.steps for trial in campaign_trials()} == {5000}


def test_the_curves_of_the_figure_are_a_part_of_all():
    def point(agent, seed, step):
        values = {"greedy_return": -5.0, "recent_reward": None}
        return {"maze": "8", "agent": agent, "seed": seed, "steps": 5000, "step": step, **values}

    kept = [point("tgm", 0, 100), point("dqn", 4, 5000)]
    left_out = [point("tgm", 0, 110), point("ppo", 0, 100), point("tgm", 5, 100)]
    rows = figure_curves([*kept, *left_out])
    assert [(row["agent"], row["seed"], row["step"]) for row in rows] == [
        ("tgm", 0, 100),
        ("dqn", 4, 5000),
    ]


def test_a_campaign_leaves_its_tables(tmp_path):
    trials = make_trials([load_maze("8")], ["tgm"], range(2), 200)
    run_campaign(tmp_path / "run", tmp_path / "data", trials, jobs=1, dask=None)
    rows = read_csv(tmp_path / "data" / "results.csv")
    assert [row["seed"] for row in rows] == [0, 1]
    curves = read_csv(tmp_path / "data" / "curves.csv")
    assert [(row["seed"], row["step"]) for row in curves] == [
        (0, 100),
        (0, 200),
        (1, 100),
        (1, 200),
    ]
    about = json.loads((tmp_path / "data" / "about.json").read_text())
    assert (about["steps"], about["jobs"], about["finished_before"]) == (200, 1, 0)


def test_the_page_in_the_repository_is_that_of_its_tables(tmp_path):
    page = ROOT / "docs" / "results.md"
    assert page.read_text(encoding="utf-8") == page_of(ROOT / "docs" / "data")
    main(["--data", str(ROOT / "docs" / "data"), "--page", str(tmp_path / "page.md")])
    assert (tmp_path / "page.md").read_bytes() == page.read_bytes()
    counts = Counter(
        (row["maze"], row["agent"]) for row in read_csv(ROOT / "docs" / "data" / "results.csv")
    )
    assert all(counts[maze, "tgm"] >= 20 for maze in maze_names())
    assert all(counts[maze, agent] >= 5 for maze in maze_names() for agent in PAPER_AGENTS)
    assert not re.search(r"\bnan\b|\binf\b", page.read_text(encoding="utf-8"))


def world_rows(agent, solved_at, seconds, **more):
    return [
        {
            "maze": "CartPole-v1",
            "agent": agent,
            "seed": seed,
            "steps": 1000,
            "noise": None,
            "max_episode_steps": 500,
            "solved_at": solved_at,
            "final_return": 100.0,
            "optimal_return": None,
            "solved_return": 475.0,
            "regret": None,
            "recent_reward": 20.0,
            "n_episodes": 9,
            "n_states": None,
            "true_states": None,
            "is_exact": None,
            "seconds": seconds,
            **more,
        }
        for seed in range(3)
    ]


SUITE = {
    "agent": "tgm",
    "mean": 0.6,
    "experiments": [
        {
            "experiment": name,
            "score": score,
            "settings": 2,
            "n_settings": n_settings,
            "is_whole": n_settings == 2,
            "episodes": 100,
            "n_episodes": 1000,
            "steps": 4000,
            "seconds": 1.0,
            "by_setting": {"0": 1.0, "7": 2 * score - 1.0},
            "codes": ["abc"],
            "capabilities": ["memory"],
        }
        for name, score, n_settings in (
            ("bandit", 0.99, 2),
            ("bandit_noise", 0.81, 2),
            ("catch", 0.99, 20),
            ("memory_len", 0.65, 20),
        )
    ],
    "mean_of_whole": 0.9,
    "capabilities": {"memory": 0.6},
    "left_out": ["mnist"],
    "published": {"source": "S", "note": "N", "mean": {"DQN": 0.49}},
}


def test_what_we_are_bad_at_comes_from_the_tables():
    rows = [*world_rows("tgm", None, 5.0), *world_rows("dqn", 800, 1.0)]
    lines = weak_points([], rows, SUITE)
    assert lines[0].startswith("CartPole-v1: 3 of 3 runs do not solve it within 1,000 steps")
    assert "CartPole-v1: `dqn` needs 800 steps, `tgm` never." in lines
    assert "CartPole-v1: a step takes 5.00 ms; `dqn` 1.00." in lines
    assert lines[3:] == [
        "bsuite's bandit_noise, run whole: 0.81 (settings /7 0.62).",
        "bsuite's memory_len, a first look (2 of 20 settings, 100 episodes or more of "
        "1,000): /7 0.30.",
        "bsuite: 2 of 20 experiments were run whole. All of it has up to 170 million steps.",
    ]
    best = weak_points([], [*world_rows("tgm", 50, 1.0), *world_rows("dqn", 800, 5.0)], None)
    assert len(best) == 1
    assert best[0].startswith("By these tables: nothing")


def test_the_three_parts_have_their_tables(tmp_path):
    data, compared = tmp_path / "data", tmp_path / "compared"
    shutil.copytree(ROOT / "docs" / "data", data)
    compared.mkdir()
    rows = [*world_rows("tgm", 50, 1.0), *world_rows("dqn", None, 5.0)]
    write_csv(compared / "results.csv", rows[0], rows)
    heads = ("maze", "agent", "seed", "step", "greedy_return", "recent_reward")
    looks = [
        dict(zip(heads, ("CartPole-v1", "tgm", 0, step, 9.5, None), strict=True)) for step in (1, 2)
    ]
    write_csv(compared / "curves.csv", heads, looks)
    (data / "bsuite.json").write_text(json.dumps(SUITE))
    arguments = ["--data", str(data), "--page", str(tmp_path / "page.md")]
    main([*arguments, "--compared", str(compared)])
    page = (tmp_path / "page.md").read_text()
    heads = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert heads == ["What we are bad at", "The mazes of the paper", "Gymnasium", "bsuite"]
    assert (
        "| CartPole-v1 | tgm | 1,000 | 3/3 | 50 [50, 50] | 100 [100, 100] | - | - | 1.00 |" in page
    )
    assert "| CartPole-v1 | dqn | > 20.0 (most runs never solve) | 5.00 |" in page
    assert "DQN in CartPole-v1: 50,000" in page
    assert "| FrozenLake-v1 | tgm |" in page  # from before; a world is renewed as a whole
    again = [*world_rows("tgm", None, 1.0), *world_rows("ppo", 70, 5.0)]
    write_csv(compared / "results.csv", again[0], again)
    main([*arguments, "--compared", str(compared)])
    rows = read_csv(data / "gymnasium" / "results.csv")
    assert Counter(row["agent"] for row in rows if row["maze"] == "CartPole-v1") == {
        "tgm": 3,
        "ppo": 3,
    }
    worlds = list(dict.fromkeys(row["maze"] for row in rows))
    assert worlds == sorted(worlds)
    assert {"CartPole-v1", "CliffWalking-v1"} <= set(worlds)
    assert (
        "**Not a score of bsuite yet**: 2 of its 20 experiments were run whole (the mean of those "
        "is 0.90)." in page
    )
    assert table_after(page, "Run whole")[1] == {
        "bandit": ["0.99", "2", "4,000", "250", "0.0", "abc", "memory", "-"],
        "bandit_noise": ["0.81", "2", "4,000", "250", "0.0", "abc", "memory", "/7 0.62"],
    }
    looks = table_after(page, "A first look at the others")[1]
    assert looks["memory_len"][:2] == ["/0 1.00, /7 0.30", "100 or more of 1,000"]
    assert "Experiments that were not tried: 16." in page
    assert not re.search(r"\bnan\b|\binf\b|None", page)


def test_the_scores_in_the_repository_are_those_of_its_settings():
    pytest.importorskip("bsuite")
    data = ROOT / "docs" / "data"
    facts = facts_of("tgm", read_kept(data / "bsuite"))
    assert json.loads((data / "bsuite.json").read_text()) == json.loads(json.dumps(facts))
