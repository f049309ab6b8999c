"""Runs in small worlds of each kind, the command, and what is said of the results."""

from dataclasses import replace

import numpy as np
import pytest

from tgm.agent import TGMAgent
from tgm.experiments.finite_worlds import STUDY, analysis, sweep
from tgm.experiments.finite_worlds.command import main
from tgm.experiments.finite_worlds.sweep import FiniteSweep, FiniteTrial, is_exact, judge, live
from tgm.experiments.finite_worlds.wanted import Check, Wanted, WorldResult
from tgm.experiments.finite_worlds.worlds import WORLDS

SHORT = {
    "lake-4x4": 200,
    "lake-4x4-position": 60,
    "cliff-one-hot": 100,
    "taxi": 60,
    "blackjack": 60,
    "maze-slip-0.3-lava": 60,
    "maze-codes-16-noise-0.05": 60,
    "mix-slip-distractors-outliers": 60,
    "noise-2": 200,
}


@pytest.mark.parametrize("name", SHORT)
def test_a_world_of_each_kind_can_be_lived_in(name, monkeypatch):
    monkeypatch.setattr(sweep, "FINAL_EPISODES", 5)
    steps = SHORT[name]
    world = replace(WORLDS[name], checks=(steps // 2, steps), episodes=5)
    scene = world.make(0)
    result = live(world, scene, seed=0)
    assert [check.step for check in result.checks] == [steps // 2, steps]
    assert result.checks[-1].n_states >= 1
    assert result.checks[-1].greedy_return <= result.best_return + 1e-9
    again = live(world, world.make(0), seed=0)
    assert [check[:4] for check in again.checks] == [check[:4] for check in result.checks]


def test_the_plain_maze_is_solved_and_exact():
    world = replace(WORLDS["maze"], checks=tuple(range(50, 601, 50)))
    result = live(world, world.make(0), seed=0)
    assert result.solved_at is not None
    assert result.solved_at <= 300
    assert result.is_exact
    assert result.states_per_true == 1.0
    assert result.final_return == pytest.approx(-7.0, abs=0.1)


def test_a_small_deep_sea_is_solved_in_few_episodes():
    world = WORLDS["deep-sea-10"]
    result = live(world, world.make(3), seed=3)
    assert result.solved_at is not None
    assert not world.wanted.misses(result)


def test_an_agent_without_experience_is_not_exact():
    scene = WORLDS["maze"].make(0)
    agent = TGMAgent(scene.env, seed=0).learn(5)
    rng = np.random.default_rng(0)
    assert not is_exact(agent, scene.table, scene.view, rng)
    assert judge(agent, scene.table, scene.view, 3, rng).mean_return < -7.0


def test_an_exception_is_part_of_the_result(monkeypatch):
    def fail(*_):
        raise ArithmeticError("division\nby zero")

    monkeypatch.setattr(sweep, "live", fail)
    result = sweep.run(FiniteTrial("maze", 0))
    assert result.error == "ArithmeticError: division by zero"
    assert WORLDS["maze"].wanted.misses(result) == [result.error]
    assert "failed" in analysis.report([(FiniteTrial("maze", 0), result)])


def test_a_run_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr(sweep, "MOST_SECONDS", 0.0)
    world = replace(WORLDS["cliff"], checks=(50, 100))
    result = live(world, world.make(0), seed=0)
    assert len(result.checks) == 1
    assert result.solved_at is None
    assert world.wanted.misses(result) == ["stopped before step 1,000"]


def checks(returns, states=25, seconds=1.0):
    """A check every 1,000 steps."""
    return tuple(
        Check(1000 * (number + 1), value, True, states, seconds * (number + 1))
        for number, value in enumerate(returns)
    )


@pytest.mark.parametrize(
    ("wanted", "missed"),
    [
        (Wanted(returns=((2000, 0.5),)), []),
        (Wanted(returns=((1000, 0.5),)), ["return 0.400 at 1,000"]),
        (Wanted(near=(2000, 0.3)), []),
        (Wanted(near=(2000, 0.2)), ["return 0.500 at 2,000"]),
        (Wanted(gap=0.1), ["return 0.500 at 2,000"]),
        (Wanted(solved_by=1999), ["solved at 2,000"]),
        (Wanted(solved_by=2000, times_reference=1.5), []),
        (Wanted(is_exact=True), ["not exact, 25 states"]),
        (Wanted(states_per_true=1.2), ["1.25 states per true state"]),
        (Wanted(microseconds=999.0), ["1000 us a step"]),
        (Wanted(is_bounded=True), ["grows"]),
    ],
)
def test_what_a_run_misses_is_said(wanted, missed):
    result = WorldResult(0.7, 20, 2000, False, checks([0.4, 0.5]))
    assert wanted.misses(result) == missed


def test_what_never_solves_is_said_once():
    result = WorldResult(0.7, 20, None, True, checks([0.4, 0.5]))
    assert Wanted(solved_by=5, times_reference=1.5).misses(result) == ["never solved"]


def test_bounded_means_neither_more_states_nor_slower_steps():
    steady = checks([0.0] * 4)
    assert WorldResult(0.0, 1, checks=steady).is_bounded
    more = (*steady[:3], steady[3]._replace(n_states=29))
    assert not WorldResult(0.0, 1, checks=more).is_bounded
    slower = (*steady[:3], steady[3]._replace(seconds=steady[2].seconds + 1.6))
    assert not WorldResult(0.0, 1, checks=slower).is_bounded


def test_worlds_are_chosen_by_patterns_and_bring_their_references():
    def names(**flags):
        return list(dict.fromkeys(trial.world for trial in FiniteSweep(seeds=2, **flags).trials()))

    assert names(worlds=("maze-distractors-*",)) == [
        "maze",
        *(f"maze-distractors-{n}" for n in (2, 8, 20)),
    ]
    assert names(worlds=("deep-sea-*",)) == [f"deep-sea-{n}" for n in (10, 20, 30)]
    assert names(worlds=("deep-sea-12",)) == ["deep-sea-12"]
    assert len(names(worlds=("deep-sea-*",), extra=True)) == 21
    assert set(names()) == {name for name, world in WORLDS.items() if not world.is_extra}
    assert set(names(extra=True)) == set(WORLDS)


def test_references_are_worlds():
    assert {world.reference for world in WORLDS.values()} - {""} <= set(WORLDS)


def test_the_page_says_what_misses_and_compares_with_the_reference(tmp_path, monkeypatch, capsys):
    def invent(trial):
        solved_at = {"maze": 150, "maze-axes": 100}.get(trial.world, 300)
        exact = trial.world != "maze-one-hot"
        found = tuple(
            Check(step, 0.9, True, 25, 1e-4 * step) for step in WORLDS[trial.world].checks
        )
        return WorldResult(0.9, 25, solved_at, exact, found)

    module = "tgm.experiments.finite_worlds.command"
    monkeypatch.setattr(f"{module}.STUDY", replace(STUDY, run=invent))
    flags = ["--seeds", "2", "--jobs", "1", "--out", str(tmp_path / "out")]
    main([*flags, "--page", str(tmp_path / "worlds.md")])
    page = (tmp_path / "worlds.md").read_text()
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 2 + sum(not world.is_extra for world in WORLDS.values())
    assert capsys.readouterr().out.splitlines() == table
    assert "maze 27, 8 features of noise (2 runs): x2.00 steps." in page
    assert "one-hot, noise 0.05 (2 runs): seed 0: not exact, 25 states; seed 1: not exact" in page
    row = next(line for line in table if "noise 0.3 in x" in line)
    assert "| 2 of 2 |" in row
    assert "x0.67" in row
    main([*flags, "--worlds", "maze", "--json"])
    assert capsys.readouterr().out.count('"trial"') == 2


def test_worlds_that_are_run_again_replace_their_rows_and_others_stay(
    tmp_path, monkeypatch, capsys
):
    exact = {"maze-one-hot": False, "cliff": True}

    def invent(trial):
        world = WORLDS[trial.world]
        found = tuple(Check(step, 0.9, True, 25, 1e-4 * step) for step in world.checks)
        return WorldResult(0.9, 25, 300, exact.get(trial.world, True), found)

    module = "tgm.experiments.finite_worlds.command"
    monkeypatch.setattr(f"{module}.STUDY", replace(STUDY, run=invent))
    path = tmp_path / "worlds.md"

    def written(number: int, *flags: str) -> str:
        main(["--jobs", "1", "--out", str(tmp_path / f"{number}"), "--page", str(path), *flags])
        capsys.readouterr()
        return path.read_text()

    first = written(0, "--seeds", "2", "--worlds", "maze", "maze-one-hot", "cliff", "--update")
    assert "Of 3 worlds with a goal, 2 meet it with every seed.\n\n" in first
    assert "- maze 27, one-hot, noise 0.05 (2 runs): seed 0: not exact, 25 states; seed" in first
    again = written(1, "--seeds", "2", "--worlds", "maze", "--update")
    assert again.replace(f"\n{analysis.REMARK}", "") == first
    exact |= {"maze-one-hot": True, "maze": False}
    second = written(2, "--seeds", "3", "--worlds", "maze*-one-hot", "--update")
    assert "maze 27, as it is (3 runs): seed 0: not exact" in second  # it is the reference
    assert "one-hot, noise 0.05 (" not in second
    assert "with 2 or 3 seeds in each" in second
    assert f"Of 3 worlds with a goal, 2 meet it with every seed.\n{analysis.REMARK}\n" in second
    row = "| CliffWalking, Discrete |"
    kept = [line for page in (first, second) for line in page.splitlines() if line.startswith(row)]
    assert len(kept) == 2
    assert kept[0] == kept[1]
