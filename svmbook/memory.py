"""Check whether enough memory is available, before a fit begins."""

import math
import os
import sys
import warnings
from pathlib import Path

__all__ = ["available_memory", "check_memory"]

GIBIBYTE = 2**30
CGROUP_FOLDER = Path("/sys/fs/cgroup")  # where Linux reports the limits of a container
# A warning points at the first caller outside these packages; scikit-learn wraps each `fit`.
SKIPPED_PACKAGES = ("svmbook", "sklearn")
WARNING_THRESHOLD_BYTES = 2 * GIBIBYTE  # a fit that needs more causes a warning before it begins


def available_memory():
    """Return the available memory in bytes.

    If it is unknown, return the total memory, and if that is unknown, infinity.

    Examples
    --------
    >>> from svmbook.memory import available_memory
    >>> available_memory() > 0
    True
    """
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = 1024 * next(
            int(line.split()[1]) for line in lines if line.startswith("MemAvailable")
        )
        return min(available, _available_in_container())
    except (OSError, StopIteration):
        pass  # not Linux, or a version without MemAvailable
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def _available_in_container():
    """Return the bytes available within the limit of a container; infinity without a limit."""
    try:
        limit, usage, statistics = (
            (CGROUP_FOLDER / name).read_text(encoding="ascii")
            for name in ("memory.max", "memory.current", "memory.stat")
        )
        sizes = dict(line.split() for line in statistics.splitlines())
        reclaimable_cache = sizes["inactive_file"]
        return int(limit) - int(usage) + int(reclaimable_cache)
    except (OSError, KeyError, ValueError):  # no container, or its limit is "max"
        return math.inf


def check_memory(n_bytes, task, advice):
    """Warn if a computation needs over 2 GiB; raise an error if it needs more than is available.

    The warning points at the line that called the package.

    Parameters
    ----------
    n_bytes : float
        Estimated number of bytes.
    task : str
        Description of the computation, for the message.
    advice : str
        Last sentence of the message.

    Warns
    -----
    UserWarning
        More than 2 GiB are needed.

    Raises
    ------
    MemoryError
        The computation needs more memory than is available.
    """
    if n_bytes <= WARNING_THRESHOLD_BYTES:
        return
    estimate_text = f"{task} needs about {n_bytes / GIBIBYTE:.1f} GiB of memory"
    available = available_memory()
    if n_bytes > available:
        raise MemoryError(
            f"{estimate_text}; {available / GIBIBYTE:.1f} GiB are available. {advice}"
        )
    warnings.warn(f"{estimate_text}. {advice}", stacklevel=_caller_stacklevel())


def _caller_stacklevel():
    """Return the stack level of the first frame outside `SKIPPED_PACKAGES`."""
    frame, level = sys._getframe(1), 1
    while frame.f_globals.get("__name__", "").partition(".")[0] in SKIPPED_PACKAGES:
        frame, level = frame.f_back, level + 1
    return level
