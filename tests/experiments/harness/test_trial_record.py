"""Run directories of trials: written on the way, and without influence on what is found."""

from dataclasses import replace

import pytest

from tgm.envs import load_maze
from tgm.experiments.harness import training
from tgm.experiments.harness.trial import Trial, run_trial
from tgm.runs import Run, find_runs

MAZE = load_maze("8")


@pytest.mark.parametrize("agent", ["tgm", "tgm-paper", "dqn", "oracle"])
def test_a_record_changes_nothing_and_tells_all(agent, tmp_path):
    trial = Trial(MAZE, agent, 1, 300, 50)
    plain, recorded = run_trial(trial), run_trial(trial, tmp_path)
    assert replace(plain, seconds=0.0) == replace(recorded, seconds=0.0)
    (folder,) = find_runs(tmp_path)
    run = Run.open(folder)
    assert (run.metadata["agent"], run.metadata["seed"], run.metadata["steps"]) == (agent, 1, 300)
    assert run.world.maze == MAZE
    status = run.status()
    assert status.state == "finished"
    assert status.result["solved"] is (plain.solved_at is not None)
    assert status.result["mean_return"] == plain.final_return
    assert status.result["optimal_return"] == -5.0
    told = [episode for line in run.metrics() for episode in line["episodes"]]
    assert [episode["episode"] for episode in told] == list(range(1, plain.n_episodes + 1))
    if agent == "tgm":
        assert len(run.frame_at(300).ids) == plain.n_states
        assert run.agent().n_steps == 300


@pytest.mark.parametrize("agent", ["tgm", "a2c"])
@pytest.mark.parametrize(
    ("error", "state"), [(ValueError, "failed"), (KeyboardInterrupt, "interrupted")]
)
def test_a_trial_that_breaks_off_says_so_and_is_not_overwritten(
    agent, error, state, tmp_path, monkeypatch
):
    trial = Trial(MAZE, agent, 0, 100, 50)

    def broken(*_):
        raise error("enough")

    with monkeypatch.context() as patch:
        patch.setattr(training, "evaluate_side_by_side", broken)
        with pytest.raises(error):
            run_trial(trial, tmp_path)
    (first,) = find_runs(tmp_path)
    assert Run.open(first).status().state == state
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    run_trial(trial, tmp_path)
    assert {folder.name for folder in find_runs(tmp_path)} == {first.name, f"{first.name}-2"}
    assert {path: path.read_bytes() for path in before} == before
