"""The import vector machine: sparse kernel logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from ..base import relative_gap
from ..gram import StoredGram
from ..labels import is_multiclass
from ..solvers.logistic.import_points import select_import_points_on_gram
from ..solvers.logistic.likelihoods import Binomial
from ..ties import argmax_up_to_rounding
from .base import LogisticKernelMachine

__all__ = ["ImportVectorMachine"]


class ImportVectorMachine(LogisticKernelMachine):
    r"""Sparse kernel logistic regression on import points, which are chosen greedily.

    For a growing set S of training points, this minimises over
    :math:`f = \sum_{j \in S} \alpha_j k(x_j, \cdot)` and b

    .. math:: \sum_i s_i \log\bigl(1 + e^{-y_i(f(x_i) + b)}\bigr) + \tfrac\lambda2\,\|f\|^2 ,

    which is the objective of `KernelLogisticRegression` with the ridge penalty. The loss includes
    all points, but only the kernel functions of S are used. For the linear kernel the
    training point nearest to the mean first becomes the origin.

    Parameters
    ----------
    lam : float, default=1.0
        Weight :math:`\lambda` of the ridge penalty, positive.
    kernel : str or callable, default="rbf"
        As in `svmbook.DualSVC`.
    gamma, degree, coef0
        Parameters of the named kernels, as in `svmbook.DualSVC`.
    class_weight : dict or "balanced", default=None
        Factor by which the sample weights of each class are multiplied, positive.
    min_decrease : float, default=1e-3
        Stop if another point lowers the objective by less than this fraction of its value.
    max_points : int, default=None
        Maximum number of import points; None for no limit.
    tol : float, default=1e-6
        Relative norm of the gradient and relative duality gap at which each minimisation stops.

    Attributes
    ----------
    support_, support_vectors_ : ndarray of shapes (n_import,) and (n_import, n_features)
        Indices of the import points, and the points, of shape (0, 0) for a precomputed kernel. For
        the linear kernel they include the training point that becomes the origin.
    dual_coef_ : ndarray of shape (1, n_import)
        Coefficients of their kernel functions, of either sign.
    intercept_ : ndarray of shape (1,)
        The intercept.
    coef_ : ndarray of shape (1, n_features)
        The weights of the features; linear kernel only.
    objective_ : float
        The objective at the solution.
    relative_gap_ : float
        Primal minus dual objective as a fraction of the primal: an upper bound on how far the
        objective is above its minimum over S.
    full_model_gap_ : float
        An upper bound on how far the objective is above the minimum of `KernelLogisticRegression`
        over all points, as a fraction of the objective.
    kkt_residual_ : float
        Relative norm of the gradient over S.
    converged_ : bool
        Whether the last minimisation is certified to ``tol``; otherwise `fit` warns.
    n_iter_ : int
        Number of points added to S.
    gamma_ : float
        The value of ``gamma`` used; only for kernels that have this parameter.
    estimators_ : list
        With more than two classes: a fitted classifier for each pair of classes, as in
        `svmbook.DualSVC`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; with two, a positive decision value means the second.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if ``X`` has string column names.

    Raises
    ------
    ValueError
        ``y`` has one class only; the kernel is not finite, symmetric and positive semi-definite on
        the training points; a weight is negative, or all weights of a class are zero.

    See Also
    --------
    svmbook.KernelLogisticRegression : The same loss with all points, or with a lasso penalty.

    Notes
    -----
    Each import point costs about :math:`n^2|S|` operations. Two arrays of :math:`n^2` numbers are
    stored, which takes 1.6 GB of memory for 10,000 points.

    References
    ----------
    Zhu and Hastie (2005), "Kernel logistic regression and the import vector machine", J.
    Computational and Graphical Statistics 14, 185-205. The notes of
    `svmbook.solvers.select_import_points` compare their choice of the next point with ours.

    Examples
    --------
    >>> from svmbook import ImportVectorMachine
    >>> from svmbook.datasets import non_separable
    >>> X, y = non_separable(random_state=0)
    >>> model = ImportVectorMachine(gamma=0.5).fit(X, y)
    >>> len(model.support_), round(model.score(X, y), 2)
    (28, 0.96)
    """

    _parameter_constraints: ClassVar[dict] = {
        **LogisticKernelMachine._parameter_constraints,
        "min_decrease": [Interval(Real, 0.0, None, closed="neither")],
        "max_points": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _n_stored_numbers(self, n, d):
        return 2.1 * n * n

    def __init__(
        self,
        lam: float = 1.0,
        *,
        kernel: str | Callable = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        class_weight: str | dict | None = None,
        min_decrease: float = 1e-3,
        max_points: int | None = None,
        tol: float = 1e-6,
    ) -> None:
        self.lam = lam
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.min_decrease = min_decrease
        self.max_points = max_points
        self.tol = tol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose import points and fit their coefficients.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
            Training points, or their Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights, nonnegative. Points of weight zero are ignored.

        Returns
        -------
        ImportVectorMachine
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        problem = self._training_problem(X, y, sample_weight)
        points, is_linear, origin = problem.points, problem.kernel.name == "linear", 0.0
        # If S is not the whole set, a linear model depends on the origin: if the points are far
        # from it, all kernel functions are nearly equal at the points. So the training point
        # nearest to the mean becomes the origin.
        if is_linear:
            mean = np.average(points, axis=0, weights=problem.weights)
            squared_distances = ((points - mean) ** 2).sum(axis=1)
            origin_index = argmax_up_to_rounding(-squared_distances, squared_distances.max())
            origin = points[origin_index]
            points = points - origin
        gram = StoredGram(problem.kernel.gram(points))
        likelihood = Binomial(problem.y, problem.weights)
        options = {"min_decrease": float(self.min_decrease), "max_points": self.max_points}
        lam, tol = float(self.lam), float(self.tol)
        result = select_import_points_on_gram(gram, likelihood, lam, tol=tol, **options)
        alpha, coef_and_origin = result.coef, None
        if is_linear:
            # In sum_j alpha_j (x_j - origin) the origin has the coefficient -sum_j alpha_j.
            alpha, coef_and_origin = alpha.copy(), (points.T @ alpha, origin)
            alpha[origin_index] -= alpha.sum()
        self._set_fitted_attributes(problem, result, alpha, coef_and_origin)
        self.full_model_gap_ = relative_gap(result.full_model_gap, result.objective)
        return self
