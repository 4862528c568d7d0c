"""Limit BLAS to one thread."""

import sys
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = Lock()
# One entry per active block: the limiter that the first one set for the process, then None.
_limiters = []


@contextmanager
def one_blas_thread():
    """Limit BLAS to one thread inside the block.

    If several Python threads are inside at once, the first to enter sets the limit and the last to
    leave removes it. Otherwise one thread could save the limit set by another and restore it later.
    """
    with _lock:
        if not _limiters:
            _clear_controlling_thread()
        _limiters.append(None if _limiters else _limit_blas())
    try:
        yield
    finally:
        with _lock:
            if len(_limiters) == 1:
                _clear_controlling_thread()
                _limiters[0].restore_original_limits()
            _limiters.pop()


def _clear_controlling_thread():
    """Allow the current thread to set limits; `_lock` makes this safe.

    Recent versions of threadpoolctl accept limits only from the first thread that ever set one.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _limit_blas():
    """Set the limit and return its limiter; cvxopt, imported on first use, has its own BLAS."""
    return _thread_pools("cvxopt" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _thread_pools(is_cvxopt_imported):
    """Find the thread pools of this process, and again once cvxopt is imported.

    The result is cached, because the search takes as long as solving a small problem.
    """
    return ThreadpoolController()
