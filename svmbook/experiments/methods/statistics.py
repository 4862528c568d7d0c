r"""Summaries and comparisons of test errors.

Repeated splits of one table overlap: their training sets share most of their rows. The errors are
therefore not independent, and the ordinary t-test rejects a true null hypothesis too often. The
correction of Nadeau and Bengio widens the confidence interval accordingly.

References
----------
Dietterich (1998), "Approximate statistical tests for comparing supervised classification learning
algorithms", Neural Computation 10, 1895-1923; Nadeau and Bengio (2003), "Inference for the
generalization error", Machine Learning 52, 239-281, equation (14).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit
from sklearn.utils import check_consistent_length, check_scalar

from ...tables import plus_minus

__all__ = [
    "Comparison",
    "PracticalDifference",
    "Summary",
    "compare",
    "most_frequent",
    "practical_difference",
    "summarise",
]

EQUAL_TOL = 1e-14  # relative difference up to which values are equal


class Summary(NamedTuple):
    """Mean, standard deviation and standard error of independent values, and their number.

    A format specification applies to the mean and the standard error.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import summarise
    >>> f"{summarise([1.0, 2.0, 3.0]):+.2f}".split()
    ['+2.00', '±', '0.58']
    """

    mean: float
    deviation: float
    standard_error: float
    n_values: int

    def __format__(self, format_spec):
        return plus_minus(self.mean, self.standard_error, format_spec)


class Comparison(NamedTuple):
    """Mean difference of two lists, its t value, two-sided p value and confidence interval."""

    difference: float
    t: float
    p: float
    low: float
    high: float

    @property
    def verdict(self):
        """A "win" if the interval is below zero, a "tie" if it contains zero, or a "loss"."""
        if self.low <= 0.0 <= self.high:
            return "tie"
        return "win" if self.high < 0.0 else "loss"


class PracticalDifference(NamedTuple):
    """Probabilities of smaller, practically equivalent and larger errors, and a verdict's level."""

    smaller: float
    equivalent: float
    larger: float
    level: float

    @property
    def verdict(self):
        """The first of "better", "equivalent" and "worse" whose probability reaches the level.

        If none does, it is "undecided".
        """
        verdicts = ("better", "equivalent", "worse")
        reached = [verdict for verdict, p in zip(verdicts, self, strict=False) if p >= self.level]
        return reached[0] if reached else "undecided"


def summarise(values: ArrayLike) -> Summary:
    r"""Return mean, standard deviation (with divisor n - 1) and standard error.

    Parameters
    ----------
    values : array-like of shape (n,)
        One value per run.

    Returns
    -------
    Summary
        The deviation and the standard error are NaN for a single run.

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
    values = _as_finite_array(values)
    deviation = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    standard_error = deviation / np.sqrt(len(values))
    return Summary(float(values.mean()), deviation, float(standard_error), len(values))


def most_frequent(values: Iterable) -> tuple[Any, int]:
    """Return the most frequent of several values and its number of occurrences.

    Parameters
    ----------
    values : iterable
        Values that can be sorted; of equally frequent values the smallest is returned.

    Returns
    -------
    value
        The most frequent value.
    count : int
        Its number of occurrences.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import most_frequent
    >>> most_frequent([3, 1, 3, 1, 2])
    (1, 2)
    """
    counts = Counter(values)
    value = max(sorted(counts), key=counts.get)
    return value, counts[value]


def compare(
    first: ArrayLike, second: ArrayLike, *, test_share: float | None = None, level: float = 0.95
) -> Comparison:
    r"""Compare two lists of values from the same splits by a paired t-test.

    :math:`t = \bar d\,/\sqrt{(1/n + q)\,s^2}` has n - 1 degrees of freedom, where :math:`d` are the
    differences and :math:`s^2` is their variance. With q = 0 the values are treated as independent;
    Shen (2013) uses this test on the ten folds of a cross-validation. It is optimistic there,
    because any two training sets share eight ninths of their points. With
    :math:`q = n_{test}/n_{train}` it is the corrected resampled t-test, in which q allows for the
    correlation that the overlap causes.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Values on the same splits in the same order, n at least 2.
    test_share : float, default=None
        Share of test points in each split, between 0 and 1: 0.4 for 60/40 splits, 0.1 for ten
        folds. None treats the values as independent.
    level : float, default=0.95
        Confidence level of the interval for the mean difference.

    Returns
    -------
    Comparison
        Statistics of ``first - second``.

    Raises
    ------
    ValueError
        The lists differ in length or have fewer than two values, a value is not finite, or
        `test_share` or `level` is not between 0 and 1.

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
    for name, value in (("test_share", test_share), ("level", level)):
        if value is not None and not 0 < value < 1:
            raise ValueError(f"{name} must lie between 0 and 1; found {value}.")
    first, second = _as_finite_array(first), _as_finite_array(second)
    check_consistent_length(first, second)
    n = len(first)
    if n < 2:
        raise ValueError(f"a t-test needs at least two values per list; found {n}.")
    q = 0.0 if test_share is None else test_share / (1 - test_share)
    differences = first - second
    tol = EQUAL_TOL * max(np.abs(first).max(), np.abs(second).max())
    mean = float(differences.mean()) if abs(differences.mean()) > tol else 0.0
    deviation = differences.std(ddof=1) if differences.std() > tol else 0.0
    standard_error = float(np.sqrt(1.0 / n + q) * deviation)
    t_if_constant = float(np.copysign(np.inf, mean)) if mean else 0.0
    t = mean / standard_error if standard_error else t_if_constant
    # Quantile and distribution function of t; for one number `stats.t` takes 100 times as long.
    half_width = stdtrit(n - 1, 0.5 + level / 2) * standard_error
    p = float(2 * stdtr(n - 1, -abs(t)))
    return Comparison(mean, t, p, float(mean - half_width), float(mean + half_width))


