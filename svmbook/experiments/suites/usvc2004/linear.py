"""Table 2 of Navia-Vazquez et al. (2004): linear classifiers on tables and generated data."""

from functools import partial

from ....svm import DualSVC
from ....unbiased import USVC, LeastSquaresClassifier
from ...running.suite import Suite
from .common import (
    GENERATORS,
    LINEAR_C_GRID,
    compare_to_reported,
    make_table,
    run_with_tuning,
    split,
)

__all__ = ["METHODS", "REPORTED", "SUITE", "TABLES", "carry_out_run"]

METHODS = {
    "LS": (LeastSquaresClassifier(), {"C": LINEAR_C_GRID}),
    "SVM": (DualSVC(), {"C": LINEAR_C_GRID}),
    "USVC": (USVC(), {"C": LINEAR_C_GRID}),
}
#: Printed test errors in percent and standard deviations over ten splits, in the order of METHODS.
REPORTED_BY_DATA_SET = {
    "diabetes": ((24.7, 2.6), (24.2, 2.2), (24.2, 3.3)),
    "image": ((16.2, 1.2), (15.8, 0.8), (12.1, 1.1)),
    "ringnorm": ((23.3, 1.1), (23.4, 1.1), (22.9, 1.1)),
    "thyroid": ((17.7, 5.0), (9.1, 4.5), (7.6, 3.8)),
    "twonorm": ((2.2, 0.3), (2.2, 0.3), (2.2, 0.2)),
    "waveform": ((12.0, 0.7), (11.5, 0.6), (11.4, 0.5)),
}
REPORTED = {
    (name, method): mean_and_deviation
    for name, row in REPORTED_BY_DATA_SET.items()
    for method, mean_and_deviation in zip(METHODS, row, strict=True)
}
TABLES = {name: name for name in REPORTED_BY_DATA_SET if name not in GENERATORS}


def carry_out_run(data_set, method, run):
    """Carry out one run: choose C by 5-fold cross-validation, fit, and test."""
    estimator, grid = METHODS[method]
    parts = split(data_set, run, TABLES)
    return run_with_tuning(estimator, grid, parts, size_function=lambda model: model.coef_.size)


SUITE = Suite(
    name="usvc-linear",
    title="Navia-Vazquez et al. (2004), Table 2: linear classifiers on six data sets",
    data_sets=tuple(REPORTED_BY_DATA_SET),
    methods=tuple(METHODS),
    n_runs=50,
    carry_out_run=carry_out_run,
    compare=partial(compare_to_reported, reported=REPORTED, reference="SVM"),
    make_table=partial(make_table, reference="SVM"),
    data_tables=TABLES,
)
