"""Claims about compact kernel classifiers: `USVC` with a hundred prototypes against LIBSVM.

Both use a Gaussian kernel. When they are trained on the same 2,000 points of two overlapping
classes, LIBSVM has at least a thousand support vectors, and `USVC` predicts 100,000 points at least
10 times as fast. Training `USVC` takes at most twice as long as training LIBSVM on 2,000 points,
and at most half as long on 20,000. The training time of `USVC` grows no faster than n^1.1 from
2,000 to 200,000 points.
"""

import numpy as np
from measure import compare, main, print_table, time_call
from sklearn.svm import SVC
from synthetic_data import draw_overlapping_classes

from svmbook import USVC

GAMMA, C, N_PROTOTYPES, N_TEST = 0.1, 1.0, 100, 100_000
SIZES = (2_000, 6_000, 20_000, 60_000, 200_000)


def fit_usvc(X, y):
    n_prototypes = min(N_PROTOTYPES, len(X) // 2)  # the untimed first call has few points
    model = USVC(C, kernel="rbf", gamma=GAMMA, n_prototypes=n_prototypes, random_state=0)
    return model.fit(X, y)


def fit_libsvm(X, y):
    return SVC(C=C, gamma=GAMMA).fit(X, y)


def fit_and_summarise_usvc(X, y):
    model = fit_usvc(X, y)
    return {"kernels": model.n_kernels_, "objective": model.objective_}


def fit_and_summarise_libsvm(X, y):
    return {"kernels": int(fit_libsvm(X, y).n_support_.sum())}


def compare_predictions(X, y):
    """Train both classifiers on the same points, and time their predictions in turn."""
    models = {"usvc": fit_usvc(X, y), "libsvm": fit_libsvm(X, y)}
    X_test, y_test = draw_overlapping_classes(N_TEST, seed=1)
    X_test = X_test[:, : X.shape[1]]
    seconds = {name: [] for name in models}
    for _ in range(3):
        for name, model in models.items():
            seconds[name].append(time_call(lambda model=model: model.predict(X_test))[1])
    return {
        "kernels": models["usvc"].n_kernels_,
        "support_vectors": int(models["libsvm"].n_support_.sum()),
        "libsvm_over_usvc": float(np.median(seconds["libsvm"]) / np.median(seconds["usvc"])),
        **{f"error_{name}": 1 - model.score(X_test, y_test) for name, model in models.items()},
    }


METHODS = {
    "USVC": fit_and_summarise_usvc,
    "SVC": fit_and_summarise_libsvm,
    "prediction": compare_predictions,
}


def make_problem(row):
    return *draw_overlapping_classes(row["n"]), {}


def run():
    rows = []
    for n in SIZES:
        methods = ("USVC", "SVC") if n <= 20_000 else ("USVC",)
        fields, repeats = {"problem": "training", "n": n}, 5 if n < 10_000 else 3
        rows += compare(__file__, fields, methods, *draw_overlapping_classes(n), repeats=repeats)
    for row in rows:
        row["exponent"] = None
        if row["method"] == "USVC" and row["n"] > 2_000:
            log_time_ratio = np.log(row["seconds"] / rows[0]["seconds"])
            row["exponent"] = float(log_time_ratio / np.log(row["n"] / 2e3))
    print_table("Training", rows, ["n", "method", "seconds", "ratio", "exponent", "kernels"])
    fields = {"problem": "prediction", "n": 2_000}
    rows += compare(__file__, fields, ["prediction"], *draw_overlapping_classes(2_000))
    columns = ["kernels", "support_vectors", "libsvm_over_usvc", "error_usvc", "error_libsvm"]
    print_table("Predicting 100,000 points", rows[-1:], columns)
    return rows


if __name__ == "__main__":
    main(METHODS, run)
