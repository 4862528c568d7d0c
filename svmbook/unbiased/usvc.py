"""The unbiased support vector classifier: a cost that nearly counts errors, on few kernels."""

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
from ..labels import several_classes
from ..solvers.irwls.costs import unbiased_cost
from ..solvers.irwls.rounds import irwls_path
from ..solvers.irwls.starts import best_of, least_squares_start, random_start, svm_start
from .expansions import doubled
from .machine import IRWLSClassifier
from .points import PROTOTYPES, choose_prototypes, orthonormal_axes

__all__ = ["USVC"]

EQUAL_OUTPUTS = 1e-9  # relative to the largest output: smaller differences are rounding errors


class USVC(IRWLSClassifier):
    r"""Unbiased support vector classifier: few kernels, and a cost that nearly counts errors.

    For two classes. Looks for a local minimum over w and b of

    .. math:: \tfrac12\|w\|^2 + \sum_i C_i\,\theta_s\bigl(y_i(w^\top\phi(x_i) + b)\bigr)

    with the cost :math:`\theta_s` of `svmbook.losses.unbiased` and :math:`C_i` equal to ``C``
    times the weight of the class times the sample weight. For the linear kernel w is free; for any
    other it is a sum over fixed prototypes, :math:`w = \sum_j \beta_j\,\phi(c_j)`, so that the
    size of the machine is chosen before it is trained. The cost is bounded, hence not convex:
    nothing says that there is no smaller minimum. What is certified is that the end is stationary;
    ``starts_`` tells what the other starts came to.

    Parameters
    ----------
    C : float, default=1.0
        Price of one error, positive and finite. On separable data a large price gives the widest
        street.
    s : float, default=2.0
        Steepness of the cost, at least 1; it tends to a count as s grows. Up to 2 each round lowers
        the objective without a shorter step, but where a point loses its clearance.
    k : float, default=1e-6
        Small, positive, at most 1: it leaves the cost a slope at the margin 1, without which
        nothing would ask for the widest street.
    kernel : str or callable, default="linear"
        As in `svmbook.DualSVC`, but for "precomputed".
    gamma, degree, coef0
        Parameters of the named kernels, as in `svmbook.DualSVC`.
    n_prototypes : int, default=50
        Number of kernels, at most that of different training points; not read for the linear
        kernel, or where prototypes are given.
    prototypes : {"fscl", "kmeans", "kpca"} or array-like of shape (m, n_features), default="fscl"
        How to place them: frequency sensitive competitive learning, the means of clusters, or
        pre-images of the axes of kernel PCA, by the points without their weights; or the points
        themselves. Not read for the linear kernel.
    init : {"svc", "ls", "path", "random"}, default="svc"
        The first start: a roughly solved SVM, least squares, the end of a path on which s
        doubles from 1, or least squares on a few random points.
    n_init : int, default=1
        Starts, those after the first at random. The smallest objective is kept.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive: the price of a miss and of a false alarm.
    target_false_alarm_rate : float, default=None
        Of all points of ``classes_[0]``, the share that may be called ``classes_[1]``. A part of
        the training points is held out, whatever their weights, and the intercept is set by them.
    confidence : float, default=0.95
        Probability, over the draw of the held-out points, that the rate is kept.
    validation_fraction : float, default=0.3
        Share of the training points of each class that is held out for that.
    random_state : int, RandomState or None, default=None
        For prototypes, random starts and the points held out.
    tol : float, default=1e-4
        Relative size of the gradient at which to stop.
    max_iter : int, default=1000
        Rounds at most, from each start.

    Attributes
    ----------
    prototypes_ : ndarray of shape (m, n_features)
        The prototypes; not for the linear kernel.
    n_kernels_ : int
        Their number, the size of the machine; not for the linear kernel.
    dual_coef_ : ndarray of shape (1, m)
        Their coefficients :math:`\beta_j`; for the linear kernel the signed multipliers of the
        support.
    support_, support_vectors_ : ndarray
        For the linear kernel the points with a multiplier; for others the second is
        ``prototypes_``.
    intercept_ : ndarray of shape (1,)
        The intercept, less ``threshold_`` where there is one.
    coef_ : ndarray of shape (1, n_features)
        The weights; linear kernel only.
    starts_ : ndarray of shape (n_init,)
        The objective that each start came to.
    threshold_ : float
        The output above which a point is called ``classes_[1]``; with a target only.
    objective_ : float
        The objective, before any threshold.
    kkt_residual_ : float
        Relative size of the gradient.
    converged_ : bool
        Whether that is at most ``tol``, or rounding hides what is left; else `fit` warns.
    n_iter_ : int
        Rounds from the start that was kept.
    gamma_ : float
        The value of ``gamma`` in use; only for kernels that have one.
    estimators_ : list
        With more than two classes: a fitted classifier for each pair of classes, in the order of
        `sklearn.multiclass.OneVsOneClassifier`, whose votes decide. They have the other attributes,
        whose indices count the points of the pair; ``classes_`` and the certificate (the worst of
        the pairs) are here as well.
    classes_ : ndarray of shape (n_classes,)
        The labels; with two a positive output speaks for the second.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class; prototypes of
        another width; a rate that the held-out points cannot certify; a kernel with values that
        are not finite; negative weights.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities, from outputs on held-out folds.

    Notes
    -----
    A round costs :math:`nr^2` operations for r features or prototypes, and nr numbers are held:
    half a million points take seconds.

    References
    ----------
    Navia-Vazquez, Perez-Cruz, Artes-Rodriguez and Figueiras-Vidal (2004), "Advantages of unbiased
    support vector classifiers for data mining applications", J. VLSI Signal Processing 37, 223-235.

    Examples
    --------
    >>> from svmbook import USVC
    >>> from svmbook.datasets import usvc_case_a
    >>> X, y = usvc_case_a(random_state=0)
    >>> machine = USVC(C=10.0).fit(X, y)
    >>> round(float(-machine.intercept_[0] / machine.coef_[0, 0]), 2)
    0.5
    """

    _parameter_constraints: ClassVar[dict] = {
        **IRWLSClassifier._parameter_constraints,
        "s": [Interval(Real, 1, None, closed="left")],
        "k": [Interval(Real, 0, 1, closed="right")],
        "kernel": [StrOptions(set(KERNELS)), callable],
        "n_prototypes": [Interval(Integral, 1, None, closed="left")],
        "prototypes": [StrOptions(set(PROTOTYPES)), "array-like"],
        "init": [StrOptions({"svc", "ls", "path", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "target_false_alarm_rate": [Interval(Real, 0, 1, closed="neither"), None],
        "confidence": [Interval(Real, 0, 1, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def _stored_numbers(self, n, d):
        return n * d if self._linear else 3 * n * (self.n_prototypes + d)

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
        """Fit from every start and keep the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, not negative. A point of weight zero counts as absent.

        Returns
        -------
        USVC
            The fitted estimator.
        """
        if several_classes(y):
            if self.target_false_alarm_rate is not None:
                raise ValueError(
                    "target_false_alarm_rate speaks of two classes, those without and with an "
                    "alarm; join the classes of y into two, or leave it at None."
                )
            return self._fit_pairs(X, y, sample_weight)
        problem = self._prepare(X, y, sample_weight)
        rng = self._generator()
        fitted, kept_out = problem, None
        if self.target_false_alarm_rate is not None:
            fitted, kept_out = self._validation_split(problem, rng)
        linear = problem.kernel.name == "linear"
        if linear:
            Z, origin = self._features(fitted)
        else:
            Z, to_kernels, fitted = self._prototype_features(fitted, rng)
        result, self.starts_ = self._best(Z, fitted.y, self._penalties(fitted), rng)
        if linear:
            self._store_support(fitted, result, origin)
        else:
            self._certify(fitted, result, stacklevel=4)
            coefficients, intercept = fitted.kernel.unshifted_coefficients(
                to_kernels @ result.w, result.intercept, self.prototypes_
            )
            self.dual_coef_, self.intercept_ = coefficients[None, :], np.array([intercept])
        if kept_out is not None:
            self.threshold_ = self._threshold(problem, kept_out)
            self.intercept_ = self.intercept_ - self.threshold_
        return self

    def _best(self, Z, y, C, rng):
        """Return the best result of all starts, and all objectives."""
        cost = unbiased_cost(float(self.s), float(self.k))
        if self.init == "ls":
            first = least_squares_start(Z, y, C)
        elif self.init == "random":
            first = random_start(Z, y, C, rng)
        else:
            first = svm_start(Z, y, C)
        if self.init == "path":
            path = [unbiased_cost(s, float(self.k)) for s in doubled(1.0, float(self.s))]
            gentle = irwls_path(Z, y, C, path, start=first, **self._options())[-1]
            first = gentle.w, gentle.intercept
        others = [random_start(Z, y, C, rng) for _ in range(self.n_init - 1)]
        return best_of(Z, y, C, cost, [first, *others], **self._options())

    def _prototype_features(self, problem, rng):
        """Return features of the points, the way from weights to kernels, and the problem."""
        prototypes = self.prototypes
        if not isinstance(prototypes, str):
            prototypes = check_array(
                prototypes, dtype=np.float64, input_name="prototypes", copy=True
            )
        kernel, points = problem.kernel, problem.points
        self.prototypes_ = choose_prototypes(prototypes, points, self.n_prototypes, kernel, rng)
        self.support_vectors_, self.n_kernels_ = self.prototypes_, len(self.prototypes_)
        if kernel.shift_row is not None:  # the coefficients of the prototypes sum to zero
            kernel = kernel.unshifted().shifted(self.prototypes_)
        to_kernels = orthonormal_axes(kernel.gram(self.prototypes_))
        Z = kernel.values(points, self.prototypes_) @ to_kernels
        return Z, to_kernels, problem._replace(kernel=kernel)

    def _validation_split(self, problem, rng):
        """Return the problem without a part of its points, and the numbers of that part."""
        rows = np.arange(len(problem.y))
        try:
            kept, out = train_test_split(
                rows,
                test_size=float(self.validation_fraction),
                stratify=problem.y,
                random_state=int(rng.integers(2**31)),
            )
        except ValueError as error:
            raise ValueError(
                f"validation_fraction={self.validation_fraction:g} of {len(rows)} points cannot "
                "hold both classes, and leave both; choose another share, or bring more points."
            ) from error
        # Before anything is fitted: check that so many points suffice.
        quiet = np.zeros((problem.y[out] < 0).sum())
        false_alarm_threshold(quiet, float(self.target_false_alarm_rate), float(self.confidence))
        points, weights = problem.points[kept], problem.weights[kept]
        part = problem._replace(
            present=problem.present[kept],
            points=points,
            y=problem.y[kept],
            weights=weights,
            kernel=self._choose_kernel(points, weights),
        )
        return part, out

    def _threshold(self, problem, out):
        """Return the output that few enough of the held-out points of the first class exceed.

        A little more, so that rounding raises no alarm where outputs are equal.
        """
        scores = self._outputs(problem.points[out[problem.y[out] < 0]])
        rate, confidence = float(self.target_false_alarm_rate), float(self.confidence)
        least = false_alarm_threshold(scores, rate, confidence)
        return least + EQUAL_OUTPUTS * max(np.abs(scores).max(), abs(self.intercept_[0]))
