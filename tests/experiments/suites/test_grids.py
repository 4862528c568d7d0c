"""Declared grids agree with the values that were selected in the committed runs."""

import numpy as np
import pytest

from svmbook.experiments import load_records
from svmbook.experiments.suites.comparisons import all_classifiers
from svmbook.experiments.suites.lin2005 import additive_models
from svmbook.experiments.suites.lin2005 import further_classifiers as lin2005_further
from svmbook.experiments.suites.shen2013 import further_classifiers as shen2013_further


def all_classifiers_grid(method, d):
    X, y = np.zeros((30, d)), np.arange(30) % 2
    return all_classifiers._estimator_and_grid(method, X, y, seed=0)[1]


def additive_models_grid(method, d):
    return additive_models._estimator_and_grid(method, seed=0)[1]


def lin2005_further_grid(method, d):
    return lin2005_further._estimator_and_grid(method, 0, d)[1]


#: By suite, a function that returns the grid of a method.
GRID_FUNCTIONS = {
    "all-classifiers": all_classifiers_grid,
    "glass-boxes": additive_models_grid,
    "lin2005-beyond": lin2005_further_grid,
}
#: By suite, the grid values of (method, parameter) that no run chose.
UNCHOSEN_VALUES = {
    "all-classifiers": {("perceptron kernel", "C"): {100.0}},
    "glass-boxes": {
        ("stumps", "lam"): {2**-7, 2**-5, 32.0},
        ("stumps, 16 knots", "lam"): {2**-7, 2**-5, 32.0},
        ("linear", "C"): {2**-9, 2**-7, 2**-5, 8.0},
        ("boosted trees", "max_leaf_nodes"): {31},
        ("boosted trees, no pairs", "max_leaf_nodes"): {31},
        ("boosted trees, no pairs", "max_iter"): {25},
    },
    "lin2005-beyond": {
        ("SVM-Tree, L = d", "C"): {32.0, 128.0, 512.0, 2048.0, 8192.0, 32768.0},
    },
}


@pytest.mark.parametrize("suite_name", GRID_FUNCTIONS)
def test_grids_consist_of_chosen_values_and_listed_unchosen_values(suite_name):
    unchosen_values = UNCHOSEN_VALUES[suite_name]
    chosen_values, declared_values = {}, {}
    for record in load_records(suite_name):
        method, d = record["method"], record.get("n_features", 4)
        for name, value in record["parameters"].items():
            # The grids of gamma are divided by the number of features.
            value = round(value * d, 9) if name == "gamma" else value
            chosen_values.setdefault((method, name), set()).add(value)
    for method in {method for method, _ in chosen_values}:
        for name, values in GRID_FUNCTIONS[suite_name](method, 1).items():
            declared_values[method, name.split("__")[-1]] = {*values}
    assert declared_values == {
        key: values | unchosen_values.get(key, set()) for key, values in chosen_values.items()
    }


@pytest.mark.parametrize("method", ["Gaussian", "stump ensemble"])
def test_grids_of_shen2013_beyond_ascend_by_factors_of_ten(method):
    X, y = np.zeros((30, 4)), np.arange(30) % 3
    grid = shen2013_further._make_estimator(method, X, y).param_grid
    for name, values in grid.items():
        assert len(values) == 3, name
        np.testing.assert_allclose(np.divide(values[1:], values[:-1]), 10.0, err_msg=name)
    if "svc__gamma" in grid:
        np.testing.assert_allclose(grid["svc__gamma"], np.array([1.0, 10.0, 100.0]) / 4)


def test_number_of_knots_agrees_with_the_name_of_the_method():
    model, _ = additive_models._estimator_and_grid("stumps, 16 knots", seed=0)
    assert f"stumps, {model.n_knots} knots" in additive_models.SUITE.methods
