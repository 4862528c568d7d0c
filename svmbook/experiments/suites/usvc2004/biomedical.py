"""Table 4 of Navia-Vazquez et al. (2004): linear machines on seven small medical tables.

Which class of dermatology and of postoperative is the positive one is not printed, so every choice
is run, but for the class of two patients: "dermatology=3" is class 3 against the others.
"""

from functools import partial

from ....svm import DualSVC
from ....unbiased import ERMSVC, USVC, LeastSquaresClassifier
from ...running.suite import Suite
from .divisions import C_GRID, chosen_run, compared_rows, division, layout

__all__ = ["METHODS", "REPORTED", "SUITE", "TABLES", "work"]

METHODS = {
    "LS": (LeastSquaresClassifier(), {"C": C_GRID}),
    "SVM": (DualSVC(), {"C": C_GRID}),
    "ERM-SVC": (ERMSVC(), {"C": C_GRID[::2], "slope": (2.0, 8.0)}),
    "USVC": (USVC(), {"C": C_GRID}),
}
SKIN = tuple(f"dermatology={kind}" for kind in range(1, 7))
WARDS = ("postoperative=A", "postoperative=S")
#: Test error in percent and its deviation, over ten divisions.
BY_TABLE = {
    "breast": {"LS": (4.16, 2.1), "SVM": (4.17, 2.2), "ERM-SVC": (3.74, 2.9), "USVC": (3.73, 2.8)},
    "haberman": {
        **{"LS": (25.9, 8.7), "SVM": (27.3, 6.1)},
        **{"ERM-SVC": (24.7, 6.28), "USVC": (24.3, 6.8)},
    },
    "heart": {
        **{"LS": (16.55, 3.3), "SVM": (16.8, 3.4)},
        **{"ERM-SVC": (17.6, 5.6), "USVC": (15.5, 3.1)},
    },
    "hepatitis": {
        **{"LS": (12.5, 7.4), "SVM": (15.1, 6.5)},
        **{"ERM-SVC": (19.1, 6.2), "USVC": (12.5, 5.4)},
    },
    "bupa": {
        **{"LS": (30.5, 4.1), "SVM": (31.1, 3.7)},
        **{"ERM-SVC": (34.3, 10.8), "USVC": (30.2, 7.4)},
    },
}
SKIN_ROW = {"LS": (0.28, 0.7), "SVM": (0.28, 0.7), "ERM-SVC": (0.28, 0.79), "USVC": (0.28, 0.7)}
WARD_ROW = {
    **{"LS": (29.5, 17.3), "SVM": (28.4, 18.5)},
    **{"ERM-SVC": (27.3, 18.8), "USVC": (27.2, 18.46)},
}
BY_TABLE |= {name: SKIN_ROW for name in SKIN} | {name: WARD_ROW for name in WARDS}
REPORTED = {(name, method): pair for name, row in BY_TABLE.items() for method, pair in row.items()}
TABLES = {name: name.split("=")[0] for name in BY_TABLE}


def work(data_set, method, run):
    """Do one run: choose the parameters by five folds, fit, and count the errors."""
    machine, grid = METHODS[method]
    parts = division(data_set, run, TABLES)
    return chosen_run(machine, grid, parts, size=lambda fitted: fitted.coef_.size)


SUITE = Suite(
    name="usvc-biomedical",
    title="Navia-Vazquez et al. (2004), Table 4: linear machines on small medical tables",
    data_sets=tuple(BY_TABLE),
    methods=tuple(METHODS),
    runs=50,
    work=work,
    compare=partial(compared_rows, reported=REPORTED, against="SVM"),
    layout=partial(layout, against="SVM"),
    tables=TABLES,
)
