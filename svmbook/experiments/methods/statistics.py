r"""What a list of test errors allows one to say.

Repeated splits of one table overlap: their training sets share most of their rows, so the errors
are not independent, and the ordinary t-test finds differences that are not there. The correction
of Nadeau and Bengio widens the interval by what the overlap hides.

References
----------
Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6, 65-70; Dietterich (1998), "Approximate statistical tests for comparing supervised
classification learning algorithms", Neural Computation 10, 1895-1923; Nadeau and Bengio (2003),
"Inference for the generalization error", Machine Learning 52, 239-281, equation (14); Demsar
(2006), "Statistical comparisons of classifiers over multiple data sets", Journal of Machine
Learning Research 7, 1-30.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.special import stdtr, stdtrit
from sklearn.utils import check_array, check_consistent_length

from ...tables import plus_minus

__all__ = [
    "Comparison",
    "Ranks",
    "Summary",
    "as_good_as_the_best",
    "compare",
    "holm",
    "most_frequent",
    "rank",
    "summarise",
]


EQUAL = 1e-14  # of two values: a difference this small is none
KEPT = 1e-5  # of the largest error: records keep six digits, so finer differences are theirs


class Summary(NamedTuple):
    """Mean, standard deviation and standard error of independent values, and their number.

    In text it is its mean and standard error, both with the digits that are asked for.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import summarise
    >>> f"{summarise([1.0, 2.0, 3.0]):+.2f}".split()
    ['+2.00', '±', '0.58']
    """

    mean: float
    deviation: float
    error: float
    runs: int

    def __format__(self, digits):
        return plus_minus(self.mean, self.error, digits)


class Comparison(NamedTuple):
    """Mean difference of two lists, its t value, two-sided p value and confidence interval."""

    difference: float
    t: float
    p: float
    low: float
    high: float

    @property
    def verdict(self):
        """A "win" where errors are smaller, a "loss", or a "tie" if the interval holds zero."""
        if self.low <= 0.0 <= self.high:
            return "tie"
        return "win" if self.high < 0.0 else "loss"


class Ranks(NamedTuple):
    """Mean ranks of methods over data sets, the p value of Friedman's test, and what counts."""

    means: np.ndarray
    p: float
    critical_difference: float


def summarise(values):
    r"""Return mean, standard deviation (of n - 1) and standard error.

    Parameters
    ----------
    values : array-like of shape (n,)
        One value a run.

    Returns
    -------
    Summary
        Deviation and error are NaN for a single run.

    Raises
    ------
    ValueError
        There are no values, or some are not finite.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import summarise
    >>> summarise([1.0, 2.0, 3.0]).deviation
    1.0
    """
    values = _values(values)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    error = deviation / np.sqrt(len(values))
    return Summary(float(values.mean()), deviation, float(error), len(values))


def most_frequent(values):
    """Return the most frequent of several values and how often it is there.

    Parameters
    ----------
    values : iterable
        What can be sorted; of equally frequent ones the smallest is returned.

    Returns
    -------
    value
        One of them.
    count : int

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import most_frequent
    >>> most_frequent([3, 1, 3, 1, 2])
    (1, 2)
    """
    counts = Counter(values)
    value = max(sorted(counts), key=counts.get)
    return value, counts[value]


