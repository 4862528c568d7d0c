"""Table 2 of Navia-Vazquez et al. (2004): linear machines on three tables and three generators."""

from functools import partial

from ....svm import DualSVC
from ....unbiased import USVC, LeastSquaresClassifier
from ...running.suite import Suite
from .divisions import C_GRID, chosen_run, compared_rows, division, layout

__all__ = ["METHODS", "REPORTED", "SUITE", "TABLES", "work"]

METHODS = {
    "LS": (LeastSquaresClassifier(), {"C": C_GRID}),
    "SVM": (DualSVC(), {"C": C_GRID}),
    "USVC": (USVC(), {"C": C_GRID}),
}
#: Test error in percent and its deviation, over ten divisions.
BY_TABLE = {
    "diabetes": {"LS": (24.7, 2.6), "SVM": (24.2, 2.2), "USVC": (24.2, 3.3)},
    "image": {"LS": (16.2, 1.2), "SVM": (15.8, 0.8), "USVC": (12.1, 1.1)},
    "ringnorm": {"LS": (23.3, 1.1), "SVM": (23.4, 1.1), "USVC": (22.9, 1.1)},
    "thyroid": {"LS": (17.7, 5.0), "SVM": (9.1, 4.5), "USVC": (7.6, 3.8)},
    "twonorm": {"LS": (2.2, 0.3), "SVM": (2.2, 0.3), "USVC": (2.2, 0.2)},
    "waveform": {"LS": (12.0, 0.7), "SVM": (11.5, 0.6), "USVC": (11.4, 0.5)},
}
REPORTED = {(name, method): pair for name, row in BY_TABLE.items() for method, pair in row.items()}
GENERATED = ("ringnorm", "twonorm", "waveform")
TABLES = {name: name for name in BY_TABLE if name not in GENERATED}


def work(data_set, method, run):
    """Do one run: choose the price by five folds, fit, and count the errors."""
    machine, grid = METHODS[method]
    parts = division(data_set, run, TABLES)
    return chosen_run(machine, grid, parts, size=lambda fitted: fitted.coef_.size)


SUITE = Suite(
    name="usvc-linear",
    title="Navia-Vazquez et al. (2004), Table 2: linear machines on six data sets",
    data_sets=tuple(BY_TABLE),
    methods=tuple(METHODS),
    runs=50,
    work=work,
    compare=partial(compared_rows, reported=REPORTED, against="SVM"),
    layout=partial(layout, against="SVM"),
    tables=TABLES,
)
