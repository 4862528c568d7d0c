"""The suite lin2005-beyond: repeated runs, and samples shared with lin2005-kernels."""

import pytest
from records import committed_record

from svmbook.experiments.suites.lin2005 import further_classifiers, kernels


# test_committed_records.py repeats the fastest run. A method with a nightly run differs from the
# other methods only in its estimator.
@pytest.mark.parametrize(
    "method", [pytest.param("random forest", marks=pytest.mark.nightly), "SVM-Tree, L = d"]
)
def test_run_reproduces_its_committed_record(method):
    stored = committed_record("lin2005-beyond", data_set="twonorm", method=method, run=3)
    repeated = further_classifiers.carry_out_run("twonorm", method, 3)
    assert repeated["seed"] == stored["seed"]
    assert repeated["error"] == pytest.approx(stored["error"], abs=0.01)


def test_samples_are_those_of_lin2005_kernels():
    X, _, X_test, _, seed = kernels.protocol("twonorm")[3]
    stored = committed_record("lin2005-beyond", data_set="twonorm", method="random forest", run=3)
    assert stored["seed"] == seed and len(X) == 300 and len(X_test) == 3000
