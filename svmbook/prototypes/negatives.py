"""Which points a member is trained against: the nearest of other classes, and those it mistakes."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from ..ties import rounded

__all__ = ["distances", "initial_negatives", "smallest_per_row"]

DUPLICATE_TOL = 1e-10  # relative to the median distance: points this close count as duplicates
PLANE_TOL = 1e-10  # relative to squared distances: a point this close lies on the plane
# Metrics that depend on more than two points.
UNSUPPORTED_METRICS = ("precomputed", "mahalanobis", "seuclidean")


def distances(A, B, metric="euclidean"):
    """Return the distances of all rows of two arrays, by a metric of scikit-learn."""
    if metric in ("euclidean", "l2"):  # from differences: exact far from the origin, too
        return cdist(A, B)
    if metric in UNSUPPORTED_METRICS:
        raise ValueError(
            f"metric={metric!r} is no distance of two points alone. Scale or rotate the features "
            "before, and take 'euclidean', or give a function of two points."
        )
    between = pairwise_distances(A, B, metric=metric)
    if not (np.isfinite(between) & (between >= 0)).all():
        raise ValueError(f"metric={metric!r} gives distances that are negative or not finite.")
    return between


def initial_negatives(between, codes, k):
    r"""Choose the first negatives of each exemplar: algorithm 2 of Shen (2013).

    Let x be the nearest point of another class, and draw the plane through the exemplar d that is
    normal to :math:`x - d`. Only points on the side of x are candidates, and the k nearest of them
    are chosen. A point z lies there if :math:`(x - d)^\top(z - d) > 0`, in distances

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
    >>> from svmbook.prototypes.negatives import initial_negatives, distances
    >>> X = np.array([[0.0, 0], [1, 0], [2, 1], [-3, 0], [4, 0]])
    >>> codes = np.array([0, 1, 1, 1, 1])
    >>> initial_negatives(distances(X, X), codes, k=2)[0]
    array([False,  True,  True, False, False])
    """
    rows, between = np.arange(len(codes)), rounded(between)
    candidate_distances = np.where(codes[:, None] == codes, np.inf, between)
    without_duplicates = np.where(
        between > DUPLICATE_TOL * np.median(between), candidate_distances, np.inf
    )
    candidate_distances = np.where(
        np.isfinite(without_duplicates).any(axis=1, keepdims=True),
        without_duplicates,
        candidate_distances,
    )
    nearest = candidate_distances.argmin(axis=1)
    squared = between**2
    squared_sum = squared[rows, nearest][:, None] + squared
    same_side = squared_sum - squared[nearest] > PLANE_TOL * squared_sum
    same_side[rows, nearest] = True
    candidate_distances = np.where(same_side, candidate_distances, np.inf)
    return smallest_per_row(candidate_distances, k) & np.isfinite(candidate_distances)


def smallest_per_row(values, k):
    """Mark the k smallest numbers of each row, of equal ones the first."""
    marked = np.zeros(values.shape, dtype=bool)
    first = np.argsort(values, axis=1, kind="stable")[:, :k]
    np.put_along_axis(marked, first, True, axis=1)
    return marked
