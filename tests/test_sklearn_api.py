"""Every public estimator passes scikit-learn's own checks, in every solver it offers."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import svmbook
from svmbook import DualSVC, ImportVectorMachine, KernelLogisticRegression

ESTIMATORS = [
    *(getattr(svmbook, name)() for name in svmbook.__all__ if name != "__version__"),
    DualSVC(kernel="rbf"),
    DualSVC(kernel="rbf", solver="cvxopt", class_weight="balanced"),
    DualSVC(kernel="rbf", solver="libsvm"),
    DualSVC(solver="active-set", C=100.0),
    DualSVC(kernel="laplacian", solver="smo"),
    DualSVC(solver="cvxopt-lowrank", C=100.0),
    DualSVC(kernel="poly", gamma="auto", degree=2),
    DualSVC(kernel="precomputed"),
    KernelLogisticRegression(lam=0.1, kernel="linear", class_weight="balanced"),
    KernelLogisticRegression(kernel="precomputed"),
    KernelLogisticRegression(penalty="l1", lam=0.1),
    ImportVectorMachine(kernel="linear", max_points=3),
]


NOT_GRAM_MATRICES = {
    "check_positive_only_tag_during_fit": "passes random numbers as a Gram matrix",
    "check_estimators_dtypes": "rounds a Gram matrix to integers, which makes it indefinite",
}


NOT_GRAM_MATRICES_EITHER = {"check_decision_proba_consistency": "passes points for a Gram matrix"}


def expected_failures(estimator):
    if estimator.kernel != "precomputed":
        return {}
    answers_with_probabilities = hasattr(estimator, "predict_proba")
    return NOT_GRAM_MATRICES | (NOT_GRAM_MATRICES_EITHER if answers_with_probabilities else {})


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)
