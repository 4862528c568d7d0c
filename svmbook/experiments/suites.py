"""All experiments by name, and the tables they end in."""

from __future__ import annotations

from . import exploring, forest, lin2005
from .results import load_records
from .tables import Report

__all__ = ["SUITES", "find_suite", "report"]

SUITES = {suite.name: suite for suite in (exploring.SUITE, forest.SUITE, lin2005.SUITE)}


def find_suite(name):
    """Return a suite by name.

    Parameters
    ----------
    name : str
        A name in `SUITES`.

    Returns
    -------
    Suite

    Raises
    ------
    ValueError
        There is none of that name.

    Examples
    --------
    >>> from svmbook.experiments.suites import find_suite
    >>> find_suite("lin2005-kernels").runs
    100
    """
    if name not in SUITES:
        raise ValueError(f"there is no suite {name!r}; there are {', '.join(SUITES)}.")
    return SUITES[name]


def report(name, records=None):
    """Return the table of a suite: what its source reports beside what came out.

    Parameters
    ----------
    name : str
        A name in `SUITES`.
    records : list of dict, default=None
        Records of the suite, by default those among the book's results.

    Returns
    -------
    Report
        Shown as Markdown in a notebook; ``to_frame()`` gives the numbers.

    Raises
    ------
    FileNotFoundError, ValueError
        There is no such suite, there are no results of it, or a record is damaged.
    """
    suite = find_suite(name)
    records = load_records(name) if records is None else records
    if not records:
        raise ValueError(f"no run of {name} is there yet; make them by: svmbook reproduce {name}")
    rows = tuple(suite.compare(records))
    return Report(suite.layout(rows), rows, _notes(name, rows, records))


def _notes(name, rows, records):
    """Say how the records came about: command, runs, time, versions."""
    runs = sorted({row["runs"] for row in rows})
    runs = f"{runs[0]}" if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    seconds = sum(r["seconds"] for r in records)
    time = f"{seconds / 60:.0f} minutes" if seconds > 100 else f"{seconds:.0f} seconds"
    versions = "; ".join(sorted({r["versions"] for r in records}))
    return (
        f"Made by `svmbook reproduce {name}`: {runs} runs a line, {time} of one core in all.",
        f"Versions: {versions}.",
    )
