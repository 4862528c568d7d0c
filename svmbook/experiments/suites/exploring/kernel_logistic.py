r"""Sparse kernel logistic classifiers, compared with the full one and with an SVM.

None of the sources has this table. Each of 30 runs draws 400 training points of
`svmbook.datasets.non_separable`, 400 validation points and 20,000 test points, the same for all
methods. The kernel is Gaussian with gamma = 0.5. lambda is chosen among 0.01, 0.03, ..., 10 by the
log loss of the validation points, or by their 0-1 loss for "ridge, selected by errors" and for the
SVM, whose C is 1/lambda. The import vector machine minimises the objective of the ridge penalty and
uses the lambda chosen for it. Platt's sigmoid, fitted to the validation points, turns the scores of
the SVM into probabilities. Paired differences are relative to the ridge penalty with lambda chosen
by log loss.
"""

from sklearn.base import clone

from ....calibration import fit_sigmoid
from ....datasets import non_separable
from ....logistic import ImportVectorMachine, KernelLogisticRegression
from ....losses import logistic
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import GeneratedSamples, run_seed
from ...running.suite import Suite
from ..paired import comparison_rows, format_cell, paired_summaries

__all__ = [
    "LAMBDAS",
    "METHODS",
    "SUITE",
    "carry_out_run",
    "draw_samples",
    "log_loss",
    "select_classifier",
]

DATA_SETS = ("nonSep",)
LAMBDAS = tuple(10.0**exponent for exponent in (-2, -1.5, -1, -0.5, 0, 0.5, 1))
REFERENCE, IMPORT_VECTORS, RIDGE_BY_ERRORS = (
    "logistic, ridge",
    "import vectors",
    "ridge, selected by errors",
)
SVM = "SVM with Platt scaling"
METHODS = {
    REFERENCE: KernelLogisticRegression(gamma=0.5),
    "logistic, L1 penalty": KernelLogisticRegression(penalty="l1", gamma=0.5),
    IMPORT_VECTORS: ImportVectorMachine(gamma=0.5),
    RIDGE_BY_ERRORS: KernelLogisticRegression(gamma=0.5),
    SVM: DualSVC(kernel="rbf", gamma=0.5),
}


def draw_samples(run):
    """Return the `RunData` of a run, and its validation points with their labels."""
    parts = GeneratedSamples(non_separable, n_train=400, n_test=20_000, n_runs=run + 1)[run]
    return parts, non_separable(400, random_state=run_seed(0, run, purpose=3))


def log_loss(log_odds, y):
    """Return the mean log loss for labels -1 and 1."""
    return logistic(y * log_odds).mean()


def select_classifier(method, parts, validation):
    """Return the fitted classifier with the best lambda, the smallest one if several are tied."""
    X, y = validation
    losses = {}
    for lam in LAMBDAS:
        params = {"C": 1 / lam} if method == SVM else {"lam": lam}
        model = clone(METHODS[method]).set_params(**params)
        scores = model.fit(parts.X_train, parts.y_train).decision_function(X)
        uses_errors = method in (RIDGE_BY_ERRORS, SVM)
        losses[model] = (y * scores <= 0).mean() if uses_errors else log_loss(scores, y)
    return min(losses, key=losses.get)


def carry_out_run(data_set, method, run):
    """Carry out one run: choose lambda on the validation points, and test."""
    parts, (X, y) = draw_samples(run)
    if method == IMPORT_VECTORS:
        lam = select_classifier(REFERENCE, parts, (X, y)).lam
        best = clone(METHODS[method]).set_params(lam=lam).fit(parts.X_train, parts.y_train)
    else:
        best = select_classifier(method, parts, (X, y))
        lam = 1 / best.C if method == SVM else best.lam
    scores = log_odds = best.decision_function(parts.X_test)
    if method == SVM:
        sigmoid = fit_sigmoid(best.decision_function(X), y)
        log_odds = sigmoid.slope * scores + sigmoid.intercept
    return {
        "seed": parts.seed,
        "parameters": {"lam": float(f"{lam:.4g}")},
        "error": round(float((parts.y_test * scores <= 0).mean()), 6),
        "model_size": len(best.support_),
        "log_loss": round(float(log_loss(log_odds, parts.y_test)), 5),
    }


def _compare(records):
    """Return mean errors and log losses, and differences from the reference, paired over runs."""
    factors = {"error": 100, "log_loss": 1, "model_size": 1}
    rows = comparison_rows(records, DATA_SETS, METHODS, lambda method: REFERENCE, factors)
    for row in rows:
        key = row["data_set"], row["method"]
        if "difference" in row:
            _, summary = paired_summaries(records, *key, REFERENCE, field="log_loss", factor=1)
            row |= {
                "log_loss_difference": summary.mean,
                "log_loss_difference_se": summary.standard_error,
            }
    return rows


def _make_table(rows):
    """Return the table, one row per method."""
    columns = ["classifier", "points kept", "error (%)", "minus ridge"]
    columns += ["log loss", "minus ridge"]
    format_specs = {"error": ".2f", "difference": "+.2f"}
    format_specs |= {"log_loss": ".4f", "log_loss_difference": "+.4f"}
    table_rows = [
        [
            row["method"],
            f"{row['model_size']:.0f}",
            *(format_cell(row, name, format_specs[name]) for name in format_specs),
        ]
        for row in rows
    ]
    return Table(columns, table_rows)


SUITE = Suite(
    name="logistic-kernels",
    title="Kernel logistic classifiers, full and sparse, and an SVM with Platt's sigmoid",
    data_sets=DATA_SETS,
    methods=tuple(METHODS),
    n_runs=30,
    carry_out_run=carry_out_run,
    compare=_compare,
    make_table=_make_table,
)
