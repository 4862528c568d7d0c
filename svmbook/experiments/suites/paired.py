"""Means of a method over its runs, and its paired differences to a reference method."""

from __future__ import annotations

from ..methods.statistics import summarise

__all__ = ["paired"]


def paired(records, data_set, method, reference, *, field="error", unit=100.0):
    """Return the mean of one method and its paired difference to another, with standard errors.

    Only runs that both methods have are used. The runs must be independent, as those on generated
    data are: there is no correction for overlapping training sets.

    Parameters
    ----------
    records : list of dict
        Of one suite.
    data_set, method, reference : str
        Which two methods to compare, and on which data set. A reference may be the method itself.
    field : str, default="error"
        What to compare.
    unit : float, default=100
        Factor for the values, 100 for errors in percent.

    Returns
    -------
    pair of Summary, or None
        Of the method's values, and of its values minus those of the reference; None if there are
        fewer than two common runs.

    Examples
    --------
    >>> from svmbook.experiments.suites.paired import paired
    >>> errors = {"a": (0.2, 0.3), "b": (0.1, 0.3)}
    >>> records = [
    ...     {"data_set": "moons", "method": method, "run": run, "error": error}
    ...     for method, values in errors.items()
    ...     for run, error in enumerate(values)
    ... ]
    >>> mean, difference = paired(records, "moons", "a", "b")
    >>> f"{mean:.1f}".split(), f"{difference:+.1f}".split()
    (['25.0', '±', '5.0'], ['+5.0', '±', '5.0'])
    """
    mine, other = (
        {
            r["run"]: unit * r[field]
            for r in records
            if (r["data_set"], r["method"]) == (data_set, name)
        }
        for name in (method, reference)
    )
    runs = sorted(mine.keys() & other.keys())
    if len(runs) < 2:
        return None
    differences = [mine[run] - other[run] for run in runs]
    return summarise([mine[run] for run in runs]), summarise(differences)
