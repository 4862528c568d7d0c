r"""Table 1 of Navia-Vazquez et al. (2004): two problems with one feature, 100 samples of each.

Each run draws 500 training and 500 test points, and fits linear classifiers with C = 10 to x
without scaling. Besides the four methods of the paper, there are unbiased classifiers with other
starting points, and a classifier with the sigmoidal loss.
"""

import numpy as np
from sklearn.base import clone

from ....datasets import usvc_case_a, usvc_case_b
from ....svm import DualSVC
from ....tables import Table
from ....unbiased import ERMSVC, USVC, LeastSquaresClassifier
from ...methods.protocols import GeneratedSamples
from ...methods.statistics import summarise
from ...running.suite import Suite
from ..paired import group_runs

__all__ = ["CASES", "METHODS", "REPORTED", "SUITE", "carry_out_run"]

CASES = {"case-a": usvc_case_a, "case-b": usvc_case_b}
METHODS = {
    "LS": LeastSquaresClassifier(C=10.0),
    "SVC": DualSVC(C=10.0),
    "USVC (s = 2)": USVC(C=10.0),
    "USVC (s = 4)": USVC(C=10.0, s=4.0),
    "USVC (s = 2) from LS": USVC(C=10.0, init="ls"),
    "USVC (s = 4) from LS": USVC(C=10.0, s=4.0, init="ls"),
    "USVC (s = 2), ten starts": USVC(C=10.0, n_init=10),
    "ERM-SVC": ERMSVC(C=10.0),
}
#: Test error and training error in percent, and threshold, each with its standard deviation.
REPORTED = {
    ("case-a", "LS"): (30.7, 2.7, 30.5, 2.9, 0.3, 0.02),
    ("case-a", "SVC"): (27.1, 2.4, 26.8, 2.6, 0.35, 0.02),
    ("case-a", "USVC (s = 2)"): (20.4, 1.9, 19.9, 1.7, 0.49, 0.06),
    ("case-a", "USVC (s = 4)"): (21.8, 2.6, 21.1, 2.0, 0.47, 0.1),
    ("case-b", "LS"): (31.7, 1.9, 31.8, 1.4, 0.3, 0.02),
    ("case-b", "SVC"): (25.5, 2.4, 24.8, 2.6, 0.4, 0.02),
    ("case-b", "USVC (s = 2)"): (19.8, 1.9, 19.7, 1.8, 0.58, 0.01),
    ("case-b", "USVC (s = 4)"): (19.7, 5.4, 20.1, 5.2, 0.56, 0.02),
}


def carry_out_run(data_set, method, run):
    """Carry out one run: fit, and measure the errors and the threshold."""
    parts = GeneratedSamples(CASES[data_set], n_train=500, n_test=500, n_runs=run + 1)[run]
    model = clone(METHODS[method])
    if isinstance(model, USVC):
        model.set_params(random_state=parts.seed)
    model.fit(parts.X_train, parts.y_train)
    return {
        "seed": parts.seed,
        "parameters": {"C": 10.0},
        "error": round(float(1.0 - model.score(parts.X_test, parts.y_test)), 6),
        "train_error": round(float(1.0 - model.score(parts.X_train, parts.y_train)), 6),
        "threshold": round(float(-model.intercept_[0] / model.coef_[0, 0]), 6),
        "model_size": 1,
    }


def _compare(records):
    """Return means and deviations, and the differences of the means from the reported ones."""
    rows = []
    for row, run_records in group_runs(records, CASES, METHODS, min_runs=2):
        reported = REPORTED.get((row["data_set"], row["method"]), (np.nan,) * 6)
        factors = {"error": 100, "train_error": 100, "threshold": 1}
        for k, (name, factor) in enumerate(factors.items()):
            summary = summarise([factor * r[name] for r in run_records])
            reported_mean, reported_deviation = reported[2 * k : 2 * k + 2]
            row |= {name: summary.mean, f"{name}_deviation": summary.deviation}
            row |= {f"reported_{name}": reported_mean}
            row |= {f"reported_{name}_deviation": reported_deviation}
            # The paper has a hundred runs, so its standard error is a tenth of the deviation.
            joint_se = np.hypot(reported_deviation / 10.0, summary.standard_error)
            row[f"{name}_z"] = float((summary.mean - reported_mean) / joint_se)
        rows.append(row)
    return rows


def _make_table(rows):
    """Return the table, one row per case and classifier; differences in joint standard errors."""
    columns = ["case", "classifier", "error (%), reported", "reproduced", "difference (s.e.)"]
    columns += ["threshold, reported", "reproduced ", "difference (s.e.) "]
    table_rows = []
    for row in rows:
        table_row = [row["data_set"][-1].upper(), row["method"]]
        for name, format_spec in (("error", ".1f"), ("threshold", ".2f")):
            for key in (f"reported_{name}", name):
                deviation = row[f"{key}_deviation"]
                text = f"{row[key]:{format_spec}} ± {deviation:{format_spec}}"
                table_row.append("" if np.isnan(deviation) else text)
            z = row[f"{name}_z"]
            table_row.append("" if np.isnan(z) else f"{z:+.1f}")
        table_rows.append(table_row)
    return Table(columns, table_rows)


SUITE = Suite(
    name="usvc-cases",
    title="Navia-Vazquez et al. (2004), Table 1: thresholds on a line, cases A and B",
    data_sets=tuple(CASES),
    methods=tuple(METHODS),
    n_runs=100,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
