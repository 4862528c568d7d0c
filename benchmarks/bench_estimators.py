"""Growth of the time and memory of every estimator with the number of training points.

The data are two overlapping normal classes in 20 dimensions (`svmbook.datasets.twonorm`).
Parameters have their default values unless the name states otherwise. n is doubled until a fit
takes ten seconds or needs 3 GiB, or n reaches 512,000. The last two sizes give the exponent of the
time and, by extrapolation, the n at which a fit takes a minute. The memory of the last size is
divided by that of n^2 numbers and by that of the data.
"""

import warnings

import numpy as np
from measure import main, measure_in_new_process, print_table

import svmbook
from svmbook.datasets import twonorm

MIN_SIZE, MAX_SIZE = 500, 512_000
MAX_SECONDS, MAX_GIBIBYTES = 10.0, 3.0  # of one fit and the predictions
SETTINGS = {
    "DualSVC, linear": ("DualSVC", {}),
    "DualSVC, Gaussian": ("DualSVC", {"kernel": "rbf"}),
    "KernelLogisticRegression": ("KernelLogisticRegression", {}),
    "KernelLogisticRegression, l1": ("KernelLogisticRegression", {"penalty": "l1"}),
    "ImportVectorMachine": ("ImportVectorMachine", {}),
    "USVC, linear": ("USVC", {}),
    "USVC, Gaussian": ("USVC", {"kernel": "rbf", "n_prototypes": 20, "random_state": 0}),
    "ERMSVC, linear": ("ERMSVC", {}),
    "ERMSVC, Gaussian": ("ERMSVC", {"kernel": "rbf"}),
    "IRWLSSVC, linear": ("IRWLSSVC", {}),
    "IRWLSSVC, Gaussian": ("IRWLSSVC", {"kernel": "rbf"}),
    "LeastSquaresClassifier": ("LeastSquaresClassifier", {}),
    "AdaBoostStump": ("AdaBoostStump", {}),
    "LPBoost": ("LPBoost", {}),
    "StumpEnsembleSVC": ("StumpEnsembleSVC", {}),
    "StumpEnsembleSVC, 16 knots": ("StumpEnsembleSVC", {"n_knots": 16}),
    "StumpEnsembleLogistic": ("StumpEnsembleLogistic", {}),
    "StumpEnsembleLogistic, 16 knots": ("StumpEnsembleLogistic", {"n_knots": 16}),
    "ExemplarSVM": ("ExemplarSVM", {}),
    "PrototypeSVM": ("PrototypeSVM", {"random_state": 0}),
    "SampledPrototypeSVM": ("SampledPrototypeSVM", {"random_state": 0}),
    "LocalizedSVM": ("LocalizedSVM", {}),
    "ProfileSVM": ("ProfileSVM", {"random_state": 0}),
}


def make_fit_and_predict_method(name):
    """Return a method that fits an estimator and predicts the first hundred training points."""
    class_name, parameters = SETTINGS[name]

    def method(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = getattr(svmbook, class_name)(**parameters).fit(X, y)
        return {"correct_of_100": int((model.predict(X[:100]) == y[:100]).sum())}

    return method


METHODS = {name: make_fit_and_predict_method(name) for name in SETTINGS}


def make_problem(row):
    return *twonorm(row["n"], random_state=0), {}


def measure_sizes(name):
    """Yield a row for each size until a fit exceeds the limits of time or memory."""
    n = MIN_SIZE
    while n <= MAX_SIZE:
        X, y, _ = make_problem({"n": n})
        repeats = 3 if n < 4000 else 1
        row = {"method": name, "n": n}
        row |= measure_in_new_process(__file__, name, X, y, repeats=repeats)
        row["gibibytes"] = row["memory_over_data"] * X.nbytes / 2**30
        yield row
        if row["seconds"] > MAX_SECONDS or row["gibibytes"] > MAX_GIBIBYTES:
            return
        n *= 2


def last_row_with_growth(previous, last):
    """Return the last row with the exponent of the time, memory over n^2, and n at one minute."""
    n = last["n"]
    exponent = float(np.log2(last["seconds"] / previous["seconds"]))
    memory_over_squares = last["gibibytes"] * 2**30 / 8 / n**2
    n_at_one_minute = n * (60.0 / last["seconds"]) ** (1.0 / exponent)
    return last | {
        "exponent": exponent,
        "memory_over_squares": memory_over_squares,
        "n_at_one_minute": n_at_one_minute,
    }


def run():
    rows = []
    for name in METHODS:
        *_, previous, last = measure_sizes(name)
        rows.append(last_row_with_growth(previous, last))
        print_table(name, rows[-1:], [key for key in rows[-1] if key != "method"])
    return rows


if __name__ == "__main__":
    main(METHODS, run)
