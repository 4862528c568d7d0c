r"""Multiple comparisons: Holm's correction of p values, and mean ranks of several methods.

References
----------
Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6, 65-70; Demsar (2006), "Statistical comparisons of classifiers over multiple data
sets", Journal of Machine Learning Research 7, 1-30; Benavoli, Corani and Mangili (2016), "Should we
really use post-hoc tests based on mean-ranks?", Journal of Machine Learning Research 17 (5), 1-10.
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_array
from sklearn.utils.validation import check_scalar

__all__ = ["RankComparison", "holm", "rank"]

TIE_TOL = 1e-5  # relative to the largest error, because records have six digits


class RankComparison(NamedTuple):
    """Mean ranks of methods over data sets, p value of Friedman's test, critical difference."""

    means: np.ndarray
    p: float
    critical_difference: float


def holm(p_values: ArrayLike) -> np.ndarray:
    """Correct the p values of several tests for their number, by Holm's method.

    The smallest p value is multiplied by the number n of tests, the next by n - 1, and so on; each
    corrected value is at least as large as the previous one. The probability that any true null
    hypothesis has a corrected value of 0.05 or less is at most 0.05, whichever hypotheses are true
    and however the tests depend on each other.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        One p value per test; the list may be empty.

    Returns
    -------
    ndarray of shape (n,)
        In the same order, at most 1.

    Raises
    ------
    ValueError
        A value is not between 0 and 1, or `p_values` is not one-dimensional.

    Examples
    --------
    >>> from svmbook.experiments.methods.multiple_comparisons import holm
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError(f"p_values must be a list of numbers between 0 and 1; found {p_values!r}.")
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(corrected, 1.0)


def rank(errors: ArrayLike, *, level: float = 0.95) -> RankComparison:
    r"""Rank methods on several data sets, and compute the critical difference of mean ranks.

    On each data set the best of k methods has rank 1, and ties share the mean of their ranks.
    Neighbours in the sorted errors are tied unless they differ by more than 1e-5 times the largest
    error of all data sets, because means of rounded records agree to five digits only. Friedman's
    test has the null hypothesis that all orders of the methods are equally likely. If it is
    rejected, two methods differ if their mean ranks over N data sets differ by more than Nemenyi's
    critical difference :math:`q\,\sqrt{k(k + 1)/(6N)}`. Here q is the quantile of the studentised
    range, divided by the square root of two.

    Parameters
    ----------
    errors : array-like of shape (n_data_sets, n_methods)
        Mean errors on data sets that are assumed independent.
    level : float, default=0.95
        One minus the probability that, if all methods are equally good, any two are found to
        differ.

    Returns
    -------
    RankComparison

    Raises
    ------
    ValueError
        There are fewer than two data sets or three methods, an error is not finite, or the level
        is not between 0 and 1.

    Examples
    --------
    >>> from svmbook.experiments.methods.multiple_comparisons import rank
    >>> result = rank([[1, 2, 3], [1, 2, 2], [1, 3, 2], [1, 2, 4]])
    >>> result.means, round(result.p, 3), round(result.critical_difference, 2)
    (array([1.   , 2.375, 2.625]), 0.038, 1.66)
    """
    check_scalar(level, "level", Real, min_val=0, max_val=1, include_boundaries="neither")
    errors = check_array(errors, ensure_min_samples=2, ensure_min_features=3)
    n, k = errors.shape
    order = errors.argsort(axis=1)
    differences = np.diff(np.take_along_axis(errors, order, axis=1), axis=1, prepend=-np.inf)
    tie_groups = (differences > TIE_TOL * np.abs(errors).max()).cumsum(axis=1)
    ranks = stats.rankdata(np.take_along_axis(tie_groups, order.argsort(axis=1), axis=1), axis=1)
    q = stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2.0)
    p = float(stats.friedmanchisquare(*ranks.T).pvalue) if np.ptp(ranks) else 1.0
    critical_difference = float(q * np.sqrt(k * (k + 1) / (6.0 * n)))
    return RankComparison(ranks.mean(axis=0), p, critical_difference)
