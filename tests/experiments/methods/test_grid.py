"""The fast grid search against scikit-learn's, fold by fold."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from svmbook.datasets import threenorm
from svmbook.experiments.methods import grid
from svmbook.experiments.methods.grid import choose_by_grid, fit_choice
from svmbook.kernels import gaussian

C, GAMMA = [2.0**k for k in (-3, 0, 3, 6)], [2.0**k for k in (-9, -6, -3, 0)]
CV = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def points():
    return threenorm(160, random_state=1)


def scikit_learns(machine, grid, X, y):
    search = GridSearchCV(machine, grid, cv=CV).fit(X, y)
    shape = [len(values) for values in grid.values()]
    folds = [search.cv_results_[f"split{fold}_test_score"] for fold in range(4)]
    return search, np.stack(folds, axis=-1).reshape(*shape, 4)


def test_the_gaussian_kernel_is_scikit_learns(points):
    X, y = points
    search, scores = scikit_learns(SVC(), {"C": C, "gamma": GAMMA}, X, y)
    choice = choose_by_grid(X, y, C=C, gamma=GAMMA, cv=CV)
    np.testing.assert_allclose(choice.scores, scores)
    assert {"C": choice.C, "gamma": choice.gamma} == search.best_params_
    assert choice.score == pytest.approx(search.best_score_)
    new, truth = threenorm(500, random_state=2)
    labels, size = fit_choice(choice, X, y, new)
    assert (labels == search.predict(new)).mean() > 0.995
    assert (labels == truth).mean() > 0.7
    assert size == search.best_estimator_.n_support_.sum()


def test_the_linear_kernel_is_scikit_learns(points):
    X, y = points
    search, scores = scikit_learns(SVC(kernel="linear"), {"C": C}, X, y)
    choice = choose_by_grid(X, y, kernel="linear", C=C, cv=CV)
    np.testing.assert_allclose(choice.scores[:, 0], scores)
    assert search.best_params_["C"] == choice.C
    assert choice.gamma is None


def test_a_kernel_that_libsvm_does_not_know(points):
    X, y = points
    choice = choose_by_grid(X, y, kernel="laplacian", C=[1.0], gamma=[0.05], cv=CV)
    machine = SVC(C=1.0, kernel=lambda A, B: laplacian_kernel(A, B, gamma=0.05))
    _, scores = scikit_learns(machine, {"C": [1.0]}, X, y)
    np.testing.assert_allclose(choice.scores[:, 0], scores)


def test_more_than_two_classes():
    X, y = load_iris(return_X_y=True)
    search, scores = scikit_learns(SVC(), {"C": C, "gamma": GAMMA}, X, y)
    choice = choose_by_grid(X, y, C=C, gamma=GAMMA, cv=CV)
    np.testing.assert_allclose(choice.scores, scores)
    assert {"C": choice.C, "gamma": choice.gamma} == search.best_params_


@pytest.mark.parametrize("data", ["two classes", "three classes"])
def test_paths_choose_as_libsvm_does(data, monkeypatch):
    X, y = threenorm(240, random_state=3) if data == "two classes" else load_iris(return_X_y=True)
    prices, gamma = [2.0**k for k in range(-5, 16, 4)], [2.0**k for k in (-7, -4, -1)]
    by_libsvm = choose_by_grid(X, y, C=prices, gamma=gamma, cv=CV)
    monkeypatch.setattr(grid, "PATH_POINTS", 0)
    by_paths = choose_by_grid(X, y, C=prices, gamma=gamma, cv=CV)
    # LIBSVM stops at a violation of 1e-3: a point that close to the boundary may change sides.
    np.testing.assert_allclose(by_paths.scores, by_libsvm.scores, atol=1.5 / (len(y) // 4))
    assert (by_paths.C, by_paths.gamma) == (by_libsvm.C, by_libsvm.gamma)


def test_where_votes_of_pairs_are_equal_the_first_class_wins():
    rng = np.random.default_rng(0)
    X, new, y = rng.normal(size=(80, 2)), rng.normal(size=(1000, 2)), np.arange(80) % 8
    K, K_new = gaussian(X, gamma=1.0), gaussian(new, X, gamma=1.0)
    machine = SVC(C=1.0, kernel="precomputed", decision_function_shape="ovo", tol=1e-6).fit(K, y)
    outputs = machine.decision_function(K_new)
    votes = np.zeros((1000, 8))
    for (first, second), output in zip(combinations(range(8), 2), outputs.T, strict=True):
        votes[:, first] += output > 0
        votes[:, second] += output <= 0
    most = votes == votes.max(axis=1, keepdims=True)
    tied = (most.sum(axis=1) > 1) & (np.abs(outputs).min(axis=1) > 1e-3)
    assert tied.sum() > 10
    (labels,) = grid._by_paths(K, y, [1.0], K_new)
    np.testing.assert_array_equal(labels[tied], most.argmax(axis=1)[tied])
    np.testing.assert_array_equal(labels[tied], machine.predict(K_new)[tied])


def test_a_point_on_the_boundary_is_of_the_second_class():
    K, y, nowhere = np.eye(2), np.array([5, 7]), np.zeros((1, 2))
    (labels,) = grid._by_paths(K, y, [1.0], nowhere)
    assert labels == SVC(C=1.0, kernel="precomputed").fit(K, y).predict(nowhere) == 7


def test_the_mean_over_the_folds_decides():
    medians_differ = 0
    for seed in range(8):
        X, y = threenorm(50, random_state=seed)
        choice = choose_by_grid(X, y, C=C, gamma=GAMMA, cv=CV)
        means, medians = choice.scores.mean(axis=2), np.median(choice.scores, axis=2)
        first = np.unravel_index(means.argmax(), means.shape)
        assert (choice.C, choice.gamma) == (C[first[0]], GAMMA[first[1]])
        assert choice.score == pytest.approx(means.max())
        medians_differ += medians.argmax() != means.argmax()
    assert medians_differ > 0


def test_folds_may_be_given_as_they_are(points):
    X, y = points
    folds = list(CV.split(X, y))
    listed = choose_by_grid(X, y, C=C, gamma=GAMMA, cv=folds)
    split = choose_by_grid(X, y, C=C, gamma=GAMMA, cv=CV)
    np.testing.assert_array_equal(listed.scores, split.scores)


def test_a_number_of_folds_means_stratified_ones(points):
    X, y = points
    order = np.argsort(y, kind="stable")  # without stratification a fold would hold one class
    by_number = choose_by_grid(X[order], y[order], C=C, gamma=GAMMA, cv=3)
    listed = choose_by_grid(X[order], y[order], C=C, gamma=GAMMA, cv=StratifiedKFold(3))
    np.testing.assert_array_equal(by_number.scores, listed.scores)


def test_prices_need_no_order_and_larger_ones_may_change_nothing(points):
    X, y = points
    prices = [2.0**k for k in (9, -3, 15, 3, 12)]
    _, scores = scikit_learns(SVC(), {"C": prices, "gamma": [0.5, 2.0]}, X, y)
    choice = choose_by_grid(X, y, C=prices, gamma=[0.5, 2.0], cv=CV)
    np.testing.assert_allclose(choice.scores, scores)
    assert (choice.scores[0, 1] == choice.scores[2, 1]).all()  # no bound is met at gamma = 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "cosine", "C": C}, "kernel is 'cosine'"),
        ({"kernel": "linear", "C": C, "gamma": GAMMA}, "no gamma"),
        ({"C": C}, "gamma is None; give a list"),
        ({"C": [], "gamma": GAMMA}, r"C is \[\]; give a list"),
        ({"C": 1.0, "gamma": GAMMA}, "C is 1.0; give a list"),
        ({"C": [np.nan], "gamma": GAMMA}, "C"),
        ({"C": [np.inf], "gamma": GAMMA}, "C holds inf"),
        ({"C": C, "gamma": [-1.0]}, "gamma == -1.0"),
        ({"C": [-0.5], "gamma": GAMMA}, "C == -0.5"),
        ({"C": C, "gamma": GAMMA, "cv": []}, "cv has no folds"),
        ({"C": C, "gamma": GAMMA, "cv": [([0], [1])]}, "one class to train on"),
    ],
)
def test_bad_grids_are_named(points, options, message):
    with pytest.raises(ValueError, match=message):
        choose_by_grid(*points, **{"cv": CV, **options})
