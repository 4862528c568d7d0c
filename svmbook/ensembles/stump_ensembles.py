r"""Additive models over all decision stumps, :math:`F(x) = b + \sum_j g_j(x_j)`."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import ClassVar

from sklearn.utils._param_validation import Interval

from ..base import LogOddsMixin
from ..gram import ComputedGram, LowRankGram
from ..kernel_machine import MAX_STORED_POINTS
from ..rows import map_rows
from ..solvers.dual.active_sets.solver import solve_active_set_on_gram
from ..solvers.logistic.likelihoods import Binomial
from ..solvers.logistic.newton import ridge_path
from ..solvers.low_rank_logistic import solve_low_rank_logistic
from ..solvers.smoothed_hinge import solve_smoothed_hinge
from ..weights import point_penalties
from .stump_base import StumpEnsemble

__all__ = ["StumpEnsembleLogistic", "StumpEnsembleSVC"]


class StumpEnsembleSVC(StumpEnsemble):
    r"""Support vector machine over all decision stumps, written as an additive model.

    Minimises over shape functions :math:`g_j` and b

    .. math:: \tfrac14\sum_j s_j\int g_j'(u)^2\,du + \sum_i C_i\max(0, 1 - y_iF(x_i)),

    .. math:: F(x) = b + \sum_j g_j(x_j),

    where :math:`s_j` is the scale of feature j, and :math:`C_i` is ``C`` times the weight of the
    class of :math:`x_i` times its sample weight. This is the support vector machine with the stump
    kernel :math:`-\sum_j |x_j - z_j|/s_j`, an ensemble of infinitely many stumps
    (`svmbook.kernels.stump`). The shape functions are linear between neighbouring training values
    and constant outside their range.

    Parameters
    ----------
    C : float, default=1.0
        Regularisation parameter: the weight of the losses, positive.
    feature_scale : {"std", None}, default="std"
        The scale of each feature. "std" is its weighted standard deviation over the training
        points, so that the units of the features do not matter. With None all scales are 1, as in
        the book's formulas. Then multiplying the features by ten and dividing ``C`` by ten gives
        the same model, and a feature with large values is hardly penalised.
    n_knots : int, default=None
        Maximum number of knots per feature: quantiles of its values, between which its shape
        function is linear. By default every support vector is a knot, which is exact and
        needs a Gram matrix of all points. For a fixed ``n_knots`` the time is linear in the number
        of points, but each step factors a matrix with ``r = n_features * (n_knots - 1)`` rows, in
        ``r**3 / 3`` operations. If r is above a quarter of the number of points (up to 10,000), a
        Gram matrix of the points is used instead, and the time grows only slowly with ``n_knots``.
        The book uses 16.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.
    tol : float, default=1e-4
        Tolerance of the relative duality gap, with ``n_knots`` that of the problem at the knots.
    max_iter : int, default=10000
        Maximum number of iterations of the solver.

    Attributes
    ----------
    shape_functions_ : list of PiecewiseLinear
        One function per feature, with arrays ``knots`` and ``values``, centred to mean zero over
        the training points. It can be called with an array of feature values.
    intercept_ : ndarray of shape (1,)
        The mean output.
    feature_scale_ : ndarray of shape (n_features,)
        The scales :math:`s_j`; 1 for constant features.
    feature_importances_ : ndarray of shape (n_features,)
        Standard deviation of each shape function over the training points, in units of the margin.
    relative_gap_, objective_, kkt_residual_ : float
        The relative duality gap, the objective, and the largest violation of the optimality
        conditions in units of the margin. With ``n_knots`` the violation is at least the relative
        distance of the weights from those that the multipliers give.
    converged_ : bool
        Whether the solution is certified to ``tol``; if not, `fit` warns.
    n_iter_ : int
        Number of iterations of the solver.
    estimators_ : list
        Only with more than two classes: one fitted classifier per pair of classes, in the order of
        `sklearn.multiclass.OneVsOneClassifier`; prediction is by majority vote. Each has the other
        attributes. ``classes_``, ``n_iter_``, ``converged_`` and ``relative_gap_`` (the largest of
        all pairs) are also set here.
    classes_ : ndarray of shape (n_classes,)
        The labels. With two classes a positive output predicts ``classes_[1]``.
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where ``X`` had string column names.

    Raises
    ------
    ValueError
        `y` has one class only; a weight is negative; a standard deviation overflows or underflows.

    See Also
    --------
    DualSVC : With ``kernel="stump"`` and features divided by their scales, the same model as a
        kernel expansion.
    StumpEnsembleLogistic : The same model with the log loss, which gives probabilities.

    Notes
    -----
    Memory of the exact fit: three arrays of :math:`n^2` numbers up to 10,000 points; for more
    points, rows are computed on demand. With few knots it is about 8nd numbers, and a million rows
    take seconds. With many, it is that of the exact fit up to 10,000 points, and with r intervals
    between knots about :math:`8nd + 8r^2` numbers beyond.

    References
    ----------
    Lin (2005), section 4.1. The knots and the shape functions are additions of this package.

    Examples
    --------
    >>> from svmbook import StumpEnsembleSVC
    >>> X, y = [[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [4.0, 3.0]], [0, 0, 1, 1]
    >>> model = StumpEnsembleSVC(C=10.0).fit(X, y)
    >>> model.shape_functions_[0].knots, model.shape_functions_[1].values
    (array([1., 2.]), array([0.]))
    """

    _parameter_constraints: ClassVar[dict] = {
        **StumpEnsemble._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    _convergence_advice = "Scale the features, lower C, or raise max_iter or tol."
    _max_points_per_interval = 4.0  # up to this ratio, the Gram matrix of the points is faster

    def __init__(
        self,
        C: float = 1.0,
        *,
        feature_scale: str | None = "std",
        n_knots: int | None = None,
        class_weight: str | dict | None = None,
        tol: float = 1e-4,
        max_iter: int = 10_000,
    ) -> None:
        self.C = C
        self.feature_scale = feature_scale
        self.n_knots = n_knots
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def _n_stored_numbers(self, n, d):
        computes_rows = self.n_knots is None and n > MAX_STORED_POINTS
        return n * d if computes_rows else super()._n_stored_numbers(n, d)

    def _gram(self, kernel, scaled_points):
        """Return the Gram matrix of the points; the rows of a large one are computed on demand."""
        n = len(scaled_points)
        if n <= MAX_STORED_POINTS:
            return super()._gram(kernel, scaled_points)
        return ComputedGram(kernel.block_function(scaled_points), n)

    def _solve(self, gram, problem):
        """Return a result, and the coefficients of the points or the weights at the knots."""
        penalties = partial(point_penalties, float(self.C))
        C = map_rows(penalties, problem.weights, keep=False, by_row=True)
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        if isinstance(gram, LowRankGram):
            return solve_smoothed_hinge(gram, problem.y, C, **options)
        result = solve_active_set_on_gram(gram, problem.y, C, **options)
        return result, problem.y * result.alpha


class StumpEnsembleLogistic(LogOddsMixin, StumpEnsemble):
    r"""Logistic regression over all decision stumps, written as an additive model.

    Minimises over shape functions :math:`g_j` and b

    .. math:: \tfrac\lambda4\sum_j s_j\int g_j'(u)^2\,du + \sum_i r_i\log(1 + e^{-y_iF(x_i)}),

    .. math:: F(x) = b + \sum_j g_j(x_j),

    where :math:`s_j` is the scale of feature j, and :math:`r_i` is the weight of the class of
    :math:`x_i` times its sample weight. Outputs are natural log odds, so each contribution is the
    logarithm of a factor of the odds.

    Parameters
    ----------
    lam : float, default=1.0
        The weight :math:`\lambda` of the penalty, positive.
    feature_scale, n_knots, class_weight, max_iter
        As in `StumpEnsembleSVC`; ``class_weight`` and sample weights are factors of the loss. The
        Gram matrix of the points is used if r is above half of their number.
    tol : float, default=1e-6
        Tolerance of the norm of the gradient, relative to the sum of the norms of its terms, and of
        the duality gap, relative to the objective. It is small because Newton's method converges
        quadratically on a smooth loss.

    Attributes
    ----------
    shape_functions_, intercept_, feature_scale_, feature_importances_
        As in `StumpEnsembleSVC`, in natural log odds.
    relative_gap_, objective_, kkt_residual_ : float
        The relative duality gap, the objective, and the norm of the gradient relative to the sum
        of the norms of its terms.
    converged_, n_iter_, estimators_, classes_, n_features_in_, feature_names_in_
        As in `StumpEnsembleSVC`.

    Raises
    ------
    ValueError
        As in `StumpEnsembleSVC`.

    See Also
    --------
    KernelLogisticRegression : With ``kernel="stump"`` and features divided by their scales, the
        same model as a kernel expansion.

    Notes
    -----
    Memory of the exact fit: three arrays of :math:`n^2` numbers, or 2.4 GB for 10,000 points. With
    few knots it is about 8nd numbers, and a million rows take seconds; with many, see
    `StumpEnsembleSVC`.

    References
    ----------
    Lin (2005), section 4.1, for the kernel. The logistic loss, the knots and the shape functions
    are additions of this package.

    Examples
    --------
    >>> from svmbook import StumpEnsembleLogistic
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> model = StumpEnsembleLogistic(lam=0.5).fit(X, y)
    >>> model.predict_proba([[1.5], [100.0]]).round(2)
    array([[0.52, 0.48],
           [0.17, 0.83]])

    Missing values and text columns need scikit-learn's transformers. The model keeps the names of
    their outputs:

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> ages, cities = [31, None, 58, 64], ["Bern", "Chur", "Bern", "Bern"]
    >>> table = pd.DataFrame({"age": ages, "city": cities})
    >>> transformer = make_column_transformer(
    ...     (SimpleImputer(add_indicator=True), ["age"]),
    ...     (OneHotEncoder(sparse_output=False), ["city"]),
    ...     verbose_feature_names_out=False,
    ... ).set_output(transform="pandas")
    >>> model = make_pipeline(transformer, StumpEnsembleLogistic())
    >>> model = model.fit(table, [0, 0, 1, 1])
    >>> model[-1].explain(transformer.transform(table[:1])).feature.tolist()
    ['age', 'missingindicator_age', 'city_Bern', 'city_Chur']
    """

    _parameter_constraints: ClassVar[dict] = {
        **StumpEnsemble._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="neither")],
    }

    _convergence_advice = "Raise lam, scale the features, or raise tol."
    _max_points_per_interval = 2.0  # smaller than for the SVM: each step factors an n x n matrix

    def __init__(
        self,
        lam: float = 1.0,
        *,
        feature_scale: str | None = "std",
        n_knots: int | None = None,
        class_weight: dict | str | None = None,
        tol: float = 1e-6,
        max_iter: int = 10_000,
    ) -> None:
        self.lam = lam
        self.feature_scale = feature_scale
        self.n_knots = n_knots
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def _solve(self, gram, problem):
        """Return a result, and the coefficients of the points or the weights at the knots."""
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        y, weights, lam = problem.y, problem.weights, float(self.lam)
        if isinstance(gram, LowRankGram):
            result = solve_low_rank_logistic(gram, y, weights, lam, **options)
        else:
            (result,) = ridge_path(gram, Binomial(y, weights), [lam], **options)
        return result, result.coef
