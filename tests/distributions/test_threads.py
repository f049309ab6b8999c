"""One thread within the context, and what it was after it."""

import numpy as np  # noqa: F401 - a library with threads
from threadpoolctl import threadpool_info, threadpool_limits

from tgm.distributions.threads import one_thread


def n_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_within_and_as_many_as_before_after():
    with threadpool_limits(limits=2, user_api="blas"):
        before = n_threads()
        with one_thread():
            assert set(n_threads()) == {1}
        assert n_threads() == before
