"""Every public estimator passes scikit-learn's own checks, in every solver it offers."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from svmbook import DualSVC

ESTIMATORS = [
    DualSVC(),
    DualSVC(kernel="rbf"),
    DualSVC(kernel="rbf", solver="cvxopt", class_weight="balanced"),
    DualSVC(kernel="rbf", solver="libsvm"),
    DualSVC(kernel="laplacian", solver="smo"),
    DualSVC(solver="cvxopt-lowrank", C=100.0),
    DualSVC(kernel="poly", gamma="auto", degree=2),
    DualSVC(kernel="precomputed"),
]


NOT_GRAM_MATRICES = {
    "check_positive_only_tag_during_fit": "passes random numbers as a Gram matrix",
    "check_estimators_dtypes": "rounds a Gram matrix to integers, which makes it indefinite",
}


def expected_failures(estimator):
    return NOT_GRAM_MATRICES if estimator.kernel == "precomputed" else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)
