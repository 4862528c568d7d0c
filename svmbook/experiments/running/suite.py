"""What an experiment is made of: which runs, what one does, and the table they end in."""

from __future__ import annotations

import itertools
import platform
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral

from ...tables import Table
from ...threads import one_blas_thread
from .store import Job

__all__ = ["RunError", "Suite", "versions"]

NUMERICAL = ("svmbook", "numpy", "scipy", "scikit-learn", "cvxopt")


class RunError(RuntimeError):
    """A run of a suite failed; the message says which, and how."""


@dataclass(frozen=True)
class Suite:
    """An experiment: data sets by methods by runs.

    Attributes
    ----------
    name : str
        Name of the suite and of its file of records.
    title : str
        What it measures, in a line.
    data_sets, methods : tuple of str
        What it runs.
    runs : int
        How often, each time from another seed.
    work : callable
        ``work(data_set, method, run)`` returns ``seed``, ``parameters``, ``error`` (a fraction) and
        ``model_size``, and whatever else is worth keeping.
    compare : callable
        ``compare(records)`` returns a list of dicts, one for each data set and method that has
        records: ``runs``, how many; what the source reports; and what came out.
    layout : callable
        ``layout(rows)`` returns the `Table` of these dicts, as the source prints it.
    more : mapping
        Layouts of further tables of the same rows, by name.
    tables : mapping
        Names for `svmbook.datasets.load`, by data set; none for generated data.
    left_out : mapping
        Data sets that are not run, by method.
    """

    name: str
    title: str
    data_sets: tuple
    methods: tuple
    runs: int
    work: Callable
    compare: Callable[[list], list]
    layout: Callable[[list], Table]
    more: Mapping = field(default_factory=dict)
    tables: Mapping = field(default_factory=dict)
    left_out: Mapping = field(default_factory=dict)

    def jobs(self, data_sets=None, methods=None, runs=None):
        """Return the jobs of the whole suite, or of a part of it."""
        data_sets = _known(data_sets, self.data_sets, f"{self.name} has no data set")
        methods = _known(methods, self.methods, f"{self.name} has no method")
        jobs = [
            Job(self.name, data_set, method, run)
            for data_set, method in itertools.product(data_sets, methods)
            if data_set not in self.left_out.get(method, ())
            for run in self._stored_numbers(runs)
        ]
        if not jobs:
            raise ValueError(f"{self.name} leaves {', '.join(methods)} out there.")
        return jobs

    def _stored_numbers(self, runs):
        """Return the numbers of the runs that are asked for, by default the suite's."""
        runs = self.runs if runs is None else runs
        numbers = range(runs) if isinstance(runs, Integral) else tuple(runs)
        if not numbers or min(numbers) < 0:
            raise ValueError(f"runs is {runs}; give at least 1, or numbers from 0.")
        return numbers

    def run_job(self, job):
        """Do one run and return its record.

        BLAS is kept to one thread: the order of its sums, and with it the last digits of a result,
        would depend on the number of threads.
        """
        with one_blas_thread():
            start = time.perf_counter()
            try:
                outcome = self.work(job.data_set, job.method, job.run)
            except Exception as error:
                raise RunError(f"{job} failed ({type(error).__name__}: {error})") from error
            seconds = time.perf_counter() - start
        return {**job._asdict(), **outcome, "seconds": round(seconds, 4), "versions": versions()}


def versions():
    """Return the versions of installed packages that a result may depend on, in one line.

    Examples
    --------
    >>> from svmbook.experiments.running.suite import versions
    >>> versions().split(", ")[0]
    'Python 3...'
    """
    parts = [f"Python {platform.python_version()}"]
    for name in NUMERICAL:
        with suppress(PackageNotFoundError):  # cvxopt is optional
            parts.append(f"{name} {version(name)}")
    return ", ".join(parts)


def _known(names, known, complaint):
    names = tuple(dict.fromkeys(known if names is None else names))
    if not names:
        raise ValueError(f"no name is given; choose of {', '.join(known)}.")
    for name in names:
        if name not in known:
            raise ValueError(f"{complaint} {name!r}; it has {', '.join(map(repr, known))}.")
    return names
