"""Kernel logistic regression with a ridge penalty, a lasso penalty, or none."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from numbers import Integral
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import Interval, StrOptions

from ..gram import LowRankGram, StoredGram
from ..labels import encode_binary_labels, encode_targets, is_multiclass
from ..solvers.logistic.likelihoods import make_likelihood
from ..solvers.logistic.newton import expansion_coefficients, ridge_path
from ..solvers.logistic.proximal import l1_path, lam_max_on_gram
from ..solvers.logistic.unpenalised import minimise_log_loss_on_factor, minimise_log_loss_on_gram
from .base import LogisticKernelMachine
from .path_lams import path_lams

__all__ = ["KernelLogisticRegression"]


class KernelLogisticRegression(LogisticKernelMachine):
    r"""Logistic regression in the feature space of a kernel, with a certificate.

    With :math:`f = \sum_j \alpha_j k(x_j, \cdot)` and weights :math:`s_i` of the points, this
    minimises for two classes, labelled -1 and +1,

    .. math:: \sum_i s_i \log\bigl(1 + e^{-y_i(f(x_i) + b)}\bigr) + \Omega,

    .. math:: \Omega = \tfrac\lambda2\,\|f\|^2 = \tfrac\lambda2\,\alpha^\top K\alpha
        \;\text{or}\; \lambda\,\|\alpha\|_1,

    and for k > 2 classes, with one function :math:`f_c` per class,

    .. math:: \sum_i s_i \Bigl(\log\sum_c e^{f_c(x_i) + b_c} - f_{y_i}(x_i) - b_{y_i}\Bigr)
        + \tfrac\lambda2\sum_c\|f_c\|^2 .

    Intercepts are not penalised. The losses are summed, not averaged: duplicating the data has the
    effect of halving ``lam``. With the linear kernel and the ridge penalty this is
    `sklearn.linear_model.LogisticRegression` with ``C = 1 / lam``.

    Parameters
    ----------
    lam : float, default=1.0
        Weight :math:`\lambda` of the penalty, positive; ignored with ``penalty=None``. It has the
        unit of k(x, x): multiplying the kernel by ten requires ten times the ``lam``.
    penalty : {"l2", "l1", None}, default="l2"
        "l2" is the ridge penalty; nearly all :math:`\alpha_j` are nonzero. "l1" is the lasso
        penalty (for each pair, if there are more than two classes); most :math:`\alpha_j` are
        exactly zero. None is the limit of the ridge for :math:`\lambda \to 0`, which exists only
        if the classes overlap. In theory a Gaussian kernel separates all distinct points. For
        small ``gamma`` the separation relies on parts of K below 1e-10, which are treated as zero.
    kernel : str or callable, default="rbf"
        As in `svmbook.DualSVC`.
    gamma, degree, coef0
        Parameters of the named kernels, as in `svmbook.DualSVC`.
    class_weight : dict or "balanced", default=None
        Factor by which the sample weights of each class are multiplied, positive; "balanced" is
        ``n_samples / (n_classes * count)``, where each point contributes its sample weight to both.
    tol : float, default=1e-6
        Tolerance at which to stop. For the ridge it applies to the norm of the gradient, relative
        to the norms of its terms, and to the relative duality gap; for "l1" to the violation of the
        optimality conditions relative to ``lam``.
    max_iter : int, default=200
        Maximum number of Newton steps.

    Attributes
    ----------
    support_, support_vectors_ : ndarray of shapes (n_support,) and (n_support, n_features)
        Indices of the points with a nonzero coefficient, and the points; shape (0, 0) for a
        precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Coefficients of their kernel functions, of either sign.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts; with more than two classes they sum to zero.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights :math:`w = \sum_j \alpha_j x_j`; linear kernel only.
    objective_ : float
        The objective at the solution.
    relative_gap_ : float
        Primal minus dual objective as a fraction of the primal: an upper bound on how far the
        objective is above its minimum; infinite with ``penalty=None``, where no bound is computed.
    kkt_residual_ : float
        The violation that is compared with ``tol``.
    converged_ : bool
        Whether the fit is certified to ``tol``; otherwise `fit` warns.
    n_iter_ : int
        Number of Newton steps.
    gamma_ : float
        The value of ``gamma`` used; only for kernels that have this parameter.
    estimators_ : list
        With ``penalty="l1"`` and more than two classes: a fitted classifier for each pair, as in
        `svmbook.DualSVC`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if ``X`` has string column names.

    Raises
    ------
    ValueError
        ``y`` has one class only; the classes are completely or quasi-completely separated and
        ``penalty`` is None; the kernel is not finite and symmetric on the training points, or not
        positive semi-definite (not checked with ``penalty="l1"``, whose objective is convex for
        every kernel); a weight is negative, or all weights of a class are zero.

    See Also
    --------
    svmbook.ImportVectorMachine : The ridge penalty with a few points, which are chosen greedily.
    sklearn.linear_model.LogisticRegression : The linear kernel, without a certificate. For sparse
        text data it is much faster.

    Notes
    -----
    A Newton step is a weighted ridge regression and costs one Cholesky factorisation of an n by n
    matrix, or of a d by d matrix for the linear kernel with fewer features than points. Other
    kernels store two arrays of :math:`n^2` numbers (three for "l1", four for more than two classes
    or without a penalty); 10,000 points of two classes need 1.6 GB and about a minute. The lasso is
    slow for small ``lam``, when many coefficients are nonzero.

    References
    ----------
    *Exploring Classification*, section "Logistic regression"; Zhu and Hastie (2005), "Kernel
    logistic regression and the import vector machine", section 2.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook import KernelLogisticRegression
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> y = ["down", "down", "up", "up"]
    >>> model = KernelLogisticRegression(gamma=0.5).fit(X, y)
    >>> model.predict_proba([[-2.0], [0.0]]).round(3)
    array([[0.641, 0.359],
           [0.5  , 0.5  ]])
    """

    _parameter_constraints: ClassVar[dict] = {
        **LogisticKernelMachine._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2"}), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        lam: float = 1.0,
        *,
        penalty: str | None = "l2",
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        class_weight: str | dict | None = None,
        tol: float = 1e-6,
        max_iter: int = 200,
    ) -> None:
        self.lam = lam
        self.penalty = penalty
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    @property
    def _convergence_advice(self):
        penalty_advice = "Use a penalty" if self.penalty is None else "Raise lam"
        return f"{penalty_advice}, scale the features, or raise tol or max_iter."

    _linear_accepts_sparse = True

    def _n_stored_numbers(self, n, d, n_classes=2, is_sparse=False):
        if self.penalty == "l1":
            return 3.1 * n * n
        if self._is_linear and d < n and not is_sparse:
            return 2 * n * d
        return (4.2 if self.penalty is None or n_classes > 2 else 2.2) * n * n

    def _estimate_stored_numbers(self, X, classes):
        return self._n_stored_numbers(*X.shape, len(classes), issparse(X))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
            Training points, or their Gram matrix for a precomputed kernel. For the linear kernel
            ``X`` may be sparse; it is never made dense, and the Gram matrix is formed.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, nonnegative. Points of weight zero are ignored.

        Returns
        -------
        KernelLogisticRegression
            The fitted estimator.
        """
        if self.penalty == "l1" and is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        problem, (gram, origin) = self._prepare_gram(self._training_problem(X, y, sample_weight))
        (result,) = self._solve_for_lams(problem, gram, [float(self.lam)])
        return self._store_result(problem, gram, origin, result)

    @_fit_context(prefer_skip_nested_validation=True)
    def path(
        self,
        X: ArrayLike,
        y: ArrayLike,
        lams: ArrayLike = 30,
        *,
        min_ratio: float = 1e-3,
        sample_weight: ArrayLike | None = None,
    ) -> list[KernelLogisticRegression]:
        r"""Fit a model for each value of ``lam``, each starting from the previous solution.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        lams : int or array-like, default=30
            Values of ``lam``, or their number. If a number is given, the values decrease
            geometrically from the smallest for which all coefficients are zero ("l1"), or from the
            sum of k(x, x) times the weight ("l2"), for which the outputs are nearly constant. For
            dense points and the linear kernel, the points are centred before.
        min_ratio : float, default=1e-3
            The last value as a fraction of the first, if ``lams`` is a number.

        Returns
        -------
        list of KernelLogisticRegression
            Fitted models in the order of the values, each with its ``lam``.

        Raises
        ------
        ValueError
            As in `fit`; also if ``penalty`` is None.

        Examples
        --------
        >>> from svmbook import KernelLogisticRegression
        >>> X = [[-3.0], [-1.0], [0.5], [2.0]]
        >>> lasso = KernelLogisticRegression(penalty="l1", kernel="linear")
        >>> path = lasso.path(X, [0, 1, 0, 1], lams=[8.0, 4.0, 2.0])
        >>> [(model.lam, len(model.support_)) for model in path]
        [(8.0, 0), (4.0, 1), (2.0, 1)]
        """
        if self.penalty is None:
            raise ValueError("penalty=None has no lam, and so no path; choose 'l1' or 'l2'.")
        template = clone(self)  # so that fitted attributes of this estimator do not change
        problem = template._training_problem(X, y, sample_weight)
        problem, (gram, origin) = template._prepare_gram(problem)
        lams = path_lams(lams, min_ratio, lambda: template._largest_lam(problem, gram))
        models = [copy(template).set_params(lam=lam) for lam in lams]
        results = template._solve_for_lams(problem, gram, lams)
        for model, result in zip(models, results, strict=True):
            model._store_result(problem, gram, origin, result)
        return models

    def _training_problem(self, X, y, sample_weight):
        encode = encode_binary_labels if self.penalty == "l1" else encode_targets
        return super()._training_problem(X, y, sample_weight, encode)

    def _prepare_gram(self, problem):
        """Return (problem, (Gram matrix, origin)); shift the kernel if that makes it definite.

        With the lasso penalty the coefficients need not sum to zero, so a shift would change the
        problem. It is not needed, because the objective is convex for every kernel.
        """
        if self.penalty == "l1":
            problem = problem._replace(kernel=problem.kernel.without_shift())
            return problem, self._gram_and_origin(problem)
        return self._apply_with_definite_kernel(problem, self._gram_and_origin)

    def _gram_and_origin(self, problem):
        """Return the Gram matrix, and the origin that was subtracted from the points."""
        points, kernel = problem.points, problem.kernel
        if kernel.name != "linear" or self.penalty == "l1":
            return StoredGram(kernel.gram(points, require_definite=self.penalty != "l1")), 0.0
        if issparse(points):
            return StoredGram(kernel.gram(points)), 0.0
        # Centring changes only the intercept, and reduces rounding errors. Without a penalty, the
        # mean is not weighted: the coefficients of least norm then sum to zero, and so give the
        # same function with the original points.
        weights = None if self.penalty is None else problem.weights
        origin = np.average(points, axis=0, weights=weights)
        points = points - origin
        if self.penalty is None or points.shape[1] < len(points):
            return LowRankGram(points), origin
        return StoredGram(kernel.gram(points)), origin

    def _largest_lam(self, problem, gram):
        """Return the first ``lam`` of a path, for which the outputs are nearly constant."""
        if self.penalty == "l1":
            return lam_max_on_gram(gram, self._likelihood(problem))
        return float(problem.weights @ gram.diagonal)

    def _likelihood(self, problem):
        return make_likelihood(problem.y, problem.weights, problem.n_classes)

    def _solve_for_lams(self, problem, gram, lams):
        """Return the result of the solver for each value of ``lam``."""
        options = {"tol": float(self.tol), "max_iter": self.max_iter}
        if self.penalty is None:
            data = problem.y, problem.weights, problem.n_classes
            if isinstance(gram, LowRankGram):
                return [minimise_log_loss_on_factor(gram.Z, *data, **options)]
            return [minimise_log_loss_on_gram(gram, *data, **options)]
        solve_path = l1_path if self.penalty == "l1" else ridge_path
        return solve_path(gram, self._likelihood(problem), lams, **options)

    def _store_result(self, problem, gram, origin, result):
        """Set the fitted attributes from a solution in any form of the Gram matrix."""
        alpha, coef = result.coef, None
        if isinstance(gram, LowRankGram):
            lam = self.lam if self.penalty else 0.0
            coef, alpha = result.coef, expansion_coefficients(gram, result, lam)
        elif problem.kernel.name == "linear":
            centred = problem.points if issparse(problem.points) else problem.points - origin
            coef = centred.T @ alpha
        coef_and_origin = None if coef is None else (coef, origin)
        self._set_fitted_attributes(problem, result, alpha, coef_and_origin, stacklevel=5)
        return self
