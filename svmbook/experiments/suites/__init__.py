"""All suites by name, and the tables of their results."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from importlib import import_module
from operator import itemgetter

from ...tables import Report
from ..running.records import results_folder
from ..running.store import Job, Store

__all__ = ["SUITES", "find_suite", "report"]

#: Modules by suite, imported on first use.
SUITES = {
    "all-classifiers": "comparisons.all_classifiers",
    "class-shares": "lin2005.class_shares",
    "exemplar-nuisance": "prototypes.exemplar_nuisance",
    "exemplar-votes": "prototypes.exemplar_votes",
    "exploring-forest": "exploring.forest_cover",
    "exploring-more": "exploring.open_questions",
    "exploring-parameters": "exploring.parameters",
    "glass-boxes": "lin2005.additive_models",
    "interactions": "lin2005.interactions",
    "kernel-depth": "lin2005.kernel_depth",
    "kernel-features": "comparisons.kernel_features",
    "lin2005-beyond": "lin2005.further_classifiers",
    "lin2005-boosting": "lin2005.boosting",
    "lin2005-early": "lin2005.early_stopping",
    "lin2005-kernels": "lin2005.kernels",
    "linear-or-gaussian": "comparisons.linear_or_gaussian",
    "logistic-kernels": "exploring.kernel_logistic",
    "noise-islands": "prototypes.noise_islands",
    "prototype-shifts": "prototypes.prototype_shifts",
    "shen2013": "shen2013.comparison",
    "shen2013-ablation": "shen2013.ablation",
    "shen2013-beyond": "shen2013.further_classifiers",
    "shen2013-noise": "shen2013.noise_levels",
    "shen2013-search": "shen2013.search",
    "usvc-as-printed": "usvc2004.as_printed",
    "usvc-biomedical": "usvc2004.biomedical",
    "usvc-cases": "usvc2004.cases",
    "usvc-fewest-errors": "usvc2004.fewest_errors",
    "usvc-gaussian": "usvc2004.gaussian_kernels",
    "usvc-linear": "usvc2004.linear",
    "usvc-overlap": "usvc2004.overlap",
    "usvc-placing": "usvc2004.prototype_placement",
    "usvc-when": "usvc2004.loss_comparison",
    "width-rules": "exploring.width_rules",
}


def find_suite(name):
    """Return a suite by name.

    Examples
    --------
    >>> from svmbook.experiments.suites import find_suite
    >>> find_suite("lin2005-kernels").n_runs
    100
    """
    if name not in SUITES:
        raise ValueError(f"unknown suite {name!r}; choose from {', '.join(SUITES)}.")
    return import_module(f".{SUITES[name]}", __name__).SUITE


def report(name: str, store: Store | None = None, *, table: str | None = None) -> Report:
    """Return the table of a suite: the reported and the reproduced results side by side.

    Parameters
    ----------
    name : str
        A name in `SUITES`.
    store : Store, default=None
        The records, by default those of the book.
    table : str, default=None
        Name of a further table of the suite; None returns its main table.

    Returns
    -------
    Report
        A notebook shows it as Markdown; ``to_frame()`` returns the numbers.

    Raises
    ------
    FileNotFoundError, ValueError
        There is no such suite or table, the store has no or too few runs of the suite, or a record
        is damaged.
    """
    suite = find_suite(name)
    if table is not None and table not in suite.extra_tables:
        available = ", ".join(suite.extra_tables) or "only its main table"
        raise ValueError(f"{name} has no table {table!r}; it has {available}.")
    make_table = suite.make_table if table is None else suite.extra_tables[table]
    store = Store(results_folder() / f"{name}.jsonl") if store is None else store
    status = store.path.stat() if store.path.exists() else None
    rows, notes = _compare(name, store.path, status and (status.st_mtime_ns, status.st_size))
    rows = tuple(deepcopy(rows))  # the caller may change them; the cached rows stay
    return Report(make_table(rows), rows, notes)


@lru_cache
def _compare(name, path, file_version):
    """Return rows and notes of a suite, cached for all its tables until its file changes."""
    suite, store = find_suite(name), Store(path)
    # Sorted, so that no sum and no tie depends on the order in which the runs were finished.
    records = sorted(store.records(name), key=itemgetter(*Job._fields))
    if not records:
        raise ValueError(
            f"{store.path} has no runs of {name}; to carry them out, run: "
            f"svmbook reproduce {name} --store {store.path}"
        )
    # Raises for unknown names, which `compare` would silently leave out.
    suite.jobs([r["data_set"] for r in records], [r["method"] for r in records])
    try:
        rows = tuple(suite.compare(records))
        if not rows:
            raise ValueError(f"{store.path} has too few runs of {name} for any row of its table.")
        notes = _notes(suite, rows, records)
    except KeyError as error:
        raise ValueError(f"{store.path}: a record of {name} lacks {error}.") from error
    return rows, notes


def _notes(suite, rows, records):
    """Return the origin of the records: command, runs, time, versions."""
    run_counts = sorted({row["n_runs"] for row in rows})
    runs = f"{run_counts[0]}"
    if len(run_counts) > 1:
        runs += f" to {run_counts[-1]}"
    is_complete = len(records) == len(suite.jobs())
    seconds = sum(r["seconds"] for r in records)
    time = f"{seconds / 60:.0f} minutes" if seconds > 100 else f"{seconds:.0f} seconds"
    versions = "; ".join(sorted({r["versions"] for r in records}))
    origin = "by" if is_complete else "from some runs of"
    return (
        f"Made {origin} `svmbook reproduce {suite.name}`. "
        f"Runs per row: {runs}; total time on one core: {time}.",
        f"Versions: {versions}.",
    )
