r"""What a list of test errors allows one to say.

Repeated splits of one table overlap: their training sets share most of their rows, so the errors
are not independent, and the ordinary t-test finds differences that are not there. The correction
of Nadeau and Bengio widens the interval by what the overlap hides.

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


EQUAL_TOL = 1e-14  # relative: values this close are equal


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


class PracticalDifference(NamedTuple):
    """Probabilities that errors are smaller, as large, or larger, by more than a given margin."""

    smaller: float
    equivalent: float
    larger: float
    level: float

    @property
    def verdict(self):
        """Which of "better", "equivalent" and "worse" is probable enough, or "undecided"."""
        names = ("better", "equivalent", "worse")
        likely = [name for name, p in zip(names, self, strict=False) if p >= self.level]
        return likely[0] if likely else "undecided"


def summarise(values: ArrayLike) -> Summary:
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


def most_frequent(values: Iterable) -> tuple[Any, int]:
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


def compare(
    first: ArrayLike, second: ArrayLike, *, test_share: float | None = None, level: float = 0.95
) -> Comparison:
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
    rounding = EQUAL_TOL * max(np.abs(first).max(), np.abs(second).max())
    mean = float(d.mean()) if abs(d.mean()) > rounding else 0.0
    deviation = d.std(ddof=1) if d.std() > rounding else 0.0
    error = float(np.sqrt(1.0 / n + overlap) * deviation)
    certain = float(np.copysign(np.inf, mean)) if mean else 0.0  # all differences are equal
    t = mean / error if error else certain
    # Quantile and distribution function of t; `stats.t` takes a hundred times as long for a number.
    reach = stdtrit(n - 1, 0.5 + level / 2) * error
    p = float(2 * stdtr(n - 1, -abs(t)))
    return Comparison(mean, t, p, float(mean - reach), float(mean + reach))


def practical_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 1.0,
    test_share: float | None = None,
    level: float = 0.95,
) -> PracticalDifference:
    r"""Return how probable it is that the mean difference of two lists is of practical size.

    A difference within ``rope`` of zero counts as none: the region of practical equivalence. Under
    a flat prior the mean of ``first - second`` has a Student t distribution with n - 1 degrees of
    freedom, whose centre and scale are mean and standard error of `compare`. With ``test_share``
    that is the Bayesian correlated t-test of Corani and Benavoli, for splits of one table; without
    it the ordinary one, for independent samples or for the mean errors on several tables.

    Parameters
    ----------
    first, second : array-like of shape (n,)
        Errors on the same splits, samples or tables in the same order, n at least 2.
    rope : float, default=1.0
        Half the width of the region, in the unit of the errors: one point for errors in percent.
    test_share : float, default=None
        As in `compare`.
    level : float, default=0.95
        Probability from which on a verdict is given.

    Returns
    -------
    PracticalDifference

    Raises
    ------
    ValueError
        As in `compare`; or a level that is not between one half and 1, or a negative rope.

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
    found = compare(first, second, test_share=test_share)
    n = len(_values(first))
    reach = found.high - found.difference
    error = reach / stdtrit(n - 1, 0.975)
    if error > 0:
        below, above = (stdtr(n - 1, (s * rope - found.difference) / error) for s in (-1, 1))
    else:  # all differences are equal; the edge belongs to the region
        edge = rope + EQUAL_TOL * max(np.abs(_values(first)).max(), np.abs(_values(second)).max())
        below, above = float(found.difference < -edge), float(found.difference <= edge)
    return PracticalDifference(float(below), float(above - below), float(1.0 - above), level)


def _values(values):
    """Return values as an array; a report checks thousands of short lists."""
    found = np.asarray(values, dtype=np.float64).ravel()
    if not len(found):
        raise ValueError("there are no values; give at least one.")
    if not np.isfinite(found).all():
        raise ValueError(f"values must be finite; found {found[~np.isfinite(found)][0]}.")
    return found
