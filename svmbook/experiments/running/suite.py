"""An experiment: its runs, the function that carries out one run, and the table of the results."""

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

NUMERICAL_PACKAGES = ("svmbook", "numpy", "scipy", "scikit-learn", "cvxopt")


class RunError(RuntimeError):
    """A run of a suite failed; the message names the run and the error."""


@dataclass(frozen=True)
class Suite:
    """An experiment that repeats each method on each data set.

    Attributes
    ----------
    name : str
        Name of the suite and of its file of records.
    title : str
        What it measures, in one line.
    data_sets, methods : tuple of str
        Names of the data sets and of the methods.
    n_runs : int
        Number of runs per data set and method, each with its own seed.
    carry_out_run : callable
        ``carry_out_run(data_set, method, run)`` returns a dict with ``seed``, ``parameters``,
        ``error`` (a fraction), ``model_size``, and any further fields.
    compare : callable
        ``compare(records)`` returns a list of dicts, one for each data set and method that has
        records: the number of runs ``n_runs``, our results, and the reported ones if there are any.
    make_table : callable
        ``make_table(rows)`` returns the `Table` of these dicts. A table of a paper or thesis keeps
        the layout of the original.
    extra_tables : mapping
        Functions that make further tables from the same rows, by table name.
    data_tables : mapping
        Name of the table that `svmbook.datasets.load` reads, by data set. Data sets that are
        generated, or that scikit-learn bundles, have no entry.
    excluded_data_sets : mapping
        Data sets on which a method is not run, by method.
    """

    name: str
    title: str
    data_sets: tuple
    methods: tuple
    n_runs: int
    carry_out_run: Callable
    compare: Callable[[list], list]
    make_table: Callable[[list], Table]
    extra_tables: Mapping = field(default_factory=dict)
    data_tables: Mapping = field(default_factory=dict)
    excluded_data_sets: Mapping = field(default_factory=dict)

    def jobs(self, data_sets=None, methods=None, runs=None):
        """Return the jobs of the suite, or of some data sets, methods and runs."""
        data_sets = _check_names(data_sets, self.data_sets, f"{self.name} has no data set")
        methods = _check_names(methods, self.methods, f"{self.name} has no method")
        jobs = [
            Job(self.name, data_set, method, run)
            for data_set, method in itertools.product(data_sets, methods)
            if data_set not in self.excluded_data_sets.get(method, ())
            for run in self._run_numbers(runs)
        ]
        if not jobs:
            raise ValueError(
                f"{self.name} does not run {', '.join(methods)} on {', '.join(data_sets)}."
            )
        return jobs

    def _run_numbers(self, runs):
        """Return the run numbers: those in a list, the first ``runs``, or by default all."""
        runs = self.n_runs if runs is None else runs
        run_numbers = range(runs) if isinstance(runs, Integral) else tuple(runs)
        if not run_numbers or min(run_numbers) < 0:
            raise ValueError(
                f"runs must be at least 1, or a list of non-negative integers; found {runs}."
            )
        return run_numbers

    def run_job(self, job):
        """Carry out one run and return its record.

        BLAS uses one thread, because the order of its sums, and with it the last digits of a
        result, depends on the number of threads.
        """
        with one_blas_thread(strictly=True):
            start = time.perf_counter()
            try:
                outcome = self.carry_out_run(job.data_set, job.method, job.run)
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
    for name in NUMERICAL_PACKAGES:
        with suppress(PackageNotFoundError):  # CVXOPT is optional
            parts.append(f"{name} {version(name)}")
    return ", ".join(parts)


def _check_names(names, available, message_start):
    """Return distinct names, by default all; raise ValueError if one is unknown."""
    names = tuple(dict.fromkeys(available if names is None else names))
    if not names:
        raise ValueError(f"no names were given; choose from {', '.join(available)}.")
    for name in names:
        if name not in available:
            raise ValueError(f"{message_start} {name!r}; it has {', '.join(map(repr, available))}.")
    return names
