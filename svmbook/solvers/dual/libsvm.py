"""The dual :eq:`eq-dual` solved by LIBSVM through scikit-learn, with a certificate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from ...gram import ComputedGram, StoredGram
from ...kernels import KERNELS
from ..checks import check_problem, check_stopping
from .active_sets.crossover import cross_over
from .silent_svc import CACHE_MEGABYTES, SilentSVC, fit_multipliers

if TYPE_CHECKING:
    from .result import SolverResult

__all__ = ["NATIVE_KERNELS", "solve_libsvm", "solve_libsvm_on_gram"]

NATIVE_KERNELS = ("linear", "poly", "rbf")  # scikit-learn's names of kernels that LIBSVM computes

LIBSVM_TOL = 1e-3  # scikit-learn's default tolerance, used unless ``tol`` is larger


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

    LIBSVM stops when the largest violation of the KKT conditions, not the duality gap, is below its
    tolerance: the larger of ``tol`` and 1e-3, its default. Active-set iterations then remove the
    remaining violation, unless ``max_iter`` stopped LIBSVM. If they fail, LIBSVM is run again with
    the tolerance ``tol``, or the rounding error of the outputs if that is larger, since below it
    LIBSVM may not terminate.

    Parameters
    ----------
    X : ndarray of shape (n, d), or (n, n) for a precomputed kernel
        Data, or the Gram matrix.
    y : ndarray of shape (n,)
        Labels -1 and +1, both present.
    C : float or ndarray of shape (n,)
        Upper bounds, positive and finite.
    kernel : {"precomputed", "linear", "poly", "rbf"}, default="precomputed"
        Kernel, by scikit-learn's name. Unless it is precomputed, LIBSVM computes its values row by
        row.
    tol : float, default=1e-6
        Tolerance of the relative duality gap.
    max_iter : int, default=10_000_000
        Maximum number of LIBSVM's iterations (pair updates).
    **params
        The parameters of the kernel, among ``gamma``, ``degree`` and ``coef0``; all are required.

    Returns
    -------
    SolverResult
        ``converged`` indicates whether the gap, computed from the returned ``alpha``, is below
        ``tol``.

    Raises
    ------
    ValueError
        An array has the wrong shape or invalid values, a parameter is missing or unknown to the
        kernel, or LIBSVM returns no finite solution. Whether the Gram matrix is positive
        semi-definite is not checked.

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
    kernel_function = _kernel_function(kernel, params)
    X, y, C = check_problem(X, y, C, require_square=kernel_function is None)
    tol, max_iter = check_stopping(tol, max_iter)
    if kernel_function is None:
        return solve_libsvm_on_gram(X, StoredGram(X), y, C, kernel, tol=tol, max_iter=max_iter)

    def block(rows, columns):
        return kernel_function(X[rows], X[columns])

    gram = ComputedGram(block, len(y))
    return solve_libsvm_on_gram(X, gram, y, C, kernel, tol=tol, max_iter=max_iter, **params)


def solve_libsvm_on_gram(X, gram, y, C, kernel, *, tol=1e-6, max_iter=10_000_000, **params):
    """Solve the dual as `solve_libsvm` does, for the `GramMatrix` of X and validated arrays."""
    rounding_error = 8 * np.finfo(float).eps * gram.scale * C.sum()
    loose_tol = max(tol, LIBSVM_TOL)
    tight_tol = min(max(tol, rounding_error), loose_tol)
    max_iter = min(max_iter, np.iinfo(np.int32).max)
    svc_params = params | {"max_iter": max_iter, "cache_size": CACHE_MEGABYTES}
    for kkt_tol in sorted({loose_tol, tight_tol}, reverse=True):
        svc = SilentSVC(C=1.0, kernel=kernel, tol=kkt_tol, **svc_params)
        alpha = _fit(svc, X, y, C)
        finished = svc.fit_status_ == 0
        outcome = f"KKT violation below {kkt_tol:.1e}" if finished else "iteration limit reached"
        report = {"n_iter": svc.n_iter_[0], "message": f"LIBSVM: {outcome}", "tol": tol}
        result = cross_over(gram, y, C, alpha, svc.intercept_[0], finished=finished, **report)
        if result.converged or not finished:
            break
    return result


def _fit(svc, X, y, C):
    """Fit LIBSVM and return its multipliers, or raise an error that says what to do."""
    try:
        return fit_multipliers(svc, X if issparse(X) else np.ascontiguousarray(X), y, C)
    except ValueError as error:
        if "not finite" not in str(error):
            raise
        raise ValueError(
            "LIBSVM ended without a finite solution; scale the features, lower C, or choose "
            "another solver."
        ) from error


def _kernel_function(kernel, params):
    """Return the kernel function, or None for a precomputed Gram matrix; validate ``params``."""
    parameter_names = {
        "precomputed": (),
        **{name: KERNELS[name][1] for name in NATIVE_KERNELS},
    }
    if kernel not in parameter_names:
        raise ValueError(f"kernel is {kernel!r}; choose one of {', '.join(parameter_names)}.")
    if set(params) != set(parameter_names[kernel]):
        expected_names = ", ".join(sorted(parameter_names[kernel])) or "none"
        found_names = ", ".join(sorted(params)) or "none"
        raise ValueError(
            f"the parameters of the kernel {kernel!r} are {expected_names}; found {found_names}."
        )
    return None if kernel == "precomputed" else partial(KERNELS[kernel][0], **params)
