"""One-vs-one classification: votes, certificates, attributes, class weights, probabilities."""

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
LABELS = np.array(["setosa", "versicolor", "virginica"])[CODES]
BINARY_MODELS = [
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
every_binary_model = pytest.mark.parametrize("model", BINARY_MODELS, ids=lambda m: type(m).__name__)


@every_binary_model
def test_votes_agree_with_scikit_learn(model):
    fitted = clone(model).fit(X, LABELS)
    reference = OneVsOneClassifier(clone(model)).fit(X, LABELS)
    np.testing.assert_array_equal(fitted.predict(X), reference.predict(X))
    np.testing.assert_allclose(fitted.decision_function(X), reference.decision_function(X))
    assert fitted.score(X, LABELS) > 0.92
    assert list(fitted.classes_) == sorted(set(LABELS)) and fitted.n_features_in_ == 4


@every_binary_model
def test_pairs_are_fitted_separately_and_their_certificates_are_aggregated(model):
    fitted = clone(model).fit(X, LABELS)
    first_pair_model = clone(model).fit(X[CODES < 2], CODES[CODES < 2])
    assert len(fitted.estimators_) == 3
    np.testing.assert_allclose(
        fitted.estimators_[0].decision_function(X), first_pair_model.decision_function(X), atol=1e-6
    )
    for name, aggregate in (("relative_gap_", max), ("converged_", all)):
        values = [getattr(classifier, name, None) for classifier in fitted.estimators_]
        assert hasattr(fitted, name) == (None not in values)
        assert None in values or getattr(fitted, name) == aggregate(values)


@every_binary_model
def test_binary_classifiers_have_the_labels_and_feature_names(model):
    table = load_iris(as_frame=True).data
    fitted = clone(model).fit(table, LABELS)
    for classifier, (a, b) in zip(
        fitted.estimators_, combinations(fitted.classes_, 2), strict=True
    ):
        assert list(classifier.classes_) == [a, b]
        in_pair = np.isin(LABELS, [a, b])
        assert classifier.score(table[in_pair], LABELS[in_pair]) > 0.9
        assert list(classifier.feature_names_in_) == list(table.columns)
    assert fitted.score(table, LABELS) > 0.9  # the votes still work


def test_errors_for_missing_attributes_refer_to_the_binary_classifiers():
    fitted = DualSVC().fit(X, LABELS)
    message = "no attribute 'coef_'; with 3 classes each classifier in estimators_ has one"
    with pytest.raises(AttributeError, match=message):
        fitted.coef_  # noqa: B018
    assert not hasattr(fitted, "coef_")
    with pytest.raises(AttributeError, match=r"no attribute 'shape_'$"):
        fitted.shape_  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'coef_'$"):
        DualSVC().coef_  # noqa: B018


@every_binary_model
def test_refit_deletes_the_attributes_of_a_multiclass_fit(model):
    fitted = clone(model).fit(X, LABELS).fit(X[CODES < 2], CODES[CODES < 2])
    assert not hasattr(fitted, "estimators_") and fitted.decision_function(X).ndim == 1
    with pytest.raises(ValueError, match="one class only"):
        fitted.fit(X, np.zeros(150))
    with pytest.raises(NotFittedError):
        fitted.predict(X)


def test_class_weights_have_the_same_effect_as_in_scikit_learn():
    class_weight = {"setosa": 1.0, "versicolor": 5.0, "virginica": 0.5}
    model = DualSVC(C=0.05, kernel="rbf", class_weight=class_weight, tol=1e-8).fit(X, LABELS)
    reference = SVC(C=0.05, class_weight=class_weight, tol=1e-8).fit(X, LABELS)
    np.testing.assert_array_equal(model.predict(X), reference.predict(X))


def test_balanced_class_weights_are_computed_from_all_classes():
    subset = np.r_[0:50, 50:60, 100:150]
    points, labels = X[subset], LABELS[subset]
    balanced = DualSVC(C=0.05, kernel="rbf", class_weight="balanced").fit(points, labels)
    weights = 110 / (3 * np.array([50, 10, 50]))[CODES[subset]]
    weighted = DualSVC(C=0.05, kernel="rbf").fit(points, labels, sample_weight=weights)
    np.testing.assert_allclose(
        balanced.decision_function(X), weighted.decision_function(X), atol=1e-6
    )


def test_precomputed_kernel_is_split_by_pairs():
    points, labels = X[::2], LABELS[::2]
    K, K_new = gaussian(points, gamma=0.3), gaussian(X, points, gamma=0.3)
    expected = DualSVC(kernel="rbf", gamma=0.3).fit(points, labels).decision_function(X)
    outputs = DualSVC(kernel="precomputed").fit(K, labels).decision_function(K_new)
    np.testing.assert_allclose(outputs, expected, atol=1e-6)
    gaussian_model = ImportVectorMachine(0.1, kernel="rbf", gamma=0.3).fit(points, labels)
    precomputed_model = ImportVectorMachine(0.1, kernel="precomputed").fit(K, labels)
    np.testing.assert_allclose(
        precomputed_model.predict_proba(K_new), gaussian_model.predict_proba(X), atol=1e-6
    )


@pytest.mark.parametrize("model", [ImportVectorMachine(0.1), StumpEnsembleLogistic()])
def test_probabilities_of_pairs_are_coupled(model):
    fitted = clone(model).fit(X, LABELS)
    p = fitted.predict_proba(X)
    assert p.shape == (150, 3) and p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), p)
    reference = LogisticRegression().fit(X, LABELS).predict_proba(X)
    assert np.abs(p - reference).mean() < 0.1


def test_coupling_reproduces_consistent_probabilities():
    p = np.random.default_rng(0).dirichlet(np.ones(4), size=20)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    pairwise_probabilities = np.column_stack([p[:, b] / (p[:, a] + p[:, b]) for a, b in pairs])
    np.testing.assert_allclose(couple_probabilities(pairwise_probabilities, 4), p, atol=1e-12)
    certain_probabilities = np.array([[0.0, 0.0, 1.0]])  # class 0 beats both others, 2 beats 1
    np.testing.assert_allclose(
        couple_probabilities(certain_probabilities, 3), [[1.0, 0.0, 0.0]], atol=1e-12
    )


def test_errors_of_methods_for_two_classes_refer_to_the_binary_classifiers():
    boosted = AdaBoostStump(5).fit(X, LABELS)
    stump_ensemble = StumpEnsembleSVC(n_knots=4).fit(X, LABELS)
    with pytest.raises(ValueError, match="estimators_"):
        next(boosted.staged_predict(X))
    with pytest.raises(ValueError, match="estimators_"):
        stump_ensemble.contributions(X)
    assert stump_ensemble.estimators_[0].contributions(X).shape == X.shape


def test_target_false_alarm_rate_needs_two_classes():
    with pytest.raises(ValueError, match="target_false_alarm_rate needs two classes"):
        USVC(target_false_alarm_rate=0.1).fit(X, LABELS)
