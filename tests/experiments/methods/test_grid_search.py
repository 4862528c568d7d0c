"""The grid search compared with that of scikit-learn for each fold."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from svmbook.datasets import threenorm
from svmbook.experiments.methods import grid_search
from svmbook.experiments.methods.grid_search import choose_parameters, fit_and_predict
from svmbook.kernels import gaussian

C_VALUES, GAMMA_VALUES = [2.0**k for k in (-3, 0, 3, 6)], [2.0**k for k in (-9, -6, -3, 0)]
CV = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def sample():
    return threenorm(160, random_state=1)


def sklearn_search(model, param_grid, X, y):
    """Return a fitted search of scikit-learn, and its scores by parameters and fold."""
    search = GridSearchCV(model, param_grid, cv=CV).fit(X, y)
    shape = [len(values) for values in param_grid.values()]
    fold_scores = [search.cv_results_[f"split{fold}_test_score"] for fold in range(4)]
    return search, np.stack(fold_scores, axis=-1).reshape(*shape, 4)


def test_gaussian_kernel_scores_equal_those_of_scikit_learn(sample):
    X, y = sample
    search, scores = sklearn_search(SVC(), {"C": C_VALUES, "gamma": GAMMA_VALUES}, X, y)
    choice = choose_parameters(X, y, C=C_VALUES, gamma=GAMMA_VALUES, cv=CV)
    np.testing.assert_allclose(choice.scores, scores)
    assert {"C": choice.C, "gamma": choice.gamma} == search.best_params_
    assert choice.score == pytest.approx(search.best_score_)
    X_new, y_new = threenorm(500, random_state=2)
    labels, n_support = fit_and_predict(choice, X, y, X_new)
    assert (labels == search.predict(X_new)).mean() > 0.995
    assert (labels == y_new).mean() > 0.7
    assert n_support == search.best_estimator_.n_support_.sum()


def test_linear_kernel_scores_equal_those_of_scikit_learn(sample):
    X, y = sample
    search, scores = sklearn_search(SVC(kernel="linear"), {"C": C_VALUES}, X, y)
    choice = choose_parameters(X, y, kernel="linear", C=C_VALUES, cv=CV)
    np.testing.assert_allclose(choice.scores[:, 0], scores)
    assert search.best_params_["C"] == choice.C
    assert choice.gamma is None


def test_laplacian_kernel_scores_equal_those_of_scikit_learn(sample):
    X, y = sample
    choice = choose_parameters(X, y, kernel="laplacian", C=[1.0], gamma=[0.05], cv=CV)
    model = SVC(C=1.0, kernel=lambda A, B: laplacian_kernel(A, B, gamma=0.05))
    _, scores = sklearn_search(model, {"C": [1.0]}, X, y)
    np.testing.assert_allclose(choice.scores[:, 0], scores)


def test_multiclass_scores_equal_those_of_scikit_learn():
    X, y = load_iris(return_X_y=True)
    search, scores = sklearn_search(SVC(), {"C": C_VALUES, "gamma": GAMMA_VALUES}, X, y)
    choice = choose_parameters(X, y, C=C_VALUES, gamma=GAMMA_VALUES, cv=CV)
    np.testing.assert_allclose(choice.scores, scores)
    assert {"C": choice.C, "gamma": choice.gamma} == search.best_params_


@pytest.mark.parametrize("data", ["two classes", "three classes"])
def test_paths_and_libsvm_make_the_same_choice(data, monkeypatch):
    X, y = threenorm(240, random_state=3) if data == "two classes" else load_iris(return_X_y=True)
    param_grid = {"C": [2.0**k for k in range(-5, 16, 4)], "gamma": [2.0**k for k in (-7, -4, -1)]}
    libsvm_choice = choose_parameters(X, y, **param_grid, cv=CV)
    monkeypatch.setattr(grid_search, "MIN_PATH_POINTS", 0)
    path_choice = choose_parameters(X, y, **param_grid, cv=CV)
    # LIBSVM stops at a violation of 1e-3, so a point this close to the boundary may change class.
    np.testing.assert_allclose(path_choice.scores, libsvm_choice.scores, atol=1.5 / (len(y) // 4))
    assert (path_choice.C, path_choice.gamma) == (libsvm_choice.C, libsvm_choice.gamma)


def test_first_class_wins_tied_votes_of_pairs():
    rng = np.random.default_rng(0)
    X, X_new, y = rng.normal(size=(80, 2)), rng.normal(size=(1000, 2)), np.arange(80) % 8
    K, K_new = gaussian(X, gamma=1.0), gaussian(X_new, X, gamma=1.0)
    model = SVC(C=1.0, kernel="precomputed", decision_function_shape="ovo", tol=1e-6).fit(K, y)
    outputs = model.decision_function(K_new)
    votes = np.zeros((1000, 8))
    for (first, second), output in zip(combinations(range(8), 2), outputs.T, strict=True):
        votes[:, first] += output > 0
        votes[:, second] += output <= 0
    has_most_votes = votes == votes.max(axis=1, keepdims=True)
    is_tied = (has_most_votes.sum(axis=1) > 1) & (np.abs(outputs).min(axis=1) > 1e-3)
    assert is_tied.sum() > 10
    (labels,) = grid_search._predict_by_paths(K, y, [1.0], K_new)
    np.testing.assert_array_equal(labels[is_tied], has_most_votes.argmax(axis=1)[is_tied])
    np.testing.assert_array_equal(labels[is_tied], model.predict(K_new)[is_tied])


def test_point_on_the_boundary_gets_the_second_class():
    K, y, K_new = np.eye(2), np.array([5, 7]), np.zeros((1, 2))
    (labels,) = grid_search._predict_by_paths(K, y, [1.0], K_new)
    assert labels == SVC(C=1.0, kernel="precomputed").fit(K, y).predict(K_new) == 7


def test_choice_has_the_best_mean_over_the_folds():
    n_seeds_with_other_best_median = 0
    for seed in range(8):
        X, y = threenorm(50, random_state=seed)
        choice = choose_parameters(X, y, C=C_VALUES, gamma=GAMMA_VALUES, cv=CV)
        means, medians = choice.scores.mean(axis=2), np.median(choice.scores, axis=2)
        i, j = np.unravel_index(means.argmax(), means.shape)
        assert (choice.C, choice.gamma) == (C_VALUES[i], GAMMA_VALUES[j])
        assert choice.score == pytest.approx(means.max())
        n_seeds_with_other_best_median += medians.argmax() != means.argmax()
    assert n_seeds_with_other_best_median > 0


def test_cv_may_be_a_list_of_folds(sample):
    X, y = sample
    folds = list(CV.split(X, y))
    choice_from_list = choose_parameters(X, y, C=C_VALUES, gamma=GAMMA_VALUES, cv=folds)
    choice_from_splitter = choose_parameters(X, y, C=C_VALUES, gamma=GAMMA_VALUES, cv=CV)
    np.testing.assert_array_equal(choice_from_list.scores, choice_from_splitter.scores)


def test_number_as_cv_means_stratified_folds(sample):
    X, y = sample
    order = np.argsort(y, kind="stable")  # without stratification a fold would have one class
    choice_from_number = choose_parameters(X[order], y[order], C=C_VALUES, gamma=GAMMA_VALUES, cv=3)
    choice_from_list = choose_parameters(
        X[order], y[order], C=C_VALUES, gamma=GAMMA_VALUES, cv=StratifiedKFold(3)
    )
    np.testing.assert_array_equal(choice_from_number.scores, choice_from_list.scores)


def test_scores_for_unsorted_and_very_large_C_equal_those_of_scikit_learn(sample):
    X, y = sample
    param_grid = {"C": [2.0**k for k in (9, -3, 15, 3, 12)], "gamma": [0.5, 2.0]}
    _, scores = sklearn_search(SVC(), param_grid, X, y)
    choice = choose_parameters(X, y, **param_grid, cv=CV)
    np.testing.assert_allclose(choice.scores, scores)
    assert (choice.scores[0, 1] == choice.scores[2, 1]).all()  # no bound is reached at gamma = 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "cosine", "C": C_VALUES}, "kernel must be one of .* found 'cosine'"),
        ({"kernel": "linear", "C": C_VALUES, "gamma": GAMMA_VALUES}, "no gamma"),
        ({"C": C_VALUES}, "gamma must be a list of values to try; found None"),
        ({"C": [], "gamma": GAMMA_VALUES}, r"C must be a list of values to try; found \[\]"),
        ({"C": 1.0, "gamma": GAMMA_VALUES}, "C must be a list of values to try; found 1.0"),
        ({"C": [np.nan], "gamma": GAMMA_VALUES}, "C"),
        ({"C": [np.inf], "gamma": GAMMA_VALUES}, "C must have finite values; found inf"),
        ({"C": C_VALUES, "gamma": [-1.0]}, "gamma == -1.0"),
        ({"C": [-0.5], "gamma": GAMMA_VALUES}, "C == -0.5"),
        ({"C": C_VALUES, "gamma": GAMMA_VALUES, "cv": []}, "cv has no folds"),
        ({"C": C_VALUES, "gamma": GAMMA_VALUES, "cv": [([0], [1])]}, "cv has one class"),
    ],
)
def test_invalid_arguments_raise(sample, options, message):
    with pytest.raises(ValueError, match=message):
        choose_parameters(*sample, **{"cv": CV, **options})
