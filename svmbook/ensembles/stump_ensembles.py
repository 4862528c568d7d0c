r"""Machines over all stumps, :math:`F(x) = b + \sum_j g_j(x_j)`: fitted, then read."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar

from sklearn.utils._param_validation import Interval

from ..base import LogOdds
from ..gram import ComputedGram, StumpGram
from ..solvers.dual.active_set import active_set
from ..solvers.logistic.likelihoods import Binomial
from ..solvers.logistic.newton import ridge_path
from ..solvers.smoothed import smoothed
from ..weights import upper_bounds
from .stump_base import STORED_POINTS, StumpEnsemble

__all__ = ["StumpEnsembleLogistic", "StumpEnsembleSVC"]


class StumpEnsembleSVC(StumpEnsemble):
    r"""Support vector machine over all decision stumps, as functions of one feature each.

    Minimises over shape functions :math:`g_j` and b

    .. math:: \tfrac14\sum_j s_j\int g_j'(u)^2\,du + \sum_i C_i\max(0, 1 - y_iF(x_i)),

    .. math:: F(x) = b + \sum_j g_j(x_j),

    where :math:`s_j` is the unit of feature j, and :math:`C_i` is ``C`` times the weight of the
    class of :math:`x_i` times its sample weight. That is the support vector machine with the stump
    kernel :math:`-\sum_j |x_j - z_j|/s_j`, an ensemble of infinitely many stumps
    (`svmbook.kernels.stump`). Its shape functions are straight between training values and constant
    beyond the outermost.

    Parameters
    ----------
    C : float, default=1.0
        Price of one unit of slack, positive.
    feature_scale : {"std", None}, default="std"
        The unit of each feature. "std" is its standard deviation over the training points, with
        their weights: then a change of units changes nothing. None takes the features as they are,
        as the book's formulas do; ten times the features with a tenth of ``C`` are the same machine
        there, and a feature with large numbers is hardly penalised.
    n_knots : int, default=None
        Largest number of knots per feature. Knots are quantiles of its values, and its shape
        function bends only there. By default every support vector is a knot, which is exact and
        takes a Gram matrix of all points. For a fixed ``n_knots`` the time is linear in the number
        of points. It grows fast with ``n_knots``: each step factors a matrix with
        ``r = n_features * (n_knots - 1)`` rows, in ``r**3 / 3`` operations. So set it only if r is
        well below the number of points.
    class_weight : dict or "balanced", default=None
        Factor of ``C`` for each class, positive.
    tol : float, default=1e-4
        Relative duality gap to reach; between knots it is that of the machine between knots.
    max_iter : int, default=10000
        Steps of the solver at most.

    Attributes
    ----------
    shape_functions_ : list of Line
        One a feature: ``knots`` and ``values``, the mean over the training points zero. Called with
        values of the feature it returns those of the function.
    intercept_ : ndarray of shape (1,)
        The mean output.
    feature_scale_ : ndarray of shape (n_features,)
        The units :math:`s_j`; 1 for constant features.
    feature_importances_ : ndarray of shape (n_features,)
        Standard deviation of each shape function over the training points, in units of the margin.
    relative_gap_, objective_, kkt_residual_ : float
        Primal minus dual objective, the objective, and the largest violation of the optimality
        conditions in units of the margin; between knots also how far the weights are from those of
        the multipliers, relative to their length, if that is more.
    converged_ : bool
        Whether that is certified to ``tol``; where it is not, `fit` warns.
    n_iter_ : int
        Steps of the solver.
    estimators_ : list
        With more than two classes: a fitted classifier for each pair of classes, in the order of
        `sklearn.multiclass.OneVsOneClassifier`, whose votes decide. They have the other attributes,
        whose indices count the points of the pair; ``classes_`` and the certificate (the worst of
        the pairs) are here as well.
    classes_ : ndarray of shape (n_classes,)
        The labels; with two a positive decision value speaks for the second.
    n_features_in_ : int
        Features seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where ``X`` had string column names.

    Raises
    ------
    ValueError
        One class; negative weights.

    See Also
    --------
    DualSVC : With ``kernel="stump"``, on features in these units, the same machine as a sum of
        kernels.
    StumpEnsembleLogistic : The same with probabilities.

    Notes
    -----
    Exact, three arrays of :math:`n^2` numbers are held up to 10,000 points, and rows are computed
    as they are needed beyond. Between knots about 8nd numbers are held, and a million rows take
    seconds.

    References
    ----------
    Lin (2005), section 4.1; knots and shape functions are ours.

    Examples
    --------
    >>> from svmbook import StumpEnsembleSVC
    >>> X, y = [[0.0, 3.0], [1.0, 3.0], [2.0, 3.0], [4.0, 3.0]], [0, 0, 1, 1]
    >>> machine = StumpEnsembleSVC(C=10.0).fit(X, y)
    >>> machine.shape_functions_[0].knots, machine.shape_functions_[1].values
    (array([1., 2.]), array([0.]))
    """

    _parameter_constraints: ClassVar[dict] = {
        **StumpEnsemble._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    _remedy = "Scale the features, lower C, or raise max_iter or tol."

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

    def _stored_numbers(self, n, d):
        computed = self.n_knots is None and n > STORED_POINTS
        return n * d if computed else super()._stored_numbers(n, d)

    def _gram(self, kernel, scaled):
        """Return the Gram matrix of the points, computed as it is asked for where they are many."""
        n = len(scaled)
        if n <= STORED_POINTS:
            return super()._gram(kernel, scaled)
        return ComputedGram(kernel.blocks(scaled), n)

    def _solve(self, gram, problem):
        """Return a result, and what holds the function: coefficients of points, or weights."""
        C = upper_bounds(float(self.C), problem.weights)
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        if isinstance(gram, StumpGram):
            return smoothed(gram, problem.y, C, **options)
        result = active_set(gram, problem.y, C, **options)
        return result, problem.y * result.alpha


class StumpEnsembleLogistic(LogOdds, StumpEnsemble):
    r"""Logistic regression over all decision stumps, as functions of one feature each.

    Minimises over shape functions :math:`g_j` and b

    .. math:: \tfrac\lambda4\sum_j s_j\int g_j'(u)^2\,du + \sum_i r_i\log(1 + e^{-y_iF(x_i)}),

    .. math:: F(x) = b + \sum_j g_j(x_j),

    where :math:`s_j` is the unit of feature j, and :math:`r_i` is the weight of the class of
    :math:`x_i` times its sample weight. Outputs are natural log odds, so what a feature contributes
    is a factor of the odds.

    Parameters
    ----------
    lam : float, default=1.0
        The weight :math:`\lambda` of the penalty, positive.
    feature_scale, n_knots, class_weight, max_iter
        As in `StumpEnsembleSVC`; ``class_weight`` and sample weights are factors of the loss. The
        time of a step grows with the cube of ``n_knots`` here too.
    tol : float, default=1e-6
        The norm of the gradient at which to stop, as a fraction of the sum of the norms of its
        terms, and the duality gap, as a fraction of the objective. A smooth loss makes the last
        digits cheap.

    Attributes
    ----------
    shape_functions_, intercept_, feature_scale_, feature_importances_
        As in `StumpEnsembleSVC`, in natural log odds.
    relative_gap_, objective_, kkt_residual_ : float
        Gap, objective, and the norm of the gradient relative to the sum of its terms' norms.
    converged_, n_iter_, estimators_, classes_, n_features_in_, feature_names_in_
        As in `StumpEnsembleSVC`.

    Raises
    ------
    ValueError
        One class; negative weights.

    See Also
    --------
    KernelLogisticRegression : With ``kernel="stump"``, on features in these units, the same
        machine as a sum of kernels.

    Notes
    -----
    Exact, three arrays of :math:`n^2` numbers are held: with 10,000 points 2.4 GB. Between knots
    about 8nd numbers are held, and a million rows take seconds.

    References
    ----------
    Lin (2005), section 4.1, for the kernel; the rest is ours.

    Examples
    --------
    >>> from svmbook import StumpEnsembleLogistic
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> machine = StumpEnsembleLogistic(lam=0.5).fit(X, y)
    >>> machine.predict_proba([[1.5], [100.0]]).round(2)
    array([[0.52, 0.48],
           [0.17, 0.83]])

    Gaps and words in a table need scikit-learn's transformers, whose names the model keeps:

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> ages, cities = [31, None, 58, 64], ["Bern", "Chur", "Bern", "Bern"]
    >>> table = pd.DataFrame({"age": ages, "city": cities})
    >>> columns = make_column_transformer(
    ...     (SimpleImputer(add_indicator=True), ["age"]),
    ...     (OneHotEncoder(sparse_output=False), ["city"]),
    ...     verbose_feature_names_out=False,
    ... ).set_output(transform="pandas")
    >>> model = make_pipeline(columns, StumpEnsembleLogistic())
    >>> model = model.fit(table, [0, 0, 1, 1])
    >>> model[-1].explain(columns.transform(table[:1])).feature.tolist()
    ['age', 'missingindicator_age', 'city_Bern', 'city_Chur']
    """

    _parameter_constraints: ClassVar[dict] = {
        **StumpEnsemble._parameter_constraints,
        "lam": [Interval(Real, 0, None, closed="neither")],
    }

    _remedy = "Raise lam, scale the features, or raise tol."

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
        """Return a result, and what holds the function: coefficients of points, or weights."""
        likelihood = Binomial(problem.y, problem.weights)
        options = {"tol": float(self.tol), "max_iter": int(self.max_iter)}
        (result,) = ridge_path(gram, likelihood, [float(self.lam)], **options)
        return result, result.coef
