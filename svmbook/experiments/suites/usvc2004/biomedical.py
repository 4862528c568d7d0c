"""Table 4 of Navia-Vazquez et al. (2004): linear classifiers on seven small medical tables.

The paper does not name the positive class of dermatology and postoperative. Each of their classes
is therefore tried as the positive class, except the class of postoperative with two patients;
"dermatology=3" is class 3 against the others.
"""

from functools import partial

from ....svm import DualSVC
from ....unbiased import ERMSVC, USVC, LeastSquaresClassifier
from ...running.suite import Suite
from .common import LINEAR_C_GRID, compare_to_reported, make_table, run_with_tuning, split

__all__ = ["METHODS", "REPORTED", "SUITE", "TABLES", "carry_out_run"]

METHODS = {
    "LS": (LeastSquaresClassifier(), {"C": LINEAR_C_GRID}),
    "SVM": (DualSVC(), {"C": LINEAR_C_GRID}),
    "ERM-SVC": (ERMSVC(), {"C": LINEAR_C_GRID[::2], "slope": (2.0, 8.0)}),
    "USVC": (USVC(), {"C": LINEAR_C_GRID}),
}
DERMATOLOGY_DATA_SETS = tuple(f"dermatology={label}" for label in range(1, 7))
POSTOPERATIVE_DATA_SETS = ("postoperative=A", "postoperative=S")
#: Printed test errors in percent and standard deviations over ten splits, in the order of METHODS.
REPORTED_BY_DATA_SET = {
    "breast": ((4.16, 2.1), (4.17, 2.2), (3.74, 2.9), (3.73, 2.8)),
    "haberman": ((25.9, 8.7), (27.3, 6.1), (24.7, 6.28), (24.3, 6.8)),
    "heart": ((16.55, 3.3), (16.8, 3.4), (17.6, 5.6), (15.5, 3.1)),
    "hepatitis": ((12.5, 7.4), (15.1, 6.5), (19.1, 6.2), (12.5, 5.4)),
    "bupa": ((30.5, 4.1), (31.1, 3.7), (34.3, 10.8), (30.2, 7.4)),
    **dict.fromkeys(DERMATOLOGY_DATA_SETS, ((0.28, 0.7), (0.28, 0.7), (0.28, 0.79), (0.28, 0.7))),
    **dict.fromkeys(
        POSTOPERATIVE_DATA_SETS, ((29.5, 17.3), (28.4, 18.5), (27.3, 18.8), (27.2, 18.46))
    ),
}
REPORTED = {
    (name, method): mean_and_deviation
    for name, row in REPORTED_BY_DATA_SET.items()
    for method, mean_and_deviation in zip(METHODS, row, strict=True)
}
TABLES = {name: name.split("=")[0] for name in REPORTED_BY_DATA_SET}


def carry_out_run(data_set, method, run):
    """Carry out one run: choose parameters by 5-fold cross-validation, fit, and test."""
    estimator, grid = METHODS[method]
    parts = split(data_set, run, TABLES)
    return run_with_tuning(estimator, grid, parts, size_function=lambda model: model.coef_.size)


SUITE = Suite(
    name="usvc-biomedical",
    title="Navia-Vazquez et al. (2004), Table 4: linear classifiers on small medical tables",
    data_sets=tuple(REPORTED_BY_DATA_SET),
    methods=tuple(METHODS),
    n_runs=50,
    carry_out_run=carry_out_run,
    compare=partial(compare_to_reported, reported=REPORTED, reference="SVM"),
    make_table=partial(make_table, reference="SVM"),
    data_tables=TABLES,
)
