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
]


@parametrize_with_checks(ESTIMATORS)
def test_estimator_follows_scikit_learn(estimator, check):
    check(estimator)
