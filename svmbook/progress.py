"""The progress of a fit: its log, and its interruption.

Solvers log one line per iteration at the level INFO. By default nothing is shown.
The following calls show the lines, and hide them again:

>>> import logging
>>> logging.basicConfig()
>>> logging.getLogger("svmbook").setLevel(logging.INFO)  # show the progress
>>> logging.getLogger("svmbook").setLevel(logging.NOTSET)  # default

`show_progress` prints the lines during one fit.
"""

import logging
import signal
import sys
from contextlib import contextmanager
from threading import Event, current_thread, main_thread

__all__ = ["is_interrupted", "logger", "show_progress"]

logger = logging.getLogger("svmbook")
_is_shown, _interruption = Event(), Event()


def is_interrupted():
    """Return whether Ctrl-C was pressed in a block of `show_progress` in the main thread.

    Fits in other threads are not interrupted.
    """
    return _interruption.is_set() and current_thread() is main_thread()


@contextmanager
def show_progress(verbose):
    """If ``verbose``, print the log in this block, and let Ctrl-C end the fit in it.

    Inner blocks have no effect. Solvers that call `is_interrupted` then return their best solution
    after the current iteration. A second Ctrl-C raises KeyboardInterrupt at once. Outside the main
    thread, or if the program has a handler of its own, Ctrl-C keeps its meaning.
    """
    if not verbose or _is_shown.is_set():
        yield
        return
    _is_shown.set()
    handler, previous_level = logging.StreamHandler(sys.stdout), logger.level
    handler.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        with _stop_on_interrupt():
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(previous_level)
        _is_shown.clear()


@contextmanager
def _stop_on_interrupt():
    """Let the first Ctrl-C in this block set the flag that `is_interrupted` returns."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or current_thread() is not main_thread():
        yield
        return

    def request_interruption(signum, frame):
        if is_interrupted():
            raise KeyboardInterrupt
        _interruption.set()

    signal.signal(signal.SIGINT, request_interruption)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _interruption.clear()
