r"""Are sparse kernel logistic classifiers as good as the full one, and as an SVM? 30 runs.

No source prints this table. Each run draws 400 training points of `svmbook.datasets.non_separable`,
400 validation points and 20,000 test points, the same for all methods; the kernel is Gaussian with
gamma = 0.5. lambda is chosen among 0.01, 0.03, ..., 10 on the validation points: by log loss, or by
errors where the method says so and for the SVM, whose C is 1/lambda. Import vectors minimise the
objective of the ridge, and take the lambda chosen for it. Platt's sigmoid turns the scores of the
SVM into probabilities; it is fitted to the validation points. The reference of the paired
differences is the ridge chosen by log loss.
"""

from sklearn.base import clone

from ....calibration import fit_sigmoid
from ....datasets import non_separable
from ....logistic import ImportVectorMachine, KernelLogisticRegression
from ....losses import logistic
from ....svm import DualSVC
from ....tables import Table
from ...methods.protocols import Generated, run_seed
from ...running.suite import Suite
from ..paired import cell, paired, paired_rows

__all__ = ["LAMS", "METHODS", "SUITE", "chosen", "division", "log_loss", "work"]

DATA_SETS = ("nonSep",)
LAMS = tuple(10.0**exponent for exponent in (-2, -1.5, -1, -0.5, 0, 0.5, 1))
REFERENCE, SPARSE, BY_ERRORS = "logistic, ridge", "import vectors", "ridge, chosen by errors"
SVM = "SVM and Platt"
METHODS = {
    REFERENCE: KernelLogisticRegression(gamma=0.5),
    "logistic, absolute values": KernelLogisticRegression(penalty="l1", gamma=0.5),
    SPARSE: ImportVectorMachine(gamma=0.5),
    BY_ERRORS: KernelLogisticRegression(gamma=0.5),
    SVM: DualSVC(kernel="rbf", gamma=0.5),
}


def division(run):
    """Return the training and test points of a run with a seed, and its validation points."""
    parts = Generated(non_separable, train=400, test=20_000, runs=run + 1)[run]
    return parts, non_separable(400, random_state=run_seed(0, run, purpose=3))


def log_loss(log_odds, y):
    """Return the mean log loss."""
    return logistic(y * log_odds).mean()


def chosen(method, parts, validation):
    """Return the fitted classifier with the best value of lambda, the smallest of ties."""
    X, y = validation
    fitted = {}
    for lam in LAMS:
        value = {"C": 1 / lam} if method == SVM else {"lam": lam}
        model = clone(METHODS[method]).set_params(**value)
        scores = model.fit(parts.X_train, parts.y_train).decision_function(X)
        by_errors = method in (BY_ERRORS, SVM)
        fitted[model] = (y * scores <= 0).mean() if by_errors else log_loss(scores, y)
    return min(fitted, key=fitted.get)


def work(data_set, method, run):
    """Do one run: choose lambda on the validation points, and test."""
    parts, (X, y) = division(run)
    if method == SPARSE:
        lam = chosen(REFERENCE, parts, (X, y)).lam
        best = clone(METHODS[method]).set_params(lam=lam).fit(parts.X_train, parts.y_train)
    else:
        best = chosen(method, parts, (X, y))
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
    """Return mean errors and log losses, and differences to the reference, paired over runs."""
    units = {"error": 100, "log_loss": 1, "model_size": 1}
    rows = paired_rows(records, DATA_SETS, METHODS, lambda method: REFERENCE, units)
    for row in rows:
        names = row["data_set"], row["method"]
        if "difference" in row:
            _, extra = paired(records, *names, REFERENCE, field="log_loss", unit=1)
            row |= {"log_loss_difference": extra.mean, "log_loss_difference_se": extra.error}
    return rows


def _layout(rows):
    """Return the table, one line per method."""
    columns = ["classifier", "points kept", "error (%)", "minus ridge"]
    columns += ["log loss", "minus ridge"]
    digits = {"error": ".2f", "difference": "+.2f"}
    digits |= {"log_loss": ".4f", "log_loss_difference": "+.4f"}
    lines = []
    for row in rows:
        line = [row["method"], f"{row['model_size']:.0f}"]
        for name, form in digits.items():
            line.append(cell(row, name, form))
        lines.append(line)
    return Table(columns, lines)


SUITE = Suite(
    name="logistic-kernels",
    title="Kernel logistic classifiers, full and sparse, beside an SVM with Platt's sigmoid",
    data_sets=DATA_SETS,
    methods=tuple(METHODS),
    runs=30,
    work=work,
    compare=_compare,
    layout=_layout,
)
