"""The suite of all machines: sizes, certificates, and that it is about every estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.multiclass import OneVsOneClassifier

import svmbook
from svmbook.datasets import stdev
from svmbook.experiments.suites import all_machines
from svmbook.experiments.suites.all_machines import CERTIFICATES, METHODS, OTHERS, PAIRS


def machine(method):
    return (PAIRS | OTHERS)[method][0]


@pytest.fixture(scope="module")
def points():
    X, y = stdev(2, n=60, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("method", METHODS)
def test_a_certificate_is_what_the_machine_carries(method, points):
    fitted = clone(machine(method)).fit(*points)
    found = "gap" if hasattr(fitted, "dual_gap_") else "none"
    if found == "none" and hasattr(fitted, "kkt_residual_"):
        found = "stationary"
    assert CERTIFICATES[method] == found


@pytest.mark.parametrize("method", METHODS)
def test_a_size_is_that_of_what_it_takes_to_answer(method, points):
    X, y = points
    fitted = clone(machine(method)).fit(X, y)
    size = all_machines._numbers(fitted, X)
    if method in ("linear", "logistic", "least squares", "unbiased", "fewest errors"):
        assert size == X.shape[1] + 1
    if method == "Gaussian":
        assert size == len(fitted.support_) * (X.shape[1] + 1) + 1
    if method == "nearest neighbours":
        assert size == X.size + len(y)
    if method == "AdaBoost":
        assert size == 4 * len(fitted.estimator_weights_)
    if method == "random forest":
        leaves = sum(tree.get_n_leaves() for tree in fitted.estimators_)
        inner = sum(tree.tree_.node_count for tree in fitted.estimators_) - leaves
        assert size == 4 * inner + 2 * leaves
    if method in ("exemplars", "prototypes"):
        assert size == len(fitted.coef_) * (2 * X.shape[1] + 1)
    assert 0 < size < 1e6


def test_all_estimators_of_the_package_take_part():
    names = {type(machine(method)).__name__ for method in METHODS}
    assert set(svmbook.HOMES) - names == {"IRWLSSVC"}


def test_what_draws_at_random_has_the_seed_of_its_run():
    X, y = np.zeros((30, 3)), np.repeat([0, 1, 2], 10)
    for method in METHODS:
        made, grid = all_machines._candidates(method, X, y, seed=7)
        given = {v for k, v in made.get_params().items() if k.endswith("random_state")}
        assert given <= {7}, method
        assert all(name in made.get_params() for name in grid), method
        assert isinstance(made, OneVsOneClassifier) == (method in PAIRS)


@pytest.mark.parametrize("classes", [2, 4])
def test_answers_that_are_timed_are_those_that_are_counted(classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % classes
    X[:, 0] += y
    chosen = OneVsOneClassifier(machine("Gaussian")).fit(X, y)
    asked = rng.normal(size=(50, 3)) + 1.0
    found = all_machines._answers(chosen, chosen.estimators_, asked)
    assert np.mean(found == chosen.predict(asked)) > 0.9  # ties are broken otherwise
