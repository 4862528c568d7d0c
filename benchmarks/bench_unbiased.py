"""Claims about small Gaussian machines: USVC on a hundred prototypes beside LIBSVM.

Trained on the same 2,000 overlapping points, of which LIBSVM keeps a thousand or more, it predicts
100,000 points at least 10 times faster. Training takes at most twice as long as LIBSVM's at 2,000
points, at most half as long at 20,000, and grows no faster than n^1.1 from 2,000 to 200,000.
"""

import time

import numpy as np
from measure import main, measure, print_table
from points import noisy
from sklearn.svm import SVC

from svmbook import USVC

GAMMA, PRICE, PROTOTYPES, NEW = 0.1, 1.0, 100, 100_000
SIZES = (2_000, 6_000, 20_000, 60_000, 200_000)


def small(X):
    count = min(PROTOTYPES, len(X) // 2)  # few points warm up
    return USVC(PRICE, kernel="rbf", gamma=GAMMA, n_prototypes=count, random_state=0)


def large():
    return SVC(C=PRICE, gamma=GAMMA)


def usvc(X, y):
    machine = small(X).fit(X, y)
    return {"kernels": machine.n_kernels_, "objective": machine.objective_}


def libsvm(X, y):
    machine = large().fit(X, y)
    return {"kernels": int(machine.n_support_.sum())}


def prediction(X, y):
    """Train both on the same points, and let them predict in turns."""
    machines = {"usvc": small(X), "libsvm": large()}
    new, truth = noisy(NEW, seed=1)
    new = new[:, : X.shape[1]]
    seconds = {name: [] for name in machines}
    for machine in machines.values():
        machine.fit(X, y)
    for _ in range(3):
        for name, machine in machines.items():
            start = time.perf_counter()
            machine.predict(new)
            seconds[name].append(time.perf_counter() - start)
    medians = {name: float(np.median(taken)) for name, taken in seconds.items()}
    errors = {f"error_{name}": 1 - machine.score(new, truth) for name, machine in machines.items()}
    return {
        "kernels": machines["usvc"].n_kernels_,
        "support_vectors": int(machines["libsvm"].n_support_.sum()),
        "libsvm_over_usvc": medians["libsvm"] / medians["usvc"],
        **errors,
    }


METHODS = {"USVC": usvc, "SVC": libsvm, "prediction": prediction}


def problem(row):
    return *noisy(row["n"]), {}


def run():
    rows = []
    for n in SIZES:
        X, y = noisy(n)
        methods = ("USVC", "SVC") if n <= 20_000 else ("USVC",)
        for method in methods:
            row = {"problem": "training", "n": n, "method": method}
            rows.append(row | measure(__file__, method, X, y, repeats=5 if n < 10_000 else 3))
    of = {(row["n"], row["method"]): row["seconds"] for row in rows}
    for row in rows:
        row["ratio"] = row["seconds"] / of[row["n"], "USVC"]
        row["exponent"] = (
            float(np.log(row["seconds"] / of[2_000, "USVC"]) / np.log(row["n"] / 2e3))
            if row["method"] == "USVC" and row["n"] > 2_000
            else None
        )
    print_table("Training", rows, ["n", "method", "seconds", "ratio", "exponent", "kernels"])
    X, y = noisy(2_000)
    one = {"problem": "prediction", "n": 2_000, "method": "prediction"}
    one |= measure(__file__, "prediction", X, y)
    columns = ["kernels", "support_vectors", "libsvm_over_usvc", "error_usvc", "error_libsvm"]
    print_table("Predicting 100,000 points", [one], columns)
    return [*rows, one]


if __name__ == "__main__":
    main(METHODS, run)
