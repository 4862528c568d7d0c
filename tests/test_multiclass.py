"""Classifiers trained on two classes take any number: pairs by scikit-learn, certificates kept."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import SVC

from svmbook import (
    ERMSVC,
    IRWLSSVC,
    USVC,
    AdaBoostStump,
    DualSVC,
    ImportVectorMachine,
    KernelLogisticRegression,
    LeastSquaresClassifier,
    LPBoost,
    StumpEnsembleLogistic,
    StumpEnsembleSVC,
)
from svmbook.kernels import gaussian
from svmbook.multiclass import couple_probabilities

X, CODES = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
NAMES = np.array(["setosa", "versicolor", "virginica"])[CODES]
BINARY = [
    DualSVC(),
    DualSVC(kernel="rbf", C=10.0),
    KernelLogisticRegression(penalty="l1", lam=0.5),
    ImportVectorMachine(lam=0.1),
    LeastSquaresClassifier(),
    IRWLSSVC(),
    ERMSVC(),
    USVC(n_prototypes=10, random_state=0),
    AdaBoostStump(20),
    LPBoost(C=0.5),
    StumpEnsembleSVC(n_knots=8),
    StumpEnsembleLogistic(n_knots=8),
]
each_binary = pytest.mark.parametrize("model", BINARY, ids=lambda m: type(m).__name__)


@each_binary
def test_votes_are_those_of_scikit_learn(model):
    fitted = clone(model).fit(X, NAMES)
    pairs = OneVsOneClassifier(clone(model)).fit(X, NAMES)
    np.testing.assert_array_equal(fitted.predict(X), pairs.predict(X))
    np.testing.assert_allclose(fitted.decision_function(X), pairs.decision_function(X))
    assert fitted.score(X, NAMES) > 0.92
    assert list(fitted.classes_) == sorted(set(NAMES)) and fitted.n_features_in_ == 4


@each_binary
def test_each_pair_keeps_its_certificate(model):
    fitted = clone(model).fit(X, NAMES)
    first = clone(model).fit(X[CODES < 2], CODES[CODES < 2])
    assert len(fitted.estimators_) == 3
    np.testing.assert_allclose(
        fitted.estimators_[0].decision_function(X), first.decision_function(X), atol=1e-6
    )
    for name in ("relative_gap_", "converged_"):
        own = [getattr(binary, name, None) for binary in fitted.estimators_]
        assert hasattr(fitted, name) == (None not in own)
        if None not in own:
            assert getattr(fitted, name) == (max(own) if name == "relative_gap_" else all(own))


@each_binary
def test_classifiers_of_pairs_know_the_labels_and_the_names_of_features(model):
    table = load_iris(as_frame=True).data
    fitted = clone(model).fit(table, NAMES)
    for binary, (a, b) in zip(fitted.estimators_, combinations(fitted.classes_, 2), strict=True):
        assert list(binary.classes_) == [a, b]
        of_pair = np.isin(NAMES, [a, b])
        assert binary.score(table[of_pair], NAMES[of_pair]) > 0.9
        assert list(binary.feature_names_in_) == list(table.columns)
    assert fitted.score(table, NAMES) > 0.9  # the votes still work


def test_what_each_pair_has_for_itself_is_said():
    fitted = DualSVC().fit(X, NAMES)
    message = "no attribute 'coef_'; with 3 classes each classifier in estimators_ has one"
    with pytest.raises(AttributeError, match=message):
        fitted.coef_  # noqa: B018
    assert not hasattr(fitted, "coef_")
    with pytest.raises(AttributeError, match=r"no attribute 'shape_'$"):
        fitted.shape_  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'coef_'$"):
        DualSVC().coef_  # noqa: B018


@each_binary
def test_what_a_fit_in_pairs_has_set_is_forgotten_by_the_next(model):
    fitted = clone(model).fit(X, NAMES).fit(X[CODES < 2], CODES[CODES < 2])
    assert not hasattr(fitted, "estimators_") and fitted.decision_function(X).ndim == 1
    with pytest.raises(ValueError, match="one class only"):
        fitted.fit(X, np.zeros(150))
    with pytest.raises(NotFittedError):
        fitted.predict(X)


@pytest.mark.parametrize("class_weight", [{"setosa": 1.0, "versicolor": 5.0, "virginica": 0.5}])
def test_class_weights_are_those_of_all_classes(class_weight):
    own = DualSVC(C=0.05, kernel="rbf", class_weight=class_weight, tol=1e-8).fit(X, NAMES)
    libsvm = SVC(C=0.05, class_weight=class_weight, tol=1e-8).fit(X, NAMES)
    np.testing.assert_array_equal(own.predict(X), libsvm.predict(X))
    few = np.r_[0:50, 50:60, 100:150]
    balanced = DualSVC(C=0.05, kernel="rbf", class_weight="balanced").fit(X[few], NAMES[few])
    weights = 110 / (3 * np.array([50, 10, 50]))[CODES[few]]
    weighted = DualSVC(C=0.05, kernel="rbf").fit(X[few], NAMES[few], sample_weight=weights)
    np.testing.assert_allclose(
        balanced.decision_function(X), weighted.decision_function(X), atol=1e-6
    )


def test_a_precomputed_kernel_is_cut_into_pairs():
    named = DualSVC(kernel="rbf", gamma=0.3).fit(X[::2], NAMES[::2])
    given = DualSVC(kernel="precomputed").fit(gaussian(X[::2], gamma=0.3), NAMES[::2])
    K = gaussian(X, X[::2], gamma=0.3)
    np.testing.assert_allclose(given.decision_function(K), named.decision_function(X), atol=1e-6)
    logistic = ImportVectorMachine(0.1, kernel="precomputed").fit(
        gaussian(X[::2], gamma=0.3), NAMES[::2]
    )
    same = ImportVectorMachine(0.1, kernel="rbf", gamma=0.3).fit(X[::2], NAMES[::2])
    np.testing.assert_allclose(logistic.predict_proba(K), same.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("model", [ImportVectorMachine(0.1), StumpEnsembleLogistic()])
def test_probabilities_of_pairs_are_coupled(model):
    fitted = clone(model).fit(X, NAMES)
    p = fitted.predict_proba(X)
    assert p.shape == (150, 3) and p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), p)
    reference = LogisticRegression().fit(X, NAMES).predict_proba(X)
    assert np.abs(p - reference).mean() < 0.1


def test_coupling_gives_back_probabilities_that_pairs_agree_on():
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=20)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    pairwise = np.column_stack([p[:, b] / (p[:, a] + p[:, b]) for a, b in pairs])
    np.testing.assert_allclose(couple_probabilities(pairwise, 4), p, atol=1e-12)
    certain = np.array([[0.0, 0.0, 1.0]])  # class 0 beats both others, 2 beats 1
    np.testing.assert_allclose(couple_probabilities(certain, 3), [[1.0, 0.0, 0.0]], atol=1e-12)


def test_methods_of_one_function_say_where_to_find_it():
    boosted, stumps = AdaBoostStump(5).fit(X, NAMES), StumpEnsembleSVC(n_knots=4).fit(X, NAMES)
    for ask in (lambda: next(boosted.staged_predict(X)), lambda: stumps.contributions(X)):
        with pytest.raises(ValueError, match="estimators_"):
            ask()
    assert stumps.estimators_[0].contributions(X).shape == X.shape
    with pytest.raises(ValueError, match="target_false_alarm_rate"):
        USVC(target_false_alarm_rate=0.1).fit(X, NAMES)