def practical_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 1.0,
    test_share: float | None = None,
    level: float = 0.95,
) -> PracticalDifference:
    r"""Return the probabilities that the first of two lists has smaller, equivalent, larger errors.

    Differences of at most ``rope`` form the region of practical equivalence. Under a flat prior the
    mean of ``first - second`` has a Student t distribution with n - 1 degrees of freedom, centred
    at the mean difference of `compare` and scaled by its standard error. With ``test_share`` this
    is the Bayesian correlated t-test of Corani and Benavoli, for splits of one table. Without it,
    it is the ordinary Bayesian t-test, for independent samples or mean errors on several tables.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Errors on the same splits, samples or tables in the same order, n at least 2.
    rope : float, default=1.0
        Half the width of the region of practical equivalence, in the unit of the errors. For errors
        in percent the default is one percentage point.
    test_share : float, default=None
        As in `compare`.
    level : float, default=0.95
        Probability that a verdict other than "undecided" requires.

    Returns
    -------
    PracticalDifference

    Raises
    ------
    ValueError
        As in `compare`; or `level` is not between one half and 1, or `rope` is negative.

    References
    ----------
    Corani and Benavoli (2015), "A Bayesian approach for comparing cross-validated algorithms on
    multiple data sets", Machine Learning 100, 285-304; Benavoli, Corani, Demsar and Zaffalon
    (2017), "Time for a change: a tutorial for comparing multiple classifiers through Bayesian
    analysis", Journal of Machine Learning Research 18 (77), 1-36.

    Examples
    --------
    >>> from svmbook.experiments.methods.statistics import practical_difference
    >>> practical_difference([20.1, 19.8, 20.3], [20.0, 20.0, 20.1]).verdict
    'equivalent'
    >>> practical_difference([20.0, 19.0, 21.0], [22.0, 18.0, 24.0]).verdict
    'undecided'
    """
    check_scalar(rope, "rope", Real, min_val=0)
    check_scalar(level, "level", Real, min_val=0.5, max_val=1, include_boundaries="neither")
    comparison = compare(first, second, test_share=test_share)
    n = len(_as_finite_array(first))
    standard_error = (comparison.high - comparison.difference) / stdtrit(n - 1, 0.975)
    if standard_error > 0:
        p_below, p_up_to = (
            stdtr(n - 1, (boundary - comparison.difference) / standard_error)
            for boundary in (-rope, rope)
        )
    else:  # all differences are equal; the boundary belongs to the region
        largest = max(np.abs(_as_finite_array(values)).max() for values in (first, second))
        boundary = rope + EQUAL_TOL * largest
        p_below, p_up_to = (
            float(comparison.difference < -boundary),
            float(comparison.difference <= boundary),
        )
    return PracticalDifference(
        float(p_below), float(p_up_to - p_below), float(1.0 - p_up_to), level
    )


def _as_finite_array(values):
    """Return values as an array; scikit-learn's checks would be slow for many short lists."""
    array = np.asarray(values, dtype=np.float64).ravel()
    if not len(array):
        raise ValueError("there are no values; at least one is needed.")
    if not np.isfinite(array).all():
        raise ValueError(f"values must be finite; found {array[~np.isfinite(array)][0]}.")
    return array
