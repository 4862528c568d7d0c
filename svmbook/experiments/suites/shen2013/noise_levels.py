r"""Shen (2013) with other noise levels: 5, 20 and 30 % of the labels are changed.

The classifiers are a selection from the suites `shen2013` and `shen2013-beyond`, which have the
runs without noise and with 10 % noise. Points and seeds are the same.
"""

from ...running.suite import Suite
from . import comparison, further_classifiers
from .cross_validation import COMMON_DATA_SETS, data_tables, names_with_noise
from .result_tables import clean_label_table_maker, compare_methods

__all__ = ["METHODS", "SUITE", "carry_out_run"]

NOISY_DATA_SETS = {share: names_with_noise(share, COMMON_DATA_SETS) for share in (0.05, 0.2, 0.3)}
DATA_SETS = tuple(name for names in NOISY_DATA_SETS.values() for name in names)
SHEN2013_METHODS = (
    "PSVM, majority vote",
    "PSVM, distance-weighted vote",
    "CART",
    "boosted CART",
    "linear",
)
METHODS = (
    *SHEN2013_METHODS,
    *("exemplars, distance-weighted vote", "nearest neighbours", "Gaussian", "random forest"),
)


def carry_out_run(data_set, method, run):
    """Carry out one run: a ten-fold cross-validation of one classifier of the other suites."""
    module = comparison if method in SHEN2013_METHODS else further_classifiers
    return module.carry_out_run(data_set, method, run)


SUITE = Suite(
    name="shen2013-noise",
    title="Shen (2013): other levels of label noise",
    data_sets=DATA_SETS,
    methods=METHODS,
    n_runs=10,
    carry_out_run=carry_out_run,
    compare=compare_methods,
    make_table=clean_label_table_maker(NOISY_DATA_SETS[0.2], METHODS),
    extra_tables={
        "5-percent": clean_label_table_maker(NOISY_DATA_SETS[0.05], METHODS),
        "30-percent": clean_label_table_maker(NOISY_DATA_SETS[0.3], METHODS),
    },
    data_tables=data_tables(DATA_SETS),
)
