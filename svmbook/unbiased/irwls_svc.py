"""Support vector classifiers with the hinge loss or a sigmoidal cost, fitted by IRWLS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from ..base import relative_gap
from ..labels import is_multiclass
from ..solvers.dual.result import certify
from ..solvers.irwls.costs import HINGE, sigmoidal_cost
from ..solvers.irwls.iterations import irwls_path, run_irwls
from ..solvers.irwls.starts import svm_start
from .base import IRWLSClassifier

__all__ = ["ERMSVC", "IRWLSSVC"]

# A fit with a larger relative gap has not converged, however small its gradient is.
MAX_RELATIVE_GAP = 1e-3
FIRST_SLOPE = 1.0  # first slope of `ERMSVC`, which is then doubled repeatedly


class IRWLSSVC(IRWLSClassifier):
    r"""Support vector classifier by iteratively reweighted least squares; slower than `DualSVC`.

    Minimises

    .. math:: \tfrac12\|w\|^2 + \sum_i C_i \max(0, 1 - y_i(w^\top\phi(x_i) + b)),

    with :math:`C_i` as in `DualSVC`, by the algorithm of the unbiased classifiers.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the penalty per unit of slack, positive and finite.
    kernel, gamma, degree, coef0
        The kernel and its parameters, as in `svmbook.DualSVC`.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.
    tol : float, default=1e-5
        Relative norm of the gradient at which to stop; the objective then has six correct digits.
    max_iter : int, default=1000
        Maximum number of iterations, each of which solves one linear system.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_samples,)
        One multiplier per training point, as in `DualSVC` up to rounding at the bound.
    support_, support_vectors_ : ndarray of shapes (n_SV,) and (n_SV, n_features)
        Indices of the support vectors, and the vectors; shape (0, 0) for a precomputed kernel.
    dual_coef_ : ndarray of shape (1, n_SV)
        :math:`y_i\alpha_i` of the support vectors.
    intercept_ : ndarray of shape (1,)
        The intercept.
    coef_ : ndarray of shape (1, n_features)
        The weights; linear kernel only.
    objective_ : float
        The objective.
    relative_gap_ : float
        Primal minus dual objective as a fraction of the primal, for feasible multipliers close to
        ``alpha_``.
    kkt_residual_ : float
        Relative norm of the gradient.
    converged_ : bool
        Whether ``kkt_residual_`` is at most ``tol``, or further progress is below rounding error,
        and ``relative_gap_`` is at most 1e-3; otherwise `fit` warns.
    n_iter_ : int
        Number of iterations.
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
        the training points; or a weight is negative.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, by cross-validated calibration.

    Notes
    -----
    An iteration costs :math:`nr^2` operations; r is the number of features or the rank of the Gram
    matrix, often n. With a kernel, 3000 points take minutes; `USVC` uses few kernels instead.

    References
    ----------
    Perez-Cruz et al. (2000), "Fast training of support vector classifiers", NIPS 13, 734-740.

    Examples
    --------
    >>> from svmbook import DualSVC, IRWLSSVC
    >>> from svmbook.datasets import stdev
    >>> X, y = stdev(2, random_state=0)
    >>> irwls, dual = IRWLSSVC().fit(X, y), DualSVC().fit(X, y)
    >>> abs(irwls.objective_ / dual.objective_ - 1) < 1e-6
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str | Callable = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        class_weight: str | dict | None = None,
        tol: float = 1e-5,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the objective on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
            Training points, or their Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, nonnegative. Points of weight zero are ignored.

        Returns
        -------
        IRWLSSVC
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        problem = self._training_problem(X, y, sample_weight)
        C = self._penalties(problem)
        problem, (Z, origin) = self._apply_with_definite_kernel(problem, self._features_and_origin)
        result = run_irwls(Z, problem.y, C, HINGE, **self._solver_options())
        gap = result.objective - _dual_objective(Z, problem.y, C, result)
        if not gap <= MAX_RELATIVE_GAP * result.objective:
            message = f"{result.message}, but the duality gap is large"
            result = replace(result, converged=False, message=message)
        self._set_support_attributes(problem, result, origin)
        self.relative_gap_ = relative_gap(gap, result.objective)
        return self


def _dual_objective(Z, y, C, result):
    """Return the dual objective of multipliers made feasible by clipping and scaling one class."""
    alpha = np.clip(result.alpha, 0.0, C)
    class_sums = np.array([alpha[y < 0].sum(), alpha[y > 0].sum()])
    alpha *= np.where(
        y > 0, *(min(class_sums) / np.maximum(class_sums[::-1], np.finfo(float).tiny))
    )
    f = Z @ (Z.T @ (y * alpha))
    return certify(alpha, result.intercept, y, C, f, n_iter=0, tol=1.0).dual_objective


