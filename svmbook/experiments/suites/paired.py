"""Mean results of methods over their runs, and paired differences from a reference method."""

import itertools

from ...tables import plus_minus
from ..methods.statistics import summarise

__all__ = ["comparison_rows", "format_cell", "group_runs", "paired_summaries"]


def group_runs(records, data_sets, methods, *, min_runs=1):
    """Yield a new row and the records for each data set and method that has enough runs.

    Examples
    --------
    >>> from svmbook.experiments.suites.paired import group_runs
    >>> records = [{"data_set": "moons", "method": "a", "run": k} for k in (0, 1)]
    >>> [row for row, run_records in group_runs(records, ["moons"], ["a", "b"])]
    [{'data_set': 'moons', 'method': 'a', 'n_runs': 2}]
    """
    for data_set, method in itertools.product(data_sets, methods):
        run_records = [r for r in records if (r["data_set"], r["method"]) == (data_set, method)]
        if len(run_records) >= min_runs:
            yield {"data_set": data_set, "method": method, "n_runs": len(run_records)}, run_records


def paired_summaries(records, data_set, method, reference, *, field="error", factor=100.0):
    """Return the mean of one method and its paired difference from another, with standard errors.

    Only runs that both methods have are used. The runs must be independent, as on generated data,
    because there is no correction for overlapping training sets.

    Parameters
    ----------
    records : list of dict
        Records of one suite.
    data_set, method, reference : str
        The data set and the two methods. The reference may be the method itself.
    field : str, default="error"
        Field to compare.
    factor : float, default=100
        Factor for the values, 100 for errors in percent.

    Returns
    -------
    pair of Summary, or None
        Summaries of the method's values, and of its values minus those of the reference. None if
        there are fewer than two common runs.

    Examples
    --------
    >>> from svmbook.experiments.suites.paired import paired_summaries
    >>> errors = {"a": (0.2, 0.3), "b": (0.1, 0.3)}
    >>> records = [
    ...     {"data_set": "moons", "method": method, "run": run, "error": error}
    ...     for method, values in errors.items()
    ...     for run, error in enumerate(values)
    ... ]
    >>> mean, difference = paired_summaries(records, "moons", "a", "b")
    >>> f"{mean:.1f}".split(), f"{difference:+.1f}".split()
    (['25.0', '±', '5.0'], ['+5.0', '±', '5.0'])
    """
    values, reference_values = (
        {
            r["run"]: factor * r[field]
            for r in records
            if (r["data_set"], r["method"]) == (data_set, name)
        }
        for name in (method, reference)
    )
    runs = sorted(values.keys() & reference_values.keys())
    if len(runs) < 2:
        return None
    differences = [values[run] - reference_values[run] for run in runs]
    return summarise([values[run] for run in runs]), summarise(differences)


def comparison_rows(records, data_sets, methods, reference_of, factors):
    """Return one row per data set and method that has records.

    A row has the mean and the standard error of each recorded value. It also has the mean
    difference of the test error from that of the reference method, over the runs that both have,
    and its standard error.

    Parameters
    ----------
    records : list of dict
        Records of a suite whose methods share the data of a run.
    data_sets, methods : iterable of str
        Names in their order in the table.
    reference_of : callable
        ``reference_of(method)`` returns the name of the reference method, whose own row has no
        difference.
    factors : dict
        Factor for each recorded value, 100 for an error in percent. It must include "error". A
        value that a method does not record is left out of its rows.

    Returns
    -------
    list of dict
        With keys "data_set", "method" and "n_runs", the name of each value, the same name with the
        ending "_se" for its standard error, "difference" and "difference_se".

    Examples
    --------
    >>> from svmbook.experiments.suites.paired import comparison_rows
    >>> errors = {"hinge": (0.3, 0.2), "bounded": (0.32, 0.26)}
    >>> records = [
    ...     {"data_set": "clouds", "method": method, "run": run, "error": error}
    ...     for method in errors
    ...     for run, error in enumerate(errors[method])
    ... ]
    >>> names = ["clouds"], ["hinge", "bounded"]
    >>> rows = comparison_rows(records, *names, lambda m: "hinge", {"error": 100})
    >>> row = rows[1]
    >>> [round(row[name]) for name in ("error", "difference", "difference_se")]
    [29, 4, 2]
    """
    rows = []
    for row, run_records in group_runs(records, data_sets, methods):
        for name, factor in factors.items():
            if name in run_records[0]:
                summary = summarise([factor * r[name] for r in run_records])
                row |= {name: summary.mean, f"{name}_se": summary.standard_error}
        data_set, method = row["data_set"], row["method"]
        summaries = paired_summaries(
            records, data_set, method, reference_of(method), factor=factors["error"]
        )
        if method != reference_of(method) and summaries:
            row |= {"difference": summaries[1].mean, "difference_se": summaries[1].standard_error}
        rows.append(row)
    return rows


def format_cell(row, field="difference", format_spec="+.2f"):
    """Return a field of a row with its standard error as text, empty if the row lacks the field.

    Examples
    --------
    >>> from svmbook.experiments.suites.paired import format_cell
    >>> format_cell({"difference": 1.25, "difference_se": 0.1}).split()
    ['+1.25', '±', '0.10']
    """
    return plus_minus(row[field], row[f"{field}_se"], format_spec) if field in row else ""
