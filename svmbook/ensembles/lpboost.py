"""LPBoost: the ensemble with the largest margin in the l1 norm."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import _fit_context, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import has_fit_parameter

from ..base import BaseClassifier, relative_gap
from ..labels import is_multiclass
from ..solvers.boosting.lpboost import run_lpboost
from ..solvers.boosting.stumps import MidpointStumps
from ..weights import point_penalties

__all__ = ["LPBoost"]


class LPBoost(BaseClassifier):
    r"""The ensemble with the largest margin in the l1 norm, found by column generation.

    Minimises over the weights :math:`w \ge 0` of all hypotheses and :math:`\xi \ge 0`

    .. math:: \sum_h w_h + \sum_i C_i\xi_i \quad\text{subject to}\quad
        y_i\sum_h w_h h(x_i) \ge 1 - \xi_i,

    where :math:`C_i` is ``C`` times the class weight and the sample weight of :math:`x_i`.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the weight of the slacks, positive. ``C=inf`` is the hard margin.
        If C is so small that every hypothesis costs more than the slack it saves, the optimal
        ensemble is empty and ``classes_[0]`` is always predicted.
    estimator : classifier, default=None
        The base learner: a scikit-learn classifier whose ``fit`` takes ``sample_weight``. A copy is
        fitted in each iteration. None uses all decision stumps with thresholds midway between
        neighbouring training values. ``dual_objective_`` is a lower bound, and the duality gap is
        valid, only if the base learner finds the hypothesis of smallest weighted error. For stumps
        the search is exact.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.
    tol : float, default=1e-6
        Tolerance of the relative duality gap.
    max_iter : int, default=1000
        Maximum number of linear programs.

    Attributes
    ----------
    hypotheses_ : list
        Hypotheses of positive weight: callables that return an array of -1 and +1, of shape (n, 1).
    estimator_weights_ : ndarray
        Weights of the hypotheses.
    dual_variables_ : ndarray of shape (n_samples,)
        The dual variables :math:`u_i` of the points: every hypothesis has
        :math:`\sum_i u_iy_ih(x_i) \le 1`.
    margin_ : float
        The smallest :math:`y_iF(x_i)/\sum_h w_h` of the training points.
    objective_, dual_objective_ : float
        The objective, and its lower bound from the dual variables.
    relative_gap_ : float
        The duality gap as a fraction of the objective.
    converged_ : bool
        Whether the relative duality gap is at most ``tol``; if not, `fit` warns.
    n_iter_ : int
        Number of linear programs solved.
    estimators_, classes_, n_features_in_, feature_names_in_
        As in `StumpEnsembleSVC`. The ``dual_variables_`` of each classifier in
        ``estimators_`` have one entry per point of its pair of classes.

    Raises
    ------
    ValueError
        `y` has one class only; a weight is negative; the base learner has no ``sample_weight``; no
        ensemble separates the classes for ``C=inf``.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Probabilities from outputs on validation folds.

    Notes
    -----
    Each iteration adds a few stumps per feature, those with the largest edges, and solves a linear
    program with one variable per point and one constraint per stump added so far. With k stumps,
    about :math:`4kn + 8dn` numbers are held in memory. In experiments k was between n/4 and 2n; it
    grows with C and with the noise in the labels. On `svmbook.datasets.twonorm` with 20
    features, 2,000 points take about 2 s for ``C=0.05``, and 4,000 points take about 25 s for
    ``C=1``. `StumpEnsembleSVC` takes about a second.

    References
    ----------
    Lin (2005), (P7) and algorithm 2; Demiriz, Bennett and Shawe-Taylor (2002), "Linear programming
    boosting via column generation", Machine Learning 46, 225-254.

    Examples
    --------
    >>> from svmbook import LPBoost
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> model = LPBoost(C=float("inf")).fit(X, y)
    >>> round(model.margin_, 4), model.score(X, y)
    (0.3333, 1.0)
    """

    _parameter_constraints: ClassVar[dict] = {
        "C": [Interval(Real, 0, None, closed="right")],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    _memory_advice = "Use fewer points, or StumpEnsembleSVC, the same stumps with the l2 norm."

    def _n_stored_numbers(self, n, d):
        return 1.0 * n * n + 8.0 * d * n  # with n / 4 stumps; label noise increases their number

    def __init__(
        self,
        C: float = 1.0,
        *,
        estimator: object = None,
        class_weight: str | dict | None = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.estimator = estimator
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the linear program on training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points.
        y : array-like of shape (n_samples,)
            Labels of any kind, of two classes or more.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of ``C``, not negative. Points of weight zero are ignored.

        Returns
        -------
        LPBoost
            The fitted estimator.
        """
        if is_multiclass(y):
            return self._fit_one_vs_one(X, y, sample_weight)
        X, classes, y, weights, indices = self._begin_fit(X, y, sample_weight)
        n, X, y, weights = len(X), X[indices], y[indices], weights[indices]
        if self.estimator is None:
            learner = MidpointStumps(X)
        else:
            learner = _ClassifierLearner(self.estimator, X, y)
        C = point_penalties(self.C, weights)
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        result = run_lpboost(learner, X, y, C, **options, original_indices=indices)
        self.classes_ = classes
        self.dual_variables_ = np.zeros(n)
        self.dual_variables_[indices] = result.multipliers
        self.hypotheses_, self.estimator_weights_ = result.hypotheses, result.weights
        self.margin_ = result.margin
        self.objective_, self.dual_objective_ = result.objective, result.dual_objective
        self.relative_gap_ = relative_gap(result.gap, result.objective)
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        if not result.converged:
            warnings.warn(
                f"LPBoost stopped after {result.n_iter} linear programs at a relative duality gap "
                f"of {self.relative_gap_:.1e} (objective {result.objective:.1e}), not certified to "
                f"tol={self.tol:g} ({result.message}). Raise max_iter or tol, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _decision_values(self, X):
        F = np.zeros(len(X))
        for weight, hypothesis in zip(self.estimator_weights_, self.hypotheses_, strict=True):
            F += weight * hypothesis(X)[:, 0]
        return F


class _ClassifierLearner:
    """A base learner that fits a copy of a scikit-learn classifier to each set of weights."""

    def __init__(self, estimator, X, y):
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"the fit of {estimator=!r} takes no sample_weight, which boosting needs; use a "
                "classifier that does, for instance DecisionTreeClassifier."
            )
        self.estimator, self.X, self.y = estimator, X, y

    def candidates(self, g, min_edge):
        """Return the classifier fitted with weights |g|, and its edge.

        ``g`` holds the signed weights: the weights times the labels.
        """
        has_weight = g != 0.0  # points of weight zero do not affect the choice
        X, y, weights = self.X[has_weight], self.y[has_weight], np.abs(g[has_weight])
        if np.ptp(y):
            classifier = clone(self.estimator)
            with config_context(enable_metadata_routing=False):  # weights are passed directly
                classifier.fit(X, y, sample_weight=weights)
        else:
            # Many classifiers do not accept a single class.
            classifier = DummyClassifier().fit(X, y)
        hypothesis = _ClassifierHypothesis(classifier)
        return hypothesis, float(g @ hypothesis(self.X)[:, 0])


class _ClassifierHypothesis:
    """A fitted classifier with the interface of `svmbook.solvers.boosting.stumps.StumpArray`."""

    def __init__(self, classifier):
        self.classifier = classifier

    def __call__(self, X):
        """Return the predictions, an array of -1 and +1 of shape (n, 1)."""
        return self.classifier.predict(X)[:, None]

    def as_list(self):
        """Return the hypotheses one by one; here there is one."""
        return [self]
