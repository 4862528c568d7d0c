r"""Two one-dimensional problems that mislead a linear SVM: cases A and B of the USVC paper.

Part of class +1 lies inside the interval of class -1. The hinge loss grows with the distance of
these points from the threshold and therefore moves it; the 0-1 loss does not. As a function of the
threshold, the error has two local minima in each problem.

References
----------
Navia-Vazquez, Perez-Cruz, Artes-Rodriguez and Figueiras-Vidal (2004), "Advantages of unbiased
support vector classifiers for data mining applications", J. VLSI Signal Processing 37, equations
(28) and (29). In (28) the two weights of the mixture are interchanged: as printed, the threshold
0.5 has an error of one half, but 20 % according to the paper's own figure.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm, uniform
from sklearn.utils import check_random_state, check_scalar

__all__ = ["usvc_case_a", "usvc_case_b", "usvc_threshold_error"]

# Probability of class +1, and the weight and distribution of its components.
CASES = {
    "a": (2 / 3, ((3 / 4, norm(0.75, 0.15)), (1 / 4, norm(0.2, 0.02)))),
    "b": (0.7, ((1 / 1.4, uniform(0.7, 0.25)), (0.4 / 1.4, norm(0.25, 0.02)))),
}
NEGATIVE_DISTRIBUTION = uniform(0.0, 0.5)


def usvc_case_a(
    n: int = 500, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw case A: three quarters of class +1 around 0.75, one quarter around 0.2.

    :math:`f(x|+1) = \tfrac34 N(0.75, 0.15) + \tfrac14 N(0.2, 0.02)`, :math:`f(x|-1) = U(0, 0.5)`,
    :math:`P(+1) = 2/3`. The best threshold is near 0.5 and has an error of 19 %.

    Parameters
    ----------
    n : int, default=500
        Number of points, at least 2. Labels are random, but each class has at least one point.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 1)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer of at least 2.

    Examples
    --------
    >>> from svmbook.datasets import usvc_case_a
    >>> X, y = usvc_case_a(30_000, random_state=0)
    >>> round(float((y > 0).mean()), 2), round(float(X[y > 0].mean()), 2)
    (0.67, 0.61)
    """
    return _draw("a", n, random_state)


def usvc_case_b(
    n: int = 500, *, random_state: int | np.random.RandomState | None = None
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draw case B: class +1 uniform on (0.7, 0.95), with a narrow Gaussian around 0.25.

    :math:`f(x|+1) = \tfrac{1}{1.4} U(0.7, 0.95) + \tfrac{0.4}{1.4} N(0.25, 0.02)`,
    :math:`f(x|-1) = U(0, 0.5)`, :math:`P(+1) = 0.7`. Any threshold from 0.5 to 0.7 has an error of
    20 %; the error is lower only at a narrow minimum near 0.21.

    Parameters
    ----------
    n : int, default=500
        Number of points, at least 2. Labels are random, but each class has at least one point.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 1)
        Points.
    y : ndarray of shape (n,)
        Labels -1 and +1.

    Raises
    ------
    ValueError, TypeError
        ``n`` is not an integer of at least 2.

    Examples
    --------
    >>> from svmbook.datasets import usvc_case_b
    >>> X, y = usvc_case_b(30_000, random_state=0)
    >>> round(float((y > 0).mean()), 1), round(float(X[y < 0].max()), 2)
    (0.7, 0.5)
    """
    return _draw("b", n, random_state)


def usvc_threshold_error(case: str, threshold: ArrayLike) -> float | np.ndarray:
    r"""Return the error on case A or B of the rule that predicts +1 above a threshold.

    Parameters
    ----------
    case : {"a", "b"}
        The problem: that of `usvc_case_a` or of `usvc_case_b`.
    threshold : float or ndarray
        One threshold or several.

    Returns
    -------
    float or ndarray
        Probability of an error, of the shape of ``threshold``.

    Raises
    ------
    ValueError
        ``case`` is neither "a" nor "b".

    Examples
    --------
    >>> from svmbook.datasets import usvc_threshold_error
    >>> [round(float(usvc_threshold_error("a", t)), 3) for t in (0.17, 0.5)]
    [0.231, 0.191]
    >>> [round(float(usvc_threshold_error("b", t)), 3) for t in (0.21, 0.6)]
    [0.179, 0.2]
    """
    if case not in CASES:
        raise ValueError(f"case is {case!r}; choose 'a' or 'b'.")
    positive_probability, components = CASES[case]
    miss_rate = sum(weight * component.cdf(threshold) for weight, component in components)
    false_alarm_rate = NEGATIVE_DISTRIBUTION.sf(threshold)
    return positive_probability * miss_rate + (1 - positive_probability) * false_alarm_rate


def _draw(case, n, random_state):
    check_scalar(n, "n", Integral, min_val=2)
    rng = check_random_state(random_state)
    positive_probability, components = CASES[case]
    y = np.where(rng.uniform(size=n) < positive_probability, 1.0, -1.0)
    y[rng.permutation(n)[:2]] = 1.0, -1.0
    component_indices = rng.choice(len(components), size=n, p=[weight for weight, _ in components])
    samples = [component.rvs(n, random_state=rng) for _, component in components]
    positive = np.choose(component_indices, samples)
    negative = NEGATIVE_DISTRIBUTION.rvs(n, random_state=rng)
    x = np.where(y > 0, positive, negative)
    return x[:, None], y
