"""Sparse matrices are supported with the linear kernel, and rejected otherwise."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from public_estimators import PUBLIC_ESTIMATORS
from scipy import sparse
from sklearn.model_selection import GridSearchCV

from svmbook import DualSVC, KernelLogisticRegression
from svmbook.kernels import linear

rng = np.random.default_rng(0)
DENSE = np.where(rng.random((90, 40)) < 0.1, rng.exponential(size=(90, 40)), 0.0)
TWO_CLASSES = np.where(DENSE[:, :8].sum(axis=1) > 0.5, "sport", "trade")
THREE_CLASSES = np.digitize(DENSE[:, :20].sum(axis=1), [1.2, 2.5])
SPARSE_TYPES = [sparse.csr_matrix, sparse.csc_matrix, sparse.coo_array, sparse.csr_array]
MODELS = {
    "active-set": DualSVC(solver="active-set", tol=1e-9),
    "auto": DualSVC(tol=1e-9),
    "interior-point": DualSVC(solver="interior-point", tol=1e-9),
    "cvxopt": DualSVC(solver="cvxopt", tol=1e-9),
    "smo": DualSVC(solver="smo", tol=1e-9),
    "libsvm": DualSVC(solver="libsvm", tol=1e-9),
    "logistic": KernelLogisticRegression(kernel="linear", tol=1e-9),
    "lasso": KernelLogisticRegression(kernel="linear", penalty="l1", lam=0.1, tol=1e-9),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))
@pytest.mark.parametrize("y", [TWO_CLASSES, THREE_CLASSES], ids=["two", "three"])
def test_sparse_and_dense_points_give_the_same_model(model, y):
    X, X_new = sparse.csr_matrix(DENSE), sparse.csr_matrix(DENSE[::-1])
    model.fit(DENSE, y)
    F, labels = model.decision_function(DENSE[::-1]), model.predict(DENSE[::-1])
    model.fit(X, y)
    np.testing.assert_allclose(model.decision_function(X_new), F, atol=2e-4)
    np.testing.assert_allclose(model.decision_function(DENSE[::-1]), F, atol=2e-4)
    assert model.converged_ and (model.predict(X_new) == labels).mean() > 0.95


@pytest.mark.parametrize("sparse_type", SPARSE_TYPES)
def test_all_sparse_types_are_supported(sparse_type):
    expected = DualSVC().fit(sparse.csr_matrix(DENSE), TWO_CLASSES)
    fitted = pickle.loads(pickle.dumps(DualSVC().fit(sparse_type(DENSE), TWO_CLASSES)))
    np.testing.assert_allclose(fitted.coef_, expected.coef_)
    assert sparse.issparse(fitted.support_vectors_)
    np.testing.assert_allclose(fitted.support_vectors_.toarray(), DENSE[fitted.support_])
    expansion = linear(sparse_type(DENSE), fitted.support_vectors_) @ fitted.dual_coef_.T
    F = fitted.decision_function(sparse_type(DENSE))
    np.testing.assert_allclose(expansion[:, 0] + fitted.intercept_, F, atol=1e-10)


@pytest.mark.parametrize("model", [DualSVC(), KernelLogisticRegression(kernel="linear")])
def test_sparse_points_support_sample_weights_and_grid_search(model):
    X, weights = sparse.csr_matrix(DENSE), np.arange(90.0) % 4
    coef, expected = (model.fit(Z, TWO_CLASSES, sample_weight=weights).coef_ for Z in (X, DENSE))
    np.testing.assert_allclose(coef, expected, atol=1e-4)
    grid = {"C": [0.1, 10.0]} if isinstance(model, DualSVC) else {"lam": [0.1, 10.0]}
    assert GridSearchCV(model, grid, cv=3).fit(X, TWO_CLASSES).best_score_ > 0.7


def test_sparse_points_are_not_made_dense(monkeypatch):
    X = sparse.csr_matrix(DENSE)
    # A block has 11 of the 90 rows of the Gram matrix.
    monkeypatch.setattr("svmbook.kernels.functions.SPARSE_BLOCK_ENTRIES", 1000)
    dense_shapes = []
    toarray = sparse.csr_matrix.toarray

    def recording_toarray(self, *args, **kwargs):
        dense_shapes.append(self.shape)
        return toarray(self, *args, **kwargs)

    for sparse_type in (sparse.csr_matrix, sparse.csc_matrix):
        monkeypatch.setattr(sparse_type, "toarray", recording_toarray)
        monkeypatch.setattr(sparse_type, "todense", None)
    DualSVC().fit(X, TWO_CLASSES).predict(X)
    assert len(dense_shapes) == 9 and {n_columns for _, n_columns in dense_shapes} == {90}


def test_unsupported_sparse_matrix_is_reported():
    X = sparse.csr_matrix(DENSE)
    for estimator_class in PUBLIC_ESTIMATORS.values():
        if not estimator_class().__sklearn_tags__().input_tags.sparse:
            with pytest.raises(TypeError, match=r"Sparse data was passed.*toarray"):
                estimator_class().fit(X, TWO_CLASSES)
    with pytest.raises(TypeError, match="toarray"):
        DualSVC(kernel="rbf").fit(X, TWO_CLASSES)


MANY_DOCUMENTS_SCRIPT = """
import numpy as np
from scipy import sparse
from svmbook import DualSVC, KernelLogisticRegression

rng = np.random.default_rng(0)
n, d, n_words = 10_000, 20_000, 100
frequencies = 1.0 / np.arange(1, d + 1)
columns = rng.choice(d, size=(n, n_words), p=frequencies / frequencies.sum())
y = rng.integers(0, 2, n)
columns[:, :8] = 1000 + 300 * y[:, None] + rng.integers(0, 300, (n, 8))  # words of one class
row_starts = np.arange(0, n * n_words + 1, n_words)
X = sparse.csr_matrix((np.ones(n * n_words), columns.ravel(), row_starts))
X.sum_duplicates()
X = sparse.diags_array(1.0 / sparse.linalg.norm(X, axis=1)) @ X
for model in (DualSVC(), KernelLogisticRegression(kernel="linear")):
    fitted = model.fit(X, y)
    assert fitted.converged_ and fitted.score(X, y) > 0.95
(line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(line.split()[1]))
"""


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs VmHWM of Linux")
def test_many_sparse_documents_need_less_than_two_gibibytes():
    process = subprocess.run(
        [sys.executable, "-c", MANY_DOCUMENTS_SCRIPT], check=True, capture_output=True, text=True
    )
    assert int(process.stdout) < 2 * 2**20


def test_sparse_matrix_with_few_columns_uses_the_dense_solver():
    X = sparse.random_array((200, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    y = np.where(X.sum(axis=1) > np.median(X.sum(axis=1)), 1, -1)
    model, dense_model = DualSVC().fit(X, y), DualSVC().fit(X.toarray(), y)
    assert model.solver_ == dense_model.solver_ == "interior-point"
    np.testing.assert_allclose(model.coef_, dense_model.coef_, atol=1e-9)
    assert model.support_vectors_.format == "csr"
