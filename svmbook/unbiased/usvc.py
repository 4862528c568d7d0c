"""The unbiased support vector classifier: a bounded cost, and few kernels."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.model_selection import train_test_split
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions

from ..calibration import false_alarm_threshold
from ..kernels import KERNELS
from ..labels import is_multiclass
from ..solvers.irwls.costs import usvc_cost
from ..solvers.irwls.iterations import irwls_path
from ..solvers.irwls.starts import (
    least_squares_start,
    minimise_from_starts,
    random_start,
    svm_start,
)
from .base import IRWLSClassifier
from .irwls_svc import doubling_sequence
from .placement import PLACEMENT_RULES, choose_prototypes, whitening_matrix

__all__ = ["USVC"]

OUTPUT_TOL = 1e-9  # relative to the largest output: smaller differences are rounding errors


class USVC(IRWLSClassifier):
    r"""Unbiased support vector classifier: few kernels, and a bounded cost close to the 0-1 loss.

    For two classes, this finds a local minimum over w and b of

    .. math:: \tfrac12\|w\|^2 + \sum_i C_i\,\theta_s\bigl(y_i(w^\top\phi(x_i) + b)\bigr)

    with the cost :math:`\theta_s` of `svmbook.losses.usvc` and :math:`C_i` equal to ``C``
    times the weight of the class times the sample weight. For the linear kernel w is arbitrary. For
    others it is an expansion in fixed prototypes, :math:`w = \sum_j \beta_j\,\phi(c_j)`, so that
    the size of the model is chosen before training. The cost is bounded, hence not convex. The
    solution is certified to be a stationary point, which need not be the global minimum;
    ``start_objectives_`` holds the objectives reached from all starts.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the penalty per error, positive and finite. On separable data a
        large ``C`` gives the maximum margin.
    s : float, default=2.0
        Steepness of the cost, at least 1; the cost tends to the 0-1 loss as s grows. If s is at
        most 2, full steps lower the objective, unless a margin falls from above 1 to below 1.
    k : float, default=1e-6
        Small, positive, at most 1. It makes the slope of the cost at the margin 1 nonzero; without
        that slope the margin would not be maximised.
    kernel : str or callable, default="linear"
        As in `svmbook.DualSVC`, except "precomputed".
    gamma, degree, coef0
        Parameters of the named kernels, as in `svmbook.DualSVC`.
    n_prototypes : int, default=50
        Number of kernels, capped at the number of distinct training points; ignored for a linear
        kernel, or if prototypes are given.
    prototypes : {"fscl", "kmeans", "kpca"} or array-like of shape (m, n_features), default="fscl"
        The prototypes, or the rule that places them, which ignores weights: frequency sensitive
        competitive learning, cluster centres of k-means, or pre-images of points on the axes of
        kernel PCA. Ignored for the linear kernel.
    init : {"svc", "ls", "path", "random"}, default="svc"
        First start: an SVM solved approximately, least squares, the end of a path on which s is
        doubled from 1, or least squares on a few random points.
    n_init : int, default=1
        Number of starts; those after the first are random. The smallest objective is chosen.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive: the relative costs of false alarms and misses.
    target_false_alarm_rate : float, default=None
        Upper bound of the share of points of ``classes_[0]`` that are predicted as ``classes_[1]``.
        It is met by a threshold, chosen on validation points that are split off regardless of
        weights.
    confidence : float, default=0.95
        Probability, over random validation points, that the bound holds.
    validation_fraction : float, default=0.3
        Fraction of the training points of each class that is used for validation.
    random_state : int, RandomState or None, default=None
        Seed of the prototypes, the random starts and the choice of validation points.
    tol : float, default=1e-4
        Relative norm of the gradient at which to stop.
    max_iter : int, default=1000
        Maximum number of iterations from each start.

    Attributes
    ----------
    prototypes_, n_kernels_ : ndarray of shape (m, n_features), and int
        The prototypes and their number; not for the linear kernel.
    alpha_ : ndarray of shape (n_samples,)
        The multipliers, as in `svmbook.IRWLSSVC`; linear kernel only.
    dual_coef_ : ndarray of shape (1, m)
        Coefficients :math:`\beta_j` of the prototypes; for the linear kernel, :math:`y_i\alpha_i`
        of the support vectors.
    support_, support_vectors_ : ndarray
        For the linear kernel, indices of the points with a nonzero multiplier, and the points. For
        other kernels ``support_vectors_`` equals ``prototypes_``.
    intercept_ : ndarray of shape (1,)
        The intercept, minus ``threshold_`` if there is a target.
    coef_ : ndarray of shape (1, n_features)
        The weights; linear kernel only.
    start_objectives_ : ndarray of shape (n_init,)
        The objective reached from each start.
    threshold_ : float
        The decision value, before its subtraction, above which ``classes_[1]`` is predicted; only
        with a target.
    objective_, kkt_residual_ : float
        The objective, before the threshold is subtracted, and the relative norm of its gradient.
    converged_ : bool
        Whether ``kkt_residual_`` is at most ``tol``, or further progress is below rounding error;
        otherwise `fit` warns.
    n_iter_ : int
        Number of iterations from the chosen start.
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
        ``y`` has one class only; the prototypes have the wrong number of features; there are too
        few validation points to certify the rate; the kernel is not finite on the training points;
        or a weight is negative.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, by cross-validated calibration.

    Notes
    -----
    An iteration costs :math:`nr^2` operations for r features or prototypes, and the fit stores
    about 5nr numbers. Half a million points with 20 prototypes take seconds.

    References
    ----------
    Navia-Vazquez, Perez-Cruz, Artes-Rodriguez and Figueiras-Vidal (2004), "Advantages of unbiased
    support vector classifiers for data mining applications", J. VLSI Signal Processing 37, 223-235.

    Examples
    --------
    >>> from svmbook import USVC
    >>> from svmbook.datasets import usvc_case_a
    >>> X, y = usvc_case_a(random_state=0)
    >>> model = USVC(C=10.0).fit(X, y)
    >>> round(float(-model.intercept_[0] / model.coef_[0, 0]), 2)
    0.5
    """

    _parameter_constraints: ClassVar[dict] = {
        **IRWLSClassifier._parameter_constraints,
        "s": [Interval(Real, 1, None, closed="left")],
        "k": [Interval(Real, 0, 1, closed="right")],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "prototypes": [StrOptions(set(PLACEMENT_RULES)), "array-like"],
        "init": [StrOptions({"svc", "ls", "path", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "target_false_alarm_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    _memory_advice = "Use fewer points, or fewer prototypes."

    def _n_stored_numbers(self, n, d):
        return (
            super()._n_stored_numbers(n, d) if self._is_linear else n * (5 * self.n_prototypes + d)
        )

    def __init__(
        self,
        C: float = 1.0,
        *,
        s: float = 2.0,
        k: float = 1e-6,
        kernel: str | Callable = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_prototypes: int = 50,
        prototypes: str | ArrayLike = "fscl",
        init: str = "svc",
        n_init: int = 1,
        class_weight: str | dict | None = None,
        target_false_alarm_rate: float | None = None,
        confidence: float = 0.95,
        validation_fraction: float = 0.3,
        random_state: int | np.random.RandomState | None = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.s = s
        self.k = k
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_prototypes = n_prototypes
        self.prototypes = prototypes
        self.init = init
        self.n_init = n_init
        self.class_weight = class_weight
        self.target_false_alarm_rate = target_false_alarm_rate
        self.confidence = confidence
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the objective from each start, and choose the smallest minimum.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any type, of two or more classes.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, nonnegative. Points of weight zero are ignored.

        Returns
        -------
        USVC
            The fitted estimator.
        """
        if is_multiclass(y):
            if self.target_false_alarm_rate is not None:
                raise ValueError(
                    "target_false_alarm_rate needs two classes, the second of which raises an "
                    "alarm; merge the classes of y into two, or set it to None."
                )
            return self._fit_one_vs_one(X, y, sample_weight)
        problem = self._training_problem(X, y, sample_weight)
        rng = self._random_generator()
        training_part, validation_indices = problem, None
        if self.target_false_alarm_rate is not None:
            training_part, validation_indices = self._validation_split(problem, rng)
        is_linear = problem.kernel.name == "linear"
        if is_linear:
            Z, origin = self._features_and_origin(training_part)
        else:
            Z, T, training_part = self._place_prototypes(training_part, rng)
        C = self._penalties(training_part)
        result, self.start_objectives_ = self._minimise_from_each_start(Z, training_part.y, C, rng)
        if is_linear:
            self._set_support_attributes(training_part, result, origin)
        else:
            self._set_diagnostics(training_part, result, stacklevel=4)
            coefficients, intercept = training_part.kernel.unshifted_coefficients(
                T @ result.w, result.intercept, self.prototypes_
            )
            self.dual_coef_, self.intercept_ = coefficients[None, :], np.array([intercept])
        if validation_indices is not None:
            self.threshold_ = self._certified_threshold(problem, validation_indices)
            self.intercept_ = self.intercept_ - self.threshold_
        return self

    def _minimise_from_each_start(self, Z, y, C, rng):
        """Return the result with the smallest objective, and the objectives of all starts."""
        cost = usvc_cost(float(self.s), float(self.k))
        if self.init == "ls":
            first_start = least_squares_start(Z, y, C)
        elif self.init == "random":
            first_start = random_start(Z, y, C, rng)
        else:
            first_start = svm_start(Z, y, C)
        if self.init == "path":
            costs = [usvc_cost(s, float(self.k)) for s in doubling_sequence(1.0, float(self.s))]
            result = irwls_path(Z, y, C, costs, start=first_start, **self._solver_options())[-1]
            first_start = result.w, result.intercept
        starts = [first_start, *(random_start(Z, y, C, rng) for _ in range(self.n_init - 1))]
        return minimise_from_starts(Z, y, C, cost, starts, **self._solver_options())

    def _place_prototypes(self, problem, rng):
        """Set the prototypes; return features of the points, T, and the updated problem.

        The coefficients of the prototypes are T times the weights of the features.
        """
        prototypes = self.prototypes
        if not isinstance(prototypes, str):
            prototypes = check_array(
                prototypes, dtype=np.float64, input_name="prototypes", copy=True
            )
        kernel, points = problem.kernel, problem.points
        self.prototypes_ = choose_prototypes(prototypes, points, self.n_prototypes, kernel, rng)
        self.support_vectors_, self.n_kernels_ = self.prototypes_, len(self.prototypes_)
        if kernel.shift_index is not None:  # the coefficients of the prototypes sum to zero
            kernel = kernel.without_shift().with_shift(self.prototypes_)
        T = whitening_matrix(kernel.gram(self.prototypes_))
        Z = kernel.values(points, self.prototypes_) @ T
        return Z, T, problem._replace(kernel=kernel)

    def _validation_split(self, problem, rng):
        """Return the problem without the validation points, and the indices of these points."""
        try:
            training_indices, validation_indices = train_test_split(
                np.arange(len(problem.y)),
                test_size=float(self.validation_fraction),
                stratify=problem.y,
                random_state=int(rng.integers(2**31)),
            )
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={self.validation_fraction:g} of {len(problem.y)} points does "
                "not put both classes into both parts; choose another fraction, or use more points."
            ) from error
        # Check before the fit that there are enough validation points without an alarm.
        scores = np.zeros((problem.y[validation_indices] < 0).sum())
        false_alarm_threshold(scores, float(self.target_false_alarm_rate), float(self.confidence))
        points, weights = problem.points[training_indices], problem.weights[training_indices]
        training_part = problem._replace(
            indices=problem.indices[training_indices],
            points=points,
            y=problem.y[training_indices],
            weights=weights,
            kernel=self._resolve_kernel(points, weights),
        )
        return training_part, validation_indices

    def _certified_threshold(self, problem, validation_indices):
        """Return a threshold that certifies the target rate on the validation points.

        A bound on the rounding error is added, so that points whose output equals the threshold
        raise no alarm.
        """
        negative_indices = validation_indices[problem.y[validation_indices] < 0]
        scores = self._decision_values(problem.points[negative_indices])
        rate, confidence = float(self.target_false_alarm_rate), float(self.confidence)
        threshold = false_alarm_threshold(scores, rate, confidence)
        return threshold + OUTPUT_TOL * max(np.abs(scores).max(), abs(self.intercept_[0]))
