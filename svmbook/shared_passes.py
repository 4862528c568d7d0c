"""Functions that run at the same time and share their passes over data in blocks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from operator import add, itemgetter
from threading import Condition

__all__ = ["current_passes", "run_together"]

_current = ContextVar("shared passes", default=None)
_number = ContextVar("number of the function of run_together")


def current_passes() -> SharedPasses | None:
    """Return the `SharedPasses` of the function of `run_together` that runs now, or None."""
    return _current.get()


def run_together(functions: list[Callable]) -> list:
    """Return the results of functions that run in threads and share their passes over blocks.

    Whenever each function that still runs waits for a sum over blocks, all these sums are computed
    in one pass. A block is read once, and a value that several sums need is computed once. An
    error in one function, or an interruption, ends all of them at their next sum.
    """
    shared = SharedPasses(len(functions))
    with ThreadPoolExecutor(len(functions)) as executor:
        try:
            futures = [
                executor.submit(copy_context().run, shared.run, number, function)
                for number, function in enumerate(functions)
            ]
            shared.compute()
        except BaseException as error:
            shared.end(error)
            raise
    return [future.result() for future in futures]


class SharedPasses:
    """The sums over blocks for which the threads of `run_together` wait."""

    def __init__(self, n_running):
        self.n_running, self.changed, self.error = n_running, Condition(), None
        self.requests, self.requests_of_pass = [], []

    def run(self, number, function):
        """Run a function in a thread."""
        _current.set(self)
        _number.set(number)
        try:
            return function()
        except BaseException as error:
            self.end(error)
            raise
        finally:
            with self.changed:
                self.n_running -= 1
                self.changed.notify_all()

    def total(self, blocks):
        """Return a sum for a thread, as soon as the sums for all threads have been computed."""
        request = Future()
        with self.changed:
            if self.error is not None:
                raise self.error
            self.requests.append((_number.get(), blocks, request))
            self.changed.notify_all()
        return request.result()

    def end(self, error):
        """Let all threads end with an error, instead of their next sums."""
        with self.changed:
            self.error = self.error or error
            for *_, request in self.requests_of_pass + self.requests:
                if not request.done():
                    request.set_exception(self.error)
            self.requests = []
            self.changed.notify_all()

    def compute(self):
        """Compute sums until no function runs any more."""
        while True:
            with self.changed:
                self.changed.wait_for(
                    lambda: self.error is not None or len(self.requests) == self.n_running
                )
                # Neighbouring functions may use the same values, which are then in the cache.
                self.requests_of_pass, self.requests = sorted(self.requests, key=itemgetter(0)), []
            if not self.requests_of_pass:
                return
            blocks = [blocks for _, blocks, _ in self.requests_of_pass]
            by_row = all(those.is_by_row for those in blocks)
            sums = blocks[0].map(_Together, *blocks[1:], by_row=by_row).total()
            with self.changed:
                for (*_, request), value in zip(self.requests_of_pass, sums.values, strict=True):
                    if not request.done():  # a thread may have ended with an error meanwhile
                        request.set_result(value)


class _Together:
    """Several values that are added separately."""

    def __init__(self, *values):
        self.values = values

    def __add__(self, other):
        return _Together(*map(add, self.values, other.values))
