"""The dual :eq:`eq-dual` handed to LIBSVM through scikit-learn, its answer certified like all."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.svm import SVC

from ...gram import ComputedGram, StoredGram
from ...kernels import KERNELS
from ..checks import check_problem, check_stopping
from .crossover import cross_over

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = ["NATIVE", "libsvm", "solve_libsvm"]

NATIVE = ("linear", "poly", "rbf")  # kernels that LIBSVM computes by itself

CACHE_MEGABYTES = 1000  # megabytes of kernel rows that LIBSVM keeps
LIBSVM_TOL = 1e-3  # scikit-learn's default tolerance; ours is never looser, unless ``tol`` is


class _SilentSVC(SVC):
    """An SVC that does not warn of too few iterations: the certificate tells.

    Filtering the warning instead would change a list that all threads of the process share.
    """

    def _warn_from_fit_status(self):
        pass


def solve_libsvm(
    X: ArrayLike,
    y: ArrayLike,
    C: ArrayLike,
    *,
    kernel: str = "precomputed",
    tol: float = 1e-6,
    max_iter: int = 10_000_000,
    **params,
) -> SolverResult:
    r"""Solve the SVM dual by LIBSVM's SMO.

    Minimises :math:`\tfrac12\alpha^\top Q\alpha - 1^\top\alpha` over
    :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`, with
    :math:`Q_{ij} = y_i y_j k(x_i, x_j)`.

    LIBSVM stops when the largest violation of the KKT conditions falls below its tolerance,
    which is not the duality gap. It is asked for ``tol``, or for the rounding error of the
    outputs where that is larger (below it LIBSVM may never end), but for no more than 1e-3, its
    own default, or ``tol``. Rounds of active sets then remove what is left of the violation,
    unless ``max_iter`` stopped LIBSVM before.

    Parameters
    ----------
    X : ndarray of shape (n, d), or (n, n) for a precomputed kernel
        Data, or the Gram matrix.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    kernel : {"precomputed", "linear", "poly", "rbf"}, default="precomputed"
        The kernel by the name that LIBSVM knows; it computes the values row by row.
    tol : float, default=1e-6
        Relative duality gap asked for.
    max_iter : int, default=10_000_000
        Pairs at most, as in LIBSVM itself.
    **params
        ``gamma``, ``degree`` and ``coef0``: those that the kernel reads, all of them.

    Returns
    -------
    SolverResult
        ``converged`` tells whether the gap, computed here, is below ``tol``.

    Raises
    ------
    ValueError
        The arrays do not fit, a parameter is missing or not read by the kernel, or LIBSVM ends
        without a finite solution. That ``K`` is positive semi-definite is taken for granted.

    References
    ----------
    Chang and Lin (2011), "LIBSVM: a library for support vector machines", ACM Transactions on
    Intelligent Systems and Technology 2(3), 27.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.solvers import solve_libsvm
    >>> X = np.array([[1.0, 2], [2, 2], [0, 0], [-2, 3]])
    >>> y = np.array([1.0, 1, -1, -1])
    >>> solve_libsvm(X @ X.T, y, C=10.0).alpha.round(4)
    array([0.5306, 0.    , 0.3673, 0.1633])
    """
    function = _function(kernel, params)
    X, y, C = check_problem(X, y, C, square=function is None)
    tol, max_iter = check_stopping(tol, max_iter)
    if function is None:
        return libsvm(X, StoredGram(X), y, C, kernel, tol=tol, max_iter=max_iter)

    def values(rows, columns):
        return function(X[rows], X[columns])

    gram = ComputedGram(values, len(y))
    return libsvm(X, gram, y, C, kernel, tol=tol, max_iter=max_iter, **params)


def libsvm(X, gram, y, C, kernel, *, tol=1e-6, max_iter=10_000_000, **params):
    """Do as `solve_libsvm`, for the `GramMatrix` of X and arrays that were checked."""
    rounding = 8 * np.finfo(float).eps * gram.scale * C.sum()
    violation = min(max(tol, rounding), max(tol, LIBSVM_TOL))
    machine = _SilentSVC(
        C=1.0,
        kernel=kernel,
        tol=violation,
        max_iter=min(max_iter, np.iinfo(np.int32).max),
        cache_size=CACHE_MEGABYTES,
        **params,
    )
    try:
        machine.fit(X if issparse(X) else np.ascontiguousarray(X), y, sample_weight=C.copy())
    except ValueError as error:
        if "not finite" not in str(error):
            raise
        raise ValueError(
            "LIBSVM ended without a finite solution; scale the features, lower C, or choose "
            "another solver."
        ) from error
    alpha = np.zeros(len(y))
    signed = machine.dual_coef_.toarray() if issparse(X) else machine.dual_coef_
    alpha[machine.support_] = np.abs(signed[0])
    finished = machine.fit_status_ == 0
    how = f"at a violation of {violation:.1e}" if finished else "with all pairs used up"
    report = {"n_iter": machine.n_iter_[0], "message": f"LIBSVM {how}", "tol": tol}
    return cross_over(gram, y, C, alpha, machine.intercept_[0], finished=finished, **report)


def _function(kernel, params):
    """Return the kernel function behind a name that LIBSVM knows; None for a Gram matrix."""
    reads = {"precomputed": (), **{name: KERNELS[name][1] for name in NATIVE}}
    if kernel not in reads:
        raise ValueError(f"kernel is {kernel!r}; LIBSVM knows {', '.join(reads)}.")
    if set(params) != set(reads[kernel]):
        wanted, found = (", ".join(sorted(names)) or "none" for names in (reads[kernel], params))
        raise ValueError(f"the parameters of the kernel {kernel!r} are {wanted}; found {found}.")
    return None if kernel == "precomputed" else partial(KERNELS[kernel][0], **params)
