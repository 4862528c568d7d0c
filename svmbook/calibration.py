"""Calibration of scores: Platt scaling, and a threshold with a guaranteed false-alarm rate."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import beta
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_consistent_length, check_scalar, column_or_1d

from .labels import encode_binary_labels
from .ties import TIE_TOL

__all__ = ["Sigmoid", "false_alarm_threshold", "fit_sigmoid", "fit_sigmoids"]

DECREMENT_TOL = 1e-8  # of the Newton decrement, relative to the square root of the objective
MAX_STEPS = 50  # maximum number of Newton steps
MAX_HALVINGS = 50  # maximum number of halvings of a step
OBJECTIVE_ROUNDING = 1e-13  # a smaller relative increase of the objective may be rounding error


class Sigmoid(NamedTuple):
    r"""The function :math:`\sigma(a f + b)` of a score f, or one such function per classifier.

    Attributes
    ----------
    slope : float or ndarray of shape (n_classifiers,)
        :math:`a`, which is :math:`-A` in Platt's notation.
    intercept : float or ndarray of shape (n_classifiers,)
        :math:`b`, which is :math:`-B` in Platt's notation.
    """

    slope: float | np.ndarray
    intercept: float | np.ndarray

    def probability(self, scores: ArrayLike) -> np.ndarray:
        """Return the probability of the second label for each score.

        Parameters
        ----------
        scores : array-like
            Decision values of a classifier, or one column per classifier.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from svmbook.calibration import Sigmoid
        >>> Sigmoid(2.0, 0.0).probability([-1.0, 0.0, 1.0]).round(3)
        array([0.119, 0.5  , 0.881])
        """
        return expit(self.slope * np.asarray(scores, dtype=float) + self.intercept)


def fit_sigmoid(scores: ArrayLike, y: ArrayLike) -> Sigmoid:
    r"""Fit Platt's sigmoid: logistic regression on the score, with smoothed labels.

    Minimises :math:`-\sum_i [t_i\log p_i + (1 - t_i)\log(1 - p_i)]`, where
    :math:`p_i = \sigma(af_i + b)`, without a penalty. The targets are
    :math:`t_+ = (n_+ + 1)/(n_+ + 2)` for the second label and :math:`t_- = 1/(n_- + 2)` for the
    first, the posterior means under a uniform prior. They keep the slope finite if the scores
    separate the classes.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Decision values of a classifier on points outside its training set. On training points the
        decision values are too optimistic.
    y : array-like of shape (n,)
        Labels of any type, of two classes.

    Returns
    -------
    Sigmoid
        The fitted sigmoid; its slope is zero if all scores are equal.

    Raises
    ------
    ValueError
        The scores are not finite or not one per label, or ``y`` does not have two classes.

    References
    ----------
    Platt (2000), "Probabilities for SV machines", in *Advances in Large Margin Classifiers*; Lin,
    Lin and Weng (2007), "A note on Platt's probabilistic outputs for support vector machines",
    Machine Learning 68, 267-276.

    Examples
    --------
    >>> from svmbook.calibration import fit_sigmoid
    >>> labels = ["no", "no", "yes", "no", "yes"]
    >>> sigmoid = fit_sigmoid([-2.0, -1.0, 0.5, 1.0, 3.0], labels)
    >>> sigmoid.probability([-2.0, 0.0, 3.0]).round(2)
    array([0.19, 0.37, 0.72])
    """
    scores = _check_scores(scores)
    check_consistent_length(scores, y)
    _, signs = encode_binary_labels(column_or_1d(y))
    slope, intercept = fit_sigmoids(scores[:, None], signs[:, None] > 0)
    return Sigmoid(float(slope[0]), float(intercept[0]))


def false_alarm_threshold(scores: ArrayLike, rate: float, confidence: float = 0.95) -> float:
    r"""Return a threshold that bounds the false-alarm rate with a given confidence.

    The scores are those of n points that should raise no alarm and were not used for training. If
    the threshold is the k-th largest score, the false-alarm rate on new points is distributed as
    Beta(k, n - k + 1) over random samples of n points. This holds for every continuous
    distribution of the scores; ties only make the rate stochastically smaller. Hence

    .. math:: P(\text{false-alarm rate} \le r) = I_r(k, n - k + 1),

    and the largest k is chosen for which this probability is at least the confidence.

    Parameters
    ----------
    scores : array-like of shape (n,)
        Decision values of the classifier.
    rate : float
        Upper bound of the false-alarm rate, between 0 and 1.
    confidence : float, default=0.95
        Probability that the bound holds, between 0 and 1.

    Returns
    -------
    float
        The threshold; a larger decision value raises an alarm.

    Raises
    ------
    ValueError, TypeError
        An argument is out of range or not finite, or there are fewer scores than
        :math:`\log(1 - \text{confidence})/\log(1 - \text{rate})`, so that no k suffices.

    Examples
    --------
    >>> from svmbook.calibration import false_alarm_threshold
    >>> false_alarm_threshold(range(100), 0.1)
    95.0
    """
    scores = np.sort(_check_scores(scores))
    for name, value in (("rate", rate), ("confidence", confidence)):
        check_scalar(value, name, Real, min_val=0, max_val=1, include_boundaries="neither")
    n = len(scores)
    k = np.arange(1, n + 1)
    certified = beta.cdf(rate, k, n - k + 1) >= confidence
    if not certified.any():
        n_needed = np.ceil(np.log1p(-confidence) / np.log1p(-rate))
        raise ValueError(
            f"{n} held-out points cannot certify a false-alarm rate of {rate:g} with confidence "
            f"{confidence:g}; {n_needed:.15g} would. Hold out more points, or allow a higher rate."
        )
    return float(scores[n - k[certified].max()])


def _check_scores(scores):
    """Check that the scores are one finite number per point, and return them as an array."""
    scores = check_array(scores, dtype=np.float64, ensure_2d=False, input_name="scores")
    if scores.ndim != 1:
        raise ValueError(f"scores must be one number per point; found shape {scores.shape}.")
    return scores


def fit_sigmoids(
    scores: ArrayLike, is_positive: ArrayLike, mask: ArrayLike | None = None
) -> Sigmoid:
    """Fit one sigmoid per classifier, as `fit_sigmoid` does for a single classifier.

    This is Newton's method in two variables on standardised scores, vectorised over classifiers.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_classifiers)
        Decision values, one column per classifier.
    is_positive : ndarray of bool, of the same shape
        Whether a point has the second label of that classifier.
    mask : ndarray of bool, of the same shape, default=None
        The points on which each sigmoid is fitted, at least one per classifier; by default all.

    Returns
    -------
    Sigmoid
        Slopes and intercepts, arrays of shape (n_classifiers,).

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.calibration import fit_sigmoids
    >>> scores = np.array([[-2.0, 4.0], [-1.0, 1.0], [0.5, -3.0], [3.0, 0.0]])
    >>> is_positive = np.array([[0, 1], [0, 1], [1, 0], [1, 0]], dtype=bool)
    >>> fit_sigmoids(scores, is_positive).probability([0.0, 0.0]).round(2)
    array([0.49, 0.46])
    """
    mask = np.ones(scores.shape) if mask is None else mask.astype(float)
    n_points, n_positive = mask.sum(axis=0), (is_positive * mask).sum(axis=0)
    n_negative = n_points - n_positive
    t = np.where(is_positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scores = np.where(mask, scores, 0.0)
    max_abs_score = np.abs(scores).max(axis=0)
    max_abs_score = np.where(max_abs_score > 0, max_abs_score, 1.0)
    f = scores / max_abs_score
    centre = f.sum(axis=0) / n_points
    spread = np.sqrt(((f - centre) ** 2 * mask).sum(axis=0) / n_points)
    is_constant = spread <= TIE_TOL  # all scores of a classifier are equal up to rounding
    spread = np.where(is_constant, 1.0, spread)
    f = np.where(is_constant, 0.0, (f - centre) / spread)
    mean_target = (t * mask).sum(axis=0) / n_points
    # theta = (a, b): slope and intercept for the standardised scores f
    theta = np.array([np.zeros(len(mean_target)), np.log(mean_target / (1.0 - mean_target))])
    objective = _cross_entropy(f, t, mask, theta)
    for _ in range(MAX_STEPS):
        p = expit(f * theta[0] + theta[1])
        # second and first derivatives of the loss with respect to a f + b
        h, r = mask * p * (1.0 - p), mask * (p - t)
        g = np.array([(r * f).sum(axis=0), r.sum(axis=0)])
        # is_constant avoids a singular Hessian; the slope stays zero
        h_aa = (h * f * f).sum(axis=0) + is_constant
        h_ab, h_bb = (h * f).sum(axis=0), h.sum(axis=0)
        det = h_aa * h_bb - h_ab**2
        step = np.array([h_ab * g[1] - h_bb * g[0], h_ab * g[0] - h_aa * g[1]]) / det
        descent = -(g * step).sum(axis=0)  # for the full step, the squared Newton decrement
        if (descent <= DECREMENT_TOL**2 * objective).all():
            break
        for _ in range(MAX_HALVINGS):
            new_objective = _cross_entropy(f, t, mask, theta + step)
            tolerance = OBJECTIVE_ROUNDING * objective
            is_too_long = new_objective > objective - 1e-4 * descent + tolerance
            if not is_too_long.any():
                break
            step[:, is_too_long] /= 2
            descent[is_too_long] /= 2
        theta, objective = theta + step, new_objective
    else:
        warnings.warn(
            f"the fit of a sigmoid did not converge in {MAX_STEPS} Newton steps; check the scores "
            "for outliers.",
            ConvergenceWarning,
            stacklevel=3,
        )
    slope = theta[0] / spread  # for scores divided by `max_abs_score`
    return Sigmoid(slope / max_abs_score, theta[1] - slope * centre)


def _cross_entropy(f, t, mask, theta):
    """Return the sum of -t log p - (1 - t) log(1 - p) for each classifier."""
    z = f * theta[0] + theta[1]
    return (mask * (np.logaddexp(0.0, z) - t * z)).sum(axis=0)
