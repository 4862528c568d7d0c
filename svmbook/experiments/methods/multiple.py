r"""Several tests, or several methods, at once.

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

__all__ = ["Ranks", "holm", "rank"]

RECORD_TOL = 1e-5  # relative to the largest error: records keep six digits


class Ranks(NamedTuple):
    """Mean ranks of methods over data sets, the p value of Friedman's test, and what counts."""

    means: np.ndarray
    p: float
    critical_difference: float


def holm(p_values: ArrayLike) -> np.ndarray:
    """Correct the p values of several tests for their number.

    The smallest is multiplied by the number of tests, the next by one less, and so on; no corrected
    value is smaller than the one before it. Where no difference exists at all, the chance that any
    corrected value falls below 0.05 is 0.05 at most, whatever the tests have in common.

    Parameters
    ----------
    p_values : array-like of shape (n,)
        One of each test, between 0 and 1; there may be none.

    Returns
    -------
    ndarray of shape (n,)
        In the same order, at most 1.

    Raises
    ------
    ValueError
        A value is not between 0 and 1, or they are not one list.

    Examples
    --------
    >>> from svmbook.experiments.methods.multiple import holm
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


def rank(errors: ArrayLike, *, level: float = 0.95) -> Ranks:
    r"""Rank methods on each of several data sets, and say which mean ranks differ.

    On each data set the best of k methods has rank 1, and equals share the mean of their ranks.
    Sorted errors are divided where the gap exceeds 1e-5 of the largest error of all data sets, and
    errors that are not divided are equal: means of records agree to five digits only. Were all
    methods alike, each order would be as likely as any other: that is what Friedman's test asks.
    Where it says no, two methods differ if their mean ranks over N data sets lie further apart than
    Nemenyi's critical difference :math:`q\,\sqrt{k(k + 1)/(6N)}`, with q the quantile of the
    studentised range, over the root of two.

    Parameters
    ----------
    errors : array-like of shape (n_data_sets, n_methods)
        Mean errors; data sets are taken as independent of one another.
    level : float, default=0.95
        One minus the chance that any two methods that are alike are said to differ.

    Returns
    -------
    Ranks

    Raises
    ------
    ValueError
        There are fewer than two data sets or three methods, an error is not finite, or the level
        is not between 0 and 1.

    Examples
    --------
    >>> from svmbook.experiments.methods.multiple import rank
    >>> found = rank([[1, 2, 3], [1, 2, 2], [1, 3, 2], [1, 2, 4]])
    >>> found.means, round(found.p, 3), round(found.critical_difference, 2)
    (array([1.   , 2.375, 2.625]), 0.038, 1.66)
    """
    check_scalar(level, "level", Real, min_val=0, max_val=1, include_boundaries="neither")
    errors = check_array(errors, ensure_min_samples=2, ensure_min_features=3)
    n, k = errors.shape
    order = errors.argsort(axis=1)
    gaps = np.diff(np.take_along_axis(errors, order, axis=1), axis=1, prepend=-np.inf)
    place = (gaps > RECORD_TOL * np.abs(errors).max()).cumsum(axis=1)  # ties share a rank
    ranks = stats.rankdata(np.take_along_axis(place, order.argsort(axis=1), axis=1), axis=1)
    q = stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2.0)
    p = float(stats.friedmanchisquare(*ranks.T).pvalue) if np.ptp(ranks) else 1.0
    return Ranks(ranks.mean(axis=0), p, float(q * np.sqrt(k * (k + 1) / (6.0 * n))))
