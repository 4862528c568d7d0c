"""The soft-margin support vector classifier, from its dual."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..kernels import KERNELS
from ..kernels.choice import choose_kernel, rows_of_kernel
from ..labels import decode_labels, encode_labels
from ..solvers import solve_active_set, solve_dual, solve_hard_margin, solve_libsvm, solve_smo
from ..solvers.dual.libsvm import NATIVE
from ..weights import upper_bounds

__all__ = ["DualSVC"]

AUTO_LOW_RANK = 0.25  # linear kernel: features per point up to which the low-rank form wins
DUST = 1e-14  # of the largest multiplier: what rounding leaves of one that is zero
STORED = 10_000  # points up to which the Gram matrix is stored, 800 MB, and active sets win
SOLVERS = ("active-set", "cvxopt", "cvxopt-lowrank", "smo", "libsvm")
BOUND = 1e-8  # of the box: how near to C_i counts as at C_i
MOVABLE = ("linear", "rbf")  # a shift of all points changes nothing but the intercept


class DualSVC(ClassifierMixin, BaseEstimator):
    r"""Support vector classifier for two classes, solved in the dual with a certificate.

    Minimises over :math:`w`, :math:`b` and :math:`\xi \ge 0`

    .. math::

        \tfrac12\|w\|^2 + \sum_i C_i\,\xi_i \quad\text{subject to}\quad
        y_i\,(w^\top\phi(x_i) + b) \ge 1 - \xi_i,

    by maximising its dual over :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`,

    .. math::

        1^\top\alpha - \tfrac12 \sum_{ij} \alpha_i\alpha_j\, y_i y_j\, k(x_i, x_j),

    where :math:`C_i` is ``C`` times the weight of the class of :math:`x_i` times its sample weight.
    The slacks are summed, not averaged: twice the data at the same ``C`` weighs errors twice.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack, positive. ``C=inf`` is the hard margin: it exists only where
        the classes are separable, and needs one of the two interior-point solvers.
    kernel : {"linear", "poly", "rbf", "laplacian", "exponential", "precomputed"} or callable, \
            default="linear"
        A name, a function of `svmbook.kernels` (it gets the parameters below), or any ``k(X, Z)``
        returning shape (len(X), len(Z)). "precomputed" means that ``X`` is the Gram matrix.
    gamma : {"scale", "auto"} or float, default="scale"
        Parameter of every named kernel but the linear one. "scale" is
        ``1 / (n_features * X.var())``, the variance taken with the sample weights; "auto" is
        ``1 / n_features``. Both have the unit of one over a squared length, which suits "rbf"; for
        "laplacian" and "exponential", whose distances are not squared, choose a value on scaled
        features.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial kernel. scikit-learn's default is 0, which
        leaves out every term of lower degree.
    solver : {"auto", "active-set", "cvxopt", "cvxopt-lowrank", "smo", "libsvm"}, default="auto"
        "active-set" is Newton's method on guesses of the active bounds, exact to rounding;
        "cvxopt" the interior point on the full Gram matrix, "cvxopt-lowrank" the one that never
        forms it (linear kernel), "smo" the readable sequential minimal optimisation,
        "libsvm" hands the problem to `sklearn.svm.SVC`. "auto" takes "cvxopt-lowrank" for the
        linear kernel with at most n/4 features, else "cvxopt" for ``C=inf``, else "active-set" up
        to 10,000 points and "libsvm" beyond: the order that the benchmarks find.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive; "balanced" is ``n_samples / (2 * count)``, both
        counted with the sample weights.
    tol : float, default=1e-6
        Relative duality gap to reach. Below about 1e-9 rounding decides.
    max_iter : int, default=-1
        Iterations at most; -1 for the solver's own limit (100 interior-point iterations, 100,000
        rounds for "active-set", 1 million pairs for "smo", 10 million for LIBSVM).

    Attributes
    ----------
    alpha_ : ndarray of shape (n_samples,)
        One multiplier a training point; exactly zero where the point is no support vector,
        exactly :math:`C_i` where it is a bounded one (short of convergence neither need hold).
    support_, support_vectors_ : ndarray of shapes (n_SV,) and (n_SV, n_features)
        Indices of the support vectors, and they themselves; (0, 0) for a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    free_support_, bounded_support_ : ndarray
        Indices with :math:`0 < \alpha_i < C_i`, which lie on the margin, and with
        :math:`\alpha_i = C_i`, which lie on it or beyond. The comparison is relative: within
        1e-8 of the box counts as at its edge.
    dual_coef_ : ndarray of shape (1, n_SV)
        :math:`y_i\alpha_i` of the support vectors.
    intercept_ : ndarray of shape (1,)
        The multiplier :math:`b` of the equality constraint; the middle of the interval of
        optimal values where no support vector is free.
    coef_ : ndarray of shape (1, n_features)
        The weights :math:`w`; linear kernel only.
    geometric_margin_ : float
        :math:`1/\|w\|` for the machine as it is, half the width of its street.
    dual_gap_ : float
        Primal minus dual objective at the solution: an upper bound on the error of either.
    kkt_residual_ : float
        Largest violation of the optimality conditions, in units of the margin.
    primal_objective_, dual_objective_ : float
        The two objectives. For the hard margin the primal one belongs to :math:`w` scaled so that
        its smallest functional margin is exactly 1.
    n_iter_ : int
        Iterations of the solver.
    solver_ : str
        The solver that ran.
    gamma_ : float
        The value of ``gamma`` in use; only for kernels that have one.
    classes_ : ndarray of shape (2,)
        The labels; a positive decision value speaks for the second.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class, or more than two; a kernel that is not finite, symmetric and positive
        semi-definite on the training points; negative weights; a hard margin on data that are
        not separable; a solver that does not serve the kernel or ``C``.

    See Also
    --------
    sklearn.svm.SVC : LIBSVM's own interface.

    References
    ----------
    *Exploring Classification*, section "Support vector machine"; Cortes and Vapnik (1995),
    "Support-vector networks", Machine Learning 20, 273-297.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook import DualSVC
    >>> X = np.array([[1, 2], [2, 2], [0, 0], [-2, 3]])
    >>> machine = DualSVC(C=np.inf).fit(X, ["up", "up", "down", "down"])
    >>> machine.alpha_.round(4)
    array([0.5306, 0.    , 0.3673, 0.1633])
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="right")],  # infinity included
        "kernel": [StrOptions({*KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"auto", *SOLVERS})],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1})],
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=1.0,
        solver="auto",
        class_weight=None,
        tol=1e-6,
        max_iter=-1,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Solve the dual on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
            Training points, or their Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Two labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, not negative. A point of weight zero counts as absent.

        Returns
        -------
        DualSVC
            The fitted estimator.
        """
        for attribute in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, attribute)  # a failed fit, or another kernel, leaves nothing of the old
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, signs = encode_labels(y)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        upper = upper_bounds(self.C, self.class_weight, self.classes_, y, weights)
        present = np.flatnonzero(upper > 0)
        pairwise = self.__sklearn_tags__().input_tags.pairwise
        points = rows_of_kernel(X, present, pairwise=pairwise)
        params = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        self._kernel = choose_kernel(self.kernel, points, weights[present], **params)
        self.solver_ = self._choose_solver(*points.shape)
        origin = points.mean(axis=0) if self._kernel.name in MOVABLE else 0.0
        if np.any(origin):
            points = points - origin
        result = self._solve(points, signs[present], upper[present])
        alpha = np.zeros(len(y))
        alpha[present] = np.where(result.alpha > DUST * result.alpha.max(), result.alpha, 0.0)
        self._store(result, alpha, X, signs, upper)
        if self._kernel.name == "linear":
            self.coef_ = (signs * alpha)[None, present] @ points
            self.intercept_ = self.intercept_ - self.coef_ @ origin
        return self

    def __sklearn_is_fitted__(self):
        return hasattr(self, "dual_coef_")

    def decision_function(self, X):
        r"""Return :math:`f(x) = \sum_i y_i\alpha_i k(x_i, x) + b`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_train)
            Points; for a precomputed kernel their kernel values with all training points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positive values speak for ``classes_[1]``.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        if self._kernel.name == "linear":
            return X @ self.coef_[0] + self.intercept_[0]
        return self._kernel.with_support(X, self) @ self.dual_coef_[0] + self.intercept_[0]

    def predict(self, X):
        """Return the label on whose side of the hyperplane each point lies.

        Parameters
        ----------
        X : array-like
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)  # raises NotFittedError before classes_ is read
        return decode_labels(self.classes_, scores)

    def _choose_solver(self, n, d):
        """Return the solver that "auto" stands for, or the one asked for if it serves."""
        hard = np.isinf(self.C)
        solver = self.solver
        if solver == "auto":
            if self._kernel.name == "linear" and d <= AUTO_LOW_RANK * n:
                return "cvxopt-lowrank"
            if hard:
                return "cvxopt"
            return "active-set" if n <= STORED else "libsvm"
        if solver == "cvxopt-lowrank" and self._kernel.name != "linear":
            raise ValueError(
                "solver='cvxopt-lowrank' needs the factor of the Gram matrix, which only the "
                f"linear kernel has; found kernel={self.kernel!r}. Choose solver='cvxopt'."
            )
        if hard and solver not in ("cvxopt", "cvxopt-lowrank"):
            raise ValueError(
                f"C=inf (the hard margin) needs an interior-point solver; found solver={solver!r}. "
                "Choose solver='cvxopt' or 'auto', or a finite C."
            )
        return solver

    def _solve(self, X, y, C):
        """Solve the dual for points of positive weight; return a `SolverResult`."""
        kernel, solver = self._kernel, self.solver_
        limit = {"tol": self.tol}
        if self.max_iter != -1:
            limit["max_iter"] = self.max_iter
        if solver == "cvxopt-lowrank":
            return _interior_point(X, y, C, form="low-rank", **limit)
        if solver == "libsvm" and kernel.name in NATIVE and kernel.known_definite:
            return solve_libsvm(X, y, C, kernel=kernel.name, **kernel.params, **limit)
        if solver == "active-set" and len(y) > STORED and kernel.known_definite:
            return solve_active_set(kernel.blocks(X), y, C, **limit)
        solve = {"active-set": solve_active_set, "smo": solve_smo, "libsvm": solve_libsvm}
        return solve.get(solver, _interior_point)(kernel.gram(X), y, C, **limit)

    def _store(self, result, alpha, X, y, upper):
        """Translate a `SolverResult` into fitted attributes."""
        if not result.converged:
            warnings.warn(
                f"{self.solver_} stopped after {result.n_iter} iterations at a relative duality "
                f"gap of {result.relative_gap:.1e}, not certified to tol={self.tol:g} "
                f"({result.message}). "
                "Scale the features, lower C, raise max_iter or tol, or choose another solver.",
                ConvergenceWarning,
                stacklevel=4,  # past _store, fit and its validating wrapper
            )
        self.alpha_ = alpha
        self.support_ = np.flatnonzero(alpha > 0)
        precomputed = self._kernel.name == "precomputed"
        self.support_vectors_ = np.empty((0, 0)) if precomputed else X[self.support_]
        self.n_support_ = np.array([(y[self.support_] == sign).sum() for sign in (-1, 1)])
        at_the_bound = alpha[self.support_] >= (1.0 - BOUND) * upper[self.support_]
        self.free_support_ = self.support_[~at_the_bound]
        self.bounded_support_ = self.support_[at_the_bound]
        self.dual_coef_ = (y * alpha)[None, self.support_]
        self.intercept_ = np.array([result.intercept])
        if "gamma" in self._kernel.params:
            self.gamma_ = self._kernel.params["gamma"]
        w_squared = result.w_squared
        self.geometric_margin_ = 1.0 / np.sqrt(w_squared) if w_squared > 0 else np.inf
        self.primal_objective_ = result.primal_objective
        self.dual_objective_ = result.dual_objective
        self.dual_gap_ = result.gap
        self.kkt_residual_ = result.kkt_residual
        self.n_iter_ = result.n_iter


def _interior_point(K, y, C, **options):
    """Call the interior point that serves the upper bounds: all finite, or all infinite."""
    if np.isinf(C).any():
        return solve_hard_margin(K, y, **options)
    return solve_dual(K, y, C, **options)
