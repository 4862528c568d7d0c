"""The support vector classifier, fitted by its dual problem."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, Options, StrOptions

from ..dask_input import is_dask
from ..gram import StoredGram
from ..kernel_machine import KernelMachine
from ..kernels.checks import check_definite
from ..kernels.kernel import kernel_name
from ..labels import is_multiclass
from ..progress import is_interrupted, show_progress
from ..solvers.dual.active_sets.solver import solve_active_set_on_gram
from ..solvers.dual.interior_point import (
    solve_hard_margin_on_gram,
    solve_interior_point_on_gram,
    undo_centring,
)
from ..solvers.dual.libsvm import solve_libsvm_on_gram
from ..solvers.dual.quadratic_program import solve_dual_on_gram
from ..solvers.dual.result import fall_back_to_zero
from ..solvers.dual.smo import solve_smo_on_gram
from ..weights import point_penalties
from .gram_forms import gram_and_mean, is_low_rank, n_stored_numbers
from .in_blocks import fit_linear_in_blocks

__all__ = ["DualSVC"]

SOLVERS = {
    "interior-point": solve_interior_point_on_gram,
    "active-set": solve_active_set_on_gram,
    "smo": solve_smo_on_gram,
    "libsvm": solve_libsvm_on_gram,
    "cvxopt": solve_dual_on_gram,
}
BOUND_TOL = 1e-8  # relative to C_i: a multiplier this close to C_i is at its bound
# For these kernels, centring the points changes only the intercept, and reduces rounding errors.
CENTRED_KERNELS = ("linear", "rbf")


class DualSVC(KernelMachine):
    r"""Support vector classifier, solved in the dual with a certificate.

    Minimises over :math:`w`, :math:`b` and :math:`\xi \ge 0`

    .. math::

        \tfrac12\|w\|^2 + \sum_i C_i\,\xi_i \quad\text{subject to}\quad
        y_i\,(w^\top\phi(x_i) + b) \ge 1 - \xi_i,

    by maximising its dual over :math:`0 \le \alpha_i \le C_i`, :math:`y^\top\alpha = 0`,

    .. math::

        1^\top\alpha - \tfrac12 \sum_{ij} \alpha_i\alpha_j\, y_i y_j\, k(x_i, x_j),

    where :math:`C_i` is ``C`` times the weight of the class of :math:`x_i` times its sample weight.
    The slacks are summed, not averaged: duplicating the data has the effect of doubling ``C``.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the penalty per unit of slack, positive. ``C=inf`` is the hard
        margin, which needs separable classes and the interior-point method.
    kernel : str or callable, default="linear"
        A key of `svmbook.kernels.KERNELS` ("linear", "poly", "rbf", "laplacian", ...) or the
        function behind it, which use the parameters below; or any ``k(X, Z)`` returning shape
        (len(X), len(Z)). "precomputed" means that ``X`` is the Gram matrix. Because of the
        constraint :math:`y^\top\alpha = 0`, the kernel need only be positive semi-definite on
        vectors that sum to zero, as "stump" and "perceptron" are.
    gamma : {"scale", "auto"} or float, default="scale"
        Parameter of "rbf", "laplacian", "exponential" and "poly". "scale" is
        ``1 / (n_features * X.var())``, with the variance weighted by class and sample weights;
        "auto" is ``1 / n_features``. Both have the unit of an inverse squared length, which suits
        "rbf". For "laplacian" and "exponential", whose distances are not squared, scale the
        features and choose a value.
    degree : int, default=3
        Degree of "poly", number of boundaries of "stump_regions", mean depth of "stump_tree".
    coef0 : float, default=1.0
        Constant of "poly". scikit-learn's default of 0 leaves out all terms of lower degree.
    solver : {"auto", "interior-point", "active-set", "smo", "libsvm", "cvxopt"}, default="auto"
        "interior-point" is Mehrotra's method, which forms no Gram matrix if the kernel is linear
        and there are at most n/4 features; "active-set" is a primal-dual active-set method, exact
        to rounding; "smo" is a simple implementation of sequential minimal optimisation; "libsvm"
        calls `sklearn.svm.SVC`, which Ctrl-C cannot interrupt; "cvxopt" calls the optional package
        cvxopt. "auto" chooses "interior-point" for the linear kernel with at most n/4 features and
        for ``C=inf``, else "active-set".
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive; "balanced" is
        ``n_samples / (n_classes * count)``, where each point contributes its sample weight to
        ``n_samples`` and to ``count``.
    tol : float, default=1e-6
        Largest relative duality gap of a solution that has converged. "active-set" always
        continues to rounding error.
    max_iter : int, default=-1
        Maximum number of iterations; -1 for the default of the solver (100 for "interior-point" and
        "cvxopt", 100,000 for "active-set", 1 million for "smo", 10 million for "libsvm").
    verbose : bool or int, default=False
        Whether to print a line per iteration; and before, if "active-set" does not store the Gram
        matrix, an estimate of time and memory. Ctrl-C then ends "active-set" with a feasible
        solution, of which `fit` computes the gap, and warns. The other solvers finish first, and
        KeyboardInterrupt is raised.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_samples,)
        One multiplier per training point, nonnegative. After convergence it is exactly zero if the
        point is no support vector, and exactly :math:`C_i` if it is a bounded one. The coefficient
        of the point's kernel function is :math:`y_i\alpha_i`.
    support_, support_vectors_ : ndarray of shapes (n_SV,) and (n_SV, n_features)
        Indices of the support vectors, and the vectors; shape (0, 0) for a precomputed kernel.
    n_support_ : ndarray of shape (2,)
        Number of support vectors of each class.
    free_support_, bounded_support_ : ndarray
        Indices with :math:`0 < \alpha_i < C_i`, whose points lie on the margin boundary, and with
        :math:`\alpha_i = C_i` up to a relative 1e-8, whose points lie on it or violate the margin.
    dual_coef_ : ndarray of shape (1, n_SV)
        :math:`y_i\alpha_i` of the support vectors.
    intercept_ : ndarray of shape (1,)
        The multiplier :math:`b` of the equality constraint; if no support vector is free, the
        midpoint of the interval of optimal values.
    coef_ : ndarray of shape (1, n_features)
        The weights :math:`w`; linear kernel only.
    geometric_margin_ : float
        :math:`1/\|w\|` of the fitted model.
    relative_gap_ : float
        Primal minus dual objective as a fraction of the primal: an upper bound on how far the
        objective is above its minimum.
    kkt_residual_ : float
        Largest violation of the optimality conditions, in units of the margin.
    objective_, dual_objective_ : float
        The objective, and its lower bound. For the hard margin the objective is that of :math:`w`
        scaled so that its smallest functional margin is exactly 1.
    converged_ : bool
        Whether ``relative_gap_`` is certified to be at most ``tol``. Otherwise `fit` warns, and
        returns the solution :math:`w = 0` if its objective is smaller.
    n_iter_ : int
        Number of iterations of the solver; those that only predict the initial sets do not count.
    solver_ : str
        The solver used; "smoothed-hinge" for Dask collections.
    gamma_ : float
        The value of ``gamma`` used; only for kernels that have this parameter.
    estimators_ : list
        With more than two classes: a fitted classifier for each pair of classes, in the order of
        `sklearn.multiclass.OneVsOneClassifier`; prediction is by majority vote. Each has the other
        attributes, with indices into the points of its pair, which also determine its ``gamma_``.
        This estimator has only ``classes_``, ``n_iter_`` (one value per pair) and the certificate
        of the worst pair.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; with two, a positive decision value means the second.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if ``X`` has string column names.

    Raises
    ------
    ValueError
        ``y`` has one class only; the kernel is not finite and symmetric on the training points, or
        found not to be positive semi-definite, which is checked on the support vectors; a weight
        is negative; or ``C`` is infinite, but the classes or the solver do not allow this.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, by cross-validated calibration.

    Notes
    -----
    For n points of d features, a low-rank interior-point iteration takes :math:`nd^2` operations.
    "active-set" stores :math:`n^2` numbers up to 10,000 points (4,000 for "rbf"), beyond that the
    square of the number of free points. Sparse texts of more words than documents take minutes.

    References
    ----------
    *Exploring Classification*, section "Support vector machine"; Cortes and Vapnik (1995),
    "Support-vector networks", Machine Learning 20, 273-297.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook import DualSVC
    >>> X = np.array([[1, 2], [2, 2], [0, 0], [-2, 3]])
    >>> model = DualSVC(C=np.inf).fit(X, ["up", "up", "down", "down"])
    >>> model.alpha_.round(4)
    array([0.5306, 0.    , 0.3673, 0.1633])

    Decision values are not probabilities. Calibration provides these:

    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from svmbook.datasets import stdev
    >>> X, y = stdev(2, n=100, random_state=0)
    >>> calibrated = CalibratedClassifierCV(DualSVC(), cv=5).fit(X, y)
    >>> calibrated.predict_proba([[-3.0, 0.0], [3.0, 0.0]])[:, 1].round(1)
    array([0.2, 0.8])
    """

    _parameter_constraints: ClassVar[dict] = {
        **KernelMachine._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="right")],  # infinity included
        "solver": [StrOptions({"auto", *SOLVERS})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), Options(Integral, {-1})],
        "verbose": ["verbose"],
    }

    _convergence_advice = "Scale the features, lower C, raise max_iter or tol, or change solver."

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        solver: str = "auto",
        class_weight: str | dict | None = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        verbose: bool | int = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.solver = solver
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    _memory_advice = "Use fewer points, solver='libsvm', or USVC, which uses few kernels."
    _linear_accepts_sparse = True

    def _n_stored_numbers(self, n, d):
        name = kernel_name(self.kernel)
        return n_stored_numbers(self._resolve_solver(name, n, d), name, n, d)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the dual problem of the training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
            Training points, or their Gram matrix for a precomputed kernel. For the linear kernel
            ``X`` may be sparse; it is made dense only if it has at most n/4 columns. It may also be
            a Dask array or data frame, like the other arguments: see `svmbook.svm.in_blocks`.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, nonnegative. Points of weight zero are ignored.

        Returns
        -------
        DualSVC
            The fitted estimator.
        """
        with show_progress(self.verbose):
            if is_dask(X):
                return fit_linear_in_blocks(self, X, y, sample_weight)
            if is_multiclass(y):
                return self._fit_one_vs_one(X, y, sample_weight)
            return self._fit_two_classes(X, y, sample_weight)

    def _fit_two_classes(self, X, y, sample_weight):
        """Solve the dual, and set the attributes."""
        problem = self._training_problem(X, y, sample_weight)
        solver = self._resolve_solver(problem.kernel.name, *problem.points.shape)
        C = point_penalties(self.C, problem.weights)
        points, kernel, origin = problem.points, problem.kernel, 0.0
        if kernel.name in CENTRED_KERNELS and not issparse(points):
            origin = points.mean(axis=0)
            points = points - origin
        solve = partial(self._solve_dual, solver, points, C)
        problem, result = self._apply_with_definite_kernel(problem, solve)
        signed_alpha, self.solver_ = problem.y * result.alpha, solver
        coef_and_origin = (points.T @ signed_alpha, origin) if kernel.name == "linear" else None
        coefficients = self._set_fitted_attributes(
            problem, result, signed_alpha, coef_and_origin, stacklevel=5
        )
        self.alpha_ = np.abs(coefficients)
        is_bounded = result.alpha >= (1.0 - BOUND_TOL) * C
        self.bounded_support_ = problem.indices[is_bounded]
        self.free_support_ = problem.indices[(result.alpha > 0) & ~is_bounded]
        signs = problem.targets[self.support_]
        self.n_support_ = np.array([(signs == sign).sum() for sign in (-1, 1)])
        w_squared = result.w_squared
        self.geometric_margin_ = 1.0 / np.sqrt(w_squared) if w_squared > 0 else np.inf
        self.dual_objective_ = result.dual_objective
        return self

    def _solve_dual(self, solver, points, C, problem):
        """Solve the dual, and check that the kernel is definite on the support vectors.

        The solution depends on the support vectors alone, so other points are not checked.
        """
        kernel, y = problem.kernel, problem.y
        gram, mean = gram_and_mean(solver, kernel, points)
        try:
            result = self._call_solver(solver, points, gram, C, problem)
            if is_interrupted() and solver != "active-set":
                raise KeyboardInterrupt  # the other solvers do not stop early
        except ValueError:
            if not kernel.is_known_definite:  # raises a more helpful error if this is the reason
                check_definite(gram.block(np.arange(gram.n), np.arange(gram.n)))
            raise
        if not kernel.is_known_definite:
            support = np.flatnonzero(result.alpha)
            check_definite(gram.block(support, support))
        if mean is not None:
            result = undo_centring(result, gram, y, mean)
        return fall_back_to_zero(result, y, C)

    def _resolve_solver(self, kernel, n, d):
        """Return the solver to use, or raise an error if it cannot compute the hard margin."""
        is_hard_margin = np.isinf(self.C)
        if self.solver == "auto":
            has_low_rank = is_low_rank(kernel, n, d)
            return "interior-point" if is_hard_margin or has_low_rank else "active-set"
        if is_hard_margin and self.solver != "interior-point":
            raise ValueError(
                "C=inf (the hard margin) needs solver='interior-point' or 'auto'; found "
                f"solver={self.solver!r}. Choose one of these, or a finite C."
            )
        return self.solver

    def _call_solver(self, solver, points, gram, C, problem):
        """Call the solver; return its `SolverResult`."""
        kernel, y = problem.kernel, problem.y
        options = {"tol": float(self.tol)}
        if self.max_iter != -1:
            options["max_iter"] = int(self.max_iter)
        if solver == "libsvm" and not isinstance(gram, StoredGram):
            return solve_libsvm_on_gram(points, gram, y, C, kernel.name, **kernel.params, **options)
        if solver == "libsvm":
            return solve_libsvm_on_gram(gram.K, gram, y, C, "precomputed", **options)
        if np.isinf(self.C):
            return solve_hard_margin_on_gram(gram, y, **options)
        return SOLVERS[solver](gram, y, C, **options)
