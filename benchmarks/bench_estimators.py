"""How time and memory of every estimator grow with the number of training points.

Two overlapping clouds in 20 dimensions (`svmbook.datasets.twonorm`), parameters at their defaults
but where the name says otherwise. n is doubled until a fit takes ten seconds or 3 GiB. From the
last two sizes: the exponent of the time, the memory beside the data over n^2 numbers and over the
data, and the n of a fit that takes a minute, by that exponent.
"""

import warnings

import numpy as np
from measure import main, measure, print_table

import svmbook
from svmbook.datasets import twonorm

FIRST, LAST = 500, 512_000
LONG, LARGE = 10.0, 3 * 2**30  # of one fit: seconds and bytes
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


def fit(name):
    """Return the method that fits an estimator, and asks it about a hundred points."""
    estimator, parameters = SETTINGS[name]

    def method(X, y):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = getattr(svmbook, estimator)(**parameters).fit(X, y)
        return {"right_of_100": int((fitted.predict(X[:100]) == y[:100]).sum())}

    return method


METHODS = {name: fit(name) for name in SETTINGS}


def problem(row):
    return *twonorm(row["n"], random_state=0), {}


def sizes(name):
    """Yield a row for each size until a fit takes too long or too much memory."""
    n = FIRST
    while n <= LAST:
        X, y, _ = problem({"n": n})
        row = {"method": name, "n": n} | measure(__file__, name, X, y, repeats=1 + 2 * (n < 4000))
        row["gibibytes"] = row["memory_over_data"] * X.nbytes / 2**30
        yield row
        if row["seconds"] > LONG or row["gibibytes"] > LARGE / 2**30:
            return
        n *= 2


def growth(before, last):
    """Return the last row with what the last two say about growth."""
    n = last["n"]
    exponent = float(np.log2(last["seconds"] / before["seconds"]))
    over_squares = last["gibibytes"] * 2**30 / 8 / n**2
    minute = n * (60.0 / last["seconds"]) ** (1.0 / exponent)
    return last | {"exponent": exponent, "memory_over_squares": over_squares, "minute": minute}


def run():
    rows = []
    for name in METHODS:
        *_, before, last = sizes(name)
        rows.append(growth(before, last))
        print_table(name, rows[-1:], [key for key in rows[-1] if key != "method"])
    return rows


if __name__ == "__main__":
    main(METHODS, run)