class ERMSVC(IRWLSClassifier):
    r"""Support vector classifier with a sigmoidal cost, by empirical risk minimisation.

    Finds a local minimum over w and b of

    .. math:: \tfrac12\|w\|^2 + \sum_i C_i\,\theta_a\bigl(y_i(w^\top\phi(x_i) + b)\bigr)

    with the cost :math:`\theta_a` of `svmbook.losses.sigmoidal`; :math:`C_i` is ``C`` times class
    weight times sample weight. The slope a is doubled from 1 to ``slope``; the first minimisation
    starts from the SVM, each other one from the previous solution. The result is certified to be
    stationary, not to be the global minimum.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the penalty per error, positive and finite.
    slope : float, default=4.0
        Slope of the last cost, at least 1; the cost tends to the 0-1 loss as the slope grows.
    kernel, gamma, degree, coef0
        The kernel and its parameters, as in `svmbook.DualSVC`.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.
    tol : float, default=1e-4
        Relative norm of the gradient at which to stop.
    max_iter : int, default=1000
        Maximum number of iterations for each slope.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_samples,)
        Multipliers: :math:`C_i` times the absolute derivative of each point's cost.
    support_, support_vectors_ : ndarray of shapes (n_SV,) and (n_SV, n_features)
        Indices of the support vectors, and the vectors; shape (0, 0) for a precomputed kernel.
    n_kernels_ : int
        Number of support vectors.
    dual_coef_ : ndarray of shape (1, n_SV)
        :math:`y_i\alpha_i` of the support vectors.
    intercept_ : ndarray of shape (1,)
        The intercept.
    coef_ : ndarray of shape (1, n_features)
        The weights; linear kernel only.
    objective_ : float
        The objective.
    slopes_, objectives_ : ndarray of shape (n_slopes,)
        The slopes, and the objective at the end of each minimisation.
    kkt_residual_ : float
        Relative norm of the gradient.
    converged_ : bool
        Whether ``kkt_residual_`` is at most ``tol``, or further progress is below rounding error;
        otherwise `fit` warns.
    n_iter_ : int
        Number of iterations for the last slope.
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
        the training points; or a weight is negative.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, by cross-validated calibration.

    Notes
    -----
    An iteration costs as many operations as one of `IRWLSSVC`.

    References
    ----------
    Perez-Cruz, Navia-Vazquez, Figueiras-Vidal and Artes-Rodriguez (2003), "Empirical risk
    minimization for support vector machines", IEEE Trans. on Neural Networks 14, 296-303. The
    formula of the cost is ours; Navia-Vazquez et al. (2004) name its shape.

    Examples
    --------
    >>> from svmbook import ERMSVC
    >>> from svmbook.datasets import usvc_case_a
    >>> X, y = usvc_case_a(random_state=0)
    >>> model = ERMSVC(C=10.0).fit(X, y)
    >>> round(float(-model.intercept_[0] / model.coef_[0, 0]), 2)
    0.5
    """

    _parameter_constraints: ClassVar[dict] = {
        **IRWLSClassifier._parameter_constraints,
        "slope": [Interval(Real, FIRST_SLOPE, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        slope: float = 4.0,
        kernel: str | Callable = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        class_weight: str | dict | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.slope = slope
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the objective for each slope in turn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples, n_samples)
            Training points, or their Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, nonnegative. Points of weight zero are ignored.

        Returns
        -------
        ERMSVC
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        problem = self._training_problem(X, y, sample_weight)
        C, slopes = self._penalties(problem), doubling_sequence(FIRST_SLOPE, float(self.slope))
        problem, (Z, origin) = self._apply_with_definite_kernel(problem, self._features_and_origin)
        costs, start = [*map(sigmoidal_cost, slopes)], svm_start(Z, problem.y, C)
        results = irwls_path(Z, problem.y, C, costs, start=start, **self._solver_options())
        self._set_support_attributes(problem, results[-1], origin)
        self.slopes_ = np.array(slopes)
        self.objectives_ = np.array([result.objective for result in results])
        self.n_kernels_ = len(self.support_)
        return self


def doubling_sequence(first, last):
    """Return ``first``, its repeated doubles below ``last``, and ``last``.

    Examples
    --------
    >>> from svmbook.unbiased.irwls_svc import doubling_sequence
    >>> doubling_sequence(1.0, 5.0)
    [1.0, 2.0, 4.0, 5.0]
    """
    values = [first]
    while 2.0 * values[-1] < last:
        values.append(2.0 * values[-1])
    return values if values[-1] == last else [*values, last]
