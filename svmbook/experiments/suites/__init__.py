"""All experiments by name, and the tables they end in."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from importlib import import_module
from operator import itemgetter

from ...tables import Report
from ..running.records import results_folder
from ..running.store import Job, Store

__all__ = ["SUITES", "find_suite", "report"]

#: The module of each, loaded when the suite is asked for.
SUITES = {
    "all-machines": "comparisons.all_machines",
    "class-shares": "lin2005.class_shares",
    "exemplar-nuisance": "prototypes.nuisance",
    "exemplar-votes": "prototypes.votes",
    "exploring-forest": "exploring.forest",
    "exploring-more": "exploring.more",
    "exploring-parameters": "exploring.parameters",
    "glass-boxes": "lin2005.glass_boxes",
    "interactions": "lin2005.interactions",
    "kernel-depth": "lin2005.kernel_depth",
    "kernel-features": "comparisons.kernel_features",
    "lin2005-beyond": "lin2005.beyond",
    "lin2005-boosting": "lin2005.boosting",
    "lin2005-early": "lin2005.early",
    "lin2005-kernels": "lin2005.kernels",
    "linear-or-gaussian": "comparisons.linear_or_gaussian",
    "logistic-kernels": "exploring.logistic_kernels",
    "noise-islands": "prototypes.islands",
    "prototype-shifts": "prototypes.shifts",
    "shen2013": "shen2013.methods",
    "shen2013-ablation": "shen2013.ablation",
    "shen2013-beyond": "shen2013.beyond",
    "shen2013-noise": "shen2013.noise",
    "shen2013-search": "shen2013.search",
    "usvc-as-printed": "usvc2004.as_printed",
    "usvc-biomedical": "usvc2004.biomedical",
    "usvc-cases": "usvc2004.cases",
    "usvc-gaussian": "usvc2004.gaussian",
    "usvc-linear": "usvc2004.linear",
    "usvc-oracle": "usvc2004.oracle",
    "usvc-overlap": "usvc2004.overlap",
    "usvc-placing": "usvc2004.placing",
    "usvc-when": "usvc2004.when",
    "width-rules": "exploring.width_rules",
}


def find_suite(name):
    """Return a suite by name.

    Examples
    --------
    >>> from svmbook.experiments.suites import find_suite
    >>> find_suite("lin2005-kernels").runs
    100
    """
    if name not in SUITES:
        raise ValueError(f"there is no suite {name!r}; there are {', '.join(SUITES)}.")
    return import_module(f".{SUITES[name]}", __name__).SUITE


def report(name: str, store: Store | None = None, *, table: str | None = None) -> Report:
    """Return the table of a suite: what its source reports beside what came out.

    Parameters
    ----------
    name : str
        A name in `SUITES`.
    store : Store, default=None
        Where its records are, by default among the book's results.
    table : str, default=None
        The name of a further table of the suite.

    Returns
    -------
    Report
        Shown as Markdown in a notebook; ``to_frame()`` gives the numbers.

    Raises
    ------
    FileNotFoundError, ValueError
        There is no such suite or table, the store holds no run of it or too few, or a record is
        damaged.
    """
    suite = find_suite(name)
    if table is not None and table not in suite.more:
        more = ", ".join(suite.more) or "none but its own"
        raise ValueError(f"{name} has no table {table!r}; it has {more}.")
    layout = suite.layout if table is None else suite.more[table]
    store = Store(results_folder() / f"{name}.jsonl") if store is None else store
    stamp = store.path.stat() if store.path.exists() else None
    rows, notes = _compared(name, store.path, stamp and (stamp.st_mtime_ns, stamp.st_size))
    rows = tuple(deepcopy(rows))  # the caller's own
    return Report(layout(rows), rows, notes)


@lru_cache
def _compared(name, path, stamp):
    """Return rows and notes of a suite, computed once for all its tables while its file stays."""
    suite, store = find_suite(name), Store(path)
    # In the order of the jobs, so that no sum and no tie depends on which run was done first.
    records = sorted(store.records(name), key=itemgetter(*Job._fields))
    if not records:
        raise ValueError(
            f"{store.path} holds no run of {name}; make them by: "
            f"svmbook reproduce {name} --store {store.path}"
        )
    # Names that the suite does not know would be left out of its table without a word.
    suite.jobs([r["data_set"] for r in records], [r["method"] for r in records])
    try:
        rows = tuple(suite.compare(records))
        if not rows:
            raise ValueError(f"{store.path} holds too few runs of {name} for a line of its table.")
        notes = _notes(suite, rows, records)
    except KeyError as error:
        raise ValueError(f"{store.path}: a record of {name} lacks {error}.") from error
    return rows, notes


def _notes(suite, rows, records):
    """Say how the records came about: command, runs, time, versions."""
    counts = sorted({row["runs"] for row in rows})
    runs = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    whole = len(records) == len(suite.jobs())
    seconds = sum(r["seconds"] for r in records)
    time = f"{seconds / 60:.0f} minutes" if seconds > 100 else f"{seconds:.0f} seconds"
    versions = "; ".join(sorted({r["versions"] for r in records}))
    return (
        f"Made by `svmbook reproduce {suite.name}`{'' if whole else ', a part of it'}. "
        f"Runs of each line: {runs}. All together took {time} of one core.",
        f"Versions: {versions}.",
    )
