"""Short versions of campaigns/repeatability.py."""

from campaigns.repeatability import long_run, same_bytes


def test_the_same_seed_is_the_same_run_in_another_process():
    tally = same_bytes(10, n_steps=60)
    assert tally.tried == 10
    assert tally.lost == []


def test_probabilities_stay_probabilities(tmp_path):
    sums, _ = long_run(4000, "20", tmp_path / "run")
    assert sums.tried == 40
    assert sums.lost == []
