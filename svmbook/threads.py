"""BLAS on one thread for as long as somebody asks for it."""

import sys
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = ["one_blas_thread"]

_lock = Lock()
_inside = []  # one entry per caller; the first holds the limit, which applies to the process


@contextmanager
def one_blas_thread():
    """Keep BLAS to one thread inside the block.

    Where several Python threads are inside at once, the first sets the limit and the last lifts
    it, so that nobody takes the limit of another for the state to restore.
    """
    with _lock:
        if not _inside:
            _take_control()
        _inside.append(None if _inside else _limit())
    try:
        yield
    finally:
        with _lock:
            if len(_inside) == 1:
                _take_control()
                _inside[0].restore_original_limits()
            _inside.pop()


def _take_control():
    """Let this thread set limits: new versions of threadpoolctl heed only the first that ever did.

    They cannot know that here threads take turns.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _limit():
    """Set the limit; cvxopt, which is loaded where it is first needed, brings a BLAS of its own."""
    return _libraries("cvxopt" in sys.modules).limit(limits=1, user_api="blas")


@cache
def _libraries(with_cvxopt):
    """Find the thread pools of this process, once: looking takes as long as a small problem."""
    return ThreadpoolController()
