"""One thread for small linear algebra."""

from __future__ import annotations

import functools
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.cache
def _controller() -> ThreadpoolController:
    """Of the libraries that NumPy and SciPy have loaded; to look for them takes a while."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Within it, products and solutions use one thread.

    Of matrices of a few hundred rows two threads wait for each other most of the time: fitting laws
    takes 15 times as long with two on a busy machine.
    """
    limits: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limits