def compare(first, second, *, test_share=None, level=0.95):
    r"""Compare two lists of values that were measured on the same splits, by a t-test of the pairs.

    :math:`t = \bar d\,/\sqrt{(1/n + q)\,s^2}` with n - 1 degrees of freedom, :math:`d` the
    differences and :math:`s^2` their variance. With q = 0 the values count as independent: on ten
    folds of a cross-validation this is the test that Shen (2013) uses. It is optimistic there: any
    two training sets share eight ninths of their points. With :math:`q = n_{test}/n_{train}` it is
    the corrected resampled t-test, where q stands for the correlation that comes from the overlap.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Values of the same splits in the same order, n at least 2.
    test_share : float, default=None
        Share of the points that each split tests on, between 0 and 1: 0.4 for 60/40 splits, 0.1 for
        ten folds. Without it the values count as independent.
    level : float, default=0.95
        Of the confidence interval of the mean difference.

    Returns
    -------
    Comparison
        Of ``first - second``.

    Raises
    ------
    ValueError
        The lists do not fit, or hold fewer than two values, or a share or level is not between 0
        and 1.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import compare
    >>> round(compare([3.0, 4.0, 6.0], [2.0, 2.0, 3.0]).t, 3)
    3.464
    >>> round(compare([3.0, 4.0, 6.0], [2.0, 2.0, 3.0], test_share=0.1).t, 3)
    3.0
    >>> compare([1.0, 2.0, 1.0, 2.0], [3.1, 3.9, 3.0, 4.0]).verdict
    'win'
    """
    for name, share in (
        ("test_share", 0.5 if test_share is None else test_share),
        ("level", level),
    ):
        if not 0 < share < 1:
            raise ValueError(f"{name} must lie between 0 and 1; found {share}.")
    first, second = _values(first), _values(second)
    check_consistent_length(first, second)
    n = len(first)
    if n < 2:
        raise ValueError(f"a t-test needs at least two values a list; found {n}.")
    overlap = 0.0 if test_share is None else test_share / (1 - test_share)
    d = first - second
    rounding = EQUAL * max(np.abs(first).max(), np.abs(second).max())
    mean = float(d.mean()) if abs(d.mean()) > rounding else 0.0
    deviation = d.std(ddof=1) if d.std() > rounding else 0.0
    error = float(np.sqrt(1.0 / n + overlap) * deviation)
    certain = float(np.copysign(np.inf, mean)) if mean else 0.0  # where all differences are alike
    t = mean / error if error else certain
    # Quantile and distribution function of t; `stats.t` takes a hundred times as long for a number.
    reach = stdtrit(n - 1, 0.5 + level / 2) * error
    p = float(2 * stdtr(n - 1, -abs(t)))
    return Comparison(mean, t, p, float(mean - reach), float(mean + reach))


def holm(p_values):
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

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import holm
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return np.minimum(corrected, 1.0)


def rank(errors, *, level=0.95):
    r"""Rank methods on each of several data sets, and say which mean ranks differ.

    On each data set the best of k methods has rank 1; equals share the mean of their ranks, and
    errors are equal if they agree to five digits of the largest, as means of records do. Were all
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
        There are fewer than two data sets or three methods, or an error is not finite.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import rank
    >>> found = rank([[1, 2, 3], [1, 2, 2], [1, 3, 2], [1, 2, 4]])
    >>> found.means, round(found.p, 3), round(found.critical_difference, 2)
    (array([1.   , 2.375, 2.625]), 0.038, 1.66)
    """
    errors = check_array(errors, ensure_min_samples=2, ensure_min_features=3)
    n, k = errors.shape
    unit = KEPT * (np.abs(errors).max() or 1.0)
    ranks = stats.rankdata(np.round(errors / unit), axis=1)
    q = stats.studentized_range.ppf(level, k, np.inf) / np.sqrt(2.0)
    p = float(stats.friedmanchisquare(*ranks.T).pvalue) if np.ptp(ranks) else 1.0
    return Ranks(ranks.mean(axis=0), p, float(q * np.sqrt(k * (k + 1) / (6.0 * n))))


def as_good_as_the_best(errors, *, level=0.95, test_share=None):
    r"""Return the methods whose errors no test tells from those of the best.

    Parameters
    ----------
    errors : dict of array-like
        Errors by method, the same splits in the same order for all.
    level, test_share
        As in `compare`.

    Returns
    -------
    list
        Methods, in the order of ``errors``; the one with the smallest mean is among them.

    Raises
    ------
    ValueError
        There is no method, or the lists do not fit.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import as_good_as_the_best
    >>> as_good_as_the_best({"a": [3, 4, 3, 4], "b": [3, 4, 4, 3], "c": [9] * 4})
    ['a', 'b']
    """
    if not errors:
        raise ValueError("errors names no method.")
    best = errors[min(errors, key=lambda method: np.mean(errors[method]))]
    options = {"level": level, "test_share": test_share}
    return [
        method
        for method, values in errors.items()
        if compare(values, best, **options).verdict != "loss"
    ]


def _values(values):
    """Return values as an array; a report checks thousands of short lists."""
    found = np.asarray(values, dtype=np.float64).ravel()
    if not len(found):
        raise ValueError("there are no values; give at least one.")
    if not np.isfinite(found).all():
        raise ValueError(f"values must be finite; found {found[~np.isfinite(found)][0]}.")
    return found
