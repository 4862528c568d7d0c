"""Limit BLAS to one thread, and use its threads where the work can be divided."""

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = ["all_blas_threads", "map_in_threads", "one_blas_thread"]

_lock = Lock()
# One entry per active block: the limiter that the first one set for the process, then None.
_limiters = []
_n_blas_threads = 1  # that BLAS could use before the first block set the limit
_n_lifting = 0  # active blocks of `all_blas_threads`


@contextmanager
def one_blas_thread(*, strictly=False):
    """Limit BLAS to one thread inside the block.

    If ``strictly``, the other functions of this module use one thread too, so that no digit of a
    result depends on the computer's number of cores.

    If several Python threads are inside at once, the first to enter sets the limit and the last to
    leave removes it. Otherwise one thread could save the limit set by another and restore it later.
    """
    with _lock:
        if not _limiters:
            _clear_controlling_thread()
        _limiters.append(None if _limiters else _limit_blas(strictly))
    try:
        yield
    finally:
        with _lock:
            if len(_limiters) == 1:
                _clear_controlling_thread()
                _limiters[0].restore_original_limits()
            _limiters.pop()


@contextmanager
def all_blas_threads():
    """Lift the limit of `one_blas_thread` inside the block, for one operation on a large matrix."""
    _count_lifting_blocks(1)
    try:
        yield
    finally:
        _count_lifting_blocks(-1)


def _count_lifting_blocks(change):
    """Lift the limit if the first block begins, and set it again when the last one ends."""
    global _n_lifting
    with _lock:
        was_lifted = _n_lifting > 0
        _n_lifting += change
        if _limiters and _n_blas_threads > 1 and was_lifted != (_n_lifting > 0):
            _set_blas_threads(_n_blas_threads if _n_lifting else 1)


def map_in_threads(function, items):
    """Call a function for each item, in as many threads as BLAS may use.

    The function must spend its time in calls of NumPy, which other threads need not wait for. Each
    call writes its own part of the result, so that the result does not depend on the number of
    threads.
    """
    with one_blas_thread():
        if min(_n_blas_threads, len(items)) == 1:
            for item in items:
                function(item)
            return
        with ThreadPoolExecutor(min(_n_blas_threads, len(items))) as executor:
            futures = []
            try:
                for item in items:
                    futures.append(executor.submit(function, item))
            except RuntimeError:  # the interpreter starts no threads after its main thread ended
                for item in items[len(futures) :]:
                    function(item)
            for future in futures:
                future.result()  # raises the error of the thread


def _clear_controlling_thread():
    """Allow the current thread to set limits; `_lock` makes this safe.

    Recent versions of threadpoolctl accept limits only from the first thread that ever set one.
    """
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _limit_blas(strictly):
    """Note how many threads may be used, set the limit, and return its limiter."""
    global _n_blas_threads
    pools = _thread_pools("cvxopt" in sys.modules).select(user_api="blas")
    n_threads = max((pool["num_threads"] for pool in pools.info()), default=1)
    _n_blas_threads = 1 if strictly else n_threads
    return pools.limit(limits=1)


def _set_blas_threads(n_threads):
    _clear_controlling_thread()
    _thread_pools("cvxopt" in sys.modules).limit(limits=n_threads, user_api="blas")


@cache
def _thread_pools(is_cvxopt_imported):
    """Find the thread pools of this process, and again once cvxopt, with its own BLAS, is imported.

    The result is cached, because the search takes as long as solving a small problem.
    """
    return ThreadpoolController()
