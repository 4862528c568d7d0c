r"""The stump kernel with more knots than is worth a low rank: its Gram matrix, stored.

The functions of `svmbook.gram.stumps` are expansions in the points too,
:math:`g_j = \sum_i A_i k_j(x_i, \cdot)`, and the time to find the coefficients A does not depend on
the number of knots.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import stump
from .stumps import intervals_and_fractions

__all__ = ["knot_kernel", "values_at_knots"]


def knot_kernel(X: ArrayLike, knots: list[np.ndarray]) -> np.ndarray:
    r"""Return the Gram matrix :math:`ZZ^\top` of `svmbook.gram.stumps.StumpGram.from_knots`.

    Let k be the interval of a value x, and f its fraction below x. A feature contributes
    :math:`2\min(x, x') - 2t_0 = x + x' - |x - x'| - 2t_0` if the intervals of two values differ. In
    the same interval it contributes :math:`2(t_k - t_0) + 2\,\Delta t_k f f'`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Points.
    knots : list of ndarray
        Increasing knots of each feature.

    Returns
    -------
    ndarray of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram.many_knots import knot_kernel
    >>> X, knots = np.array([[0.0], [1.0], [4.0]]), [np.array([0.0, 4.0])]
    >>> knot_kernel(X, knots)
    array([[0. , 0. , 0. ],
           [0. , 0.5, 2. ],
           [0. , 2. , 8. ]])
    """
    X = np.column_stack([np.clip(x, t[0], t[-1]) - t[0] for x, t in zip(X.T, knots, strict=True)])
    K = stump(X)
    row_sums = X.sum(axis=1)
    K += row_sums
    K += row_sums[:, None]
    for x, t in zip(X.T, knots, strict=True):
        if len(t) == 1:
            continue
        h, (k, f) = np.diff(t), intervals_and_fractions(x, t - t[0])
        inside = np.flatnonzero((f > 0.0) & (f < 1.0))  # at a knot, both formulas agree
        inside = inside[np.argsort(k[inside], kind="stable")]
        for points in np.split(inside, np.flatnonzero(np.diff(k[inside])) + 1):
            product = np.multiply.outer(f[points], f[points])
            smaller = np.minimum.outer(f[points], f[points])
            K[np.ix_(points, points)] += 2.0 * h[k[points[:1]]] * (product - smaller)
    return K


def values_at_knots(X: ArrayLike, knots: list[np.ndarray], A: ArrayLike) -> list[np.ndarray]:
    r"""Return the values of the shape functions :math:`\sum_i A_i k_j(x_i, \cdot)` at their knots.

    With the hat functions B of a feature, the weights of its intervals are :math:`Z^\top A`, so
    that :math:`v_{k+1} - v_k = 2\,\Delta t_k \sum_{m > k} (B^\top A)_m`.

    Parameters
    ----------
    X, knots
        As in `knot_kernel`.
    A : ndarray of shape (n,)
        Coefficients of the points.

    Returns
    -------
    list of ndarray
        The values of each function, zero at the first knot.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.gram.many_knots import values_at_knots
    >>> X, knots = np.array([[1.0], [4.0]]), [np.array([0.0, 2.0, 4.0])]
    >>> values_at_knots(X, knots, np.ones(2))
    [array([ 0.,  6., 10.])]
    """
    values = []
    for x, t in zip(X.T, knots, strict=True):
        if len(t) == 1:
            values.append(np.zeros(1))
            continue
        k, f = intervals_and_fractions(x, t)
        sums = np.bincount(k, A * (1.0 - f), len(t)) + np.bincount(k + 1, A * f, len(t))
        later_sums = np.cumsum(sums[::-1])[::-1][1:]
        values.append(np.concatenate([[0.0], np.cumsum(2.0 * np.diff(t) * later_sums)]))
    return values
