r"""Shen (2013) with more noise and less: 5, 20 and 30 % of the labels changed.

What there is without noise and with 10 % is in `shen2013` and `beyond`, whose machines
these are, on the same points and from the same seeds.
"""

from ...running.suite import Suite
from . import beyond
from . import methods as shen2013
from .folds import SMALL, tables, with_noise
from .printed import compare_runs, on_clean_labels

__all__ = ["METHODS", "SUITE", "work"]

AT_SHARE = {share: with_noise(share, SMALL) for share in (0.05, 0.2, 0.3)}
DATA_SETS = tuple(name for names in AT_SHARE.values() for name in names)
OF_THE_TABLES = ("PSVM by count", "PSVM by nearness", "CART", "boosted CART", "linear")
METHODS = (
    *OF_THE_TABLES,
    "exemplars by nearness",
    "nearest neighbours",
    "Gaussian",
    "random forest",
)


def work(data_set, method, run):
    """Do one run: a ten-fold cross-validation of one machine of the other suites."""
    suite = shen2013 if method in OF_THE_TABLES else beyond
    return suite.work(data_set, method, run)


SUITE = Suite(
    name="shen2013-noise",
    title="Shen (2013): more noise and less",
    data_sets=DATA_SETS,
    methods=METHODS,
    runs=10,
    work=work,
    compare=compare_runs,
    layout=on_clean_labels(AT_SHARE[0.2], METHODS),
    more={
        "less": on_clean_labels(AT_SHARE[0.05], METHODS),
        "more": on_clean_labels(AT_SHARE[0.3], METHODS),
    },
    tables=tables(DATA_SETS),
)
