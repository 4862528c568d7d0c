"""Limit BLAS to one thread."""

import sys
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = Lock()
_limits = []  # one entry per active block; the first holds the limit, which applies to the process


@contextmanager
def one_blas_thread():
    """Limit BLAS to one thread inside the block.

    If several Python threads are inside at once, the first to enter sets the limit and the last to
    leave removes it. Otherwise one thread could save the limit set by another and restore it later.
    """
    with _lock:
        if not _limits:
            _clear_controlling_thread()
        _limits.append(None if _limits else _limit_blas())
    try:
        yield
    finally:
        with _lock:
            if len(_limits) == 1:
                _clear_controlling_thread()
                _limits[0].restore_original_limits()
            _limits.pop()


def _clear_controlling_thread():
    """Allow the current thread to set limits; `_lock` makes this safe.

    Recent versions of threadpoolctl accept limits only from the first thread that ever set one.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _limit_blas():
    """Set the limit, also for the BLAS of cvxopt, which is imported on first use."""
    return _thread_pools("cvxopt" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _thread_pools(is_cvxopt_imported):
    """Find the thread pools of this process, and again once cvxopt is imported.

    The result is cached, because the search takes as long as solving a small problem.
    """
    return ThreadpoolController()
