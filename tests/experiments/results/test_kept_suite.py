"""Results of bsuite in the repository: campaigns add up, in little space, and scores stay."""

import pytest

from tgm.errors import ConfigError, RunError
from tgm.experiments.behaviour_suite.scoring import scores_of
from tgm.experiments.behaviour_suite.trial import SuiteResult, SuiteTrial, store_in
from tgm.experiments.results.command import main
from tgm.experiments.results.kept_suite import keep, read_kept

pytest.importorskip("bsuite")


def bad_episodes(share, last):
    """A life in the deep sea whose share of bad episodes falls to `share` at episode 100."""
    return tuple(
        {"episode": n, "steps": 10 * n, "total_bad_episodes": n if n < 100 else share * n}
        for n in (1, 10, 100, 1000, last)
    )


def regrets(each, last):
    return tuple({"episode": n, "steps": 9 * n, "total_regret": each * n} for n in (1, 10, last))


def leave(out, one, rows, episodes=10_000, agent="tgm", seed=0):
    """What `tgm bsuite --out` leaves of a setting."""
    store = store_in(out)
    store.prepare()
    result = SuiteResult(rows, 90_000, 7, 2.5, "abc")
    store.add(SuiteTrial(one, agent, episodes, seed), result)


def test_campaigns_add_up(tmp_path):
    first, second, kept = (tmp_path / name for name in ("first", "second", "kept"))
    leave(first, "catch/0", regrets(0.16, 10_000))
    leave(first, "catch/3", regrets(0.32, 500), episodes=500)
    keep(first, kept)
    leave(second, "catch/3", regrets(0.8, 10_000))
    leave(second, "catch/0", regrets(1.6, 40), episodes=40)  # less is no reason to forget more
    leave(second, "bandit/1", regrets(0.25, 10_000), seed=4)
    leave(second, "bandit/2", regrets(0.25, 10_000), agent="random")
    keep(second, kept)
    assert sorted(path.name for path in kept.iterdir()) == ["bandit.json", "catch.json"]
    assert [(trial.id, trial.episodes, trial.seed) for trial, _ in read_kept(kept)] == [
        ("bandit/1", 10_000, 4),
        ("catch/0", 10_000, 0),
        ("catch/3", 10_000, 0),
    ]
    bandit, catch = scores_of(read_kept(kept))
    assert bandit.score == pytest.approx(0.5)
    assert catch.by_setting == {"0": pytest.approx(0.9), "3": pytest.approx(0.5)}
    assert (catch.steps, catch.seconds, catch.codes) == (180_000, 5.0, ("abc",))


def test_only_rows_that_the_score_needs_are_kept(tmp_path):
    """Deep sea asks when it was solved (size 10: by episode 1,124), catch how it ended."""
    leave(tmp_path, "deep_sea/0", bad_episodes(0.5, 10_000))
    leave(tmp_path, "deep_sea/20", bad_episodes(0.5, 10_000))
    leave(tmp_path, "catch/0", regrets(0.2, 10_000))
    keep(tmp_path, tmp_path / "kept")
    rows = {trial.id: len(result.rows) for trial, result in read_kept(tmp_path / "kept")}
    assert rows == {"catch/0": 1, "deep_sea/0": 5, "deep_sea/20": 1}
    scores = {one.experiment: one.score for one in scores_of(read_kept(tmp_path / "kept"))}
    assert scores == {"catch": pytest.approx(0.875), "deep_sea": 1.0}


def test_a_folder_without_our_trials_is_refused(tmp_path):
    leave(tmp_path / "out", "catch/0", regrets(0.2, 10), agent="random")
    for out in ("out", "nowhere"):
        with pytest.raises(ConfigError, match="has no trial of tgm"):
            main(["--data", str(tmp_path / "data"), "--suite", str(tmp_path / out)])
    assert not (tmp_path / "data").exists()


def test_other_json_is_refused(tmp_path):
    (tmp_path / "catch.json").write_text("[{}]")
    with pytest.raises(RunError, match=r"catch\.json: not results of bsuite"):
        read_kept(tmp_path)
