"""Which points a member is trained against: the nearest of other classes, and those it mistakes."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from ..ties import rounded

__all__ = ["choose_negatives", "distances", "smallest_per_row"]

SAME_PLACE = 1e-12  # relative to the median distance: points this close are equal
PLANE_TOL = 1e-10  # relative to squared distances: a point this close lies on the plane
# Metrics that depend on more than two points.
FITTED_METRICS = ("precomputed", "mahalanobis", "seuclidean")


def distances(A, B, metric="euclidean"):
    """Return the distances of all rows of two arrays, by a metric of scikit-learn."""
    if metric == "euclidean":  # from differences: exact far from the origin, too
        return cdist(A, B)
    if metric in FITTED_METRICS:
        raise ValueError(
            f"metric={metric!r} is no distance of two points alone. Scale or rotate the features "
            "before, and take 'euclidean', or give a function of two points."
        )
    between = pairwise_distances(A, B, metric=metric)
    if not (np.isfinite(between) & (between >= 0)).all():
        raise ValueError(f"metric={metric!r} gives distances that are negative or not finite.")
    return between


def choose_negatives(between, codes, k):
    r"""Choose the first negatives of each exemplar: algorithm 2 of Shen (2013).

    Of the points of other classes those count that lie on the same side as the nearest, x, of the
    plane through the exemplar d normal to :math:`x - d`; the k nearest of them are chosen. A point
    z lies there if :math:`(x - d)^\top(z - d) > 0`, in distances

    .. math:: \rho(d, x)^2 + \rho(d, z)^2 > \rho(x, z)^2,

    which is asked of any metric. The nearest itself always counts. A point in the exemplar's own
    place, at distance zero, is passed over, unless there are only such: no line can tell the two
    apart, and no plane is normal to their difference. Of equal distances the first point counts.

    Parameters
    ----------
    between : ndarray of shape (n, n)
        Distances of all points.
    codes : ndarray of shape (n,)
        The number of each point's class; more than one class.
    k : int
        Negatives at most.

    Returns
    -------
    ndarray of bool, of shape (n, n)
        In row i the negatives of exemplar i.

    Examples
    --------
    >>> import numpy as np
    >>> from svmbook.prototypes.negatives import choose_negatives, distances
    >>> X = np.array([[0.0, 0], [1, 0], [2, 1], [-3, 0], [4, 0]])
    >>> codes = np.array([0, 1, 1, 1, 1])
    >>> choose_negatives(distances(X, X), codes, k=2)[0]
    array([False,  True,  True, False, False])
    """
    rows, between = np.arange(len(codes)), rounded(between)
    far = np.where(codes[:, None] == codes, np.inf, between)
    apart = np.where(between > SAME_PLACE * np.median(between), far, np.inf)
    far = np.where(np.isfinite(apart).any(axis=1, keepdims=True), apart, far)
    nearest = far.argmin(axis=1)
    squared = between**2
    ahead = squared[rows, nearest][:, None] + squared
    same_side = ahead - squared[nearest] > PLANE_TOL * ahead
    same_side[rows, nearest] = True
    far = np.where(same_side, far, np.inf)
    return smallest_per_row(far, k) & np.isfinite(far)


def smallest_per_row(values, k):
    """Mark the k smallest numbers of each row, of equal ones the first."""
    marked = np.zeros(values.shape, dtype=bool)
    first = np.argsort(values, axis=1, kind="stable")[:, :k]
    np.put_along_axis(marked, first, True, axis=1)
    return marked
